"""Folds of the site: what JupyterLab folds, and what a guess comes before."""

import itertools
import re
from html import escape

from nbformat.v4 import new_markdown_cell


class Reader:
    """Whether a reader, cell by cell, still guesses, and whether the answer has come out."""

    def __init__(self):
        self.is_guessing, self.is_answered = False, True

    def meets(self, cell):
        """A cell with a guess asks; the next one that gives it away ends the guessing."""
        if "say" in cell["metadata"]:
            self.is_guessing, self.is_answered = True, False
        elif "answer" in cell["metadata"]["tags"]:
            self.is_guessing = False

    def sees(self, came_out):
        """What came out answers the guess."""
        self.is_answered = self.is_answered or came_out


def folded(cells):
    """Fold hidden code, solutions, and what came out after a guess: outputs, and `answer` cells.

    A picture stays in sight, unless it is the first thing that answers a guess.
    """
    parts, reader = [], Reader()  # each part: whether it came out, and its cells
    for cell in cells:
        cell["metadata"].setdefault("tags", [])
        describe_outputs(cell)
        reader.meets(cell)
        hidden = cell["metadata"].get("jupyter", {}).get("source_hidden")
        found = halves(cell, hidden, reader.is_guessing, reader.is_answered)
        for number, (came_out, change) in enumerate(found):
            part = cell | {"id": f"{cell['id']}-{number}"} | change
            is_code = not number and (hidden or draws(cell))
            parts.append((came_out, fold(title(cell), [part]) if is_code else [part]))
            reader.sees(came_out)
    for came_out, group in itertools.groupby(parts, lambda part: part[0]):
        group = [part for _, part in group]
        shown = list(itertools.chain.from_iterable(group))
        by_itself = all(len(part) > 1 for part in group)  # each of them is folded already
        yield from fold(holds(shown), shown, "came-out") if came_out and not by_itself else shown


def describe_outputs(cell):
    """Note the words of a picture, and that a text has columns, where the site looks for them."""
    for output in cell.get("outputs", []):
        if alt := output.get("metadata", {}).get("image/png", {}).get("alt"):
            cell["metadata"]["mystnb"] = {"image": {"alt": alt}}
        if "  " in "".join(output.get("text", "")):  # site.css keeps the shape
            cell["metadata"]["tags"].append("columns")


def halves(cell, hidden, guessing, told):
    """What of a cell is folded apart: pairs of whether it came out, and what changes."""
    about, answer = cell["metadata"], "answer" in cell["metadata"]["tags"]
    if answer and cell["cell_type"] == "markdown":  # no fold can hold a heading
        before, *after = re.split(r"(?m)^(?=#+ )", "".join(cell["source"]), maxsplit=1)
        return [(True, {"source": before}), *((False, {"source": rest}) for rest in after)]
    if not cell.get("outputs") or "solution" in about["tags"]:
        return [(answer, {})]
    below = {"metadata": about | {"tags": [*about["tags"], "remove-input"]}}
    if draws(cell):
        return [(answer, {"outputs": []}), ((answer or guessing) and not told, below)]
    if hidden or guessing:
        return [(answer, {"outputs": []}), (answer or guessing, below)]
    return [(answer, {})]


def draws(cell):
    """Whether a picture came out."""
    return any("image/png" in output.get("data", {}) for output in cell.get("outputs", []))


def holds(cells):
    """What a fold of results holds, for the line to click on."""
    found = []
    for cell in cells:
        shown = [out.get("data", {}) for out in cell.get("outputs", [])]
        found += ["a picture" if "image/png" in data else "the output" for data in shown]
        prose = cell["cell_type"] == "markdown" and not "".join(cell["source"]).startswith("<")
        found += ["what it means"] if prose else []
    *first, last = dict.fromkeys(found) or ["the code"]
    return f"Answer: {', '.join(first)} and {last}" if first else f"Answer: {last}"


def title(cell):
    """What a folded cell holds: its first comment, a picture's code, or what it defines."""
    code = "".join(cell["source"])
    if code.startswith("# "):
        return code[2:].partition("\n")[0]
    if draws(cell):
        return "The code of the picture"
    defined = re.findall(r"(?m)^(?:class|def) (\w+)", code)
    return f"The code of {', '.join(defined)}"


def fold(words, cells, kind="code"):
    """Put cells below a line to click on."""
    opens = f"<details class='{kind}'><summary>{escape(words)}</summary>"
    return [new_markdown_cell(opens), *cells, new_markdown_cell("</details>")]
