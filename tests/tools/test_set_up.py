"""Making and mending `.venv`: in which states, with whose packages, with CUDA or without."""

import ast
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace

import pytest

from tools import alone, pythons, set_up, variants

ROOT = Path(__file__).parents[2]
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
UV = Path(sys.executable).parent / "uv"


def without(*modules):
    """Stands in for `find_spec` on a machine that lacks some modules."""
    return lambda name: None if name in modules else object()


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a lock and a pyproject.toml, where environments are made without pip."""
    monkeypatch.delenv("PYTHON", raising=False)
    monkeypatch.delenv("ACCELERATOR", raising=False)
    monkeypatch.setattr(set_up, "find_spec", without("ensurepip"))
    root = tmp_path / "project"
    root.mkdir()
    for name in ("requirements.txt", "requirements-cuda.txt", "pyproject.toml"):
        (root / name).write_text("", encoding="utf-8")
    return root


@pytest.fixture
def installer(monkeypatch):
    """Stands in for pip and uv: counts its calls and leaves a mark in the environment."""
    installer = Installer()
    monkeypatch.setattr(set_up, "install_packages", installer)
    return installer


class Installer:
    def __init__(self):
        self.locks = []
        self.interrupted = False
        self.meanwhile = lambda: None

    @property
    def calls(self):
        return len(self.locks)

    def __call__(self, root, venv, lock):
        self.locks.append(lock)
        Path(venv, "installed").touch()
        self.meanwhile()
        if self.interrupted:
            raise KeyboardInterrupt


def fake_python(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("module", [set_up, pythons, variants, alone])
def test_old_pythons_can_read_the_script(module):
    source = Path(module.__file__).read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 7))
    assert "from __future__ import annotations" not in source  # Python 3.6 has no such feature


def test_make_says_when_there_is_no_python():
    command = ["make", "-C", ROOT, "set-up", "PYTHON=/no/such/python"]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
    assert done.returncode != 0
    assert "there is no /no/such/python here; install Python 3.11 to 3.13" in done.stderr


# What is made, and when


def test_nothing_is_done_twice(project, installer, monkeypatch):
    set_up.set_up(str(project))
    assert pythons.version_of(project / ".venv/bin/python") == PYTHON
    # No process is started either: none that fails to start can say that `.venv` is broken.
    monkeypatch.setattr(set_up.subprocess, "Popen", None)
    set_up.set_up(str(project))
    set_up.set_up(str(project))
    assert installer.calls == 1


def test_the_script_runs_in_a_folder_of_any_name(project):
    written = shutil.ignore_patterns("__pycache__")  # while this runs, maybe
    shutil.copytree(ROOT / "tools", project / "tools", ignore=written)
    (project / "xla_helpers").mkdir()
    shutil.copy(ROOT / "xla_helpers/devices.py", project / "xla_helpers")
    stamp = project / ".venv/set-up.stamp"
    (project / ".venv/bin").mkdir(parents=True)
    (project / ".venv/bin/python").symlink_to(sys.executable)
    made_from = set_up.fingerprint(project, "cpu")
    stamp.write_text(set_up.identity(f"{project}/.venv") + f"cpu {made_from}", encoding="utf-8")
    command = [sys.executable, "-m", "tools.set_up"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_second_set_up_waits_for_the_first_and_finds_it_done(
    project, installer, monkeypatch, capsys
):
    second, waits = Thread(target=set_up.set_up, args=[str(project)]), Event()
    say = set_up.say_who_is_waited_for

    def say_it(process):
        say(process)
        waits.set()

    def start_another():
        second.start()
        assert waits.wait(10), "it did not wait"

    monkeypatch.setattr(set_up, "say_who_is_waited_for", say_it)
    installer.meanwhile = start_another
    set_up.set_up(str(project))
    second.join(10)
    assert not second.is_alive() and installer.calls == 1
    said = f"Another set-up is under way, process {os.getpid()}; waiting for it.\n"
    assert capsys.readouterr().out == f"Packages: cpu, no NVIDIA device was found.\n{said}"


def test_what_is_finished_takes_no_lock(project, installer, monkeypatch):
    set_up.set_up(str(project))
    monkeypatch.setattr(set_up, "alone", None)
    set_up.set_up(str(project))


@pytest.mark.parametrize("name", ["requirements.txt", "pyproject.toml"])
def test_a_new_lock_updates_the_environment_in_place(project, installer, name):
    set_up.set_up(str(project))
    Path(project, ".venv/kept").touch()
    (project / name).write_text("# changed\n", encoding="utf-8")
    set_up.set_up(str(project))
    assert installer.calls == 2
    assert Path(project, ".venv/kept").exists()


def interrupted(project, installer):
    shutil.rmtree(project / ".venv")
    installer.interrupted = True
    with pytest.raises(KeyboardInterrupt):
        set_up.set_up(str(project))


def interrupted_update(project, installer):
    (project / "requirements.txt").write_text("# changed\n", encoding="utf-8")
    installer.interrupted = True
    with pytest.raises(KeyboardInterrupt):
        set_up.set_up(str(project))


def killed_while_it_was_emptied(project, installer):
    (project / ".venv/set-up.stamp").write_text("", encoding="utf-8")
    shutil.rmtree(project / ".venv/bin")


def without_python(project, installer):
    (project / ".venv/bin/python").unlink()


def with_a_python_that_is_gone(project, installer):
    (project / ".venv/bin/python").unlink()
    (project / ".venv/bin/python").symlink_to("/no/such/python")


def with_a_python_that_was_upgraded(project, installer):
    (project / ".venv/bin/python").unlink()
    fake_python(project / "python3.99", "printf 3.99")
    (project / ".venv/bin/python").symlink_to(project / "python3.99")


def copied_from_elsewhere(project, installer):
    stamp = project / ".venv/set-up.stamp"
    stamp.write_text(
        stamp.read_text(encoding="utf-8").replace(f"{project}/", "/elsewhere/"), encoding="utf-8"
    )


def only_an_empty_folder(project, installer):
    shutil.rmtree(project / ".venv")
    (project / ".venv").mkdir()


@pytest.mark.parametrize(
    "harm",
    [
        interrupted,
        interrupted_update,
        killed_while_it_was_emptied,
        without_python,
        with_a_python_that_is_gone,
        with_a_python_that_was_upgraded,
        copied_from_elsewhere,
        only_an_empty_folder,
    ],
)
def test_a_half_made_environment_is_made_anew(project, installer, harm):
    set_up.set_up(str(project))
    (project / ".venv/old").touch()
    harm(project, installer)
    calls, installer.interrupted = installer.calls, False
    set_up.set_up(str(project))
    assert installer.calls == calls + 1
    assert not (project / ".venv/old").exists()
    assert pythons.version_of(project / ".venv/bin/python") == PYTHON
    set_up.set_up(str(project))
    assert installer.calls == calls + 1


def test_what_was_fetched_is_kept_when_an_environment_is_made_anew(project, installer):
    set_up.set_up(str(project))
    (project / ".venv/cache").mkdir()
    (project / ".venv/cache/wheel").touch()
    without_python(project, installer)
    set_up.set_up(str(project))
    assert (project / ".venv/cache/wheel").exists()


def test_naming_another_python_replaces_the_environment(project, installer, monkeypatch):
    set_up.set_up(str(project))
    (project / ".venv/old").touch()
    monkeypatch.setenv("PYTHON", sys.executable)
    set_up.set_up(str(project))
    assert installer.calls == 1
    settings = project / ".venv/pyvenv.cfg"
    settings.write_text(
        settings.read_text(encoding="utf-8").replace(PYTHON, "3.99"), encoding="utf-8"
    )
    set_up.set_up(str(project))
    assert installer.calls == 2
    assert not (project / ".venv/old").exists()


# What was made by somebody else


def a_file(venv):
    venv.write_text("mine", encoding="utf-8")


def a_link_to_nowhere(venv):
    venv.symlink_to("/no/such/folder")


def a_link_to_a_folder(venv):
    (venv.parent / "elsewhere").mkdir()
    venv.symlink_to(venv.parent / "elsewhere")


def another_environment(venv):
    venv.mkdir()
    (venv / "pyvenv.cfg").write_text("mine", encoding="utf-8")


@pytest.mark.parametrize(
    "make", [a_file, a_link_to_nowhere, a_link_to_a_folder, another_environment]
)
def test_nothing_foreign_is_removed(project, installer, make):
    venv = project / ".venv"
    make(venv)
    before = sorted(venv.parent.glob("[!b]*")) + sorted(venv.rglob("*"))
    with pytest.raises(set_up.SetUpError, match=r"\.venv is not of our making; move it away"):
        set_up.set_up(str(project))
    assert sorted(venv.parent.glob("[!b]*")) + sorted(venv.rglob("*")) == before
    assert installer.calls == 0


def test_an_environment_that_cannot_be_judged_stays(project, installer, monkeypatch):
    set_up.set_up(str(project))

    def refuse(path, *arguments):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(PermissionError):
        set_up.set_up(str(project))
    assert (project / ".venv/installed").exists()


# Machines that lack something


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (["ensurepip", "pip"], "no ensurepip and no pip; install them .*apt install python3-venv"),
        (["venv"], "no venv; install .*apt install python3-venv"),
    ],
)
def test_a_python_without_the_tools_gets_one_sentence(project, monkeypatch, missing, message):
    monkeypatch.setattr(set_up, "find_spec", without(*missing))
    with pytest.raises(set_up.SetUpError, match=message):
        set_up.set_up(str(project))
    assert not (project / ".venv").exists()


def test_an_environment_without_pip_is_served_by_the_pip_of_the_machine(tmp_path, monkeypatch):
    venv = tmp_path / ".venv"
    machine = SimpleNamespace(origin="/machine/pip/__init__.py")
    monkeypatch.setattr(set_up, "find_spec", lambda name: machine)
    assert set_up.pip_for(venv)[1:] == ["/machine/pip"]
    (venv / "bin").mkdir(parents=True)
    (venv / "bin/pip").touch()
    assert set_up.pip_for(venv)[1:] == ["-m", "pip"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (set_up.SetUpError("what to do"), "what to do"),
        (OSError("what to do"), "what to do"),
        (subprocess.CalledProcessError(1, "pip"), "Command 'pip' returned non-zero exit status 1."),
    ],
)
def test_an_error_ends_the_command_with_a_sentence(monkeypatch, capsys, error, said):
    def fail(explicit):
        raise error

    monkeypatch.setattr(set_up, "choose_python", fail)
    assert set_up.main() == 1
    assert capsys.readouterr().err == f"set-up: {said}\n"


# With CUDA or without

DEVICE = "/dev/nvidia0"


@pytest.fixture
def on_linux(monkeypatch):
    """A machine for which there are packages with CUDA."""
    monkeypatch.setattr(variants.platform, "system", lambda: "Linux")
    monkeypatch.setattr(variants.platform, "machine", lambda: "x86_64")


def test_a_device_gets_cuda_and_the_lines_say_why(project, installer, on_linux, capsys):
    set_up.set_up(str(project), DEVICE)
    set_up.set_up(str(project), DEVICE)
    assert installer.locks == ["requirements-cuda.txt"]
    assert capsys.readouterr().out == f"Packages: cuda, {DEVICE} is here.\n"


def test_what_stands_is_kept_where_the_device_is_not(project, installer, on_linux):
    set_up.set_up(str(project), DEVICE)
    (project / "requirements-cuda.txt").write_text("# changed\n", encoding="utf-8")
    set_up.set_up(str(project), "")
    assert installer.locks == ["requirements-cuda.txt"] * 2


@pytest.mark.parametrize("start", ["cpu", "cuda"])
def test_the_other_variant_is_installed_when_it_is_named(
    project, installer, on_linux, start, monkeypatch
):
    set_up.set_up(str(project), DEVICE if start == "cuda" else "")
    (project / ".venv/nvidia").touch()
    other = {"cpu": "cuda", "cuda": "cpu"}[start]
    monkeypatch.setenv("ACCELERATOR", other)
    set_up.set_up(str(project), DEVICE)
    set_up.set_up(str(project), DEVICE)
    assert installer.locks == [variants.LOCKS[start], variants.LOCKS[other]]
    assert (project / ".venv/nvidia").exists() == (other == "cuda")  # nothing of it is left


@pytest.mark.parametrize("start", ["cpu", "cuda"])
@pytest.mark.parametrize(
    "harm",
    [
        interrupted_update,
        without_python,
        with_a_python_that_was_upgraded,
        copied_from_elsewhere,
    ],
)
def test_what_was_chosen_stays_whatever_became_of_the_environment(
    project, installer, on_linux, monkeypatch, start, harm
):
    here, elsewhere = ("", DEVICE) if start == "cpu" else (DEVICE, "")
    set_up.set_up(str(project), here)
    (project / ".venv/old").touch()
    for name in variants.LOCKS.values():
        (project / name).write_text("# changed\n", encoding="utf-8")
    harm(project, installer)
    for installer.interrupted in [True, False]:
        try:
            set_up.set_up(str(project), elsewhere)
        except KeyboardInterrupt:
            assert installer.interrupted
    assert set(installer.locks) == {variants.LOCKS[start]}
    assert not (project / ".venv/old").exists()


def test_another_python_holds_what_was_chosen(project, installer, on_linux, monkeypatch):
    set_up.set_up(str(project), "")
    settings = project / ".venv/pyvenv.cfg"
    settings.write_text(
        settings.read_text(encoding="utf-8").replace(PYTHON, "3.99"), encoding="utf-8"
    )
    monkeypatch.setenv("PYTHON", sys.executable)
    set_up.set_up(str(project), DEVICE)
    assert installer.locks == ["requirements.txt"] * 2


def test_a_set_up_that_was_never_finished_chose_nothing(project, installer, on_linux, monkeypatch):
    installer.interrupted = True
    monkeypatch.setenv("ACCELERATOR", "cuda")
    with pytest.raises(KeyboardInterrupt):
        set_up.set_up(str(project), "")
    installer.interrupted = False
    monkeypatch.delenv("ACCELERATOR")
    set_up.set_up(str(project), "")
    assert installer.locks == ["requirements-cuda.txt", "requirements.txt"]


@pytest.mark.parametrize(
    ("stamp", "variant"),
    [
        ("", ""),
        ("cuda", ""),  # as it was left before, by a set-up that was not finished
        ("\ncuda", "cuda"),
        ("/a/.venv /a/python\ncuda 00ff", "cuda"),
        ("/a\nb/.venv /a/python\ncpu 00ff", "cpu"),
        ("/a/.venv /a/python\n00ff", "cpu"),
    ],
)
def test_only_what_was_finished_is_read_as_chosen(stamp, variant):
    assert set_up.variant_of(stamp) == variant


def test_an_environment_from_before_there_were_variants_is_kept(project, installer):
    set_up.set_up(str(project))
    stamp = project / ".venv/set-up.stamp"
    stamp.write_text(stamp.read_text(encoding="utf-8").replace("cpu ", ""), encoding="utf-8")
    set_up.set_up(str(project), DEVICE)
    assert installer.locks == ["requirements.txt"] * 2
    assert (project / ".venv/installed").exists()


def test_a_wrong_accelerator_is_refused_before_anything_is_made(project, monkeypatch, capsys):
    monkeypatch.setattr(set_up, "ROOT", str(project))
    monkeypatch.setenv("ACCELERATOR", "gpu")
    assert set_up.main() == 2
    assert capsys.readouterr().err == "set-up: ACCELERATOR is 'gpu': give cpu or cuda, or nothing\n"
    assert not (project / ".venv").exists()


def test_every_command_says_what_hides_a_device(project, installer, monkeypatch):
    calls = []
    monkeypatch.setattr(set_up, "ROOT", str(project))
    monkeypatch.setattr(set_up, "choose_python", lambda explicit: sys.executable)
    monkeypatch.setattr(set_up, "set_up", lambda root, device: calls.append(device))
    popen = set_up.subprocess.Popen

    def start(command, cwd):
        calls.append(command)
        return popen([sys.executable, "-c", "pass"])

    monkeypatch.setattr(set_up.subprocess, "Popen", start)
    for device in ["", DEVICE]:
        monkeypatch.setattr(set_up, "nvidia_device", lambda device=device: device)
        assert set_up.main() == 0
    python = f"{project}/.venv/bin/python"
    assert calls == ["", DEVICE, [python, "-m", "xla_helpers.devices", DEVICE]]


def test_a_driver_that_hangs_stops_no_command(project, monkeypatch, capsys):
    popen = set_up.subprocess.Popen
    hang = [sys.executable, "-c", "import time; time.sleep(300)"]
    monkeypatch.setattr(set_up.subprocess, "Popen", lambda command, cwd: popen(hang))
    monkeypatch.setattr(set_up, "PATIENCE", 0.1)
    set_up.say_what_hides_it(DEVICE)
    assert capsys.readouterr().err == "set-up: the NVIDIA driver did not answer within 0.1 s.\n"


# Packages

needs_pip = pytest.mark.skipif(not find_spec("pip"), reason="made without pip")


def wheel(folder, name):
    """A package of one empty module."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{name}.py", "")
        file.writestr(
            f"{name}-1.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n"
        )
        file.writestr(f"{name}-1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr(f"{name}-1.dist-info/RECORD", "")
    return path


def pin(path, digest=None):
    """A wheel as `make lock` pins it, with the hash of another machine's wheel before its own."""
    digest = digest or hashlib.sha256(path.read_bytes()).hexdigest()
    name = path.name.split("-")[0]
    return (
        f"{name}==1 \\\n    --hash=sha256:{'0' * 64} \\\n    --hash=sha256:{digest}\n"
        "    # via something\n"
    )


def has(venv, module):
    return bool(set_up.output_of([venv / "bin/python", "-c", f"import {module}; print('yes')"]))


@pytest.fixture
def venv(project, monkeypatch):
    """An environment without pip, on a machine that has one and no network."""
    path = project / ".venv"
    set_up.make_venv(str(path))
    monkeypatch.setattr(set_up, "find_spec", find_spec)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(project / "wheels"))
    return path


