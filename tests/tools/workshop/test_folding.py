"""A guess stays a guess: in a learner's copy nothing that stands open below it answers it."""

import ast

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from tools.collection import is_for_colab, is_solution, paths, read

from tools.workshop.folding import OPENS, TITLE, fold_answers, is_assert, is_folded, without_asserts
from tools.workshop.guesses import asks, with_their_place
from tools.workshop.learners import learner_copy

every_notebook = pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
ASK = "**Guess before you run.** How many?"


def code(name, source):
    return new_code_cell(source, id=name)


def prose(name, source):
    return new_markdown_cell(source, id=name)


def fold(*cells):
    """Id to source of the cells after a guess, and of those above it."""
    return {cell.id: cell for cell in fold_answers(cells)}


def test_asserts_pictures_and_what_reads_them_are_folded():
    cells = fold(
        prose("guess", ASK),
        code("count", "n = 2\nprint(n)\n# two\nassert n == 2"),
        prose("count-read", "Two.\n\nYes, two."),
        code("picture", 'xh.picture(draw(n), alt="Two bars.")'),
        code("check", "assert n > 1"),
    )
    assert cells["count"].source == "n = 2\nprint(n)"
    assert cells["count-held"].source == "# @title What must hold\n# two\nassert n == 2"
    assert cells["count-read"].source == f"{OPENS}\n\nTwo.\n\nYes, two.\n\n</details>"
    for name in ("count-held", "picture", "check"):
        assert cells[name].metadata == {"jupyter": {"source_hidden": True}, "cellView": "form"}
    assert "jupyter" not in cells["count"].metadata


def test_what_leads_to_the_next_cell_stays_open():
    cells = fold(
        prose("guess", ASK),
        prose("how", "This is how."),
        code("count", "n = 2"),
        prose("more-text", "Now add one."),
        code("more", "n + 1"),
        prose("held-text", "It is three."),
        code("held", "assert n + 1 == 3"),
        prose("check-text", "It is even."),
        code("even-check", "print(n % 2)"),
    )
    opened = [name for name, cell in cells.items() if not is_folded(cell)]
    assert opened == ["guess", "how", "count", "more-text", "more", "even-check"]


def test_a_second_guess_stays_open_below_what_answers_the_first():
    cells = fold(
        prose("guess", ASK),
        code("count", "n = 2"),
        prose("count-read", f"Two.\n\n{ASK}\n\nThink."),
        code("more", "assert n"),
        prose("end", "## End"),
        code("last", "assert n == 2"),
    )
    assert cells["count-read"].source == f"{OPENS}\n\nTwo.\n\n</details>\n\n{ASK}\n\nThink."
    assert [name for name, cell in cells.items() if is_folded(cell)] == ["count-read", "more"]


def test_what_leads_to_a_question_stays_open_above_a_check():
    asked = f"A product of two.\n\n{ASK}"
    cells = fold(prose("guess", asked), code("held", "assert n == 2"))
    assert cells["guess"].source == asked and is_folded(cells["held"])


def test_nothing_is_folded_where_nobody_guesses():
    cells = fold(prose("text", "## Title"), code("count", "assert True"), prose("read", "Yes."))
    assert not any(map(is_folded, cells.values()))


def test_asserts_leave_loops_that_do_more_and_functions_alone():
    source = """def test():
    assert True


for n in (1, 2):
    print(n)
    # small
    assert n < 3
for n in (1, 2):
    assert n
result = 2
assert result == 2
result"""
    opened, held = without_asserts(source)
    assert opened == (
        "def test():\n    assert True\n\n\nfor n in (1, 2):\n    print(n)\nresult = 2\nresult"
    )
    assert held == "for n in (1, 2):\n    assert n\nassert result == 2"


def test_asserts_without_which_a_block_is_no_code_stay():
    source = "if n:\n    print(n)\nelse:\n    assert n == 0"
    more = "for m in n:\n    print(m)\n    assert m"
    opened, held = without_asserts(f"{source}\n{more}\nassert n")
    assert opened == f"{source}\nfor m in n:\n    print(m)" and held == "assert n"


@every_notebook
def test_no_assert_or_picture_stands_open_below_a_guess(path):
    seen = []
    for cell, follows in with_their_place(learner_copy(read(path)).cells):
        if follows and cell.cell_type == "code":
            ast.parse(cell.source)
            if not cell.metadata.get("jupyter", {}).get("source_hidden"):
                assert "xh.picture(" not in cell.source, cell.id
                assert not claims_of(cell), cell.id
                seen.append(cell.id)
    assert seen, "nothing stands open below a guess"


@every_notebook
def test_the_prose_below_the_code_of_a_guess_is_folded(path):
    for cell, follows in with_their_place(learner_copy(read(path)).cells):
        if follows and cell.cell_type == "markdown" and cell.id.endswith("-read"):
            assert is_folded(cell) or asks(cell), cell.id
        assert cell.source.count("<details>") == cell.source.count("</details>") <= 1


def test_the_guesses_of_retracing_stay_guesses():
    path = next(path for path in paths() if path.stem == "04_avoid_retracing")
    copied = {cell.id: cell.source for cell in learner_copy(read(path)).cells}
    for name in ("launches-check", "cures-check", "heard-check", "trap"):
        assert "assert" not in copied[name] or copied[name].startswith(TITLE), name


@every_notebook
def test_no_claim_is_lost_but_in_loops_that_do_more(path):
    notebook = read(path)
    claims = [claim for cell in notebook.cells for claim in claims_of(cell)]
    copied = [claim for cell in learner_copy(notebook).cells for claim in claims_of(cell)]
    assert claims and claims == copied


def claims_of(cell):
    """The asserts of a cell that is no solution and no check."""
    others = is_solution(cell) or is_for_colab(cell) or cell.id.startswith("check-")
    if cell.cell_type != "code" or others:
        return []
    return [ast.unparse(node) for node in ast.parse(cell.source).body if is_assert(node)]
