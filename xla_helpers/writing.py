"""Files written complete or not at all, and folders in which nothing of anybody else's is lost."""

import errno
import json
import os
import secrets
import shutil
import stat
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath

MANIFEST = ".made.json"  # in a folder: what `write_folder` wrote there
STAGED = ".made.new"  # beside it while a folder is written: what moves into place next


def write_file(path: str | Path, content: str | bytes) -> None:
    """Write a file complete or not at all: the old one stays until the new one is whole.

    path: a link is followed, and the file that it leads to is replaced, or made where there is
    none; its folder exists. content: text becomes UTF-8, with ``?`` for half a character. A file
    keeps its permissions.

    Raises: OSError, which names the file, for what may not be written and for what is no regular
    file, such as a folder or a device.
    """
    write_files({path: content})


def write_files(contents: Mapping[str | Path, str | bytes]) -> None:
    """Write several files as `write_file` does; none is replaced before all of them are whole.

    Raises: OSError, which names the file.
    """
    targets = {writable(path): content for path, content in contents.items()}
    beside = {target: _beside(target) for target in targets}
    try:
        for target, content in targets.items():
            with _naming(target):
                _write_new(beside[target], content, target)
        for target, new in beside.items():
            with _naming(target):
                os.replace(new, target)
    finally:
        for new in beside.values():
            with suppress(OSError):
                new.unlink()


def writable(path: str | Path) -> Path:
    """The file that would be written at `path`, with links followed.

    Raises: OSError when it may not be written, or is no regular file.
    """
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


def _beside(target):
    return target.with_name(f".{os.getpid()}-{secrets.token_hex(4)}.new")


@contextmanager
def _naming(path):
    """Let an error of the file system name this file, and not one that stands in for it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _write_new(new, content, target):
    data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    with open(new, "xb") as file:
        if target.exists():
            new.chmod(stat.S_IMODE(target.stat().st_mode))
        file.write(data)


def was_written(folder: str | Path) -> bool:
    """Whether `write_folder` wrote into this folder before, or began to."""
    return Path(folder, MANIFEST).is_file() or Path(folder, STAGED).is_dir()


def holds_others(folder: str | Path) -> bool:
    """Whether there is something in this folder, and nothing that `write_folder` wrote.

    Raises: OSError for what is there and is no folder.
    """
    folder = Path(folder)
    return folder.exists() and any(folder.iterdir()) and not was_written(folder)


def write_folder(made: str | Path, out: str | Path, *, remove: bool = True) -> list[Path]:
    """Bring the files of one folder into another, in which everything else stays.

    out: is made where it is not there, and then lists in ``.made.json`` what was written. A file
    that is listed and that nobody changed since is replaced, or goes when `made` holds it no
    longer. All others stay, and so does what stands behind a link. remove: False when `made` is
    not complete, so that no file goes.

    Returns: the files in `out` that stayed although `made` holds others of their names.
    Raises: OSError, which names the file. Before the first file is replaced, all of `made` lies
    on the disk of `out`.
    """
    out = _folder(out)
    with _alone(out):
        return _written(Path(made), out, remove)


@contextmanager
def _alone(folder):
    """Wait until no other process writes into this folder."""
    import fcntl  # here: Windows has none, and the package is to be imported there

    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _written(made, out, remove):
    new, listed = _files(made), _listed(out)
    try:
        _stage(made, out, new)
        _list(out, {name: {*listed.get(name, ()), *new.get(name, ())} for name in {*listed, *new}})
        gone = _remove(out, {n: h for n, h in listed.items() if n not in new}) if remove else set()
        kept = [name for name in new if not _move(out, name, {*listed.get(name, ()), *new[name]})]
        new |= {name: listed.get(name, set()) for name in kept}
        _list(out, {n: hashes for n, hashes in (listed | new).items() if n not in gone and hashes})
    finally:
        shutil.rmtree(out / STAGED, ignore_errors=True)
    return [out / name for name in kept]


def _folder(out):
    """The folder that `out` leads to, made where there is none."""
    if os.path.islink(out) and not os.path.exists(out):
        raise FileNotFoundError(errno.ENOENT, "this link leads nowhere", str(out))
    folder = Path(os.path.realpath(out))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _files(made):
    """Name of each file, relative and with slashes, to its contents' hash, in a set."""
    files = sorted(path for path in made.rglob("*") if path.is_file())
    return {path.relative_to(made).as_posix(): {_hash(path)} for path in files}


def _hash(path):
    return sha256(path.read_bytes()).hexdigest()


def _listed(out):
    """What the manifest lists: name to the hashes of what may have been written."""
    path = out / MANIFEST
    _check_regular(path)
    if not path.exists():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found = {name: {*hashes} for name, hashes in content.items() if _is_below(name)}
        if not all(isinstance(one, str) for hashes in found.values() for one in hashes):
            raise ValueError("a hash is text")
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise OSError(errno.EINVAL, "no list of what was written here", str(path)) from error
    return found


def _is_below(name):
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and b"\0" not in os.fsencode(name)


def _list(out, hashes):
    """Write the manifest. During a run it holds old contents and new, whichever is there."""
    content = {name: sorted(hashes[name]) for name in sorted(hashes)}
    with _naming(out / MANIFEST):
        (out / STAGED / MANIFEST).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        os.replace(out / STAGED / MANIFEST, out / MANIFEST)


def _stage(made, out, names):
    """Copy all files to the disk on which they will stay."""
    shutil.rmtree(out / STAGED, ignore_errors=True)  # of a run that was killed
    with _naming(out):
        (out / STAGED).mkdir()
    for name in names:
        with _naming(out / name):
            (out / STAGED / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(made / name, out / STAGED / name)


def _move(out, name, hashes):
    """Put a staged file in its place, unless somebody else's is there. Returns: whether it was."""
    if not _is_free(out, name, hashes):
        return False
    with _naming(out / name):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(out / STAGED / name, out / name)
    return True


def _remove(out, listed):
    """Remove files with these contents, and folders that are empty then. Returns: their names."""
    for name in [name for name in listed if _is_free(out, name, listed[name])]:
        with _naming(out / name):
            (out / name).unlink(missing_ok=True)
        with suppress(OSError):
            os.removedirs((out / name).parent)
    return set(listed)


def _is_free(out, name, hashes):
    """Whether there is nothing, or a file with one of these contents, and no link on the way."""
    path = out / name
    way = [out / above for above in PurePosixPath(name).parents]
    if any(one.is_symlink() or (one.exists() and not one.is_dir()) for one in way if one != out):
        return False
    if not os.path.lexists(path):
        return True
    return path.is_file() and not path.is_symlink() and _hash(path) in hashes
