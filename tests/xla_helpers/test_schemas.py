import json
import os
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator

from xla_helpers.schemas import read_data, read_file, violation

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


def test_what_breaks_a_schema_a_million_times_is_not_read_to_its_end():
    def broken():
        yield from [{}]
        pytest.fail("there were enough")

    class Many(list):
        __iter__ = lambda self: broken()  # noqa: E731

    assert violation(Many([{}]), "published.schema.json").startswith("$[")


def test_a_file_is_read_up_to_a_limit(tmp_path):
    path = tmp_path / "mine.json"
    path.write_bytes(b"12345")
    assert read_file(path, 5) == b"12345"
    with pytest.raises(ValueError, match="^larger than 4 bytes$"):
        read_file(path, 4)
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "other.json", 4)


def test_what_is_no_regular_file_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for somebody who writes
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "to_pipe").symlink_to("pipe")
    for name in ("pipe", "device", "to_pipe", "."):
        with pytest.raises(ValueError, match="^not a regular file$"):
            read_file(tmp_path / name, 5)
