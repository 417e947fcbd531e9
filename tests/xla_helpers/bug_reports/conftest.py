"""An archive, ways to change it, and archived programs that run in this process."""

import json
import zipfile

import pytest

from xla_helpers.bug_reports import replay
from xla_helpers.processes import Run


@pytest.fixture
def archive(tmp_path):
    return tmp_path / "report.zip"


@pytest.fixture
def rewrite(archive):
    """Change one file of the archive; None takes it out."""

    def rewrite(name, change):
        with zipfile.ZipFile(archive) as file:
            members = {member: file.read(member) for member in file.namelist()}
        content = change(members.pop(name).decode())
        with zipfile.ZipFile(archive, "w") as file:
            for member, data in members.items():
                file.writestr(member, data)
            if content is not None:
                file.writestr(name, content)

    return rewrite


@pytest.fixture
def change(rewrite):
    """Change parts of `report.json`."""
    return lambda **parts: rewrite("report.json", lambda t: json.dumps(json.loads(t) | parts))


@pytest.fixture
def jit(tf):
    return lambda function: tf.function(function, jit_compile=True)


@pytest.fixture
def here(tf, monkeypatch):
    """Run archived programs in this process, which has started TensorFlow already."""

    def run_here(function, *arguments, **limits):
        return Run(json.loads(json.dumps(function(*arguments))), "", "", 0.0)

    monkeypatch.setattr(replay, "run_in_process", run_here)
    return run_here
