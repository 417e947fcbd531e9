"""Arguments that make no sense, refused by name."""

import math
from numbers import Integral, Real

from .tables import cut

SHOWN = 60  # characters of a value that is refused


def check_positive(name: str, value) -> None:
    """Refuse a count, a size or a time that is not above zero, or that is without end."""
    if not (_is_finite(value) and value > 0):
        raise ValueError(f"{_shown(name, value)}: give a number above zero")


def check_count(name: str, value) -> None:
    """Refuse what is no whole number above zero."""
    check_positive(name, value)
    if not isinstance(value, Integral):
        raise ValueError(f"{_shown(name, value)}: give a whole number")


def check_not_negative(name: str, value) -> None:
    """Refuse what is below zero or without end."""
    if not (_is_finite(value) and value >= 0):
        raise ValueError(f"{_shown(name, value)}: give a number, zero or more")


def _is_finite(value):
    """Whether it is a number, and not without end; True and False are answers."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _shown(name, value):
    return f"`{name}` is {cut(repr(value), SHOWN)}"
