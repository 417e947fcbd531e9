"""`make run` and `make refresh`: what is executed, where it lands, and how a failure is told."""

import errno
import os
import runpy
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

import xla_helpers as xh

ROOT = Path(__file__).parents[1]
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
PARAMETERS = "size: int = 4  # rows, at least 2\nplaces: list[str] = []  # folders"


def save(folder, name, *sources, tags=()):
    """Write a notebook of these cells, the first ones with these tags."""
    cells = [new_code_cell(source, id=f"cell-{n}") for n, source in enumerate(sources)]
    for cell, tag in zip(cells, tags, strict=False):
        cell.metadata["tags"] = [tag] if tag else []
    path = folder / "notebooks" / f"{name}.ipynb"
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": KERNEL}), path)


@pytest.fixture
def project(tmp_path):
    """Three notebooks: one has parameters, one fails at its second cell, one prints."""
    for name in ("notebooks", "results"):
        (tmp_path / name).mkdir()
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    uses = 'assert size >= 2, "size: at least 2"\nprint(size, places)'
    save(tmp_path, "01_a", PARAMETERS, uses, tags=["parameters"])
    save(tmp_path, "02_b", "1", "x = 1\nassert x == 2, (\n    f'\\x1b[31m{x} is no 2'\n)")
    save(tmp_path, "03_c", "import os\nprint(os.getcwd())")
    return tmp_path


def command(project, *words, **variables):
    own = {"XLA_RESULTS": str(project / "build/results"), "PYTHONPATH": str(ROOT)} | variables
    words = [sys.executable, "tools/run.py", *words]
    return {"args": words, "cwd": project, "env": os.environ | own, "text": True}


def run(project, *words, **variables):
    return subprocess.run(capture_output=True, **command(project, *words, **variables))


def main_of(project, monkeypatch):
    """The function that takes the words, for this process."""
    monkeypatch.chdir(project)
    monkeypatch.setenv("XLA_RESULTS", str(project / "build/results"))
    monkeypatch.delenv("XLA_CLAIMS", raising=False)
    return runpy.run_path(str(project / "tools/run.py"))["main"]


def printed(path):
    cells = nbformat.read(path, as_version=4).cells
    return "".join(out.get("text", "") for cell in cells for out in cell.get("outputs", []))


def sources(project):
    return {path.stem: path.read_bytes() for path in (project / "notebooks").iterdir()}


def test_importing_it_leaves_folder_and_environment_as_they_are(project, monkeypatch):
    monkeypatch.delenv("XLA_RESULTS", raising=False)
    before = os.getcwd(), dict(os.environ)
    runpy.run_path(str(project / "tools/run.py"))
    assert (os.getcwd(), dict(os.environ)) == before


def test_a_failure_stops_no_other_and_is_told_in_the_end(project):
    save(project, "04_d", "import os\nos._exit(1)")
    (project / "notebooks/05_e.ipynb").write_text("{")
    before = sources(project)
    done = run(project)
    progress = [line.split(" (others use ")[0] for line in done.stdout.splitlines()]
    assert progress == [f"[{n}/5] {name}" for n, name in enumerate(sorted(before), start=1)]
    # Above them a kernel that is ended while it answers may print a traceback of its own.
    told = done.stderr.partition("3 of 5 failed:\n")[2].splitlines()
    assert told[:2] == [
        "  02_b, cell 2: AssertionError: 1 is no 2",
        "  04_d, DeadKernelError: Kernel died",
    ]
    assert told[2].startswith("  05_e, ") and len(told) == 3
    assert done.returncode == 1 and sources(project) == before
    assert printed(project / "build/03_c.ipynb") == f"{project / 'notebooks'}\n"
    assert {path.stem for path in (project / "build").iterdir()} <= set(before)


def test_values_reach_the_notebooks_that_have_the_parameter(project):
    done = run(project, WORDS="-p size 7 -p places '[a b, $(touch ran)]'")
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)
    assert printed(project / "build/01_a.ipynb") == "7 ['a b', '$(touch ran)']\n"
    assert not list(project.rglob("ran"))


def test_a_value_out_of_range_is_refused_by_the_notebook(project, monkeypatch, capsys):
    assert main_of(project, monkeypatch)(["1", "-p", "size", "1"]) == 1
    assert "01_a, cell 3: AssertionError: size: at least 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("-p size many", "int, rows, at least 2"),
        ("-p size [", "expected the node content"),
        ("3 -p size 3", "parameter size"),
        ("4", "01_a, 02_b, 03_c"),
        ("-p size 'a", "quotation"),
        ("--runs 0", "at least 1"),
    ],
)
def test_words_that_make_no_sense_run_nothing(project, capsys, monkeypatch, words, named):
    monkeypatch.setenv("WORDS", words)
    with pytest.raises(SystemExit) as ended:
        main_of(project, monkeypatch)([])
    assert ended.value.code == 2 and named in capsys.readouterr().err.splitlines()[-1]
    assert not (project / "build").exists()


