import pytest

from xla_helpers import expect_error


def test_an_expected_error_is_shown_in_one_line_and_kept(capsys):
    with expect_error(ArithmeticError, "first", "third") as caught:
        raise ZeroDivisionError("first line\n\n  third line ")
    assert capsys.readouterr().out == "ZeroDivisionError: first line\n"
    assert isinstance(caught.error, ZeroDivisionError)
    assert caught.lines == ["first line", "third line"]


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
