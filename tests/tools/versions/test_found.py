"""What was found travels as a file, and the lock is read for the Python that was tried."""

import json
import os
from dataclasses import asdict

import pytest

from tools.collection import UsageError
from tools.suites import Suite
from tools.versions.found import LARGEST, Found, keep, kept, load, locked, moved

LOCK = r"""# made by a tool
numpy==2.4.6 ; python_full_version >= '3.12' \
    --hash=sha256:0
numpy==2.3.0 ; python_full_version < '3.12' \
    --hash=sha256:1
PyYAML==6.0 \
    --hash=sha256:2
keras==3.15.1
"""


@pytest.fixture
def root(tmp_path):
    (tmp_path / "requirements.txt").write_text(LOCK, encoding="utf-8")
    return tmp_path


def test_the_lock_has_one_version_for_each_python(root):
    assert locked("3.11", root) == {"numpy": "2.3.0", "pyyaml": "6.0", "keras": "3.15.1"}
    assert locked("3.13", root)["numpy"] == "2.4.6"


def test_pins_that_moved_are_named_with_both_versions(root):
    here = {"numpy": "2.3.0", "keras": "3.16.0", "new": "1.0"}
    assert moved(here, "3.11", root) == {"keras": ("3.15.1", "3.16.0"), "new": ("", "1.0")}


def test_what_was_found_comes_back(tmp_path):
    pins = {"keras": ("3.15.1", "3.16.0")}
    wrong = Suite(7, {"a test": "why"})
    found = Found("oldest", "3.11", True, moved=pins, helpers=wrong, seconds=1.5)
    (tmp_path / "here").mkdir()
    keep(found, tmp_path / "here")
    assert kept(tmp_path) == [found]


def is_refused(folder):
    with pytest.raises(UsageError, match="found.json is not what make test-versions keeps"):
        kept(folder)


NOTHING_LIKE_IT = ["", "[]", "{}", '{"helpers": {}, "notebooks": {}}', "\xff", "[" * 100_000]


@pytest.mark.parametrize("text", NOTHING_LIKE_IT)
def test_a_file_that_holds_something_else_is_named(tmp_path, text):
    (tmp_path / "found.json").write_text(text, encoding="latin-1")
    is_refused(tmp_path)


@pytest.mark.parametrize(
    "facts",
    [
        {"moved": [1]},
        {"moved": {"keras": ["3.15.1"]}},
        {"helpers": {"passed": 1, "failed": "boom"}},
        {"helpers": {"passed": "1"}},
        {"missing": 5},
        {"packages": {"keras": None}},
        {"seconds": 10**400},
        {"more": "of it"},
    ],
)
def test_a_file_of_which_a_part_is_something_else_is_named(tmp_path, facts):
    whole = asdict(Found("oldest", "3.11", True))
    (tmp_path / "found.json").write_text(json.dumps(whole | facts), encoding="utf-8")
    is_refused(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "found.json")
    is_refused(tmp_path)


def test_a_file_without_an_end_is_not_read(tmp_path):
    keep(Found("oldest", "3.11", True), tmp_path)
    with (tmp_path / "found.json").open("a") as file:
        file.write(" " * LARGEST)
    is_refused(tmp_path)


def test_a_file_that_cannot_be_opened_is_not_said_to_be_wrong(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "found.json")


@pytest.mark.parametrize(
    ("facts", "failed"),
    [
        ({}, False),
        ({"helpers": Suite(7, {"a test": "why"})}, True),
        ({"notebooks": Suite(0, {"a cell": "why"})}, True),
        ({"missing": "no network"}, True),
        ({"missing": "no such release", "exists": False}, False),
    ],
)
def test_a_release_that_does_not_exist_is_no_failure_and_all_else_is(facts, failed):
    assert Found("one", "3.11", True, **facts).failed == failed
