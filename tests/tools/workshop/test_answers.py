"""The answers in tests/answers: each exercise has right ones, wrong ones and none, and a check
that tells them apart.

`make test-workshop` runs them all. For one notebook:
pytest -m workshop tests/tools/workshop -k 01_fuse
"""

import ast

import pytest
from nbclient import NotebookClient
from tools.collection import paths, read

from tools.workshop import answers
from tools.workshop.answers import Answer
from tools.workshop.learners import solved

every_notebook = pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
TRIVIAL = 5  # a line with fewer characters gives nothing away


def given(path):
    return answers.read_answers(answers.FOLDER / f"{path.stem}.toml")


def try_all(notebook, tried):
    """What fails when every answer is tried in one kernel."""
    executed = answers.trial(notebook, tried)
    NotebookClient(executed, kernel_name="python3", timeout=1800).execute()
    return answers.failures(executed, tried)


@pytest.mark.workshop
@every_notebook
def test_learner_copies_run_and_their_checks_are_fair(path):
    notebook = read(path)
    found = try_all(notebook, given(path) + answers.solutions(notebook))
    assert not found, f"{path.stem}\n\n" + "\n\n".join(found)


def test_a_trial_runs_every_answer(small):
    tried = [
        Answer("exercise-1", "no answer", "", "add the numbers"),
        Answer("exercise-1", "answer 2", "answer = 41", "it is larger"),
        Answer("exercise-1", "answer 3", "answer = 1 / 0", "the cell above ended with an error"),
        Answer("exercise-1", "answer 4", "answer = 42.0", None),
        *answers.solutions(small),
    ]
    assert try_all(small, tried) == []


def test_a_check_that_is_not_fair(small):
    tried = [
        Answer("exercise-1", "answer 1", "answer = 40 + 1", "it is smaller"),
        Answer("exercise-1", "answer 2", "answer = 41", None),
    ]
    hint, right = try_all(small, tried)
    assert hint == (
        "exercise-1, answer 1, should begin with\n    Not yet: it is smaller\n"
        "and printed\n    Not yet: it is larger\nThe answer:\n    answer = 40 + 1"
    )
    assert "should begin with\n    Right.\nand printed\n    Not yet: it is larger" in right


@pytest.mark.parametrize(
    ("text", "it_has"),
    [
        ("", "neither"),
        ('hint = "a"', "hint"),
        ('answer = "a"\nhints = "b"', "answer, hints"),
    ],
)
def test_what_is_no_answer_is_refused(tmp_path, text, it_has):
    path = tmp_path / "01_add.toml"
    path.write_text(f"[[exercise-1]]\n{text}")
    with pytest.raises(ValueError, match=f"01_add.toml, exercise-1, entry 1: .*it has {it_has}$"):
        answers.read_answers(path)


def test_no_answers_are_left_over():
    written = {path.name for path in answers.FOLDER.iterdir()}
    assert written - {f"{path.stem}.toml" for path in paths()} == set()


@every_notebook
def test_every_exercise_has_right_answers_wrong_ones_and_none(path):
    found = solved(read(path))
    by_exercise = {exercise: [] for exercise in found}
    for answer in given(path):
        by_exercise[answer.exercise].append(answer)
    for exercise, tried in by_exercise.items():
        empty = [answer for answer in tried if answer.is_empty]
        wrong = [answer for answer in tried if answer.hint is not None and not answer.is_empty]
        right = {answer.text.strip() for answer in tried if answer.hint is None}
        assert len(empty) == 1 and empty[0].hint, f"{exercise}: one answer is empty, with a hint"
        assert wrong, f"{exercise} has no wrong answer"
        assert right - {found[exercise][0].strip()}, f"{exercise} has no other right answer"


@every_notebook
def test_hints_differ(path):
    hints = {}
    for answer in given(path):
        if answer.hint is not None:
            hints.setdefault(answer.exercise, []).append(answer.hint)
    for exercise, said in hints.items():
        assert all(said), f"{exercise}: a hint is empty"
        for number, hint in enumerate(said):
            others = said[:number] + said[number + 1 :]
            assert not any(other.startswith(hint) for other in others), f"{exercise}: {hint}"


def messages(check):
    """What each assert of a check says: code, or None."""
    nodes = [node for node in ast.walk(ast.parse(check)) if isinstance(node, ast.Assert)]
    return {ast.unparse(node): node.msg and ast.unparse(node.msg) for node in nodes}


@every_notebook
def test_every_assert_of_a_check_says_what_is_wrong(path):
    for exercise, (_, check) in solved(read(path)).items():
        silent = [code for code, message in messages(check).items() if not message]
        assert not silent, f"{exercise}: no hint in {silent}"


@every_notebook
def test_no_hint_gives_the_answer_away(path):
    hints = [(answer.exercise, answer.hint or "") for answer in given(path)]
    for exercise, (solution, check) in solved(read(path)).items():
        said = [hint for of, hint in hints if of == exercise]
        said += [message or "" for message in messages(check).values()]
        for line in map(str.strip, solution.splitlines()):
            assert len(line) < TRIVIAL or not any(line in hint for hint in said), (
                f"{exercise}: a hint holds {line!r} of the solution"
            )
