"""Counting what pytest finds, whatever happens to it."""

import sys
from xml.etree.ElementTree import Element

import pytest

from tools import suites
from tools.suites import Suite, read_report, reason_of, run_tests
from xla_helpers import watching

TESTS = """
import pytest

def test_right():
    pass

def test_wrong():
    assert 1 == 2, "one is\\nnot two"

def test_not_here():
    pytest.skip("elsewhere")

@pytest.fixture
def broken():
    raise OSError("no such thing")

def test_without_its_fixture(broken):
    pass
"""
NOTEBOOK = """<testsuites><testsuite><testcase classname="" name="Cell 4"><failure message="m">
#x1B[91mNotebook cell execution failed#x1B[0m
#x1B[94mCell 4: Cell execution caused an exception
#x1B[31mAssertionError#x1B[39m                            Traceback (most recent call last)
#x1B[31mAssertionError#x1B[39m: x is not
two
</failure></testcase></testsuite></testsuites>"""


@pytest.fixture
def given(tmp_path, monkeypatch):
    """Runs pytest on a file of tests."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # it starts sooner

    def run(text, also=(), **more):
        (tmp_path / "test_given.py").write_text(text, encoding="utf-8")
        words = ["-c", "/dev/null", "--rootdir", tmp_path, tmp_path / "test_given.py", *also]
        return run_tests(sys.executable, words, tmp_path / "given.log", **more)

    return run


def test_passed_and_failed_are_counted_with_reasons(given):
    found = given(TESTS)
    assert found.passed == 1 and str(found) == "1 passed, 2 failed"
    assert found.failed["test_given.test_wrong"] == "AssertionError: one is"
    assert found.failed["test_given.test_without_its_fixture"] == "OSError: no such thing"


def test_a_crash_is_a_failure(given):
    found = given("import os\n\ndef test_it():\n    os._exit(7)\n")
    assert found.passed == 0 and "ended with 7; see" in found.failed["pytest"]
    found = given("import os\n\ndef test_it():\n    os._exit(1)\n")
    assert found.passed == 0 and "ran no test; see" in found.failed["pytest"]


def test_a_place_without_tests_is_a_failure(given):
    assert "ended with 5" in given("").failed["pytest"]


def test_what_does_not_end_is_a_failure(given):
    found = given("import time\n\ndef test_it():\n    time.sleep(600)\n", limit=1)
    assert found.failed["pytest"] == "did not end within 1 s"


def test_what_prints_without_end_is_stopped(given, monkeypatch):
    monkeypatch.setattr(watching, "PRINTED", 1_000_000)
    monkeypatch.setattr(suites, "PRINTED", 1_000_000)
    found = given("def test_it():\n    while True:\n        print('x' * 9999)\n", also=["-s"])
    assert found.failed["pytest"] == "printed more than 1 MB and was stopped; see given.log"


@pytest.mark.parametrize("text", ["", NOTEBOOK[:200], "\0", NOTEBOOK + "<"])
def test_a_torn_report_is_a_failure(tmp_path, text):
    (tmp_path / "report.xml").write_text(text, encoding="utf-8")
    found = read_report(tmp_path / "report.xml")
    assert found.passed == 0 and len(found.failed) == 1
    assert found.failed["pytest"].startswith("report.xml is no whole report: ")
    assert "\n" not in found.failed["pytest"]


def test_a_file_that_cannot_be_imported_hides_no_other(given, tmp_path):
    (tmp_path / "test_other.py").write_text("import nonesuch\n", encoding="utf-8")
    found = given("def test_it():\n    pass\n", also=[tmp_path / "test_other.py"])
    assert found.passed == 1 and list(found.failed) == ["test_other"]
    assert "nonesuch" in found.failed["test_other"]


def test_an_older_report_does_not_count(given):
    given(TESTS)
    assert given("import os\nos._exit(7)\n").passed == 0


def test_a_cell_is_named_with_the_error_that_it_ended_with(tmp_path):
    (tmp_path / "report.xml").write_text(NOTEBOOK, encoding="utf-8")
    assert read_report(tmp_path / "report.xml") == Suite(0, {"Cell 4": "AssertionError: x is not"})


@pytest.mark.parametrize("said", [None, "", "\n"])
def test_without_words_the_reason_says_so(said):
    trouble = Element("failure")
    trouble.text = said
    assert reason_of(trouble) == "no reason given"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "Traceback:\n#x1B[32m----> 1#x1B[39m x()\n\n#x1B[31mValueError#x1B[39m: a\nb",
            "ValueError: a",
        ),
        ("----> 2 assert x\n      3 y\n\nAssertionError: \n", "AssertionError: assert x"),
        ("E   AssertionError", "AssertionError"),
        ("Cell 4: Cell outputs differ\n\nmore", "Cell 4: Cell outputs differ"),
    ],
)
def test_the_reason_is_one_line(said, reason):
    trouble = Element("failure")
    trouble.text = said
    assert reason_of(trouble) == reason
