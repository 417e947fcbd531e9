import math

import numpy as np
import pytest

from xla_helpers.agreement import TOLERANCE, Difference, largest_difference


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
    found = largest_difference(result, reference)
    assert found.within(TOLERANCE / 2 * 1.001)
    assert found.reason == "numbers"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("reference", "result", "size"),
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
def test_size_of_a_difference(reference, result, size):
    found = largest_difference(result, reference)
    assert (found.size, found.reason) == (pytest.approx(size), "numbers")
    assert found.within(size) and not found.within(size * 0.99 if size < math.inf else 1e9)


def test_a_difference_from_zero_is_large():
    assert largest_difference(1e-3, 0.0).size > 1


def test_the_place_is_where_results_differ_most():
    reference = {"loss": [1.0, 1.0], "step": 1.0}
    found = largest_difference({"loss": [1.1, 1.2], "step": 1.1}, reference)
    assert (found.place, found.size) == ("result['loss'][1]", pytest.approx(0.2))


INT, FLOAT = np.dtype(np.int64), np.dtype(np.float64)


@pytest.mark.parametrize(
    ("reference", "result", "difference"),
    [
        (np.zeros([2]), np.zeros([3]), ("result", "shape", (3,), (2,))),
        (np.zeros([2, 1]), np.zeros([2]), ("result", "shape", (2,), (2, 1))),
        (
            [1, [2, 3]],
            [1, [2, [3]]],
            (
                *("result", "parts"),
                ["result[0]", "result[1][0]", "result[1][1][0]"],
                ["result[0]", "result[1][0]", "result[1][1]"],
            ),
        ),
        ({"a": 1}, {"b": 1}, ("result", "parts", ["result['b']"], ["result['a']"])),
        (None, 1.0, ("result", "parts", ["result"], [])),
        (1.0, None, ("result", "parts", [], ["result"])),
        (1, "1", ("result", "type", np.dtype("<U1"), INT)),
        ([0, "x"], [0, 1.0], ("result[1]", "type", FLOAT, np.dtype("<U1"))),
        ("yes", "no", ("result", "entries", 1, 1)),
        (b"yes", "yes", ("result", "entries", 1, 1)),
        ([50256, [1, 2, 3]], [50256, [1, 2, 4]], ("result[1][2]", "entries", 1, 1)),
        (np.array([50256, 100]), np.array([50256, 101]), ("result", "entries", 1, 2)),
        (np.array([True, True]), np.array([False, False]), ("result", "entries", 2, 2)),
        (1.0, math.nan, ("result", "NaN", 1, 0)),
        ({"a": math.nan}, {"a": 1.0}, ("result['a']", "NaN", 0, 1)),
        (math.nan, math.nan, ("result", "NaN", 1, 1)),
        (complex(0, math.nan), 1j, ("result", "NaN", 0, 1)),
    ],
)
def test_results_that_cannot_agree(reference, result, difference):
    found = largest_difference(result, reference)
    assert found == Difference(math.inf, *difference)
    assert not found.within(1e300)


def test_tensors_agree_with_arrays(tf):
    x = np.array([[1.0, 2.0]], np.float32)
    assert largest_difference(tf.constant(x), x) == Difference()
    assert largest_difference({"a": [tf.constant("s")]}, {"a": [b"s"]}).size == 0
    assert largest_difference(tf.constant(x), x[0]).reason == "shape"


def test_bfloat16_is_compared_as_a_number(tf):
    reference, result = (
        tf.constant([256.0, 1.0], tf.bfloat16),
        tf.constant([256.0, 2.0], tf.bfloat16),
    )
    assert largest_difference(result, reference).size == 1 / 256
    broken = largest_difference(tf.constant([math.nan, 1.0], tf.bfloat16), reference)
    assert broken.reason == "NaN"


def test_equal_nan():
    reference, result = np.array([math.nan, 1.0]), np.array([math.nan, 1.25])
    assert largest_difference(result, reference, equal_nan=True).size == 0.25
    assert largest_difference([math.nan, 3], [math.nan, 3], equal_nan=True).size == 0


@pytest.mark.parametrize(
    ("result", "reference", "counts"),
    [([math.nan, 1.0], [1.0, 1.0], (1, 0)), ([1.0, 1.0], [math.nan, 1.0], (0, 1))],
)
def test_nan_in_another_place_is_no_equal_nan(result, reference, counts):
    found = largest_difference(np.array(result), np.array(reference), equal_nan=True)
    assert (found.reason, found.here, found.there) == ("NaN", *counts)


@pytest.mark.parametrize(
    ("difference", "words"),
    [
        (Difference(0.25), "its result differs from eager by 0.25 (relative)"),
        (Difference(math.inf), "its result differs from eager by inf (relative)"),
        (
            Difference(math.inf, "result[1]", "shape", (3,), (2,)),
            "its result[1] has shape (3,), eager has (2,)",
        ),
        (
            Difference(math.inf, "result", "parts", ["result[0]"], []),
            "its result has parts ['result[0]'], eager has []",
        ),
        (
            Difference(math.inf, "result", "type", INT, FLOAT),
            "its result has type int64, eager has float64",
        ),
        (
            Difference(math.inf, "result['x']", "entries", 1, 2),
            "its result['x'] differs from eager in 1 of 2 entries",
        ),
        (
            Difference(math.inf, "result", "NaN", 1, 0),
            "its result holds 1 NaN, eager holds 0",
        ),
    ],
)
def test_a_difference_in_words_names_both_sides(difference, words):
    assert difference.describe("its", "eager") == words
    assert difference.describe("XLA's", "eager") == words.replace("its", "XLA's")
    assert difference.describe() == words.replace("eager", "the reference")
