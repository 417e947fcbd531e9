"""Errors that a lesson expects, answers that are not right yet, and arguments without sense."""

import math

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import xla_helpers as xh


def test_an_expected_error_is_shown_in_one_line_and_kept(capsys):
    with xh.expect_error(ArithmeticError, "first", "third") as caught:
        raise ZeroDivisionError("first\x1b[2J line\n\n  third line ")
    assert capsys.readouterr().out == "ZeroDivisionError: first [2J line\n"
    assert isinstance(caught.error, ZeroDivisionError)


@pytest.mark.parametrize(
    ("raised", "error"),
    [(None, AssertionError), (KeyError("x"), KeyError), (ValueError("dtype"), AssertionError)],
)
def test_any_other_outcome_is_an_error(raised, error):
    with pytest.raises(error), xh.expect_error(ValueError, "shape"):
        if raised:
            raise raised


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("", "no message"),
        ("in user code:\n  File 1\n  ValueError: wrong\n", "wrong"),
        ("Graph execution error:\n\nwrong\n[[{{node f}}]]", "wrong"),
        ("{{function_node f}} wrong [Op:Add] name: ", "wrong"),
        ("Exception encountered when calling Layer.call().\n\n\x1b[1mwrong\x1b[0m\n", "wrong"),
        (
            "no (No registered 'no') A (No registered 'A' OpKernel for XLA_CPU_JIT devices "
            "compatible with node {{node b/A_1}}",
            "unsupported A",
        ),
        ("\x1b[2Jgone\x07\ud800\u202e", " [2Jgone   "),
        ("many words " * 100, ("many words " * 100)[:250]),
    ],
)
def test_an_error_of_an_answer_is_told_in_the_telling_line(message, line, capsys):
    def check():
        raise ValueError(message)

    xh.exercise(check)
    said = capsys.readouterr().out
    assert said.startswith("Not yet: ") and f"(ValueError: {line}" in said
    assert said.count("\n") == 1 and said[:-1].isprintable() and len(said) < 400


def test_an_answer_is_judged_by_its_value_alone_whatever_failed_before(capsys):
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=Config(HistoryAccessor={"enabled": False}))
    shell.user_ns["exercise"] = xh.exercise
    hint = 'assert gain == 42, "add them up\\nand more"'
    shell.run_cell(f"def check():\n    print('because')\n    {hint}")

    def say(check):
        capsys.readouterr()
        shell.run_cell(f"exercise({check})", store_history=True)
        return capsys.readouterr().out

    assert say("check").startswith("Not yet: ")
    for value, said in ((41, "Not yet: add them up\n"), (42, "Right.\nbecause\n")):
        shell.run_cell(f"gain = {value}", store_history=True)
        shell.run_cell("again = 1 / 0  # against gain", store_history=True)
        assert say("check") == say("check") == said
    shell.run_cell("def bare():\n    assert gain > 42")
    assert say("bare") == "Not yet: assert gain > 42\n"
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("name", ["rounds", "block", "budget", "tolerance"])
def test_an_argument_without_sense_is_refused_by_name(name):
    bad = [-1, True, None, "3", math.nan, math.inf, "\x1b[2J\n" * 1000]
    for value in bad + {"rounds": [0, 2.5], "block": [0]}.get(name, []):
        with pytest.raises(ValueError, match=f"`{name}`") as caught:
            xh.compare({"a": abs}, (1,), **{name: value})
        assert str(caught.value).isprintable() and len(str(caught.value)) < 150
