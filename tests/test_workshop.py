"""What `make workshop` gives to learners and the screen, and whether its checks are fair."""

import itertools
import os
import re
import shutil
import subprocess
import sys
import tomllib
from html import unescape
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

from tools.learners import ANSWER
from tools.slides import Slides

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
ONE = NOTEBOOKS[3]
GUESS, PROJECT = "Guess before you run", ROOT / "pyproject.toml"

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def project(folder, notebook):
    """A project with this notebook alone."""
    for name in ("tools", "docs"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / "notebooks").mkdir()
    for path, place in ((notebook, "notebooks"), (ROOT / "Makefile", ""), (PROJECT, "")):
        shutil.copy(path, folder / place)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


def make_workshop(folder):
    command = ["make", "--old-file=set-up", "workshop"]  # the environment is there
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A workshop on one notebook, in a folder whose name a shell would read otherwise."""
    folder = project(tmp_path_factory.mktemp("made") / "it's $(odd) {here}", ONE)
    done = make_workshop(folder)
    assert done.returncode == 0, done.stderr
    return folder / "build/workshop"


@every_notebook
def test_slides_are_few_each_guess_is_one_and_a_teacher_has_something_to_say(path):
    guesses = []
    for cell in read(path).cells:
        asks = cell.cell_type == "markdown" and GUESS in cell.source
        assert asks == bool(cell.metadata.get("say")), cell.id
        guesses += [cell.source] if asks else []
    made, _ = Slides().preprocess(read(path), {})
    kinds = {cell.id: cell.metadata.slideshow.slide_type for cell in made.cells}
    assert sum(kind in ("slide", "subslide") for kind in kinds.values()) <= 20
    assert guesses == [cell.source for cell in made.cells if GUESS in cell.source]


def test_learners_see_neither_solutions_nor_outputs_and_open_answers(made):
    """What follows a guess, code and outputs too, stands below a closed heading of its own."""
    cells, given = read(made / "notebooks" / ONE.name).cells, {c.id: c for c in read(ONE).cells}
    gone = {id for id in given if id.startswith("solution")} | {"colab"}
    assert gone < given.keys() and given.keys() - {cell.id for cell in cells} == gone
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
    assert not any({"say", "bet"} & cell.metadata.keys() for cell in cells)
    heading, guesses = None, [id for id, cell in given.items() if "say" in cell.metadata]
    for cell, after in itertools.pairwise(cells):
        if cell.cell_type == "markdown" and cell.source.startswith("#"):
            heading = cell
        closed = heading and heading.metadata.get("jp-MarkdownHeadingCollapsed")
        assert (cell.id in guesses) == (after.source == ANSWER)
        if cell.id in guesses:
            assert not closed
        elif "answer" in cell.metadata.get("tags", []) and cell != heading:
            assert closed


def test_slides_are_complete_and_ask_no_other_host(made):
    slides = (made / f"slides/{ONE.stem}.slides.html").read_text()
    theme = (made / "slides/reveal/dist/theme/white.css").read_text()
    asked = re.findall(r"<(?:script|link|img|iframe)[^>]* (?:src|href)=\"([^\"]*)\"", slides)
    own = [name for name in asked if not name.startswith("data:image/png")]
    assert all((made / "slides" / name).exists() for name in own)
    assert len([name for name in own if not name.startswith("../docs/")]) == 4
    assert not re.findall(r"(?:url\(|@import|import)\s*[\"']?(?:https?:)?//", slides + theme)
    notes = re.findall(r'<aside class="notes">(.*?)</aside>', slides, re.DOTALL)
    said = {cell.metadata.say for cell in read(ONE).cells if "say" in cell.metadata}
    assert said and said <= set(map(unescape, notes))
    assert GUESS in slides and "def check_1" not in slides and "google.colab" not in slides
    pictures = re.findall(r"<img[^>]*>", slides)
    assert pictures and all(re.search(r' alt="[^"]+"', picture) for picture in pictures)
    assert '.slides.html"' in slides and '.ipynb"' not in slides


def test_a_workshop_with_answers_in_it_stays(made):
    copy = made / "notebooks" / ONE.name
    before = copy.stat().st_mtime_ns
    again = make_workshop(made.parents[1])
    assert again.returncode == 2 and again.stderr.startswith("workshop: ")
    assert copy.stat().st_mtime_ns == before


def test_half_a_workshop_is_none(tmp_path):
    folder = project(tmp_path / "broken", NOTEBOOKS[0])
    (folder / "notebooks/99_broken.ipynb").write_text("{")
    assert make_workshop(folder).returncode == 2
    assert not (folder / "build/workshop").exists()


def answers_to(path):
    """Exercise, answer, and how the check must begin: those of tests/answers and the solutions."""
    given = tomllib.loads((ROOT / f"tests/answers/{path.stem}.toml").read_text())
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
    copy = read(folder / "build/workshop/notebooks" / path.name)
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
    wrong = []
    for exercise, answer, expected, check in tried:
        said = "".join(out.get("text", "") for out in check.outputs)
        if not said.startswith(expected):
            wrong.append(f"{exercise} says {said}to {answer or 'no answer'}")
    assert not wrong, "\n\n".join(wrong)
