"""`make set-up`: in which states .venv is made, mended or left alone. No package is fetched."""

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
NAMES = ["with a space", """d$(touch ran)y q'uote b"q `touch ran` {a,b}"""]


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path / "project")


def make_project(folder):
    """A folder with all that a set-up reads, and a Python that only notes what it is told."""
    folder.mkdir()
    (folder / "tools").mkdir()
    shutil.copy(ROOT / "tools/set-up", folder / "tools")
    (folder / "pyproject.toml").write_text("[project]\n")
    for name in ("requirements.txt", "requirements-cuda.txt"):
        (folder / name).write_text("ab==1 \\\n    --hash=sha256:1\nuv==2 \\\n    --hash=sha256:2\n")
    python = folder / "python3"
    python.write_text(PYTHON)
    python.chmod(0o755)
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


@pytest.mark.parametrize("name", NAMES)
def test_an_environment_is_made_once_in_a_folder_of_any_name(tmp_path, name):
    folder = make_project(tmp_path / name)
    done = set_up(folder)
    assert (done.returncode, done.stderr) == (0, "")
    pip, lock, project = calls(folder)
    assert "--require-hashes -r .venv/uv.txt" in pip
    assert (folder / ".venv/uv.txt").read_text() == "uv==2 \\\n    --hash=sha256:2\n"
    assert lock.endswith("--require-hashes -r requirements.txt")
    assert project.endswith("--no-build-isolation --editable .")
    again = set_up(folder)
    assert (again.returncode, again.stdout, calls(folder)) == (0, "", [])
    assert not list(tmp_path.rglob("ran"))


@pytest.mark.parametrize("name", ["requirements.txt", "pyproject.toml"])
def test_what_changed_is_brought_into_the_same_environment(project, name):
    set_up(project)
    (project / ".venv/kept").touch()
    (project / name).write_text((project / name).read_text() + "# changed\n")
    set_up(project)
    assert (project / ".venv/kept").exists() and len(calls(project)) == 6


def moved(project):
    elsewhere = project.with_name("elsewhere")
    project.rename(elsewhere)
    return elsewhere


def without_its_python(project):
    (project / ".venv/bin/python").unlink()
    return project


def with_a_python_that_is_gone(project):
    (project / ".venv/bin/python").unlink()
    (project / ".venv/bin/python").symlink_to("/no/such/python")
    return project


@pytest.mark.parametrize("harm", [moved, without_its_python, with_a_python_that_is_gone])
def test_what_cannot_run_is_made_anew(project, harm):
    set_up(project)
    (project / ".venv/old").touch()
    project = harm(project)
    assert set_up(project).returncode == 0
    assert not (project / ".venv/old").exists() and (project / ".venv/bin/python").exists()


def test_what_was_not_finished_does_not_look_finished(project):
    done = set_up(project, UV_ENDS_WITH="1")
    assert done.returncode == 1
    assert done.stderr == (
        "set-up: not finished, the message above says why; the same command starts again\n"
    )
    calls(project)
    assert set_up(project).returncode == 0 and len(calls(project)) == 3


def a_file(venv):
    venv.write_text("mine")


def a_link(venv):
    venv.symlink_to("/no/such/folder")


def another_environment(venv):
    venv.mkdir()
    (venv / "pyvenv.cfg").write_text("mine")


@pytest.mark.parametrize("make", [a_file, a_link, another_environment])
def test_what_is_foreign_is_left_alone_and_named(project, make):
    make(project / ".venv")
    before = sorted(project.rglob("*"))
    done = set_up(project)
    assert done.returncode == 1
    assert done.stderr == "set-up: .venv is not of our making; move it away, and try again\n"
    assert sorted(project.rglob("*")) == before


def locks(project):
    return [line.split()[-1] for line in calls(project) if "requirements" in line]


def test_a_choice_of_packages_stays_until_another_is_named(project):
    set_up(project, ACCELERATOR="cuda")
    (project / "pyproject.toml").write_text("# changed\n")
    set_up(project)
    assert locks(project) == ["requirements-cuda.txt"] * 2
    (project / ".venv/of-nvidia").touch()
    set_up(project, ACCELERATOR="cpu")
    assert locks(project) == ["requirements.txt"] and not (project / ".venv/of-nvidia").exists()
    done = set_up(project, ACCELERATOR="tpu")
    assert (done.returncode, done.stderr) == (
        1,
        "set-up: ACCELERATOR is 'tpu': give cpu or cuda\n",
    )


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="CUDA has packages for x86-64 alone")
@pytest.mark.skipif(os.uname().sysname != "Linux", reason="CUDA has packages for Linux alone")
def test_a_device_brings_nvidia_s_packages(project):
    smi = project / "nvidia-smi"
    smi.write_text('#!/bin/sh\necho "GPU 0: made up"\n')
    smi.chmod(0o755)
    set_up(project)
    assert locks(project) == ["requirements-cuda.txt"]


def test_another_python_makes_another_environment_and_is_kept(project):
    set_up(project)
    shutil.copy(project / "python3", project / "other")
    (project / ".venv/old").touch()
    set_up(project, PYTHON="other")
    assert not (project / ".venv/old").exists()
    calls(project)
    assert set_up(project).stdout == "" and calls(project) == []


def test_no_python_is_one_sentence(project):
    done = set_up(project, PYTHON="/no/such/python")
    assert done.returncode == 1
    assert done.stderr.startswith("set-up: no Python 3.11 to 3.13 as /no/such/python; name one")
    assert not (project / ".venv").exists()


def test_a_folder_of_wheels_stands_for_the_network(project):
    set_up(project, UV_OFFLINE="1", UV_FIND_LINKS="/a b/wheels")
    assert "--no-index --find-links /a b/wheels --require-hashes" in calls(project)[0]