def test_in_place_a_notebook_holds_its_outputs_and_no_mark_of_a_tool(project, monkeypatch):
    """Also where the build folder is on another file system."""
    replace = os.replace

    def within_a_folder(source, target):
        if Path(source).resolve().parent != Path(target).resolve().parent:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        replace(source, target)

    monkeypatch.setattr(os, "replace", within_a_folder)
    before = sources(project)
    assert main_of(project, monkeypatch)(["--in-place"]) == 1
    after = sources(project)
    assert {name for name in after if after[name] != before[name]} == {"01_a", "03_c"}
    text = (project / "notebooks/03_c.ipynb").read_text()
    assert str(project / "notebooks") in text and text.endswith("}\n")
    assert "papermill" not in text and '"tags"' not in text and "iopub" not in text


OPEN = """import xla_helpers as xh
from xla_helpers.ratios import Ratio
xh.claim("it pays", Ratio(1.1, 0.9, 1.3, rounds=15), above=1, again=None)"""


def test_what_is_undecided_is_not_published(project, monkeypatch, capsys):
    save(project, "04_d", OPEN)
    before = sources(project)["04_d"]
    main = main_of(project, monkeypatch)
    assert main(["4", "--in-place"]) == 1 and sources(project)["04_d"] == before
    assert "04_d, undecided: it pays: 1.1 [0.9, 1.3], median of 15" in capsys.readouterr().err
    assert main(["4"]) == 0 and "XLA_CLAIMS" not in os.environ


SUMS = """import time
import xla_helpers as xh
from xla_helpers.results import Recorded, Result, write
from xla_helpers.timing import Measurement
rows = {x: Measurement(x, 1.0, (time.perf_counter(),) * 9, 1, 0.0) for x in ("graph", "XLA")}
runs = (Recorded("2026-11-21", xh.Comparison(rows, {})),)
write(Result("sums", "two sums", {"processor": "P"}, runs, version=1))"""


def test_chains_run_again_in_fresh_kernels_and_join_the_results_of_the_same_version(
    project, monkeypatch, capsys
):
    """Their notebooks are executed once, and what is in no chain never again; one may fail."""
    twice, results = "open('ran', 'a').write('x')", project / "build/results"
    save(project, "04_d", twice, SUMS, "print('no part')", tags=["run", "run"])
    save(project, "05_e", "open('once', 'a').write('x')")
    main = main_of(project, monkeypatch)
    assert main(["4", "5", "--runs", "2", "--in-place"]) == 0
    assert capsys.readouterr().out.count("its races") == 1
    assert (project / "notebooks/ran").read_text() == "xx"
    assert (project / "notebooks/once").read_text() == "x"
    (result,), _ = xh.read_results(results)
    assert len(result.runs) == 2 and all(0 <= one.load <= 1 for one in result.runs)
    assert len({one.comparison["graph"].samples for one in result.runs}) == 2
    assert result.version == 1 and result.ratio and not result.ratio.has_interval
    after = sources(project)["04_d"]
    assert main(["4", "--only-runs"]) == 0 and sources(project)["04_d"] == after
    assert len(xh.read_results(results)[0][0].runs) == 3
    # A raised version, whose chain fails because a cell that it needs is no part of it.
    raised = SUMS.replace("version=1", "version=2")
    save(project, "04_d", "x = 1", f"print(x)\n{raised}", tags=["", "run"])
    assert main(["4", "--runs", "2"]) == 1
    assert "04_d, cell 1: NameError: name 'x'" in capsys.readouterr().err
    found, _ = xh.read_results(results)
    assert {one.version: len(one.runs) for one in found} == {1: 3, 2: 1}


def heed_ctrl_c():
    """What a shell starts in the background ignores it, tests and their children included."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_it_with_130_and_keeps_the_earlier_copy(project):
    (project / "build").mkdir()
    earlier = project / "build/01_a.ipynb"
    earlier.write_text("of an earlier run")
    save(project, "01_a", "open('started', 'w').close()\nimport time\ntime.sleep(60)")
    process = subprocess.Popen(
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=heed_ctrl_c,
        **command(project),
    )
    while not (project / "notebooks/started").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 130 and "Traceback" not in said
    assert [path.name for path in (project / "build").iterdir()] == ["01_a.ipynb"]
    assert earlier.read_text() == "of an earlier run"


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_folder_that_cannot_be_made_is_one_line(project, kind):
    build = project / "build"
    build.write_text("") if kind == "file" else build.symlink_to("nowhere")
    done = run(project)
    assert done.returncode == 1 and done.stderr.startswith("run: ")
    assert done.stderr.count("\n") == 1 and "build" in done.stderr