@needs_pip
def test_uv_alone_comes_by_pip_and_by_its_hash(project, venv, capfd):
    uv, lock = wheel(project / "wheels", "uv"), project / "requirements.txt"
    lock.write_text("absent==1\n" + pin(uv, digest="1" * 64) + "uvloop==1\n", encoding="utf-8")
    with pytest.raises(set_up.SetUpError, match="the message above says why"):
        set_up.install_uv(set_up.pip_for(venv), venv, lock)
    assert "DO NOT MATCH THE HASHES" in capfd.readouterr().err
    lock.write_text("absent==1\n" + pin(uv) + "uvloop==1\n", encoding="utf-8")
    set_up.install_uv(set_up.pip_for(venv), venv, lock)
    assert has(venv, "uv")


@needs_pip
def test_a_failed_download_shows_what_pip_said(project, venv, capfd):
    (project / "requirements.txt").write_text(pin(Path("uv-1.whl"), digest="1" * 64))
    with pytest.raises(set_up.SetUpError, match="or the network back, the same command starts"):
        set_up.install_uv(set_up.pip_for(venv), venv, project / "requirements.txt")
    assert "No matching distribution found for uv==1" in capfd.readouterr().err


@pytest.fixture
def commands(monkeypatch):
    """The commands that were run; building this project is left out."""
    commands, run = [], set_up.run

    def note(command, environment=None):
        commands.append(command)
        if "--editable" not in command:
            run(command, environment)

    monkeypatch.setattr(set_up, "run", note)
    return commands


