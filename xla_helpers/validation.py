"""Arguments that make no sense, refused by name."""

import math
from numbers import Integral, Real

from .tables import cut


def check_positive(name: str, value) -> None:
    """Refuse a count, a size or a time that is not above zero, or that is without end."""
    _require(_is_finite(value) and value > 0, name, value, "a number above zero")


def check_count(name: str, value) -> None:
    """Refuse what is no whole number above zero."""
    check_positive(name, value)
    _require(isinstance(value, Integral), name, value, "a whole number")


def check_not_negative(name: str, value) -> None:
    """Refuse what is below zero or without end."""
    _require(_is_finite(value) and value >= 0, name, value, "a number, zero or more")


def _is_finite(value):
    """Whether it is a number, and not without end; True and False are answers."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _require(good, name, value, wanted):
    if not good:
        raise ValueError(f"`{name}` is {cut(repr(value), 60)}: give {wanted}")
