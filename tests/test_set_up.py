"""`make set-up`: when .venv is made, updated or left alone. No package is fetched."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYTHON = """#!/bin/sh
# Stands in for Python, and for the pip and the uv of what it makes: each call is noted.
case "$1" in
  -c) exit 0 ;;
  -V) echo "Python 3.12.9" ;;
  -m) if [ "$2" = venv ]; then mkdir -p .venv/bin; cp "$0" .venv/bin/python; cp "$0" .venv/bin/uv
      else echo "$*" >>calls; fi ;;
  pip) echo "$*" >>calls; exit "${UV_ENDS_WITH:-0}" ;;
esac
"""
STEPS = 4 if os.uname().sysname == "Linux" else 3  # calls of pip and uv in a set-up
ODD = """d$(touch ran)y q'uote b"q `touch ran` {a,b}"""


@pytest.fixture
def project(tmp_path):
    """A folder with all that a set-up reads, and a Python that only notes what it is told."""
    folder = tmp_path / ODD
    (folder / "tools").mkdir(parents=True)
    shutil.copy(ROOT / "tools/set-up", folder / "tools")
    (folder / "pyproject.toml").write_text("[project]\n")
    for name in ("requirements.txt", "requirements-cuda.txt", "requirements-targets.txt"):
        (folder / name).write_text("ab==1 \\\n    --hash=sha256:1\nuv==2 \\\n    --hash=sha256:2\n")
    (folder / "python3").write_text(PYTHON)
    (folder / "python3").chmod(0o755)
    return folder


def set_up(folder, **variables):
    own = {"PATH": f"{folder}:/usr/bin:/bin"} | variables
    return subprocess.run(["tools/set-up"], cwd=folder, env=own, capture_output=True, text=True)


def calls(folder):
    """What pip and uv were told since the last time that this was asked."""
    log = folder / "calls"
    lines = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return lines


def locks(folder):
    named = [line.split()[-1] for line in calls(folder) if "requirements" in line]
    return [name for name in named if name != "requirements-targets.txt"]


def check_refused(done):
    """It failed, and said why in one line."""
    assert (done.returncode, done.stderr[:8], done.stderr.count("\n")) == (1, "set-up: ", 1)


def test_an_environment_is_made_once_in_a_folder_of_any_name(project, tmp_path):
    done = set_up(project, ACCELERATOR="cpu")
    assert (done.returncode, done.stderr) == (0, "")
    pip, lock, package, *targets = calls(project)
    assert "--require-hashes -r .venv/uv.txt" in pip
    assert (project / ".venv/uv.txt").read_text() == "uv==2 \\\n    --hash=sha256:2\n"
    assert lock.endswith("--require-hashes -r requirements.txt")
    assert package.endswith("--no-build-isolation --editable .")
    assert len(targets) == STEPS - 3
    for line in targets:  # in a folder of their own
        assert line.endswith("--target .venv/targets --require-hashes -r requirements-targets.txt")
    again = set_up(project)
    assert (again.returncode, again.stdout, calls(project)) == (0, "", [])
    assert not list(tmp_path.rglob("ran"))


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-targets.txt", "pyproject.toml"])
def test_a_change_is_brought_into_the_same_environment(project, name):
    set_up(project, ACCELERATOR="cpu")
    (project / ".venv/kept").touch()
    (project / name).write_text((project / name).read_text() + "# changed\n")
    set_up(project)
    assert (project / ".venv/kept").exists() and len(calls(project)) == 2 * STEPS


@pytest.mark.parametrize("harm", ["moved", "a Python that is gone"])
def test_an_environment_that_cannot_run_is_made_anew(project, harm):
    set_up(project)
    (project / ".venv/old").touch()
    if harm == "moved":
        project = project.rename(project.with_name("elsewhere"))
    else:
        (project / ".venv/bin/python").unlink()
        (project / ".venv/bin/python").symlink_to("/no/such/python")
    assert set_up(project).returncode == 0
    assert not (project / ".venv/old").exists() and (project / ".venv/bin/python").exists()


def test_an_unfinished_environment_is_finished_by_the_same_command(project):
    check_refused(set_up(project, UV_ENDS_WITH="1"))
    calls(project)
    assert set_up(project).returncode == 0 and len(calls(project)) == STEPS


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir, lambda venv: venv.symlink_to("/no/such")])
def test_a_foreign_environment_is_left_alone(project, make):
    make(project / ".venv")
    before = sorted(project.rglob("*"))
    check_refused(set_up(project))
    assert sorted(project.rglob("*")) == before


def test_a_choice_of_packages_stays_until_another_is_named(project):
    set_up(project, ACCELERATOR="cuda")
    (project / "pyproject.toml").write_text("# changed\n")
    set_up(project)
    assert locks(project) == ["requirements-cuda.txt"] * 2
    (project / ".venv/of-nvidia").touch()
    set_up(project, ACCELERATOR="cpu")
    assert locks(project) == ["requirements.txt"] and not (project / ".venv/of-nvidia").exists()


@pytest.mark.skipif(os.uname()[::4] != ("Linux", "x86_64"), reason="no packages of CUDA")
def test_a_device_brings_nvidia_s_packages(project):
    (project / "nvidia-smi").write_text('#!/bin/sh\necho "GPU 0: made up"\n')
    (project / "nvidia-smi").chmod(0o755)
    set_up(project)
    assert locks(project) == ["requirements-cuda.txt"]


def test_another_python_makes_another_environment_and_is_kept(project):
    set_up(project)
    shutil.copy(project / "python3", project / "other")
    (project / ".venv/old").touch()
    set_up(project, PYTHON="other")
    assert not (project / ".venv/old").exists() and len(calls(project)) == 2 * STEPS
    assert set_up(project).stdout == "" and calls(project) == []


@pytest.mark.parametrize("choice", ["PYTHON", "ACCELERATOR"])
def test_a_choice_that_does_not_exist_is_named(project, choice):
    done = set_up(project, **{choice: "/no/such"})
    check_refused(done)
    assert "/no/such" in done.stderr and not (project / ".venv").exists()


def test_a_folder_of_wheels_stands_for_the_network(project):
    set_up(project, UV_OFFLINE="1", UV_FIND_LINKS="/a b/wheels")
    assert "--no-index --find-links /a b/wheels --require-hashes" in calls(project)[0]
