"""The table of versions in the README."""

import pytest

from tools.collection import ROOT
from tools.readme import END
from tools.suites import Suite
from tools.versions import table
from tools.versions.found import Found

PACKAGES = {"tensorflow": "2.20.0", "keras": "3.13.2", "transformers": "4.57.6", "numpy": "2.1.3"}
FINE = Found("3.12-2.20", "3.12", True, packages=PACKAGES, helpers=Suite(9), seconds=61.2)
NIGHT = Found("nightly", "3.13", False, packages={"tf-nightly": "2.23", "keras-nightly": "3.16"})
ABSENT = Found("3.13-2.19", "3.13", True, missing="no wheel", exists=False)
BROKEN = Found("oldest", "3.11", True, missing="no network")
FAILED = Found("newest", "3.13", True, notebooks=Suite(0, {"05, Cell 3": "Error: a | b"}))


def test_a_row_names_versions_and_counts():
    versions = ["2.20.0", "3.13.2", "4.57.6", "2.1.3"]
    assert table.row(FINE) == ["3.12-2.20", "3.12", *versions, "9 passed", "0 passed", "61 s"]
    assert table.row(NIGHT)[2:4] == ["2.23", "3.16"]


def test_what_could_not_be_made_is_a_row_too():
    assert table.row(ABSENT)[2] == "no release" and table.row(BROKEN)[2] == "not made"
    rows = table.table([FINE, ABSENT, BROKEN]).splitlines()
    assert len({row.count("|") for row in rows}) == 1


def test_names_and_versions_are_text_and_nothing_else():
    packages = {"tensorflow": "2\x1b[2J", "keras": "a |b", "numpy": "<img>\n"}
    *_, row = table.table([Found("*x*\n", "3", True, packages=packages)]).split("\n")
    assert row.startswith(r"| \*x\*  | 3 | 2 \[2J | a \|b |  | \<img\>  | 0 passed |")
    wrong = Found("*x*", "3", True, missing="\x1b[2J")
    assert table.failures([wrong]) == r"- \*x\*:  \[2J"


def test_failures_are_named_below_with_their_reasons():
    said = table.failures([FINE, FAILED, ABSENT, BROKEN])
    assert said == "- newest: 05, Cell 3: Error: a \\| b\n- oldest: no network"


@pytest.fixture
def facts(monkeypatch):
    here = {"processor": "A processor", "Python": "Python 3", "TensorFlow": "TensorFlow 2"}
    monkeypatch.setattr(table, "machine_facts", lambda: here)


def test_the_table_is_kept_between_its_marks(facts, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{table.START}\nold\n{END}\nafter\n", encoding="utf-8")
    table.keep_table([FINE], "All.", tmp_path)
    text = readme.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{table.START}\n| ") and text.endswith(f"{END}\nafter\n")
    assert "old" not in text and "*All. On A processor.*" in text


@pytest.mark.parametrize("text", ["nothing\n", f"{table.START}\nno end\n"])
def test_without_the_marks_the_readme_stays(facts, tmp_path, text):
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    table.keep_table([FINE], "All.", tmp_path)
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == text


def test_the_readme_has_a_place_for_it():
    assert (ROOT / "README.md").read_text(encoding="utf-8").count(table.START) == 1
