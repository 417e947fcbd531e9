"""Slides: questions and pictures on the screen, the rest in the notes, no other host asked."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from tools.collection import paths, read

from tools.workshop import guide, slides

every_notebook = pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def player(tmp_path_factory):
    """A folder beside whose pages the player stands."""
    folder = tmp_path_factory.mktemp("slides")
    slides.bring_player(folder)
    return folder


def kinds(cells):
    return [cell.metadata["slideshow"]["slide_type"] for cell in cells]


def test_a_slide_ends_where_its_code_would_run_over():
    code = "\n".join(["x = 1"] * 10)
    cells = [new_markdown_cell("## Title"), *(new_code_cell(code) for _ in range(5))]
    shown = slides.turn_pages([slides.marked(cell, "-") for cell in cells])
    assert kinds(shown) == ["-", "-", "-", "subslide", "-", "subslide"]


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
    assert kinds(slides.turn_pages(cells)) == ["-", "subslide"]


def test_sentences_that_define_are_on_slides_and_the_paragraph_in_the_notes():
    prose = "Here is more. A **kernel** is a piece of work. It is small.\n\nNothing new here."
    shown, notes = slides.slide_cells(new_markdown_cell(prose, id="text"))
    assert shown.source == "A **kernel** is a piece of work."
    assert notes.source == prose
    assert slides.defining("- **One**. It is.\n- Two") == "- **One**. It is.\n- Two"


def test_what_follows_a_question_on_its_slide_comes_a_step_later():
    code = new_code_cell("assert x == 1")
    cells = [
        new_markdown_cell("**Guess before you run.** What is x?", id="guess"),
        code,
        new_markdown_cell("It is **one**.", id="one-read"),
        new_markdown_cell("## Go on", id="on"),
        code,
    ]
    shown = slides.slide_by_slide(new_notebook(cells=cells), {})
    on_screen = [kind for kind in kinds(shown) if kind != "notes"]
    assert on_screen == ["subslide", "fragment", "fragment", "slide", "-"]


def test_a_long_list_and_a_long_print_go_on_on_a_next_slide():
    items = "".join(f"\n- {'word ' * 40}" for _ in range(20))
    listed = slides.slide_cells(new_markdown_cell(f"## In practice\n{items}", id="practice"))
    assert kinds(listed)[:2] == ["slide", "subslide"]
    assert all(slides.height(cell) <= slides.ROOM for cell in listed)
    assert "".join(cell.source for cell in listed).count("- word") == 20
    lines = [f"{n} {'x' * 99}" for n in range(40)]
    printing = new_code_cell("talk()", outputs=[new_output("stream", text="\n".join(lines))])
    printed = slides.slide_cells(printing)
    assert all(slides.height(cell) <= slides.ROOM for cell in printed)
    said = "".join(cell.outputs[0].text for cell in printed).replace("\n", "")
    assert said == "".join(lines)
    assert [cell.source for cell in printed] == ["talk()"] + [""] * (len(printed) - 1)


def test_outputs_of_markdown_go_on_on_next_slides_with_pictures_between_them():
    words = "\n\n".join(f"{number} {'word ' * 30}" for number in range(20))
    outputs = [
        new_output("display_data", {"text/markdown": words, "text/plain": words}),
        new_output("display_data", {"image/png": ""}),
        new_output("display_data", {"text/markdown": "| a |\n| --- |", "text/plain": ""}),
    ]
    first, *others = slides.slide_cells(new_code_cell("section()", outputs=outputs))
    assert first.source == "section()" and len(first.outputs) == 1
    shown = [first.outputs[0], *(output for cell in others for output in cell.outputs)]
    text = "\n\n".join(output["data"]["text/markdown"] for output in shown[:-2])
    assert re.sub(r"\s+", " ", text) == re.sub(r"\s+", " ", words)
    assert "image/png" in shown[-2]["data"] and "| a |" in shown[-1]["data"]["text/markdown"]
    assert all(not cell.source and cell.metadata["tags"] == ["drawing"] for cell in others)
    assert all(slides.height(cell) <= slides.ROOM for cell in (first, *others))


@every_notebook
def test_no_slide_shows_a_question_and_what_answers_it_at_once(path):
    asks = False
    for cell in slides.slide_by_slide(read(path), {}):
        (kind,) = kinds([cell])
        if kind in ("slide", "subslide"):
            asks = cell.source.startswith("> ") and "Guess before you run" in cell.source
        elif asks:
            assert kind in ("fragment", "notes"), cell.source


@every_notebook
def test_slides_show_questions_and_pictures_and_ask_no_other_host(path, player):
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
    for used in re.findall(r'"(reveal/[^"]+)"', page):
        assert (player / used).is_file()
