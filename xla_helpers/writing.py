"""Files written complete or not at all."""

import os
import tempfile
from pathlib import Path


def write_file(path: str | Path, content: str | bytes) -> None:
    """Write a file complete or not at all: the old one stays until the new one is whole.

    path: a link is followed, and its folder exists. content: text becomes UTF-8, with ``?`` for
    half a character.

    Raises: OSError when it cannot be written.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError(f"not a regular file: {str(target)!r}")
    data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".") as beside:
        new = Path(beside, target.name)
        new.write_bytes(data)
        os.replace(new, target)
