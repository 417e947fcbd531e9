"""Learner copies: no outputs and no solutions, and below each exercise its check."""

import copy
import textwrap

import nbformat
from nbformat.v4 import new_code_cell

from tools.collection import is_solution, read

CHECK = "\n# Check\n"  # in a solution: what stands below it checks what stands above
EXPLANATION = (
    "Below each exercise stands its check, folded. "
    'Run it: it says "Not yet" until the answer is right.'
)


def hand_out(made, path):
    """Write a learner copy, but never over one that somebody has worked in."""
    if path.exists() and sources(read(path)) != sources(made):
        print(f"kept {path}, which was changed; remove it for a new one")
    else:
        nbformat.write(made, path)


def sources(notebook):
    return [cell.source for cell in notebook.cells]


def learner_copy(notebook):
    """The notebook without outputs and solutions, each exercise followed by its check."""
    checks = {
        cell.id.replace("solution", "exercise"): split(cell.source)[1]
        for cell in notebook.cells
        if is_solution(cell) and cell.cell_type == "code"
    }
    cells = []
    for cell in without_outputs(notebook.cells):
        if is_solution(cell):
            continue
        cells.append(cell)
        if cell.source.startswith("## Exercises"):
            cell.source += f"\n\n{EXPLANATION}"
        if cell.id in checks:
            cells.append(check_cell(cell.id.replace("exercise", "check"), checks[cell.id]))
    return nbformat.v4.new_notebook(metadata=notebook.metadata, cells=cells)


def split(solution):
    """A solution's answer and its check."""
    answer, check = f"\n{solution}".split(CHECK)
    return answer.strip("\n"), check.strip("\n")


def check_cell(name, check):
    cell = new_code_cell(f"with xh.not_yet():\n{textwrap.indent(check, ' ' * 4)}")
    cell.id = name
    cell.metadata["jupyter"] = {"source_hidden": True}
    return cell


def without_outputs(cells):
    cells = copy.deepcopy(cells)
    for cell in cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return cells
