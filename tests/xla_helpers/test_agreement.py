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
        (np.float32([1, 2]), np.float64([1, 2])),
        (np.array([1.0, INF, -INF]), np.array([1.0, INF, -INF])),
        (1 + 1j, 1 + 1j),
        ("same", b"same"),  # a graph makes bytes of text
        (np.array(["ä"]), np.array(["ä".encode()])),
        ("\ud800", "\ud800"),  # half a character
        (None, None),
        (np.zeros([0, 3]), np.zeros([0, 3])),
        ((1.0, [2.0, {"k": 3.0}]), [1.0, (2.0, {"k": 3.0})]),
        ({"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}),
    ],
)
def test_results_that_are_equal(one, other):
    found = xh.largest_difference(one, other)
    assert found.within(0) and (found.size, found.reason) == (0, "numbers")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("result", "reference", "size"),
    [
        (1.25, 1.0, 0.25),
        (-5.0, -4.0, 0.25),
        (np.array([2.0, 100.0]), np.array([1.0, 100.0]), 0.01),  # of its array's largest
        ([2.0, 100.0], [1.0, 100.0], 1.0),  # a list is not one array
        (2j, 1j, 1.0),
        (1e-30, 0.0, 1.0),
        (0.0, 1e-30, 1.0),
        (1.0, INF, INF),
        (-INF, INF, INF),
        (np.array([INF, 1.25]), np.array([INF, 1.0]), 0.25),
    ],
)
def test_the_size_of_a_difference(result, reference, size):
    found = xh.largest_difference(result, reference)
    assert (found.size, found.reason) == (pytest.approx(size), "numbers")
    assert found.within(size) and not found.within(0.99 * size if size < INF else 1e9)


@pytest.mark.parametrize(
    ("result", "reference", "words"),
    [
        (np.zeros([3]), np.zeros([2]), "its result has shape (3,), eager has (2,)"),
        ({"a": 1}, {"b": 1}, "has parts [\"result['a']\"], eager has [\"result['b']\"]"),
        (None, 1.0, "its result has parts [], eager has ['result']"),
        ([0, "x"], [0, 1.0], "its result[1] has type |S1, eager has float64"),
        ("yes", "no", "its result differs from eager in 1 of 1 entries"),
        (np.array([7, 8]), np.array([7, 9]), "its result differs from eager in 1 of 2 entries"),
        (np.array([NAN, 1]), np.array([1, 1]), "its result holds 1 NaN, eager holds 0"),
        ({"a": NAN}, {"a": NAN}, "its result['a'] holds 1 NaN, eager holds 1"),
        ([1.0, [1.2]], [1.0, [1.0]], "its result[1][0] differs from eager by 0.2 (relative), 0.2"),
    ],
)
def test_what_differs_is_said_with_its_place(result, reference, words):
    found = xh.largest_difference(result, reference)
    assert words in found.describe("its", "eager") and not found.within(0.1)


def test_what_rounding_left_of_a_zero_is_small_beside_the_whole():
    result, reference = ({"mean": np.array([x]), "kernel": 0.5} for x in (1e-10, -2e-10))
    found = xh.largest_difference(result, reference)
    assert found.within(1e-4) and not found.within(0)


@pytest.mark.parametrize(
    ("result", "reference"),
    [
        ([1.0, 1e-5], [1.0, 5e-6]),  # large enough
        ([0.5, 1e-10], [0.5, 1e-3]),  # on one side only
        (np.array([1e-10]), np.array([2e-10])),  # nothing larger to hold it against
        ([1e9, 1e-4], [1e9, 2e-4]),  # a large number hides no small one
    ],
)
def test_other_small_numbers_differ(result, reference):
    assert not xh.largest_difference(result, reference).within(1e-4)


def test_a_small_array_beside_larger_ones_has_rounding_of_their_size():
    result, reference = ({"beta": x, "loss": 1.0} for x in (1e-4 + 5e-8, 1e-4))
    assert xh.largest_difference(result["beta"], reference["beta"]).size == pytest.approx(5e-4)
    assert xh.largest_difference(result, reference).size == pytest.approx(5e-5)


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


def test_ragged_and_sparse_tensors_are_their_parts(tf):
    ragged = (tf.ragged.constant(rows) for rows in ([[1.0], [2.0, 3.0]], [[1.0, 2.0], [3.0]]))
    assert xh.largest_difference(*ragged).place == "result['row_splits']"
    places, values = [[0, 1], [2, 0]], [1.0, 2.0]
    sparse = tf.SparseTensor(places, values, [3, 2])
    turned = tf.SparseTensor(places[::-1], values[::-1], [3, 2])  # entries in another order
    assert xh.largest_difference(turned, sparse).within(0)
    moved = tf.SparseTensor(places, values[::-1], [3, 2])
    assert not xh.largest_difference(moved, sparse).within(0.1)


@pytest.mark.parametrize("thing", [{1, 2}, object(), np.zeros(2, [("a", "i4"), ("b", "f4")])])
def test_what_is_neither_numbers_nor_text_is_refused_by_its_place(thing):
    with pytest.raises(TypeError, match=r"`result\[1\]` is a \w+: only numbers, text and nests"):
        xh.largest_difference([1, thing], [1, thing])
