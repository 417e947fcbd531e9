"""Learner copies, for nbconvert: what follows a guess is collapsed, a teacher's words are gone.

JupyterLab collapses what stands below a heading, outputs too, and *Run all* leaves it so. Gone,
too, is the cell that installs packages on Colab: in a room, `make workshop` has done that.
"""

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from tools.folds import begins_with_heading

ANSWER, NEXT = "###### Open this when you have guessed", "###### The next guess"


class Fold(Preprocessor):
    """Put what answers a guess, until the next heading or guess, below a closed heading."""

    def preprocess(self, nb, resources):
        cells, is_closed = [], False
        for cell in nb.cells:
            asks = cell.metadata.pop("say", None) is not None
            cell.metadata.pop("bet", None)
            answers = "answer" in cell.metadata.get("tags", [])
            title, rest = apart(cell) if answers else (None, cell)
            if asks and is_closed:  # else it would stand in the answer to the guess before
                cell.source = f"{NEXT}\n\n{cell.source}"
            is_closed = is_closed and not (title or asks or begins_with_heading(cell))
            cells += [title] if title else []
            cells += [closed(cell)] if answers and not is_closed else []
            cells += [rest] if cell.id != "colab" else []
            cells += [closed(cell)] if asks else []
            is_closed = is_closed or answers or asks
        nb.cells = cells
        return nb, resources


def apart(cell):
    """The heading that a cell begins with, if any, and the cell without it."""
    if not begins_with_heading(cell):
        return None, cell
    title, _, rest = cell.source.partition("\n")
    text = NotebookNode(cell | {"id": f"{cell.id}-text", "source": rest.strip()})
    return NotebookNode(cell | {"source": title}), text


def closed(cell):
    """The heading, closed, of what answers the guess of this cell."""
    about = {"jp-MarkdownHeadingCollapsed": True}
    return new_markdown_cell(ANSWER, id=f"{cell.id}-answer", metadata=about)
