import json
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator

from xla_helpers.schemas import read_data, violation

SCHEMAS = [
    path.name
    for path in files("xla_helpers").joinpath("data").iterdir()
    if path.name.endswith(".schema.json")
]


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one(name):
    Draft202012Validator.check_schema(json.loads(read_data(name)))


def test_a_file_that_keeps_its_schema_breaks_nothing():
    assert violation(json.loads(read_data("published.json")), "published.schema.json") == ""


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ([], "$"),
        ({}, "$"),
        ([{"name": "x"}], "$[0]"),
        ([{"name": "line\nbreak" * 99}], "$[0]"),
    ],
)
def test_what_is_broken_is_said_in_one_short_line(content, place):
    wrong = violation(content, "published.schema.json")
    assert wrong.startswith(place) and "\n" not in wrong and len(wrong) < 200
