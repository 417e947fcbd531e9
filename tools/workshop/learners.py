"""Learner copies: no outputs and no solutions, what answers a guess folded, and below each exercise
its check."""

import ast
import copy
import textwrap

import nbformat
from nbformat.v4 import new_code_cell

from tools.collection import is_solution, read
from tools.workshop.folding import fold_answers, folded

CHECK = "\n# Check\n"  # in a solution: what stands below it checks what stands above
EXPLANATION = (
    "Below each exercise stands its check, folded. "
    'Run it after your answer: it says "Not yet", with a hint, until the answer is right.'
)
FOLDED = (
    "*In this copy, what answers a guess is folded. Guess, run the cells, then unfold. "
    "The checks in folded cells run with the others.*"
)


def differs(path, made):
    """Whether the text of a learner copy is another than that of the new one at `made`.

    Outputs and metadata do not count. Raises: UsageError when there is no notebook at `path`.
    """
    return sources(read(path)) != sources(read(made))


def sources(notebook):
    return [cell.source for cell in notebook.cells]


def learner_copy(notebook):
    """The notebook without outputs and solutions, what answers a guess folded, and each exercise
    followed by its check."""
    solutions = solved(notebook)
    cells = []
    for cell in fold_answers(without_outputs(notebook.cells)):
        if is_solution(cell):
            continue
        cells.append(cell)
        if cell.source.startswith("## Exercises"):
            cell.source += f"\n\n{EXPLANATION}"
        if cell.id in solutions:
            _, check = solutions[cell.id]
            cells.append(check_cell(check_of(cell.id), check, cell.source))
    cells[0].source += f"\n\n{FOLDED}"
    return nbformat.v4.new_notebook(metadata=notebook.metadata, cells=cells)


def solved(notebook):
    """Exercise to the answer and the check of its solution."""
    return {
        cell.id.replace("solution", "exercise"): split(cell.source)
        for cell in notebook.cells
        if is_solution(cell) and cell.cell_type == "code"
    }


def split(solution):
    """A solution's answer and its check."""
    answer, check = f"\n{solution}".split(CHECK)
    return answer.strip("\n"), check.strip("\n")


def check_of(exercise):
    """The name of the cell that checks an exercise."""
    return exercise.replace("exercise", "check")


def check_cell(name, check, exercise=""):
    """A cell that holds a check. exercise: the code whose names it asks for."""
    asked = ", ".join(f'"{name}"' for name in sorted(names(exercise, ast.Store)))
    cell = new_code_cell(f"with xh.not_yet({asked}):\n{textwrap.indent(check, ' ' * 4)}")
    cell.id = name
    return folded(cell, "Check")


def names(source, context):
    """Names that code reads (`ast.Load`) or gives to what follows (`ast.Store`)."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = {node for function in functions for node in ast.walk(function)} - {*tree.body}
    nodes = [n for n in ast.walk(tree) if context is ast.Load or n not in inside]
    found = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, context)}
    if context is ast.Store:
        found |= {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
    return found


def without_outputs(cells):
    cells = copy.deepcopy(cells)
    for cell in cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return cells
