"""Writing: complete or not at all, and nothing of anybody else's lost."""

import errno
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from xla_helpers import writing
from xla_helpers.writing import (
    MANIFEST,
    STAGED,
    holds_others,
    was_written,
    write_file,
    write_files,
    write_folder,
)

# A file


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


def test_of_several_files_none_is_replaced_before_all_can_be(tmp_path):
    (tmp_path / "first").write_text("old")
    (tmp_path / "second").mkdir()
    with pytest.raises(IsADirectoryError):
        write_files({tmp_path / "first": "new", tmp_path / "second": "new"})
    assert (tmp_path / "first").read_text() == "old"
    (tmp_path / "second").rmdir()
    write_files({tmp_path / "first": "new", tmp_path / "second": "new"})
    assert (tmp_path / "first").read_text() == (tmp_path / "second").read_text() == "new"


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


# A folder


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def texts(folder):
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    return {name: path.read_text() for name, path in found.items() if path.is_file()}


@pytest.fixture
def build(tmp_path):
    """Writes files, given as name to text, into a folder by way of another."""

    def write(files, out=tmp_path / "out", **options):
        made = tmp_path / "made"
        shutil.rmtree(made, ignore_errors=True)
        for name, text in files.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_text(text)
        return write_folder(made, out, **options)

    return write


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def test_a_folder_is_made_and_made_again(build, out):
    assert not was_written(out)
    assert build({"a": "1", "deep/er/b": "2"}) == []
    assert was_written(out)
    assert build({"a": "3", "c": "4"}) == []
    assert names(out) == [MANIFEST, "a", "c"]
    assert (out / "a").read_text() == "3"
    assert list(json.loads((out / MANIFEST).read_text())) == ["a", "c"]


def test_what_others_put_there_stays(build, out):
    build({"a": "1", "deep/b": "2"})
    for name in (".git/config", "mine.html", "deep/mine.html", "objects.inv"):
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text("mine")
    (out / "empty").mkdir()
    assert build({"a": "3"}) == []
    assert texts(out) | {MANIFEST: ""} == {
        **{".git/config": "mine", "mine.html": "mine", "deep/mine.html": "mine"},
        **{"objects.inv": "mine", "a": "3", MANIFEST: ""},
    }
    assert (out / "empty").is_dir()


def test_what_was_changed_since_stays_and_is_told(build, out):
    build({"page": "1", "gone": "1"})
    (out / "page").write_text("edited")
    (out / "gone").write_text("edited")
    for _ in range(2):
        assert build({"page": "2"}) == [out / "page"]
        assert (out / "page").read_text() == (out / "gone").read_text() == "edited"
    (out / "page").unlink()
    assert build({"page": "2"}) == []
    assert (out / "page").read_text() == "2"


def test_what_was_there_before_stays_unless_it_is_equal(build, out):
    out.mkdir()
    (out / "theirs").write_text("theirs")
    (out / "equal").write_text("equal")
    assert build({"theirs": "ours", "equal": "equal"}) == [out / "theirs"]
    assert build({}) == []
    assert texts(out).keys() == {MANIFEST, "theirs"}


def test_an_incomplete_folder_removes_nothing(build, out):
    build({"a": "1", "b": "1"})
    build({"a": "2"}, remove=False)
    assert texts(out) | {MANIFEST: ""} == {"a": "2", "b": "1", MANIFEST: ""}
    build({"a": "2"})
    assert "b" not in texts(out)


def test_folders_and_files_change_places(build, out):
    build({"a": "1", "b/c": "1"})
    assert build({"a/d": "2", "b": "2"}) == []
    assert texts(out).keys() == {MANIFEST, "a/d", "b"}


@pytest.mark.parametrize("in_the_way", ["file", "folder", "link", "link to a folder"])
def test_what_is_in_the_way_stays(build, out, tmp_path, in_the_way):
    out.mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "b").write_text("other")
    (tmp_path / "other" / "c").write_text("new")
    name = "a" if in_the_way in ("file", "link to a folder") else "a/b"
    (out / name).parent.mkdir(exist_ok=True)
    if in_the_way == "file":
        (out / name).write_text("theirs")
    elif in_the_way == "folder":
        (out / name).mkdir()
    else:
        (out / name).symlink_to(tmp_path / "other" / ("c" if name == "a/b" else ""))
    assert build({"a/b": "new", "d": "new"}) == [out / "a" / "b"]
    assert build({"d": "new"}) == []
    assert texts(tmp_path / "other") == {"b": "other", "c": "new"}
    assert (out / name).is_symlink() == ("link" in in_the_way) and os.path.lexists(out / name)


