"""Arguments that make no sense, refused by name."""

import math
from numbers import Integral, Real

from .tables import cut

SHOWN = 60  # characters of a value that is refused


def check_positive(name: str, value) -> None:
    """Refuse a count, a size or a time that is not above zero, or that is without end."""
    if not (is_number(value) and 0 < value < math.inf):
        raise ValueError(f"`{name}` is {_shown(value)}: give a number above zero")


def check_count(name: str, value) -> None:
    """Refuse what is no whole number above zero."""
    check_positive(name, value)
    if not isinstance(value, Integral):
        raise ValueError(f"`{name}` is {_shown(value)}: give a whole number")


def check_not_negative(name: str, value) -> None:
    """Refuse a time that is below zero or without end."""
    if not (is_number(value) and 0 <= value < math.inf):
        raise ValueError(f"`{name}` is {_shown(value)}: give a number, 0 for none")


def check_tolerance(tolerance) -> None:
    """Refuse what no difference could be held against."""
    if not (is_number(tolerance) and 0 <= tolerance < math.inf):
        raise ValueError(
            f"`tolerance` is {_shown(tolerance)}: give a number, 0 for equal to the last bit"
        )


def check_callable(name: str, value) -> None:
    """Refuse what cannot be called."""
    if not callable(value):
        raise TypeError(f"`{name}` is {_shown(value)}, which cannot be called: give a function")


def check_text(name: str, value) -> None:
    """Refuse what is no text."""
    if not isinstance(value, str):
        raise TypeError(f"`{name}` is {_shown(value)}: give text")


def is_number(value) -> bool:
    """Whether a value is a number; True and False are answers."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _shown(value):
    return cut(repr(value), SHOWN)
