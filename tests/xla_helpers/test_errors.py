"""Errors in one line, and arguments that make no sense."""

import math

import pytest

import xla_helpers as xh


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("", "no message"),
        ("in user code:\n  File 1\n  ValueError: wrong\n", "wrong"),
        ("Graph execution error:\n\nwrong\n[[{{node f}}]]", "wrong"),
        ("{{function_node f}} wrong [Op:Add] name: ", "wrong"),
        ("Exception encountered when calling Layer.call().\n\n\x1b[1mwrong\x1b[0m\n", "wrong"),
        (
            "in user code:\n  File 1\n  ValueError: Exception encountered when calling A.call().\n"
            "\n\x1b[1mException encountered when calling B.call().\n\nwrong\x1b[0m\n\nArguments:",
            "wrong",
        ),
        ("File 1\nError encountered:\nwrong\n", "File 1"),
        ("An Error encountered:\n\nwrong\n", "wrong"),
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


@pytest.mark.parametrize("name", ["rounds", "block", "budget", "tolerance"])
def test_an_argument_without_sense_is_refused_by_name(name):
    bad = [-1, True, None, "3", math.nan, math.inf, "\x1b[2J\n" * 1000]
    for value in bad + {"rounds": [0, 2.5], "block": [0]}.get(name, []):
        with pytest.raises(ValueError, match=f"`{name}`") as caught:
            xh.compare({"a": abs}, (1,), **{name: value})
        assert str(caught.value).isprintable() and len(str(caught.value)) < 150
