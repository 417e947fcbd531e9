import pytest

from xla_helpers.errors import expect_error, headline


def test_an_expected_error_is_shown_in_one_line_and_kept(capsys):
    with expect_error(ArithmeticError, "first", "third") as caught:
        raise ZeroDivisionError("first line\n\n  third line ")
    assert capsys.readouterr().out == "ZeroDivisionError: first line\n"
    assert isinstance(caught.error, ZeroDivisionError)
    assert caught.lines == ["first line", "third line"]


def test_the_place_of_a_cell_is_left_out(capsys):
    with expect_error(ValueError):
        raise ValueError("node f/add (defined @ /tmp/ipykernel_1/2.py:3) has no kernel")
    assert capsys.readouterr().out == "ValueError: node f/add has no kernel\n"


def test_an_error_without_a_message(capsys):
    with expect_error(ValueError):
        raise ValueError
    assert capsys.readouterr().out == "ValueError: no message\n"


def test_no_error_is_an_error():
    with pytest.raises(AssertionError, match="should have raised ValueError"):
        with expect_error(ValueError):
            pass


def test_another_kind_passes_through():
    with pytest.raises(KeyError):
        with expect_error(ValueError):
            raise KeyError("x")


def test_another_message_is_an_error():
    with pytest.raises(AssertionError, match="does not hold 'shape'"):
        with expect_error(ValueError, "shape"):
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
        ("Exception encountered when calling Layer", "Exception encountered when calling Layer"),
        ("no (No registered 'no') A (No registered 'A' OpKernel", "unsupported A"),
    ],
)
def test_headline_is_the_line_that_says_what_is_wrong(message, line):
    assert headline(ValueError(message)) == f"ValueError: {line}"


def test_a_headline_has_a_limit():
    text = headline(ValueError("many words " * 100))
    assert len(text) == 300 and text.endswith("…")


def test_an_error_does_not_steer_a_terminal(capsys):
    assert headline(ValueError("\x1b[2Jgone\x07\ud800\u202e")) == "ValueError:  [2Jgone   "
    with expect_error(ValueError):
        raise ValueError("\x1b]0;title\x07 here")
    assert capsys.readouterr().out == "ValueError:  ]0;title  here\n"
