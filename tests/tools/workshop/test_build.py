"""The workshop as a folder: all that is promised, and nothing of anybody else's lost."""

import errno
import os

import nbformat
import pytest
from nbformat.v4 import new_output
from tools.collection import paths, read

from tools.workshop import build
from xla_helpers import writing


def test_the_workshop_is_written_in_one_folder(tmp_path, capsys, monkeypatch):
    """Of all notebooks; `test_slides` makes the slides of each, which take long."""
    monkeypatch.setattr(build, "slides_of", lambda notebook, said: notebook.cells[0].source)
    assert build.main(["--out", str(tmp_path / "kit")]) == 0
    written = {path.name for path in (tmp_path / "kit" / "notebooks").iterdir()}
    assert written == {path.name for path in paths()}
    slides = tmp_path / "kit" / "slides"
    assert (slides / "reveal" / "dist" / "reveal.js").is_file()
    assert {path.stem for path in slides.glob("*.html")} == {path.stem for path in paths()}


# What else stands in the folder


@pytest.fixture
def workshop(small, tmp_path, monkeypatch, capsys):
    """Builds a workshop of two small notebooks, in which each text stands once, in the folder kit.

    Without texts the notebooks stay as they are.
    """
    monkeypatch.setattr(build, "bring_player", lambda folder: folder.mkdir())
    monkeypatch.setattr(build, "paths", lambda: sorted((tmp_path / "lessons").glob("*.ipynb")))
    monkeypatch.setattr(build, "slides_of", lambda notebook, said: notebook.cells[0].source)
    monkeypatch.setattr(build.guide, "advice", lambda: {"01_a": {}, "02_b": {}})
    monkeypatch.setattr(build.guide, "as_markdown", lambda: "say this")

    def make(text=""):
        (tmp_path / "lessons").mkdir(exist_ok=True)
        for name in ("01_a", "02_b") if text else ():
            small.cells[0].source = f"# {text}"
            nbformat.write(small, tmp_path / "lessons" / f"{name}.ipynb")
        return build.main(["--out", str(tmp_path / "kit")]), *capsys.readouterr()

    return make


@pytest.fixture
def kit(tmp_path):
    return tmp_path / "kit"


def kept(lines):
    return [line.split(": ")[0] for line in lines.splitlines() if line.startswith("kept ")]


def test_what_nobody_changed_is_renewed(workshop, kit):
    workshop("old")
    status, said, wrong = workshop("new")
    assert (status, kept(said), wrong) == (0, [], "")
    for name in ("notebooks/01_a.ipynb", "slides/02_b.html"):
        assert "new" in (kit / name).read_text()


def test_a_teacher_s_files_stay(workshop, kit):
    workshop("old")
    for name in ("slides/my_notes.html", "slides/01_a.html", "guide.html", "mine.txt"):
        (kit / name).write_text("mine")
    status, said, wrong = workshop("new")
    assert (status, wrong) == (0, "")
    assert kept(said) == [f"kept {kit / name}" for name in ("guide.html", "slides/01_a.html")]
    for name in ("slides/my_notes.html", "slides/01_a.html", "guide.html", "mine.txt"):
        assert (kit / name).read_text() == "mine"
    assert (kit / "slides" / "02_b.html").read_text() == "# new"


def test_a_copy_that_was_worked_in_is_kept_and_named(workshop, kit):
    workshop("old")
    path = kit / "notebooks" / "01_a.ipynb"
    path.write_text(path.read_text().replace("answer = None", "answer = 41"))
    for text in ("old", "new"):
        status, said, wrong = workshop(text)
        assert (status, kept(said), wrong) == (0, [f"kept {path}"], "")
        assert "answer = 41" in path.read_text()


def test_a_copy_that_was_only_run_keeps_its_outputs_and_metadata(workshop, kit):
    workshop("old")
    path = kit / "notebooks" / "01_a.ipynb"
    run = read(path)
    run.cells[1].outputs = [new_output("stream", text="said")]
    run.metadata["teacher"] = "me"
    nbformat.write(run, path)
    before = path.read_bytes()
    assert kept(workshop("old")[1]) == [] and path.read_bytes() == before
    assert kept(workshop("new")[1]) == [f"kept {path}"] and path.read_bytes() == before


def test_a_broken_copy_is_one_line_and_the_rest_is_made(workshop, kit):
    workshop("old")
    path = kit / "notebooks" / "01_a.ipynb"
    path.write_text("{")
    (kit / "notebooks" / "02_b.ipynb").unlink()
    (kit / "notebooks" / "02_b.ipynb").mkdir()
    status, said, wrong = workshop("new")
    broken, in_the_way = wrong.splitlines()
    assert status == 1 and path.read_text() == "{"
    assert broken.startswith(f"workshop: {path} is no notebook: ")
    assert in_the_way == f"workshop: {kit / 'notebooks' / '02_b.ipynb'}: Is a directory"
    assert (kit / "slides" / "01_a.html").read_text() == "# new"


@pytest.mark.parametrize("text", ["{", '{"cells": []}'])
def test_a_broken_lesson_is_one_line_and_the_rest_is_made(workshop, kit, tmp_path, text):
    workshop("old")
    (tmp_path / "lessons" / "01_a.ipynb").write_text(text)
    (tmp_path / "lessons" / "02_b.ipynb").rename(tmp_path / "lessons" / "03_c.ipynb")
    (tmp_path / "lessons" / "02_b.ipynb").write_text(
        (tmp_path / "lessons" / "03_c.ipynb").read_text().replace("# old", "# new")
    )
    status, said, wrong = workshop()
    first, third = wrong.splitlines()
    assert status == 1 and "01_a.ipynb" in first
    assert third == "workshop: 03_c.ipynb cannot be made: KeyError: '03_c'"
    assert (kit / "slides" / "02_b.html").read_text() == "# new"
    assert (kit / "slides" / "01_a.html").read_text() == "# old"


def test_a_folder_of_somebody_s_slides_is_left_alone(workshop, kit):
    (kit / "slides").mkdir(parents=True)
    (kit / "slides" / "talk.html").write_text("mine")
    status, _, wrong = workshop("new")
    line = f"workshop: {kit / 'slides'} holds files that no earlier workshop lists"
    assert (status, wrong) == (2, f"{line}; name another folder, or remove it\n")
    assert [path.name for path in kit.rglob("*")] == ["slides", "talk.html"]


def test_what_the_disk_answers_is_one_line(workshop, kit, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    workshop("old")
    monkeypatch.setattr(writing.shutil, "copyfile", fail)
    status, _, wrong = workshop("new")
    assert status == 1 and wrong == f"workshop: {kit / 'guide.html'}: No space left on device\n"
    assert (kit / "slides" / "01_a.html").read_text() == "# old"
