import math

import numpy as np
import pytest

from xla_helpers.validation import check_callable, check_positive


@pytest.mark.parametrize("fn", [None, 3, "f"])
def test_what_cannot_be_called_is_refused(fn):
    kind = type(fn).__name__
    with pytest.raises(TypeError, match=f"`fn` is {kind}, which cannot be called: pass the func"):
        check_callable(fn)


@pytest.mark.parametrize("fn", [len, lambda: 1, dict])
def test_what_can_be_called_passes(fn):
    check_callable(fn)


@pytest.mark.parametrize("value", [0, -1, -0.5, math.nan, None, "3", [1], 1j])
def test_what_is_not_above_zero_is_refused_by_name(value):
    with pytest.raises(ValueError) as caught:
        check_positive("sizes[1]", value)
    assert str(caught.value) == f"`sizes[1]` is {value!r}: give a number above zero"


@pytest.mark.parametrize("value", [1, 0.5, np.int64(3), np.float32(0.1)])
def test_what_is_above_zero_passes(value):
    check_positive("rounds", value)
