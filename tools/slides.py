"""Slides, for nbconvert: the question, a guess, a result, a sentence. All else is a speaker's note.

A section is its title and its first paragraph, with its guess if that comes next. Shown are the
recipe and what it prints, each guess, the first result after it, and pictures. Below a result
stands the first sentence of the text that reads it.
"""

import re

from nbconvert.preprocessors import Preprocessor
from nbformat.v4 import new_markdown_cell

from tools.folds import begins_with_heading, draws

SENTENCE = re.compile(r"(?s).+?[.?!](?=\s|$)")
PLUMBING = {"colab", "setup", "setup-text", "parameters", "ranges", "machine"}


class Slides(Preprocessor):
    """Keep as slides what a room looks at, and give all else to the speaker."""

    def preprocess(self, nb, resources):
        shown, is_open, is_unread = [], False, False  # a guess, a result that nothing has read
        for cell in nb.cells:
            if cell.id in PLUMBING or cell.id.startswith(("check-", "solution")):
                continue
            is_prose, asks = cell.cell_type == "markdown", "say" in cell.metadata
            if is_prose:
                after_title = bool(shown) and slide_type(shown[-1]) == "slide"
                shown += prose(cell, after_title, is_unread)
                is_open, is_unread = is_open or asks, False
            else:
                is_result = cell.id == "recipe-run" or is_open or draws(cell)
                shown += code(cell, is_result)
                if is_result and cell.outputs:
                    is_open, is_unread = False, True
        nb.cells = shown
        return nb, resources


def slide_type(cell):
    """What Jupyter calls it: a slide, a subslide, a note, or "-" for a part of the one before."""
    return cell.metadata.slideshow.slide_type


def as_slide(kind, text, cell, name=""):
    """A cell of prose on the slides."""
    about = {**cell.metadata, "slideshow": {"slide_type": kind}}
    return new_markdown_cell(text, id=f"{cell.id}{name}", metadata=about)


def prose(cell, after_title, is_unread):
    """What is shown of a cell of prose, and the note that has all of it."""
    if "say" in cell.metadata:
        return [as_slide("-" if after_title else "subslide", cell.source, cell)]
    if cell.id.startswith("exercise-"):
        return [as_slide("-", cell.source, cell)]
    note = as_slide("notes", cell.source, cell, "-note")
    if begins_with_heading(cell) and cell.id != "practice":
        title, _, text = cell.source.partition("\n")
        first, _, rest = text.strip().partition("\n\n")
        if title == "## Exercises":  # whose first paragraph is about the checks
            return [as_slide("slide", f"{title}\n\n{rest}", cell)]
        is_long = first.startswith(("|", "```", "!["))
        slide = as_slide("slide", title if is_long else f"{title}\n\n{first}", cell)
        return [slide, note] if rest or is_long else [slide]
    sentence = SENTENCE.match(cell.source)
    return [*([as_slide("-", sentence[0], cell)] if is_unread and sentence else []), note]


def code(cell, is_result):
    """What is shown of a cell of code, the recipe or a result, and the note that has its code."""
    is_folded = cell.metadata.get("jupyter", {}).get("source_hidden")
    note = as_slide("notes", f"```\n{cell.source}\n```", cell, "-note")
    notes = [] if is_folded or cell.id == "recipe" else [note]
    if cell.id == "recipe":
        cell.outputs = []
    elif is_result and cell.outputs:
        cell.source = ""
    else:
        return notes
    cell.metadata["slideshow"] = {"slide_type": "subslide"}
    return [*notes, cell]
