"""Folds of the site: what JupyterLab folds, and what a guess comes before."""

import itertools
import re
from html import escape

from nbformat.v4 import new_markdown_cell


def folded(cells):
    """Fold hidden code, solutions, and what answers a guess: what comes out until the next heading.

    What is folded one after the other, pictures and their code too, is one fold.
    """
    parts, is_guessing = [], False  # each part: whether it answers, and its cells
    for cell in cells:
        cell["metadata"].setdefault("tags", [])
        describe_outputs(cell)
        for number, (answers, change) in enumerate(halves(cell, is_guessing)):
            part = cell | {"id": f"{cell['id']}-{number}"} | change
            is_code = not number and is_hidden(cell)
            parts.append((answers, fold(title(cell), [part]) if is_code else [part]))
        is_guessing = "say" in cell["metadata"] or (is_guessing and not begins_with_heading(part))
    for answers, group in itertools.groupby(parts, lambda part: part[0]):
        group = [part for _, part in group]
        shown = list(itertools.chain.from_iterable(group))
        by_itself = all(len(part) > 1 for part in group)  # each of them is folded already
        yield from fold(holds(shown), shown, "came-out") if answers and not by_itself else shown


def describe_outputs(cell):
    """Note the words of a picture, and that a text has columns, where the site looks for them."""
    for output in cell.get("outputs", []):
        if alt := output.get("metadata", {}).get("image/png", {}).get("alt"):
            cell["metadata"]["mystnb"] = {"image": {"alt": alt}}
        if "  " in "".join(output.get("text", "")):  # site.css keeps the shape
            cell["metadata"]["tags"].append("columns")


def halves(cell, is_guessing):
    """What of a cell is folded apart: pairs of whether it answers a guess, and what changes."""
    about, answer = cell["metadata"], "answer" in cell["metadata"]["tags"]
    if answer and cell["cell_type"] == "markdown":  # no fold can hold a heading
        before, *after = re.split(r"(?m)^(?=#+ )", "".join(cell["source"]), maxsplit=1)
        return [(True, {"source": before}), *((False, {"source": rest}) for rest in after)]
    code_answers = answer or (is_guessing and is_hidden(cell))
    if not cell.get("outputs") or "solution" in about["tags"]:
        return [(code_answers, {})]
    if is_guessing or is_hidden(cell):
        below = {"metadata": about | {"tags": [*about["tags"], "remove-input"]}}
        return [(code_answers, {"outputs": []}), (answer or is_guessing, below)]
    return [(answer, {})]


def begins_with_heading(cell):
    """Whether a section begins with this cell."""
    return cell["cell_type"] == "markdown" and "".join(cell["source"]).startswith("#")


def is_hidden(cell):
    """Whether the code of this cell is folded: as JupyterLab does, and where a picture came out."""
    return bool(cell["metadata"].get("jupyter", {}).get("source_hidden")) or draws(cell)


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
