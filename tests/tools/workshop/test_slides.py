"""Slides: questions and pictures on the screen, the rest in the notes, no other host asked."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from tools.collection import paths, read
from tools.workshop import guide, slides

every_notebook = pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)


def test_a_slide_ends_where_its_code_would_run_over():
    code = "\n".join(["x = 1"] * 9)
    cells = [new_markdown_cell("## Title"), *(new_code_cell(code) for _ in range(5))]
    shown = slides.turn_pages([slides.marked(cell, "-") for cell in cells])
    kinds = [cell.metadata["slideshow"]["slide_type"] for cell in shown]
    assert kinds == ["-", "-", "-", "subslide", "-", "subslide"]


def test_headings_questions_and_tables_of_prose_are_on_slides():
    prose = "## Title\n\nWords.\n\n**Guess before you run.** How many?\n\n| a |\n|---|\n| b |"
    *shown, notes = slides.slide_cells(new_markdown_cell(prose, id="text"), "Say this.")
    assert [cell.source.split("\n")[0] for cell in shown] == [
        *("## Title", "> **Guess before you run.** How many?", "| a |")
    ]
    assert notes.source == "Say this.\n\nWords."


def test_nothing_stands_below_a_picture():
    picture = new_code_cell("draw()", outputs=[new_output("display_data", {"image/png": ""})])
    cells = [slides.marked(cell, "-") for cell in (picture, new_code_cell("x = 1"))]
    kinds = [c.metadata["slideshow"]["slide_type"] for c in slides.turn_pages(cells)]
    assert kinds == ["-", "subslide"]


@every_notebook
def test_slides_show_questions_and_pictures_and_ask_no_other_host(path):
    notebook = read(path)
    page = slides.slides_of(notebook, guide.advice()[path.stem])
    pictures = sum(
        "image/png" in o.get("data", {}) for c in notebook.cells for o in c.get("outputs", [])
    )
    questions = sum(cell.source.count("Guess before you run") for cell in notebook.cells)
    assert page.count('src="data:image/png') == pictures
    on_slides = re.sub(r"(?s)<aside class=.notes.>.*?</aside>", "", page)
    assert on_slides.count("Guess before you run") == questions
    assert page.count("<img") == len(re.findall(r'<img[^>]+alt="[^"]+"', page))
    assert not re.search(r"""(?:src=|<link[^>]+href=|@import\s+(?:url\()?)["']?https?:""", page)
    assert "# Check" not in page
