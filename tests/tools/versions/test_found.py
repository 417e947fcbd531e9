"""What was found travels as a file, and the lock is read for the Python that was tried."""

import pytest

from tools.collection import UsageError
from tools.suites import Suite
from tools.versions.found import Found, keep, kept, locked, moved

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
    assert moved(here, "3.11", root) == {"keras": ["3.15.1", "3.16.0"], "new": ["", "1.0"]}


def test_what_was_found_comes_back(tmp_path):
    found = Found("oldest", "3.11", True, helpers=Suite(7, {"a test": "why"}), seconds=1.5)
    (tmp_path / "here").mkdir()
    keep(found, tmp_path / "here")
    assert kept(tmp_path) == [found]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"helpers": {}, "notebooks": {}}', "\xff"])
def test_a_file_that_holds_something_else_is_named(tmp_path, text):
    (tmp_path / "found.json").write_text(text, encoding="latin-1")
    with pytest.raises(UsageError, match="found.json is not what make test-versions keeps"):
        kept(tmp_path)


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
