"""Slides: headings, definitions, questions, code and outputs of a notebook; its prose is in the
notes. What follows a question on its slide comes a step later."""

import copy
import math
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import nbformat
from nbconvert import SlidesExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from traitlets.config import Config

from tools.collection import is_for_colab, is_solution, shows_picture, text_of, title_of
from tools.workshop.guesses import GUESS, with_their_place
from xla_helpers.pages import render

ROOM = 26  # lines of code and output that a slide shows without scrolling
WIDE, PROSE = 95, 1.5  # characters in a line of a slide; lines of code that one of prose takes
SENTENCE = re.compile(r"(?:(?<=[.!?])|(?<=[.!?]\*\*))\s+")  # what stands between two
MARKDOWN = "text/markdown"
DRAWING = "drawing"  # tag of a cell whose code is left out
PLAYER = "reveal"  # the folder of reveal.js, beside the slides
DECK = Path(__file__).with_name("deck")  # the template


def slides_of(notebook, said):
    """One page of slides.

    said: cell to what an instructor says there, for the speaker notes.
    """
    exporter = SlidesExporter(
        template_name=DECK.name,
        extra_template_basedirs=[str(DECK.parent)],
        reveal_url_prefix=PLAYER,
        reveal_theme="white",  # others ask for fonts elsewhere
        config=Config(TagRemovePreprocessor={"enabled": True, "remove_input_tags": {DRAWING}}),
    )
    metadata = notebook.metadata | {"title": title_of(notebook)}
    shown = nbformat.v4.new_notebook(metadata=metadata, cells=slide_by_slide(notebook, said))
    return exporter.from_notebook_node(shown, {"house": render("house.css.j2")})[0]


def slide_by_slide(notebook, said):
    """What slides and their notes show, as cells marked for the slide that they stand on."""
    cells = [
        part
        for cell, follows in with_their_place(notebook.cells)
        if is_shown(cell)
        for part in slide_cells(cell, said.get(cell.id), follows)
    ]
    return turn_pages(cells)


def is_shown(cell):
    return not (is_solution(cell) or is_for_colab(cell))


def slide_cells(cell, said=None, follows=False):
    """The cells that a cell becomes, each marked for the slide that it stands on.

    said: what an instructor says there. follows: whether the cell follows a question.
    """
    more = "fragment" if follows else "-"
    if cell.cell_type == "code":
        cell = without_drawing(marked(cell, "subslide" if cell.outputs else more))
        return shown_pages(cell) if shows_markdown(cell) else printed_pages(cell)
    prose = re.sub(r"(?<=\]\()(\w+)\.ipynb", r"\1.html", cell.source)
    parts = on_screen(cell.id, prose, more)
    shown = "\n".join(text for text, _ in parts)
    left = [words for words in prose.split("\n\n") if not is_within(words, shown)]
    notes = "\n\n".join(filter(None, [said, *left]))
    cells = [marked(new_markdown_cell(text), kind) for text, kind in parts]
    return cells + ([marked(new_markdown_cell(notes), "notes")] if notes else [])


def is_within(words, shown):
    return all(line in shown for line in words.splitlines())


def on_screen(name, prose, more):
    """What of a cell of prose is on slides: each text, and which kind of slide it starts.

    more: the kind of what goes on where the cell above ends.
    """
    paragraphs = prose.split("\n\n")
    if prose.startswith("# "):
        return [("\n\n".join(paragraphs[:2]), "slide")]
    if prose.startswith(("## In practice", "## Exercises", "## Summary")):
        first, *others = pages(prose)
        return [(first, "slide"), *((page, "subslide") for page in others)]
    if name.startswith("exercise"):
        return [(prose, "-")]
    shown = []
    for words in paragraphs:
        if words.startswith("#"):
            shown.append((words, "slide"))
        elif GUESS in words:
            shown.append((f"> {words}", "subslide"))
            more = "fragment"
        elif words.startswith("|"):
            shown.append((words, "subslide"))
        elif "**" in words:
            shown.append((defining(words), more))
    return shown


