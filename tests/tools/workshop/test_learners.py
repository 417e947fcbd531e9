"""Learner copies: nothing of the solutions, nothing missing, and no answer lost.

`make test-workshop` also executes every learner copy, before and after its answers are put in.
"""

import ast
import re

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_output

from tools.collection import paths, read
from tools.workshop import learners

every_notebook = pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)


def answered(notebook, original):
    """The learner copy with each answer below what its exercise gives."""
    solutions = {cell.id: cell.source for cell in original.cells}
    for cell in notebook.cells:
        if cell.id.startswith("exercise-") and cell.cell_type == "code":
            solution = solutions[cell.id.replace("exercise", "solution")]
            cell.source += f"\n\n{learners.split(solution)[0]}"
    return notebook


def execute(notebook):
    """Run it, and return what each check printed last."""
    NotebookClient(notebook, kernel_name="python3", timeout=1800).execute()
    return {
        cell.id: "".join(output.get("text", "") for output in cell.outputs).splitlines()[-1]
        for cell in notebook.cells
        if re.fullmatch(r"check-\d+", cell.id)
    }


def test_a_learner_copy_has_checks_in_place_of_solutions(small):
    cells = {cell.id: cell for cell in learners.learner_copy(small).cells}
    assert list(cells) == ["title", "set-up", "guess", "exercises", "exercise-1", "check-1"]
    assert cells["exercise-1"].source == "answer = None"
    assert "sum(parts)" not in "".join(cell.source for cell in cells.values())
    assert cells["check-1"].source == (
        "with xh.not_yet():\n    print(answer)\n    assert answer == 42"
    )


def test_checks_say_not_yet_and_then_right(small):
    learner = learners.learner_copy(small)
    assert execute(learner) == {"check-1": "Not yet: assert answer == 42"}
    assert execute(answered(learner, small)) == {"check-1": "Right."}


def test_a_solution_without_a_check_is_an_error():
    with pytest.raises(ValueError):
        learners.split("answer = 42")


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


def test_what_is_inside_a_function_is_given_to_nobody():
    source = (
        "def outer():\n    def inner(): ...\n    local = 1\n    return inner\n\n\nvalue = outer()"
    )
    assert names(source, ast.Store) == {"outer", "value"}
    assert names(source, ast.Load) == {"inner", "outer"}


@every_notebook
def test_a_check_asks_only_for_names_that_its_exercise_shows(path):
    cells = {cell.id: cell.source for cell in read(path).cells if cell.cell_type == "code"}
    for name in [name for name in cells if name.startswith("solution-")]:
        answer, check = learners.split(cells[name])
        asked = names(check, ast.Load) - names(check, ast.Store)
        shown = names(cells[name.replace("solution", "exercise")], ast.Store)
        assert asked & shown, f"{name}: its check looks at nothing that the exercise shows"
        hidden = asked & names(answer, ast.Store) - shown
        assert not hidden, f"{name}: the exercise does not show {hidden}"
        assert "assert" in check


def test_a_copy_that_was_worked_in_is_kept(small, tmp_path, capsys):
    path = tmp_path / "copy.ipynb"
    learners.hand_out(learners.learner_copy(small), path)
    worked_in = read(path)
    next(cell for cell in worked_in.cells if cell.id == "exercise-1").source = "answer = 41"
    nbformat.write(worked_in, path)
    learners.hand_out(learners.learner_copy(small), path)
    assert "answer = 41" in path.read_text()
    assert f"kept {path}" in capsys.readouterr().out


def test_a_copy_that_was_only_run_is_written_anew(small, tmp_path, capsys):
    path = tmp_path / "copy.ipynb"
    only_run = learners.learner_copy(small)
    only_run.cells[1].outputs = [new_output("stream", text="old")]
    nbformat.write(only_run, path)
    learners.hand_out(learners.learner_copy(small), path)
    assert read(path).cells[1].outputs == []
    assert capsys.readouterr().out == ""


@pytest.mark.workshop
@every_notebook
def test_learner_copies_run_open_and_answered(path):
    learner = learners.learner_copy(read(path))
    assert all(said.startswith("Not yet") for said in execute(learner).values())
    assert set(execute(answered(learner, read(path))).values()) == {"Right."}
