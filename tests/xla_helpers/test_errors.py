"""Errors that a lesson expects, answers that are not right yet, and arguments without sense."""

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import xla_helpers as xh


def test_an_expected_error_is_shown_in_one_line_and_kept(capsys):
    with xh.expect_error(ArithmeticError, "first", "third") as caught:
        raise ZeroDivisionError("first\x1b[2J line (defined @ /tmp/cell.py:3)\n\n  third line ")
    assert capsys.readouterr().out == "ZeroDivisionError: first [2J line\n"
    assert isinstance(caught.error, ZeroDivisionError) and caught.lines[1:] == ["third line"]


def test_what_was_not_expected_is_an_error():
    with pytest.raises(AssertionError, match="should have raised ValueError"):
        with xh.expect_error(ValueError):
            pass
    with pytest.raises(KeyError), xh.expect_error(ValueError):
        raise KeyError("x")
    with pytest.raises(AssertionError, match="does not hold 'shape'"):
        with xh.expect_error(ValueError, "shape"):
            raise ValueError("dtype")


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("", "no message"),
        ("\n  wrong  \nmore", "wrong"),
        ("in user code:\n  File 1\n  ValueError: wrong\n", "wrong"),
        ("Graph execution error:\n\nwrong\n[[{{node f}}]]", "wrong"),
        ("{{function_node f}} wrong [Op:Add] name: ", "wrong"),
        ("Exception encountered when calling Layer.call().\n\n\x1b[1mwrong\x1b[0m\n", "wrong"),
        ("no (No registered 'no') A (No registered 'A' OpKernel", "unsupported A"),
        ("\x1b[2Jgone\x07\ud800\u202e", " [2Jgone   "),
        ("many words " * 100, ("many words " * 100)[:250]),
    ],
)
def test_what_is_wrong_with_an_answer_is_one_line(message, line, capsys):
    """The line of TensorFlow's and Keras' messages that says it, wherever it stands."""
    with xh.not_yet("answer"):
        raise ValueError(message)
    said = capsys.readouterr().out
    assert said.startswith(f"Not yet: the answer cannot be checked (ValueError: {line}")
    assert said.count("\n") == 1 and said[:-1].isprintable() and len(said) < 400


@pytest.fixture
def run(capsys):
    """Runs a cell, as a notebook's kernel does, and gives what it printed."""
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=Config(HistoryAccessor={"enabled": False}))
    shell.user_ns["not_yet"] = xh.not_yet

    def run_cell(source):
        capsys.readouterr()
        shell.run_cell(source, store_history=True)
        return capsys.readouterr().out

    yield run_cell
    InteractiveShell.clear_instance()


CHECK = """with not_yet("answer"):
    print("because it is")
    assert answer == 42, "add them up\\nand more"
"""
MISSING = "Not yet: the cell above ended with an error, or has not run; mend it and run it again\n"


def test_an_answer_is_judged_as_often_as_it_runs(run):
    assert run(CHECK) == MISSING
    for value, said in ((41, "Not yet: add them up\n"), (42, "Right.\nbecause it is\n")):
        run(f"answer = {value}")
        assert run(CHECK) == run(CHECK) == said


@pytest.mark.parametrize("broken", ["answer = 1 / 0", "answer = (", "def answer("])
def test_no_earlier_answer_passes_after_an_error(run, broken):
    run("answer = 42")
    run(broken)
    assert run(CHECK) == run(CHECK) == MISSING
    run("answer = 42")
    assert run(CHECK).startswith("Right.")


def test_an_error_of_another_cell(run):
    run("answer = 42")
    run("1 / 0")
    assert run(CHECK).startswith("Right.")


def test_an_assert_without_a_hint_shows_itself(run):
    run("answer = 41")
    assert run("with not_yet('answer'):\n    assert answer > 41") == "Not yet: assert answer > 41\n"


def test_an_interrupt_is_not_an_answer():
    with pytest.raises(KeyboardInterrupt), xh.not_yet("answer"):
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("name", "values", "wanted"),
    [
        ("rounds", [0, -1, float("nan"), float("inf"), None, True, "3", 2.5], "give a .*number"),
        ("block", [0, -1, float("nan"), float("inf"), None, True], "give a number above zero"),
        ("budget", [-1, float("nan"), float("inf"), None], "give a number, zero or more"),
        ("tolerance", [-1, float("nan"), None, False], "give a number, zero or more"),
    ],
)
def test_an_argument_without_sense_is_refused_by_name(name, values, wanted):
    for value in [*values, "\x1b[2J\n" * 1000]:
        with pytest.raises((ValueError, TypeError), match=f"`{name}` is .*{wanted}") as caught:
            xh.compare({"a": abs}, [1], **{name: value})
        assert str(caught.value).isprintable() and len(str(caught.value)) < 150