def defining(paragraph):
    """The sentences of a paragraph that hold a bold term; a list is kept whole."""
    if paragraph.startswith("- "):
        return paragraph
    return " ".join(words for words in SENTENCE.split(paragraph) if "**" in words)


def pages(prose):
    """A text as texts that each fit a slide, parted between paragraphs and items of a list."""
    parts = re.split(r"\n(?=\n|- )", prose)
    found, page = [], parts[0]
    for part in parts[1:]:
        if height(new_markdown_cell(f"{page}\n{part}")) > ROOM:
            found, page = [*found, page], part.strip("\n")
        else:
            page = f"{page}\n{part}"
    return [*found, page]


def printed_pages(cell):
    """A cell, and below it what it prints beyond the end of its slide, as cells without code."""
    printed = cell.outputs[0] if len(cell.outputs) == 1 else None
    if height(cell) <= ROOM or printed is None or printed.output_type != "stream":
        return [cell]
    broken = [
        [line[start : start + WIDE] for start in range(0, len(line), WIDE)] or [""]
        for line in printed.text.splitlines()
    ]
    lines, room = sum(broken, []), ROOM - 1 - lines_of(cell.source)
    printed.text = "\n".join(lines[:room])
    found = [cell]
    for start in range(room, len(lines), ROOM - 1):
        text = "\n".join(lines[start : start + ROOM - 1])
        found.append(further([new_output("stream", text=text)]))
    return found


def further(outputs):
    """A slide of outputs whose code stands on one before."""
    cell = new_code_cell(outputs=outputs)
    cell.metadata["tags"] = [DRAWING]
    return marked(cell, "subslide")


def shows_markdown(cell):
    return any(MARKDOWN in output.get("data", {}) for output in cell.get("outputs", []))


def shown_pages(cell):
    """A cell, and below it the outputs that go beyond its slide, as cells without code."""
    cells = [marked(cell, cell.metadata["slideshow"]["slide_type"])]
    cells[0].metadata["tags"], cells[0].outputs = [], []
    for page in (page for output in cell.outputs for page in output_pages(output)):
        taller = copy.deepcopy(cells[-1])
        taller.outputs.append(page)
        too_much = height(taller) > ROOM or shows_picture(taller)
        if too_much and cells[-1].outputs:
            cells.append(further([page]))
        else:
            cells[-1] = taller
    return cells


def output_pages(output):
    """An output of Markdown as outputs that each fit a slide; another output as it is."""
    texts = pages(output.get("data", {}).get(MARKDOWN, ""))
    if texts == [""]:
        return [output]
    return [new_output("display_data", {MARKDOWN: text, "text/plain": text}) for text in texts]


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
        goes_on = place["slide_type"] in ("-", "fragment")
        if goes_on and used + height(cell) > ROOM:
            place["slide_type"], goes_on = "subslide", False
        used = height(cell) + (used if goes_on else 0)
    return cells


def height(cell):
    """Lines that a cell takes on a slide, with one for its frame; a picture takes all."""
    if shows_picture(cell):
        return ROOM
    if cell.cell_type == "markdown":
        return 1 + PROSE * lines_of(cell.source)
    prose = [output.get("data", {}).get(MARKDOWN, "") for output in cell.get("outputs", [])]
    more = (PROSE - 1) * sum(map(lines_of, prose))  # they are in the plain text as well
    return 1 + sum(map(lines_of, [cell.source, *map(text_of, cell.get("outputs", []))])) + more


def lines_of(text):
    """How many lines a text takes, when long ones go on in a next one."""
    return sum(max(1, math.ceil(len(line) / WIDE)) for line in text.splitlines())


def marked(cell, kind):
    cell = copy.deepcopy(cell)
    cell.metadata["slideshow"] = {"slide_type": kind}
    return cell


def bring_player(folder):
    """Copy reveal.js, which a package for Sphinx brings along, to where slides look for it."""
    brought = Path(find_spec("sphinx_revealjs").origin).parent / "_static" / "revealjs"
    shutil.copytree(brought, folder / PLAYER)