def test_all_else_comes_by_uv_from_where_pip_was_told_to_look(project, venv, commands, monkeypatch):
    (venv / "bin/uv").symlink_to(UV)
    tiny = wheel(project / "wheels", "tiny")
    settings = {"find-links": f"{tiny.parent} /no/such/folder", "no-index": "1"}
    monkeypatch.setattr(set_up, "pip_settings", lambda pip: settings)
    (project / "requirements.txt").write_text(pin(tiny, digest="1" * 64), encoding="utf-8")
    with pytest.raises(set_up.SetUpError):
        set_up.install_packages(project, venv)
    (project / "requirements.txt").write_text(pin(tiny), encoding="utf-8")
    set_up.install_packages(project, venv)
    assert has(venv, "tiny")
    last = commands[-1]
    assert last[-2:] == ["--editable", project]
    assert {"--no-index", "--no-deps", "--no-build-isolation"} < set(last)


@pytest.mark.parametrize("forbidden", [False, True])
def test_bytecode_is_written_where_python_will_not(project, venv, commands, monkeypatch, forbidden):
    monkeypatch.setattr(set_up, "run", lambda command, environment: commands.append(command))
    monkeypatch.setattr(set_up.sys, "dont_write_bytecode", forbidden)
    (venv / "bin/uv").touch()
    set_up.install_packages(project, venv)
    assert ["--compile-bytecode" in command for command in commands] == [forbidden, False]


