"""Whatever somebody types, or an earlier run has left: taken, or refused in one line."""

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.test_hostile import TEXT, is_one_line, replaced, tried
from tools.collection import UsageError
from tools.parameters import Parameter, in_range, value_of
from tools.suites import Suite
from tools.versions.found import FILE, Found, kept
from tools.versions.issue import text as issue_of
from tools.versions.table import table as table_of

# What was found among other versions


@pytest.fixture(scope="module")
def below(tmp_path_factory):
    return tmp_path_factory.mktemp("versions")


SUITE = Suite(1, {"a test": "why"})
FOUND = Found("oldest", "3.11", True, "Linux", {"numpy": "2"}, {"numpy": ("1", "2")}, SUITE, SUITE)


@tried
@given(data=st.data())
def test_parts_of_what_was_found(below, data):
    content = replaced(data.draw, json.loads(json.dumps(asdict(FOUND))))
    (below / FILE).write_text(json.dumps(content), encoding="utf-8")
    try:
        (found,) = kept(below)
    except UsageError as error:
        assert is_one_line(str(error)) and FILE in str(error)
        return
    assert "".join(table_of([found]).split("\n")).isprintable()
    lines = issue_of([found], 1).split("\n")
    assert all(map(str.isprintable, lines)) and sum(line.startswith("## ") for line in lines) == 1


# Parameters


def taken(kind, words, texts):
    """The value that the texts stand for; UsageError where there is none."""
    try:
        return value_of(Parameter("size", kind, "8", words), texts)
    except UsageError as error:
        assert is_one_line(str(error)) and str(error).startswith("size ")
        return UsageError


@tried
@given(st.integers(), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 64))
def test_a_number_is_taken_when_it_keeps_to_the_words(value, low, high, step):
    words = f"how many, at least {low:,}, at most {high:,}, a multiple of {step}"
    allowed = low <= value <= high and value % step == 0
    assert in_range(value, words) == allowed
    assert taken("int", words, [str(value)]) == (value if allowed else UsageError)


@tried
@given(st.sampled_from(["int", "bool", "str", "list[str]"]), st.lists(TEXT, min_size=1, max_size=3))
def test_any_text_for_a_parameter(kind, texts):
    value = taken(kind, 'of which "graph" or "XLA"', texts)
    kinds = {"int": int, "bool": bool, "str": str, "list[str]": list}
    assert value is UsageError or type(value) is kinds[kind]
