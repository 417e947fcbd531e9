import ast
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import set_up

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a lock and a pyproject.toml, where environments are made without pip."""
    monkeypatch.delenv("PYTHON", raising=False)
    monkeypatch.setattr(set_up, "has", lambda module: module != "ensurepip")
    root = tmp_path / "project"
    root.mkdir()
    (root / "requirements.txt").write_text("")
    (root / "pyproject.toml").write_text("")
    return root


class Installer:
    """Stands in for pip: counts its calls and leaves a mark in the environment."""

    def __init__(self):
        self.calls = 0

    def __call__(self, root, venv):
        self.calls += 1
        Path(venv, "installed").touch()


def fake_python(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


# Which Python


def test_a_supported_python_is_used_as_it_is():
    for version in [(3, 11), (3, 12), (3, 13)]:
        assert set_up.choose_python(explicit=True, version=version) == sys.executable


@pytest.mark.parametrize("version", [(3, 6), (3, 10), (3, 14)])
def test_an_unsupported_python_gets_one_sentence(version):
    with pytest.raises(set_up.SetUpError, match=r"need Python 3\.11 to 3\.13; install one") as info:
        set_up.choose_python(explicit=True, version=version, search=lambda name: sys.executable)
    assert f"this is Python {version[0]}.{version[1]}" in str(info.value)
    assert "\n" not in str(info.value)


def test_another_python_on_the_path_is_found_unless_one_was_named(tmp_path):
    broken = fake_python(tmp_path / "python3.13", "exit 127")  # as a version manager's shim may be
    works = fake_python(tmp_path / "python3.12", "echo 3.12")
    found = {"python3.13": broken, "python3.12": works}
    assert set_up.choose_python(explicit=False, version=(3, 9), search=found.get) == works
    with pytest.raises(set_up.SetUpError):
        set_up.choose_python(explicit=True, version=(3, 9), search=found.get)


def test_old_pythons_can_read_the_script():
    source = Path(set_up.__file__).read_text()
    ast.parse(source, feature_version=(3, 7))
    assert "from __future__ import annotations" not in source  # Python 3.6 has no such feature


def test_make_says_when_there_is_no_python():
    command = ["make", "-C", ROOT, "set-up", "PYTHON=/no/such/python"]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
    assert done.returncode != 0
    assert "there is no /no/such/python here; install Python 3.11 to 3.13" in done.stderr


# What is made, and when


def test_nothing_is_done_twice(project):
    installer = Installer()
    for _ in range(3):
        set_up.set_up(str(project), installer)
    assert installer.calls == 1
    assert set_up.version_of(project / ".venv/bin/python") == set_up.version_of(sys.executable)


def test_a_new_lock_updates_the_environment_in_place(project):
    installer = Installer()
    set_up.set_up(str(project), installer)
    Path(project, ".venv/kept").touch()
    (project / "requirements.txt").write_text("# changed\n")
    set_up.set_up(str(project), installer)
    assert installer.calls == 2
    assert Path(project, ".venv/kept").exists()


def interrupted(project):
    def stop(root, venv):
        Path(venv, "installed").touch()
        raise KeyboardInterrupt

    shutil.rmtree(project / ".venv")
    with pytest.raises(KeyboardInterrupt):
        set_up.set_up(str(project), stop)


def interrupted_update(project):
    def stop(root, venv):
        raise KeyboardInterrupt

    (project / "requirements.txt").write_text("# changed\n")
    with pytest.raises(KeyboardInterrupt):
        set_up.set_up(str(project), stop)


def without_python(project):
    (project / ".venv/bin/python").unlink()


def with_a_python_that_is_gone(project):
    (project / ".venv/bin/python").unlink()
    (project / ".venv/bin/python").symlink_to("/no/such/python")


def with_a_python_that_was_upgraded(project):
    (project / ".venv/bin/python").unlink()
    fake_python(project / ".venv/bin/python", "printf 3.99")


def copied_from_elsewhere(project):
    stamp = project / ".venv/set-up.stamp"
    stamp.write_text(stamp.read_text().replace(str(project), "/elsewhere"))


def only_an_empty_folder(project):
    shutil.rmtree(project / ".venv")
    (project / ".venv").mkdir()


def a_link_to_elsewhere(project):
    (project / ".venv").rename(project.parent / "elsewhere")
    (project / ".venv").symlink_to(project.parent / "nowhere")


@pytest.mark.parametrize(
    "harm",
    [
        interrupted,
        interrupted_update,
        without_python,
        with_a_python_that_is_gone,
        with_a_python_that_was_upgraded,
        copied_from_elsewhere,
        only_an_empty_folder,
        a_link_to_elsewhere,
    ],
)
def test_a_half_made_environment_is_made_anew(project, harm):
    installer = Installer()
    set_up.set_up(str(project), installer)
    (project / ".venv/old").touch()
    harm(project)
    set_up.set_up(str(project), installer)
    assert installer.calls == 2
    assert not (project / ".venv/old").exists()
    assert set_up.version_of(project / ".venv/bin/python") == set_up.version_of(sys.executable)
    set_up.set_up(str(project), installer)
    assert installer.calls == 2


def test_naming_another_python_replaces_the_environment(project, monkeypatch):
    installer = Installer()
    set_up.set_up(str(project), installer)
    monkeypatch.setenv("PYTHON", sys.executable)
    set_up.set_up(str(project), installer)
    assert installer.calls == 1
    stamp = project / ".venv/set-up.stamp"
    monkeypatch.setattr(
        set_up.sys, "executable", fake_python(project / "python3.99", "printf 3.99")
    )
    assert not set_up.usable(str(project / ".venv"), stamp.read_text())


# Machines that lack something


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ({"ensurepip", "pip"}, "no ensurepip and no pip; install them .*apt install python3-venv"),
        ({"venv"}, "no venv; install .*apt install python3-venv"),
    ],
)
def test_a_python_without_the_tools_gets_one_sentence(project, monkeypatch, missing, message):
    monkeypatch.setattr(set_up, "has", lambda module: module not in missing)
    with pytest.raises(set_up.SetUpError, match=message):
        set_up.set_up(str(project), Installer())
    assert not (project / ".venv").exists()


def wheel(folder):
    """A package of one empty module."""
    path = folder / "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("tiny.py", "")
        file.writestr(
            "tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n"
        )
        file.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr("tiny-1.dist-info/RECORD", "")
    return path


def install(project, requirement):
    venv = str(project / ".venv")
    set_up.make_venv(venv)
    command = set_up.pip_command(venv)
    set_up.run_pip([*command, "--no-deps", "--no-index", str(requirement)], venv, 2)
    return command


@pytest.mark.skipif(not set_up.has("pip"), reason="this environment was itself made without pip")
def test_without_ensurepip_the_pip_of_the_machine_installs(project, capsys):
    command = install(project, wheel(project))
    assert "--python" in command
    assert set_up.output_of(project / ".venv/bin/python", "import tiny; print(tiny.__name__)")
    assert "fetched 1, installed 1 of 2" in capsys.readouterr().out


@pytest.mark.skipif(not set_up.has("pip"), reason="this environment was itself made without pip")
def test_a_failed_download_shows_what_pip_said(project, capsys):
    with pytest.raises(set_up.SetUpError, match="could not install the packages"):
        install(project, "there-is-no-such-package==1")
    assert "No matching distribution found for there-is-no-such-package" in capsys.readouterr().err


def test_an_error_ends_the_command_with_a_sentence(monkeypatch, capsys):
    def fail(explicit):
        raise set_up.SetUpError("what to do")

    monkeypatch.setattr(set_up, "choose_python", fail)
    assert set_up.main() == 1
    assert capsys.readouterr().err == "set-up: what to do\n"