@pytest.mark.parametrize(
    ("variant", "words"),
    [("cpu", ": half a minute on a fast network.\n"), ("cuda", ": some gigabytes, which take ")],
)
def test_how_long_it_takes_depends_on_what_is_fetched(
    project, venv, monkeypatch, capsys, variant, words
):
    monkeypatch.setattr(set_up, "run", lambda command, environment: None)
    monkeypatch.setattr(set_up, "pip_settings", lambda pip: {})
    (venv / "bin/uv").touch()
    set_up.install_packages(project, venv, variants.LOCKS[variant])
    assert words in capsys.readouterr().out


@needs_pip
def test_pip_says_what_it_is_configured_with(tmp_path, monkeypatch):
    (tmp_path / "pip.conf").write_text(
        "[global]\nindex-url = https://global\nfind-links = /elsewhere\nprefer-binary = true\n"
        "extra-index-url =\n  https://one\n  https://two\n"
        "[install]\nindex-url = https://install\n[list]\nindex-url = https://list\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("PIP_FIND_LINKS", "wheels more")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    settings = set_up.pip_settings([sys.executable, "-m", "pip"])
    assert settings["find-links"] == "wheels more"
    assert settings["index-url"] == "https://install"
    assert settings["extra-index-url"] == "https://one https://two"
    assert settings["no-index"] == "1"
    assert set_up.pip_settings(["/no/such/pip"]) == {}


def test_uv_gets_the_settings_of_pip_and_the_reader_may_overrule_them(monkeypatch, tmp_path):
    for name in ["UV_FIND_LINKS", "UV_CACHE_DIR", *set_up.UV_NAMES.values()]:
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "more wheels"
    folder.mkdir()
    links = f"{tmp_path} /no/such/folder {folder.as_uri()} file:///no/such https://host/wheels"
    settings = {
        "index-url": "https://index",
        "extra-index-url": "https://one https://two",
        "find-links": links,
        "cert": "/etc/certificates.pem",
        "timeout": "3",
    }
    environment = set_up.uv_environment(settings, "venv")
    assert environment["UV_INDEX_URL"] == "https://index"
    assert environment["UV_EXTRA_INDEX_URL"] == "https://one https://two"
    assert environment["SSL_CERT_FILE"] == "/etc/certificates.pem"
    assert environment["UV_FIND_LINKS"] == f"{tmp_path},{folder.as_uri()},https://host/wheels"
    assert environment["UV_CACHE_DIR"] == "venv/cache"
    monkeypatch.setenv("UV_INDEX_URL", "https://mine")
    monkeypatch.setenv("UV_CACHE_DIR", "mine")
    environment = set_up.uv_environment(settings, "venv")
    assert (environment["UV_INDEX_URL"], environment["UV_CACHE_DIR"]) == ("https://mine", "mine")
