import math

import numpy as np
import pytest

from xla_helpers.validation import (
    check_callable,
    check_count,
    check_not_negative,
    check_positive,
    check_text,
    check_tolerance,
)


@pytest.mark.parametrize("value", [0, -1, -0.5, math.nan, math.inf, None, True, "3", [1], 1j])
def test_what_is_not_above_zero_is_refused_by_name(value):
    with pytest.raises(ValueError) as caught:
        check_positive("sizes[1]", value)
    assert str(caught.value) == f"`sizes[1]` is {value!r}: give a number above zero"


@pytest.mark.parametrize("value", [1, 0.5, np.int64(3), np.float32(0.1)])
def test_what_is_above_zero_passes(value):
    check_positive("rounds", value)


@pytest.mark.parametrize("value", [-1, math.nan, math.inf, None, False, "0"])
def test_a_tolerance_that_nothing_can_be_held_against_is_refused(value):
    with pytest.raises(ValueError) as caught:
        check_tolerance(value)
    assert str(caught.value) == (
        f"`tolerance` is {value!r}: give a number, 0 for equal to the last bit"
    )


@pytest.mark.parametrize("value", [0, 0.0, 1e-4, np.float32(0.1)])
def test_a_tolerance_that_is_a_number_passes(value):
    check_tolerance(value)


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, None, True, 2.5, "2"])
def test_a_count_is_a_whole_number_above_zero(value):
    with pytest.raises(ValueError, match="`rounds` is .*: give a "):
        check_count("rounds", value)
    check_count("rounds", np.int64(2))


@pytest.mark.parametrize("value", [-1, math.nan, math.inf, None, "0"])
def test_a_time_below_zero_or_without_end_is_refused(value):
    with pytest.raises(ValueError, match="`budget` is .*: give a number, 0 for none"):
        check_not_negative("budget", value)
    check_not_negative("budget", 0)


def test_what_is_no_function_and_what_is_no_text_is_refused():
    with pytest.raises(TypeError, match="`clock` is 3, which cannot be called: give a function"):
        check_callable("clock", 3)
    with pytest.raises(TypeError, match="`name` is 3: give text"):
        check_text("name", 3)
    check_callable("clock", len)
    check_text("name", "rows")


def test_a_refused_value_is_shown_in_one_short_line():
    with pytest.raises(ValueError) as caught:
        check_positive("size", "\x1b[2J\n" * 1000)
    assert str(caught.value).isprintable() and len(str(caught.value)) < 110
