"""`make run CLUSTER=...`: three machines on the loopback address, one of which dies."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import cluster
import pytest
from distributed import Client

import xla_helpers as xh
from tests.test_run import save

ROOT = Path(__file__).parents[1]
TELL = """
import os, pathlib, time
told = pathlib.Path(os.environ["TOLD"])
(told / f"{name}-{os.getpid()}").touch()
while not told.with_name("go").exists():
    time.sleep(0.1)
print("done by a kernel")
"""


@pytest.fixture
def project(tmp_path):
    """Three notebooks that note when they run, and wait for a file named `go`."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "told").mkdir()
    shutil.copytree(
        ROOT / "tools", tmp_path / "tools", ignore=shutil.ignore_patterns("__pycache__")
    )
    # A machine's line takes an import of TensorFlow; here it is the same and costs nothing.
    tool = tmp_path / "tools/cluster.py"
    (line,) = re.findall(r"(?m)^LINE = .*$", tool.read_text())
    tool.write_text(tool.read_text().replace(line, "LINE = \"print('P · TensorFlow 2.99')\""))
    for name in ("01_a", "02_b", "03_c"):
        save(tmp_path, name, f"name = {name!r}{TELL}")
    return tmp_path


@pytest.fixture
def start(project):
    """Start a command in the project; all that was started ends with the test."""
    started = []

    def begin(*words, **variables):
        own = {"PYTHONPATH": f"{project / 'tools'}:{ROOT}", "TOLD": str(project / "told")}
        env = os.environ | own | {"XLA_RESULTS": str(project / "build/results")} | variables
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        started.append(
            subprocess.Popen(words, cwd=project, env=env, start_new_session=True, **pipes)
        )
        return started[-1]

    yield begin
    for process in started:
        os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
        process.communicate()


@pytest.fixture
def scheduler(start):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    start(sys.executable, "-m", "dask", *words)
    return f"tcp://127.0.0.1:{port}"


def worker(start, scheduler):
    words = ("--host", "127.0.0.1", "--nthreads", "1", "--resources", "place=1", "--no-dashboard")
    return start(sys.executable, "-m", "dask", "worker", scheduler, *words, "--no-nanny")


def kill_when_begun(machine, count, run, project):
    """Kill it when notebooks have begun so many times, and let those of the others end."""
    while len(list((project / "told").iterdir())) < count:
        assert run.poll() is None, run.communicate()
        time.sleep(0.1)
    os.killpg(machine.pid, signal.SIGKILL)
    (project / "go").touch()


def test_a_machine_that_dies_loses_no_notebook(project, start, scheduler):
    workers = [worker(start, scheduler) for _ in range(3)]
    with Client(scheduler, timeout=60) as client:
        client.wait_for_workers(3, timeout=120)
    run = start(sys.executable, "tools/run.py", CLUSTER=scheduler)
    kill_when_begun(workers[0], 3, run, project)  # all are running
    out, errors = run.communicate(timeout=240)
    names = re.findall(r"\[\d/3\] (\w+): done on .*TensorFlow", out)
    assert sorted(names) == ["01_a", "02_b", "03_c"] and run.returncode == 0, (out, errors)
    assert re.search(r"lost: tcp://127.0.0.1:\d+, .*TensorFlow", errors)
    kept = sorted(path.name for path in (project / "build").rglob("*.ipynb"))
    assert kept == ["01_a.ipynb", "02_b.ipynb", "03_c.ipynb"]
    assert len(list((project / "told").iterdir())) == 4  # the dead machine's one began twice
    # The two that are left, and a notebook that fails on both.
    (project / "go").unlink()
    save(project, "01_a", "1 / 0")
    variables = {"CLUSTER": scheduler, "EVERYWHERE": "1"}
    run = start(sys.executable, "tools/run.py", "1", "2", **variables)
    kill_when_begun(workers[1], 6, run, project)  # nobody else may do what it was to do
    out, errors = run.communicate(timeout=240)
    assert out.count("01_a: FAILED on ") == 2 and "ZeroDivisionError" in out, (out, errors)
    assert out.count("02_b: done on ") == out.count("02_b: FAILED on no machine") == 1
    assert run.returncode == 1 and "lost: " in errors


def test_the_line_of_a_machine_is_that_of_its_measurements(tf):
    line, versions = cluster.identity()
    assert line == xh.describe_machine()
    assert versions.keys() == {*cluster.SAME, "this project"}


@pytest.mark.parametrize("name", ["xla_helpers/one.py", "xla_decide/gpu/one.py"])
def test_other_helpers_are_another_version_whatever_folder_they_lie_in(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    before, path = cluster.versions(), tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text("one = 1\n")
    after = cluster.versions()
    assert after["this project"] != before["this project"]
    (path.parent / "__pycache__").mkdir()
    (path.parent / "__pycache__/one.pyc").write_text("made by Python")
    assert cluster.versions() == after


def test_other_versions_are_refused_by_name(monkeypatch):
    mine = {"tensorflow": "2.21.0", "this project": "abc"}
    monkeypatch.setattr(cluster, "versions", lambda: mine)
    cluster.refuse_others({"tcp://a": ("a machine", mine)})
    with pytest.raises(ValueError, match=r"b, a machine, has tensorflow 2.20.0, here 2.21.0"):
        cluster.refuse_others({"tcp://b": ("a machine", mine | {"tensorflow": "2.20.0"})})


def test_a_cluster_without_workers_says_so(project, start, scheduler):
    run = start(sys.executable, "tools/run.py", CLUSTER=scheduler)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 1 and "has no workers" in errors
