"""Answers that learners give beside the solution, and what the checks must say of them.

They stand in tests/answers, a file for each notebook. An answer with a hint is wrong, and its
check must give that hint; an answer without one is right.
"""

import tomllib
from typing import NamedTuple

from nbformat.v4 import new_code_cell

from tools.collection import ROOT
from tools.workshop.learners import check_of, learner_copy, solved

FOLDER = ROOT / "tests" / "answers"


class Answer(NamedTuple):
    """An answer to an exercise. name: how a failure calls it."""

    exercise: str
    name: str
    text: str
    hint: str | None

    @property
    def expected(self):
        """How the first line that the check prints must begin."""
        return "Right." if self.hint is None else f"Not yet: {self.hint}"

    @property
    def is_empty(self):
        return not self.text.strip()


def read_answers(path):
    """The answers in a file. Raises: ValueError for what is no answer."""
    answers = []
    for exercise, entries in tomllib.loads(path.read_text(encoding="utf-8")).items():
        for number, entry in enumerate(entries, start=1):
            if "answer" not in entry or set(entry) - {"answer", "hint"}:
                raise ValueError(
                    f"{path.name}, {exercise}, entry {number}: give `answer` and, if it is wrong, "
                    f"`hint`; it has {', '.join(entry) or 'neither'}"
                )
            name = "no answer" if not entry["answer"].strip() else f"answer {number}"
            answers.append(Answer(exercise, name, entry["answer"], entry.get("hint")))
    return answers


def solutions(notebook):
    """The answers of the notebook itself."""
    return [
        Answer(exercise, "the solution", answer, None)
        for exercise, (answer, _) in solved(notebook).items()
    ]


def trial(notebook, answers):
    """A notebook that tries them all: the learner copy as it is, which is no answer, and below it
    each answer in turn, with what its exercise gives above it and its check below it."""
    made = learner_copy(notebook)
    cells = {cell.id: cell for cell in made.cells}
    for answer in [answer for answer in answers if not answer.is_empty]:
        stub, check = cells[answer.exercise], cells[check_of(answer.exercise)]
        tried = new_code_cell(f"{stub.source}\n\n{answer.text}")
        tried.metadata["tags"] = ["raises-exception"]  # as an answer may
        made.cells += [tried, new_code_cell(check.source, id=trial_of(answer))]
    return made


def trial_of(answer):
    return f"{check_of(answer.exercise)}-{answer.name.replace(' ', '-')}"


def failures(executed, answers):
    """What checks said otherwise than expected, one text for each. executed: a trial."""
    cells = {cell.id: cell for cell in executed.cells}
    found = []
    for answer in answers:
        cell = cells[check_of(answer.exercise) if answer.is_empty else trial_of(answer)]
        said = "".join(o.text for o in cell.outputs if o.get("name") == "stdout")
        if not said.startswith(answer.expected):
            found.append(
                f"{answer.exercise}, {answer.name}, should begin with\n    {answer.expected}\n"
                f"and printed\n{indented(said or 'nothing')}\nThe answer:\n{indented(answer.text)}"
            )
    return found


def indented(text):
    return "\n".join(f"    {line}" for line in text.strip().splitlines())
