"""Files against the JSON schemas that lie in `data`."""

import json
from functools import cache
from importlib.resources import files


def read_data(name: str) -> str:
    """The text of a file that ships with the package."""
    return files(__package__).joinpath("data", name).read_text(encoding="utf-8")


def violation(content, schema: str) -> str:
    """What `content` breaks of a schema, in one line; nothing when it keeps it."""
    from jsonschema.exceptions import best_match

    error = best_match(_validator(schema).iter_errors(content))
    return f"{error.json_path}: {error.message[:100]}" if error else ""


@cache
def _validator(schema):
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(read_data(schema)))
