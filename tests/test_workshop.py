"""What `make workshop` gives to learners and to the screen, and whether its checks are fair to what
people answer (tests/answers; the marker `workshop`, about a quarter of an hour).
"""

import os
import re
import shutil
import subprocess
import tomllib
from html import unescape
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
GUESS = "Guess before you run"

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def project(folder, *notebooks):
    """A project with these notebooks alone."""
    (folder / "notebooks").mkdir(parents=True)
    for notebook in notebooks:
        shutil.copy(notebook, folder / "notebooks")
    shutil.copy(ROOT / "Makefile", folder)
    shutil.copytree(ROOT / "tools", folder / "tools")
    (folder / ".venv").symlink_to(ROOT / ".venv")
    return folder


def make_workshop(folder):
    command = ["make", "--old-file=set-up", "workshop"]  # the environment is there
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A workshop on one notebook, in a folder whose name a shell would read otherwise."""
    folder = project(tmp_path_factory.mktemp("made") / "it's $(odd) {here}", NOTEBOOKS[3])
    done = make_workshop(folder)
    assert done.returncode == 0, done.stderr
    assert "Alternative text" not in done.stderr
    return folder / "build" / "workshop"


@pytest.fixture(scope="module")
def slides(made):
    (page,) = (made / "slides").glob("*.html")
    return page.read_text()


@every_notebook
def test_a_guess_is_a_slide_and_a_teacher_has_something_to_say(path):
    for cell in read(path).cells:
        asks = cell.cell_type == "markdown" and GUESS in cell.source
        assert asks == bool(cell.metadata.get("say")), cell.id
        assert not asks or cell.metadata.slideshow.slide_type == "subslide", cell.id
        assert cell.cell_type == "code" or cell.metadata.get("slideshow"), cell.id  # or a note


def test_learners_see_neither_solutions_nor_outputs_and_unfold_answers(made):
    (copy,) = (made / "notebooks").glob("*.ipynb")
    cells, ids = read(copy).cells, {cell.id for cell in read(NOTEBOOKS[3]).cells}
    assert ids - {cell.id for cell in cells} == {id for id in ids if id.startswith("solution")}
    for cell in cells:
        assert not cell.get("outputs") and not cell.get("execution_count")
        assert "say" not in cell.metadata
        if "answer" in cell.metadata.get("tags", []):
            hidden = cell.metadata.get("jupyter", {}).get("source_hidden")
            assert hidden or cell.source.startswith("<details>")


def test_slides_ask_no_other_host(made, slides):
    theme = (made / "slides" / "reveal" / "dist" / "theme" / "white.css").read_text()
    asked = re.findall(r"<(?:script|link|img|iframe)[^>]* (?:src|href)=\"([^\"]*)\"", slides)
    own = [name for name in asked if not name.startswith("data:image/png")]
    assert len(own) == 4 and all((made / "slides" / name).exists() for name in own)
    assert not re.findall(r"(?:url\(|@import|import)\s*[\"']?(?:https?:)?//", slides + theme)


def test_slides_ask_and_notes_say(slides):
    notes = re.findall(r'<aside class="notes">(.*?)</aside>', slides, re.DOTALL)
    said = [cell.metadata.say for cell in read(NOTEBOOKS[3]).cells if "say" in cell.metadata]
    assert set(said) <= set(map(unescape, notes))
    assert GUESS in slides and "def check_1" not in slides and "google.colab" not in slides
    assert all(re.findall(r"<img[^>]* alt=\"(.*?)\"", slides))
    assert '.slides.html"' in slides and '.ipynb"' not in slides


def test_a_workshop_with_answers_in_it_stays(made):
    (copy,) = (made / "notebooks").glob("*.ipynb")
    before = copy.stat().st_mtime_ns
    again = make_workshop(made.parents[1])
    assert again.returncode and "perhaps with answers in it" in again.stderr
    assert copy.stat().st_mtime_ns == before


def test_half_a_workshop_is_none(tmp_path):
    folder = project(tmp_path / "broken", NOTEBOOKS[0])
    (folder / "notebooks" / "99_broken.ipynb").write_text("{")
    assert make_workshop(folder).returncode
    assert not (folder / "build" / "workshop").exists()


def answers_to(path):
    """Exercise, answer, and how the check must begin: those of tests/answers and the solutions."""
    given = tomllib.loads((ROOT / "tests" / "answers" / f"{path.stem}.toml").read_text())
    for exercise, entries in given.items():
        for entry in entries:
            hint = entry.get("hint")
            yield exercise, entry["answer"], f"Not yet: {hint}" if hint else "Right."
    for cell in read(path).cells:
        if re.fullmatch(r"solution-\d", cell.id):
            answer = cell.source.rpartition("\ncheck_")[0]
            yield cell.id.replace("solution", "exercise"), answer, "Right."


@pytest.mark.workshop
@every_notebook
def test_learner_copies_run_and_their_checks_are_fair(path, tmp_path, monkeypatch):
    """The copy as it is, which is no answer, and below it each answer with its check."""
    monkeypatch.setenv("XLA_RESULTS", str(tmp_path / "results"))
    folder = project(tmp_path / "project", path)
    assert make_workshop(folder).returncode == 0
    copy = read(folder / "build" / "workshop" / "notebooks" / path.name)
    cells, tried = {cell.id: cell for cell in copy.cells}, []
    for exercise, answer, expected in answers_to(path):
        check = cells[exercise.replace("exercise", "check")]
        if answer.strip():
            cell = new_code_cell(f"{cells[exercise].source}\n\n{answer}")
            cell.metadata["tags"] = ["raises-exception"]  # as an answer may
            check = new_code_cell(check.source)
            copy.cells += [cell, check]
        tried.append((exercise, answer, expected, check))
    place = {"metadata": {"path": os.getcwd()}}
    NotebookClient(copy, timeout=1800, kernel_name="python3", resources=place).execute()
    said = ["".join(o.get("text", "") for o in check.outputs) for *_, check in tried]
    wrong = [
        f"{exercise} says {said}to {answer or 'no answer'}"
        for (exercise, answer, expected, _), said in zip(tried, said, strict=True)
        if not said.startswith(expected)
    ]
    assert not wrong, "\n\n".join(wrong)
