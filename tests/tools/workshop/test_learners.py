"""Learner copies: nothing of the solutions, nothing missing, and no answer lost."""

import ast

import nbformat
import pytest
from nbformat.v4 import new_output
from tools.collection import paths, read

from tools.workshop import learners

every_notebook = pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)


def test_a_learner_copy_has_checks_in_place_of_solutions(small):
    cells = {cell.id: cell for cell in learners.learner_copy(small).cells}
    assert list(cells) == ["title", "set-up", "guess", "exercises", "exercise-1", "check-1"]
    assert cells["exercise-1"].source == "answer = None"
    assert "sum(parts)" not in "".join(cell.source for cell in cells.values())
    first, second, third, *_ = cells["check-1"].source.splitlines()
    assert (second, third) == ('with xh.not_yet("answer"):', "    print(answer)")
    assert first.startswith("# @title") and cells["check-1"].metadata["jupyter"]["source_hidden"]


def test_a_solution_without_a_check_is_an_error():
    with pytest.raises(ValueError):
        learners.split("answer = 42")


def test_what_is_inside_a_function_is_given_to_nobody():
    source = (
        "def outer():\n    def inner(): ...\n    local = 1\n    return inner\n\n\nvalue = outer()"
    )
    assert learners.names(source, ast.Store) == {"outer", "value"}
    assert learners.names(source, ast.Load) == {"inner", "outer"}


@every_notebook
def test_a_check_asks_only_for_names_that_its_exercise_shows(path):
    cells = {cell.id: cell.source for cell in read(path).cells if cell.cell_type == "code"}
    for name in [name for name in cells if name.startswith("solution-")]:
        answer, check = learners.split(cells[name])
        asked = learners.names(check, ast.Load) - learners.names(check, ast.Store)
        shown = learners.names(cells[name.replace("solution", "exercise")], ast.Store)
        assert asked & shown, f"{name}: its check looks at nothing that the exercise shows"
        hidden = asked & learners.names(answer, ast.Store) - shown
        assert not hidden, f"{name}: the exercise does not show {hidden}"
        assert "assert" in check


def test_only_the_text_of_a_copy_tells_it_from_the_new_one(small, tmp_path):
    made, path = tmp_path / "made.ipynb", tmp_path / "copy.ipynb"
    copied = learners.learner_copy(small)
    nbformat.write(copied, made)
    copied.cells[1].outputs = [new_output("stream", text="said")]
    copied.metadata["teacher"] = "me"
    nbformat.write(copied, path)
    assert not learners.differs(path, made)
    next(cell for cell in copied.cells if cell.id == "exercise-1").source = "answer = 41"
    nbformat.write(copied, path)
    assert learners.differs(path, made)
