"""Folds of the site: what JupyterLab folds, and what a guess comes before."""

import itertools
import re
from html import escape

from nbformat.v4 import new_markdown_cell

from tools.learners import CAME_OUT


def folded(cells):
    """Fold hidden code, solutions, and what came out after a guess: outputs, and `answer` cells."""
    parts, guessing = [], False  # each part: whether it came out, and its cells
    for cell in cells:
        about, text, outputs = cell["metadata"], "".join(cell["source"]), cell.get("outputs", [])
        tags = about.setdefault("tags", [])
        hidden, answer = about.get("jupyter", {}).get("source_hidden"), "answer" in tags
        guessing = "say" in about or (guessing and not answer)
        for output in outputs:
            if alt := output.get("metadata", {}).get("image/png", {}).get("alt"):
                about["mystnb"] = {"image": {"alt": alt}}
            if "  " in "".join(output.get("text", "")):  # site.css keeps the shape
                tags.append("columns")
        halves = [(answer, {})]
        if answer and cell["cell_type"] == "markdown":  # no fold can hold a heading
            before, *after = re.split(r"(?m)^(?=#+ )", text, maxsplit=1)
            halves = [(True, {"source": before}), *((False, {"source": rest}) for rest in after)]
        elif outputs and (hidden or guessing) and "solution" not in tags:  # code, and its outputs
            below = {"metadata": about | {"tags": [*tags, "remove-input"]}}
            halves = [(answer, {"outputs": []}), (answer or guessing, below)]
        for number, (came_out, change) in enumerate(halves):
            part = cell | {"id": f"{cell['id']}-{number}"} | change
            parts.append((came_out, fold(title(cell), [part]) if hidden and not number else [part]))
    for came_out, group in itertools.groupby(parts, lambda part: part[0]):
        cells = [cell for _, part in group for cell in part]
        yield from fold(CAME_OUT, cells, "came-out") if came_out else cells


def title(cell):
    """What a folded cell holds: its first comment, or what it defines."""
    code = "".join(cell["source"])
    if code.startswith("# "):
        return code[2:].partition("\n")[0]
    defined = re.findall(r"(?m)^(?:class|def) (\w+)", code)
    return f"The code of {', '.join(defined)}"


def fold(words, cells, kind="code"):
    """Put cells below a line to click on."""
    opens = f"<details class='{kind}'><summary>{escape(words)}</summary>"
    return [new_markdown_cell(opens), *cells, new_markdown_cell("</details>")]
