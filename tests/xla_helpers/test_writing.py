"""Writing: complete or not at all."""

import errno
import os
import subprocess
from pathlib import Path

import pytest

from xla_helpers import writing
from xla_helpers.writing import write_file


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_text_is_utf_8_and_half_a_character_is_replaced(tmp_path):
    write_file(tmp_path / "text", "日本 \ud800")
    assert (tmp_path / "text").read_bytes() == "日本 ?".encode()
    assert names(tmp_path) == ["text"]


def test_bytes_stay_as_they_are(tmp_path):
    write_file(str(tmp_path / "bytes"), b"\r\n\xff")
    assert (tmp_path / "bytes").read_bytes() == b"\r\n\xff"


def test_permissions_stay(tmp_path):
    (tmp_path / "run").write_text("old")
    (tmp_path / "run").chmod(0o750)
    write_file(tmp_path / "run", "new")
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("target", ["old", "absent"])
def test_a_link_is_followed(tmp_path, target):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "old").write_text("old")
    (tmp_path / "second").symlink_to(tmp_path / "there" / target)
    (tmp_path / "first").symlink_to("second")
    write_file(tmp_path / "first", "new")
    assert (tmp_path / "first").is_symlink() and (tmp_path / "second").is_symlink()
    assert (tmp_path / "there" / target).read_text() == "new"


def test_what_is_no_file_is_refused_by_name(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "to device").symlink_to("/dev/null")
    kinds = {"folder": errno.EISDIR, "pipe": errno.EINVAL, "loop": errno.EINVAL}
    for name, number in kinds.items():
        with pytest.raises(OSError) as caught:
            write_file(tmp_path / name, "new")
        assert (caught.value.errno, caught.value.filename) == (number, str(tmp_path / name))
    with pytest.raises(OSError, match="not a regular file: '/dev/null'"):
        write_file(tmp_path / "to device", "new")


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        write_file(tmp_path / "absent" / "file", "new")
    assert caught.value.filename == str(tmp_path / "absent")
    (tmp_path / "file").write_text("old")
    with pytest.raises(NotADirectoryError):
        write_file(tmp_path / "file" / "below", "new")


@pytest.mark.parametrize("protected", ["file", "."])
def test_what_may_not_be_written_is_refused(tmp_path, monkeypatch, protected):
    """As it is for anybody but root, whom modes do not stop."""
    (tmp_path / "file").write_text("old")
    path = (tmp_path / protected).resolve()
    monkeypatch.setattr(os, "access", lambda asked, mode: Path(asked) != path)
    with pytest.raises(PermissionError) as caught:
        write_file(tmp_path / "file", "new")
    assert caught.value.filename == str(path)
    assert (tmp_path / "file").read_text() == "old"


def fails(number=errno.ENOSPC):
    def function(*arguments, **options):
        raise OSError(number, os.strerror(number))

    return function


@pytest.mark.parametrize("step", ["replace", "open"])
def test_after_a_failure_the_old_file_is_whole_and_nothing_is_left(tmp_path, monkeypatch, step):
    (tmp_path / "file").write_text("old")
    stub = {"replace": os, "open": writing}[step]
    monkeypatch.setattr(stub, step, fails(), raising=False)
    with pytest.raises(OSError) as caught:
        write_file(tmp_path / "file", "new")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path / "file"))
    assert (tmp_path / "file").read_text() == "old" and names(tmp_path) == ["file"]


def test_an_interruption_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    (tmp_path / "file").write_text("old")
    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "old" and names(tmp_path) == ["file"]


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 100 kB, of which the tests that only pretend cannot know all answers."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(folder)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_keeps_the_old_file(small_disk):
    write_file(small_disk / "file", "old")
    with pytest.raises(OSError) as caught:
        write_file(small_disk / "file", b"x" * 200_000)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(small_disk / "file"))
    assert (small_disk / "file").read_text() == "old" and names(small_disk) == ["file"]
