"""Files that somebody sent: their bytes, and whether they keep the JSON schemas in `data`."""

import json
import stat
from functools import cache
from importlib.resources import files
from pathlib import Path

from .tables import cut, in_one_line

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
    """The first thing that `content` breaks of a schema, in one line; nothing when it keeps it."""
    from fastjsonschema import JsonSchemaValueException

    try:
        _validator(schema)(content)
    except JsonSchemaValueException as error:
        place, message = "$" + error.name.removeprefix("data"), error.message
        message = message.removeprefix(error.name).strip()
        return in_one_line(f"{cut(place, LONGEST)}: {cut(message, LONGEST)}")
    return ""


@cache
def _validator(schema):
    import fastjsonschema

    return fastjsonschema.compile(json.loads(read_data(schema)))
