"""Files that somebody sent: their bytes, and whether they keep the JSON schemas in `data`."""

import json
import stat
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path

from .tables import cut, in_one_line

ERRORS = 100  # of a file, among which the one that says most is looked for
LONGEST = 100  # characters of what is wrong, and of where


def read_data(name: str) -> str:
    """The text of a file that ships with the package."""
    return files(__package__).joinpath("data", name).read_text(encoding="utf-8")


def read_file(path: Path, limit: int) -> bytes:
    """The bytes of a file that anybody may have put there.

    Raises: ValueError for what is no regular file, such as a pipe that would be waited for, and
    for more than `limit` bytes; OSError when it cannot be opened.
    """
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise ValueError("not a regular file")
    if found.st_size > limit:
        raise ValueError(f"larger than {limit:,} bytes")
    return path.read_bytes()


def violation(content, schema: str) -> str:
    """What `content` breaks of a schema, in one line; nothing when it keeps it."""
    from jsonschema.exceptions import best_match

    error = best_match(islice(_validator(schema).iter_errors(content), ERRORS))
    if error is None:
        return ""
    place, message = cut(error.json_path, LONGEST), cut(error.message, LONGEST)
    return in_one_line(f"{place}: {message}")


@cache
def _validator(schema):
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(read_data(schema)))