def test_nothing_is_removed_behind_a_link(build, out, tmp_path):
    build({"deep/b": "1"})
    (out / "deep").rename(tmp_path / "moved")
    (out / "deep").symlink_to(tmp_path / "moved")
    build({"a": "1"})
    assert (tmp_path / "moved" / "b").exists()


def test_the_folder_itself_may_be_a_link(build, out, tmp_path):
    (tmp_path / "real").mkdir()
    out.symlink_to("real")
    build({"a": "1"})
    assert out.is_symlink() and texts(tmp_path / "real").keys() == {MANIFEST, "a"}


def test_a_folder_that_cannot_be_is_named(build, tmp_path):
    (tmp_path / "file").write_text("theirs")
    (tmp_path / "dangling").symlink_to("absent")
    for place in ("file", "dangling", "file/below"):
        with pytest.raises(OSError) as caught:
            build({"a": "1"}, tmp_path / place)
        assert caught.value.filename == str(tmp_path / place)
    assert not (tmp_path / "absent").exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', '{"a": [[]]}', "null", "\udc80"])
def test_a_foreign_manifest_is_refused(build, out, text):
    out.mkdir()
    (out / MANIFEST).write_text(text, errors="surrogateescape")
    with pytest.raises(OSError) as caught:
        build({"a": "1"})
    assert caught.value.filename == str(out / MANIFEST)
    assert names(out) == [MANIFEST]


@pytest.mark.parametrize("name", ["../theirs", "{tmp_path}/theirs", "deep/../../theirs"])
def test_a_manifest_leads_nowhere_else(build, out, tmp_path, name):
    (tmp_path / "theirs").write_text("theirs")
    build({"a": "1", "deep/b": "1"})
    (mark,) = writing._files(tmp_path)["theirs"]
    (out / MANIFEST).write_text(json.dumps({name.format(tmp_path=tmp_path): [mark]}))
    build({"a": "1"})
    assert (tmp_path / "theirs").read_text() == "theirs"


@pytest.mark.parametrize("moved", range(5))
def test_a_run_that_was_killed_knows_its_own_files(build, out, monkeypatch, moved):
    """The next run takes neither the old files nor the new ones for somebody else's."""
    build({"a": "1", "b": "1", "gone": "1"})
    (out / "mine").write_text("mine")
    real, left = os.replace, [moved]

    def replace(*arguments):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        real(*arguments)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(os, "replace", replace)
        patched.setattr(shutil, "rmtree", lambda *arguments, **options: None)
        build({"a": "2", "b": "2", "c": "2"})
    assert (out / STAGED).is_dir()
    assert build({"a": "3", "c": "3"}) == []
    assert texts(out) | {MANIFEST: ""} == {"a": "3", "c": "3", "mine": "mine", MANIFEST: ""}


def test_a_first_run_that_was_killed_is_no_foreign_folder(build, out, monkeypatch):
    with monkeypatch.context() as patched, pytest.raises(OSError):
        patched.setattr(shutil, "copyfile", fails())
        patched.setattr(shutil, "rmtree", lambda *arguments, **options: None)
        build({"deep/a": "1"})
    assert names(out) == [STAGED, f"{STAGED}/deep"] and not holds_others(out)
    assert build({"a": "1"}) == [] and names(out) == [MANIFEST, "a"]


def test_whether_a_folder_holds_something_else(build, out, tmp_path):
    assert not holds_others(out)
    out.mkdir()
    assert not holds_others(out)
    (out / "theirs").write_text("theirs")
    assert holds_others(out)
    (out / "theirs").unlink()
    build({"a": "1"})
    (out / "theirs").write_text("theirs")
    assert not holds_others(out)
    with pytest.raises(NotADirectoryError):
        holds_others(out / "theirs")


def test_a_full_disk_keeps_the_old_folder(small_disk, build):
    build({"a": "1", "b": "1"}, small_disk)
    before = texts(small_disk)
    with pytest.raises(OSError) as caught:
        build({"a": "2", "c": "x" * 200_000}, small_disk)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(small_disk / "c"))
    assert texts(small_disk) == before and names(small_disk) == [MANIFEST, "a", "b"]
