"""Environments beside .venv, made by uv: another Python, other versions of packages."""

import errno
import re
import subprocess
import sys
from contextlib import ExitStack
from functools import cache

from tools.alone import Taken, alone
from tools.collection import ROOT
from tools.set_up import pip_for, pip_settings, uv_environment

WHY = "cause:|╰─▶"  # what uv puts before a cause


class NotMade(Exception):
    """An environment that could not be made; the message says why, in one line."""


class NoSolution(NotMade):
    """No versions meet the requirements."""


def make(folder, python, *options):
    """An empty environment, in place of an earlier one, for this process until it ends.

    python: such as 3.12, or a path. One that is not here is fetched, where uv can.
    Raises: NotMade; OSError when another process made the earlier one, and has not ended.
    """
    claim(folder)
    try:
        uv("venv", "--quiet", "--clear", "--python", python, *options, folder)
    except NotMade as error:
        raise NotMade(f"no environment of Python {python}: {error}") from error


@cache
def claim(folder):
    """Keep an environment from all other processes until this one ends. Returns: what keeps it."""
    held = ExitStack()
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        held.enter_context(alone(folder.parent / f".{folder.name}.lock"))
    except Taken as taken:
        raise OSError(errno.EBUSY, f"in use by another run, process {taken}", str(folder)) from None
    return held


def inside(folder):
    """The interpreter of an environment."""
    return folder / "bin" / "python"


def resolve(folder, requirements, *options, near="", whatever=()):
    """Write pins that meet the requirements into an environment. Returns: the file.

    near: the text of a lock, whose pins are kept where they fit. whatever: requirements that hold
    whatever packages ask for. Nothing is compiled: a release without a wheel for this Python does
    not count.
    Raises: NoSolution.
    """
    pins, overrides = folder / "pins.txt", folder / "overrides.txt"
    pins.write_text(near, encoding="utf-8")
    overrides.write_text("\n".join(whatever), encoding="utf-8")
    words = ["--quiet", "--no-header", "--no-annotate", "--no-build", "--python", inside(folder)]
    asked = "\n".join(requirements)
    uv(
        "pip",
        "compile",
        *words,
        *options,
        "--overrides",
        overrides,
        "--output-file",
        pins,
        "-",
        text=asked,
    )
    return pins


def install(folder, *words):
    """Install packages by their names, or with --requirement from a file."""
    uv("pip", "install", "--quiet", "--python", inside(folder), *words)


def install_project(folder):
    """This checkout, among the packages that are there; they have to hold setuptools."""
    install(folder, "--no-deps", "--no-build-isolation", "--editable", ROOT)


def packages(folder):
    """Name to version of what an environment holds, but for this project."""
    lines = uv("pip", "freeze", "--exclude-editable", "--python", inside(folder)).splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def uv(*words, text=None):
    """What uv prints. Raises: NotMade when it fails; NoSolution when no versions fit."""
    return call(sys.executable, "-m", "uv", *words, text=text)


def call(*command, text=None):
    """What a command prints that makes a part of an environment. Raises: as `uv` does."""
    words = list(map(str, command))
    done = subprocess.run(
        words, input=text, env=settings(), capture_output=True, encoding="utf-8", errors="replace"
    )
    if done.returncode:
        refused = done.returncode == 1 and "compile" in words
        raise (NoSolution if refused else NotMade)(reason_of(done.stderr))
    return done.stdout


@cache
def settings():
    """uv's variables, with pip's settings among them, and one cache for all environments."""
    return uv_environment(pip_settings(pip_for(str(ROOT / ".venv"))), str(ROOT / "build"))


def reason_of(said):
    """uv's own words: what failed and its last cause, without drawing and hints."""
    reason = " ".join(said.partition("hint:")[0].replace("│", " ").split())
    causes = [part.strip("× ").removeprefix("error: ") for part in re.split(WHY, reason)]
    return ": ".join(dict.fromkeys([causes[0], causes[-1]])) or "uv does not say why"
