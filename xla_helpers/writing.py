"""Files written complete or not at all."""

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path


def write_file(path: str | Path, content: str | bytes) -> None:
    """Write a file complete or not at all: the old one stays until the new one is whole.

    path: a link is followed, and the file that it leads to is replaced, or made where there is
    none; its folder exists. content: text becomes UTF-8, with ``?`` for half a character. A file
    keeps its permissions.

    Raises: OSError, which names the file, for what may not be written and for what is no regular
    file, such as a folder or a device.
    """
    target = _writable(path)
    beside = target.with_name(f".{os.getpid()}-{secrets.token_hex(4)}.new")
    try:
        _write_new(beside, content, target)
        os.replace(beside, target)
    except OSError as error:  # it names the file, and not one that stands in for it
        raise OSError(error.errno, error.strerror, str(target)) from error
    finally:
        with suppress(OSError):
            beside.unlink()


def _writable(path):
    """The file that would be written, with links followed."""
    target = Path(os.path.realpath(path))
    _check_regular(target)
    for one in (target, target.parent):
        if one.exists() and not os.access(one, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(one))
    target.parent.stat()
    return target


def _check_regular(path):
    """Refuse what is there and is no regular file, links included."""
    if not os.path.lexists(path):
        return
    mode = os.lstat(path).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))


def _write_new(new, content, target):
    data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    with open(new, "xb") as file:
        if target.exists():
            new.chmod(stat.S_IMODE(target.stat().st_mode))
        file.write(data)
