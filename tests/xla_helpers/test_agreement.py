"""How far results differ: `largest_difference`, which needs no TensorFlow."""

import math
from typing import NamedTuple

import numpy as np
import pytest

import xla_helpers as xh

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (np.array([1.0, INF, -INF]), np.float32([1.0, INF, -INF])),
        (np.array(["ä"]), np.array(["ä".encode()])),  # a graph makes bytes of text
        (None, None),
        (np.zeros([0, 3]), np.zeros([0, 3])),
        ((1.0, [2.0, {"k": 3.0}]), [1.0, (2.0, {"k": 3.0})]),
        ({"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}),
    ],
)
def test_results_that_are_equal(one, other):
    assert xh.largest_difference(one, other).within(0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("result", "reference", "size"),
    [
        (1.25, 1.0, 0.25),
        (np.array([2.0, 100.0]), np.array([1.0, 100.0]), 0.01),  # of its array's largest
        ([2.0, 100.0], [1.0, 100.0], 1.0),  # a list is not one array
        (2j, 1j, 1.0),
        (1e-30, 0.0, 1.0),
        (0.0, 1e-30, 1.0),
        (1.0, INF, INF),
        (-INF, INF, INF),
        (np.array([INF, 1.25]), np.array([INF, 1.0]), 0.25),
        # Beside larger numbers
        ([1.0, 1e-10], [1.0, 3e-10], 2e-10),  # what rounding left of a zero
        ([1.0, 1e-4 + 5e-8], [1.0, 1e-4], 5e-5),  # a small one has rounding of their size
        ([1.0, 1e-5], [1.0, 5e-6], 5e-3),
        ([0.5, 1e-10], [0.5, 1e-3], 1.0),  # zero on one side alone
        ([1e9, 1e-4], [1e9, 2e-4], 0.1),  # a large number hides no small one
    ],
)
def test_the_size_of_a_difference(result, reference, size):
    found = xh.largest_difference(result, reference)
    assert (found.size, found.reason) == (pytest.approx(size), "numbers")
    assert found.within(1.01 * size) and not found.within(0.99 * size if size < INF else 1e9)


@pytest.mark.parametrize(
    ("result", "reference", "place", "words"),
    [
        (np.zeros([3]), np.zeros([2]), "result", "has shape (3,), eager has (2,)"),
        (None, 1.0, "result", "has parts [], eager has ['result']"),
        ([0, "x"], [0, 1.0], "result[1]", "has type |S1, eager has float64"),
        ("yes", "no", "result", "differs from eager in 1 of 1 entries"),
        ({"a": np.array([7, 8])}, {"a": [7, 9]}, "result", "has parts"),
        (np.array([7, 8]), np.array([7, 9]), "result", "differs from eager in 1 of 2 entries"),
        ({"a": NAN}, {"a": NAN}, "result['a']", "holds 1 NaN, eager holds 1"),
        ([1, [1.2]], [1, [1.0]], "result[1][0]", "differs from eager by 0.2 (relative), 0.2"),
    ],
)
def test_what_differs_is_said_with_its_place(result, reference, place, words):
    found = xh.largest_difference(result, reference)
    assert found.place == place and words in found.against("eager") and not found.within(0.1)


class Pair(NamedTuple):
    first: object
    second: object


def test_tensors_are_their_numbers(tf):
    x = np.array([[1.0, 2.0]], np.float32)
    assert xh.largest_difference({"a": [tf.constant(x)]}, {"a": [x]}).within(0)
    halves = (tf.constant([256.0, x], tf.bfloat16) for x in (2.0, 1.0))
    assert xh.largest_difference(*halves).size == 1 / 256
    found = xh.largest_difference(Pair(x, tf.Variable(2.0)), Pair(x, tf.Variable(1.0)))
    assert (found.place, found.size) == ("result['second']", 1.0)


def test_tensors_of_several_parts(tf):
    ragged = (tf.ragged.constant(rows) for rows in ([[1.0], [2.0, 3.0]], [[1.0, 2.0], [3.0]]))
    assert xh.largest_difference(*ragged).place == "result['row_splits']"
    slices = (tf.IndexedSlices(tf.ones([1]), tf.constant([row])) for row in (0, 1))
    assert xh.largest_difference(*slices).place == "result['indices']"


@pytest.mark.parametrize("thing", [{1, 2}, object(), np.zeros(2, [("a", "i4"), ("b", "f4")])])
def test_what_is_neither_numbers_nor_text_is_refused_by_its_place(thing):
    with pytest.raises(TypeError, match=r"`result\[1\]` is a \w+: only numbers, text and nests"):
        xh.largest_difference([1, thing], [1, thing])
