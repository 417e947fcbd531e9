"""Environments as uv makes them, and what is said when it cannot."""

import sys

import pytest

from tools import environments
from tools.alone import Taken, alone
from tools.environments import NoSolution, NotMade

NO_SOLUTION = """  × No solution found when resolving dependencies:
  ╰─▶ Because tensorflow==2.19.1 has no wheels with a matching Python ABI tag
      and you require it, we cannot.

      hint: You require CPython 3.13
"""
NO_NETWORK = """error: Request failed after 3 retries in 8.6s
  cause: Failed to download `https://example.org/python.tar.gz`
  cause: failed to lookup address
"""


def test_an_environment_is_made_and_its_packages_are_read(tmp_path):
    environments.make(tmp_path / "new", sys.executable)
    python = environments.inside(tmp_path / "new")
    code = "import sys; print(sys.prefix != sys.base_prefix)"
    assert environments.call(python, "-c", code).strip() == "True"
    assert environments.packages(tmp_path / "new") == {}


def test_what_was_there_is_replaced(tmp_path):
    for _ in range(2):
        environments.make(tmp_path / "new", sys.executable)
        assert not (tmp_path / "new" / "mine").exists()
        (tmp_path / "new" / "mine").touch()


def test_an_environment_in_which_another_run_works_is_left_alone(tmp_path):
    (tmp_path / "new").mkdir()
    with (
        alone(tmp_path / ".new.lock"),
        pytest.raises(OSError, match="in use by another run, process [0-9]+: .*new"),
    ):
        environments.make(tmp_path / "new", sys.executable)
    assert list((tmp_path / "new").iterdir()) == []


def test_an_environment_is_kept_from_others_until_this_process_ends(tmp_path):
    folder = tmp_path / "more" / "new"
    environments.claim(folder)
    environments.claim(folder)
    with pytest.raises(Taken), alone(folder.parent / ".new.lock"):
        pass


def test_a_python_that_is_not_there_is_named(tmp_path):
    with pytest.raises(NotMade, match="no environment of Python /nowhere/python3: "):
        environments.make(tmp_path / "new", "/nowhere/python3")


@pytest.fixture
def indexless(monkeypatch):
    """uv without any place to get packages from."""
    monkeypatch.setattr(environments, "settings", lambda: {"UV_NO_INDEX": "1", "UV_OFFLINE": "1"})


def test_versions_that_do_not_fit_are_told_from_what_went_wrong(indexless, tmp_path):
    environments.make(tmp_path, sys.executable)
    with pytest.raises(NoSolution, match="no-such-package"):
        environments.resolve(tmp_path, ["no-such-package"])
    with pytest.raises(NotMade) as caught:
        environments.install(tmp_path, "no-such-package")
    assert caught.type is NotMade and "\n" not in str(caught.value)


def test_a_network_that_is_down_is_not_taken_for_versions_that_do_not_exist(monkeypatch, tmp_path):
    nowhere = {"UV_INDEX_URL": "http://127.0.0.1:9/simple", "UV_HTTP_RETRIES": "0"}
    monkeypatch.setattr(environments, "settings", lambda: nowhere | {"UV_NO_CACHE": "1"})
    environments.make(tmp_path, sys.executable)
    with pytest.raises(NotMade) as caught:
        environments.resolve(tmp_path, ["tensorflow"])
    assert caught.type is NotMade


def test_uv_is_quoted_in_one_line():
    said = environments.reason_of(NO_NETWORK)
    assert said == "Request failed after 3 retries in 8.6s: failed to lookup address"
    said = environments.reason_of(NO_SOLUTION)
    assert said.startswith("No solution found when resolving dependencies")
    assert said.endswith("we cannot.") and "\n" not in said and "╰" not in said
    assert environments.reason_of("") == "uv does not say why"
