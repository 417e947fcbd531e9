"""Slides: headings, questions, code and outputs of a notebook; its prose is in the notes."""

import copy
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import nbformat
from nbconvert import SlidesExporter
from nbformat.v4 import new_markdown_cell
from traitlets.config import Config

from tools.collection import is_for_colab, is_solution, shows_picture, text_of, title_of
from tools.pages import render
from tools.workshop.guide import GUESS

ROOM = 22  # lines of code and output that a slide shows without scrolling
DRAWING = "drawing"  # tag of a cell whose code a slide leaves out
PLAYER = "reveal"  # the folder of reveal.js, beside the slides
DECK = Path(__file__).with_name("deck")  # the template


def slides_of(notebook, said):
    """One page of slides, from the headings, questions, code and outputs of a notebook.

    said: cell to what an instructor says there, for the speaker notes.
    """
    exporter = SlidesExporter(
        template_name=DECK.name,
        extra_template_basedirs=[str(DECK.parent)],
        reveal_url_prefix=PLAYER,
        reveal_theme="white",  # others ask for fonts elsewhere
        config=Config(TagRemovePreprocessor={"enabled": True, "remove_input_tags": {DRAWING}}),
    )
    cells = [
        part
        for cell in notebook.cells
        if is_shown(cell)
        for part in slide_cells(cell, said.get(cell.id))
    ]
    metadata = notebook.metadata | {"title": title_of(notebook)}
    shown = nbformat.v4.new_notebook(metadata=metadata, cells=turn_pages(cells))
    return exporter.from_notebook_node(shown, {"house": render("house.css.j2")})[0]


def is_shown(cell):
    return not (is_solution(cell) or is_for_colab(cell))


def slide_cells(cell, said=None):
    """The cells that a cell becomes, each marked for the slide that it stands on."""
    if cell.cell_type == "code":
        return [without_drawing(marked(cell, "subslide" if cell.outputs else "-"))]
    prose = re.sub(r"(?<=\]\()(\w+)\.ipynb", r"\1.html", cell.source)
    parts = on_screen(cell.id, prose)
    for text, _ in parts:
        prose = prose.replace(text.removeprefix("> "), "")
    notes = "\n\n".join(filter(None, [said, prose.strip()]))
    cells = [marked(new_markdown_cell(text), kind) for text, kind in parts]
    return cells + ([marked(new_markdown_cell(notes), "notes")] if notes else [])


def on_screen(name, prose):
    """What of a cell of prose is on slides: each text, and which kind of slide it starts."""
    paragraphs = prose.split("\n\n")
    if prose.startswith("# "):
        return [("\n\n".join(paragraphs[:2]), "slide")]
    if prose.startswith(("## In practice", "## Exercises", "## Summary")):
        return [(prose, "slide")]
    if name.startswith("exercise"):
        return [(prose, "-")]
    heading = [(paragraphs[0], "slide")] if prose.startswith("#") else []
    questions = [(f"> {words}", "subslide") for words in paragraphs if GUESS in words]
    tables = [(words, "subslide") for words in paragraphs if words.startswith("|")]
    return heading + questions + tables


def without_drawing(cell):
    """A slide shows a picture, not the code that draws it."""
    if shows_picture(cell):
        cell.metadata["tags"] = [DRAWING]
    return cell


def turn_pages(cells):
    """Start a slide where the code on one would grow longer than it shows."""
    used = 0
    for cell in cells:
        place = cell.metadata["slideshow"]
        if place["slide_type"] == "notes":
            continue
        if place["slide_type"] == "-" and used + height(cell) > ROOM:
            place["slide_type"] = "subslide"
        used = height(cell) + (used if place["slide_type"] == "-" else 0)
    return cells


def height(cell):
    """Lines that a cell takes on a slide, with one for its frame; a picture takes all."""
    if shows_picture(cell):
        return ROOM
    texts = [cell.source, *map(text_of, cell.get("outputs", []))]
    return 1 + sum(len(text.splitlines()) for text in texts)


def marked(cell, kind):
    cell = copy.deepcopy(cell)
    cell.metadata["slideshow"] = {"slide_type": kind}
    return cell


def bring_player(folder):
    """Copy reveal.js, which a package for Sphinx brings along, to where slides look for it."""
    brought = Path(find_spec("sphinx_revealjs").origin).parent / "_static" / "revealjs"
    shutil.copytree(brought, folder / PLAYER)
