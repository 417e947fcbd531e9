import math

import numpy as np
import pytest

from xla_helpers.agreement import largest_difference
from xla_helpers.comparing import TOLERANCE


def agreeing():
    text = np.array(["a", "b"])
    return [
        (1.0, 1.0 + TOLERANCE / 2),
        (1, 1.0),
        (True, np.bool_(True)),
        (np.float32([1, 2]), np.float64([1, 2])),
        ([1.0, -100.0], [1.0, -100.0 * (1 + TOLERANCE / 2)]),
        (0.0, -0.0),
        (math.inf, math.inf),
        (np.array([1.0, math.inf, -math.inf]), np.array([1.0, math.inf, -math.inf])),
        (1 + 1j, 1 + 1j),
        ("same", "same"),
        (text, text.copy()),
        (b"same", b"same"),
        (None, None),
        ([], ()),
        (np.zeros([0, 3]), np.zeros([0, 3])),
        ((1.0, [2.0, {"k": 3.0}]), [1.0, (2.0, {"k": 3.0})]),
        ({"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}),
    ]


@pytest.mark.parametrize(("reference", "result"), agreeing())
def test_results_that_agree(reference, result):
    assert largest_difference(result, reference) <= TOLERANCE / 2 * 1.001


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("reference", "result", "difference"),
    [
        (1.0, 1.25, 0.25),
        (-4.0, -5.0, 0.25),
        (np.array([1.0, 100.0]), np.array([2.0, 100.0]), 0.01),  # relative to its array's largest
        ([1.0, 100.0], [2.0, 100.0], 1.0),  # a list is not one array
        (1j, 2j, 1.0),
        (math.inf, 1.0, math.inf),
        (1.0, math.inf, math.inf),
        (math.inf, -math.inf, math.inf),
        (np.array([math.inf, 1.0]), np.array([math.inf, 1.25]), 0.25),
    ],
)
def test_size_of_a_difference(reference, result, difference):
    assert largest_difference(result, reference) == pytest.approx(difference)


def test_a_difference_from_zero_is_large():
    assert largest_difference(1e-3, 0.0) > 1


@pytest.mark.parametrize(
    ("reference", "result", "message"),
    [
        (np.zeros([2]), np.zeros([3]), r"its result has shape \(3,\), the reference has \(2,\)"),
        (np.zeros([2, 1]), np.zeros([2]), "its result has shape"),
        ([1, [2, 3]], [1, [2, [3]]], r"its result has parts .*\[1\]\[1\]\[0\].*, the reference"),
        ({"a": 1}, {"b": 1}, "parts .*'b'.*, the reference .*'a'"),
        (None, 1.0, r"its result has parts \['result'\], the reference \[\]"),
        (1.0, None, r"its result has parts \[\], the reference \['result'\]"),
        (1, "1", "its result has type .*, the reference has int64"),
        ("x", 1.0, "its result has type float64, the reference has"),
        ("yes", "no", "its result differs in 1 of 1 entries"),
        (b"yes", "yes", "its result differs in 1 of 1 entries"),
        ([50256, [1, 2, 3]], [50256, [1, 2, 4]], r"its result\[1\]\[2\] differs in 1 of 1 entries"),
        (np.array([50256, 100]), np.array([50256, 101]), "its result differs in 1 of 2 entries"),
        (np.array([True, True]), np.array([False, False]), "differs in 2 of 2 entries"),
        (1.0, math.nan, "its result holds NaN, which equals nothing: give arguments that avoid it"),
        ({"a": math.nan}, {"a": 1.0}, r"the reference's result\['a'\] holds NaN"),
        (math.nan, math.nan, "holds NaN"),
        (complex(0, math.nan), 1j, "holds NaN"),
    ],
)
def test_results_that_cannot_agree(reference, result, message):
    with pytest.raises(ValueError, match=message):
        largest_difference(result, reference)


def test_tensors_agree_with_arrays(tf):
    x = np.array([[1.0, 2.0]], np.float32)
    assert largest_difference(tf.constant(x), x) == 0
    assert largest_difference({"a": [tf.constant("s")]}, {"a": [b"s"]}) == 0
    with pytest.raises(ValueError, match="shape"):
        largest_difference(tf.constant(x), x[0])


def test_bfloat16_is_compared_as_a_number(tf):
    reference, result = (
        tf.constant([256.0, 1.0], tf.bfloat16),
        tf.constant([256.0, 2.0], tf.bfloat16),
    )
    assert largest_difference(result, reference) == 1 / 256
    with pytest.raises(ValueError, match="NaN"):
        largest_difference(tf.constant([math.nan, 1.0], tf.bfloat16), reference)


def test_equal_nan():
    reference, result = np.array([math.nan, 1.0]), np.array([math.nan, 1.25])
    assert largest_difference(result, reference, equal_nan=True) == 0.25
    assert largest_difference([math.nan, 3], [math.nan, 3], equal_nan=True) == 0
    for one, other, whose in (("result", "reference", "its"), ("reference", "result", "the ref")):
        arrays = {one: np.array([math.nan, 1.0]), other: np.array([1.0, math.nan])}
        arrays[other][1] = 1.0
        with pytest.raises(ValueError, match=f"^{whose}.* holds NaN where the other does not"):
            largest_difference(**arrays, equal_nan=True)
