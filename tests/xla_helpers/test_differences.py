"""How far results differ, by `max_difference`, which needs no TensorFlow."""

import math
import tracemalloc
from typing import NamedTuple

import numpy as np
import pytest

import xla_helpers as xh

NAN, INF = math.nan, math.inf


class Pair(NamedTuple):
    first: object
    second: object


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1.0, np.float32(1.0)),
        (np.array([1.0, INF, -INF, NAN]), np.float32([1.0, INF, -INF, NAN])),
        (np.array(["ä"]), np.array(["ä".encode()])),  # a graph makes bytes of text
        ((1.0, [np.zeros([0, 3]), {"k": None}]), [1.0, (np.zeros([0, 3]), {"k": None})]),
        ({"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}),
    ],
)
def test_equal_results(one, other):
    assert xh.max_difference(one, other).size == 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("result", "reference", "size", "place"),
    [
        (np.array([2.0, 101.0]), np.array([1.0, 100.0]), 0.01, ""),  # of its array's largest
        ([2.0, 100.0], [1.0, 100.0], 1.0, "[0]"),  # a list is not one array
        ([1, [1.2j]], [1, [1j]], 0.2, "[1][0]"),
        (np.array([INF, 1.25]), np.array([INF, 1.0]), 0.25, ""),
        # Each array by itself
        ([1.0, 1e-10], [1.0, 3e-10], 2 / 3, "[1]"),
        ([1.3, 1.3e-6], [1.3, 1e-6], 0.3, "[1]"),  # seconds and amperes
        ([1.0, 1e-10], [1.0, 0.0], 1.0, "[1]"),
        # A mask is equal, or differs in its last place, and sets no scale
        (np.array([1.1, -1e9]), np.array([1.0, -1e9]), 0.1, ""),
        (np.float32([1.1, -10_000.0]), np.float32([1.0, -10_000.001]), 0.1, ""),
        (np.float32([1.0, 2.0 + 2**-22]), np.float32([1.0, 2.0]), 2**-23, ""),
        # Whole numbers with many values, a few of which are rounded otherwise
        (np.arange(256) + np.eye(256, dtype=int)[7], np.arange(256), 1 / 255, ""),
        # What no tolerance allows
        (-INF, INF, INF, ""),
        ({"a": np.array([NAN, 1.0])}, {"a": np.array([1.0, NAN])}, INF, "['a']"),
        (np.zeros([3]), np.zeros([2]), INF, ""),
        (None, 1.0, INF, ""),
        ([0, "x"], [0, 1.0], INF, "[1]"),
        (np.array([7, 8]), np.array([7, 9]), INF, ""),
        (np.arange(256) + 2 * np.eye(256, dtype=int)[7], np.arange(256), INF, ""),
        (np.arange(40) + np.eye(40, dtype=int)[7], np.arange(40), INF, ""),  # of 40, one is many
        (np.int32([1]), np.float32([1]), INF, ""),
        (np.array([True]), np.array([1]), INF, ""),
        (2**53 + 1, float(2**53), INF, ""),
        (np.uint64(2**53 + 1), np.int64(2**53), INF, ""),
        (b"a\0", b"a", INF, ""),
        (np.nan + 1j, np.nan + 2j, 0.5, ""),
        (complex(1, NAN), complex(NAN, NAN), INF, ""),
        (None, (), INF, ""),
    ],
)
def test_a_difference_has_a_size_and_a_place(result, reference, size, place):
    found = xh.max_difference(result, reference)
    assert (found.size, found.place) == (pytest.approx(size), f"result{place}")


def test_tensors_are_their_numbers(tf):
    x, halves = (
        np.float32([[1, 2]]),
        [tf.constant([256.0 + 4 * x, x], tf.bfloat16) for x in (2.0, 1.0)],
    )
    assert xh.max_difference(*halves).size == 4 / 260
    found = xh.max_difference(Pair(tf.constant(x), tf.Variable(2.0)), Pair(x, tf.Variable(1.0)))
    assert (found.size, found.place) == (1.0, "result['second']")
    ragged = (tf.ragged.constant(rows) for rows in ([[1.0], [2.0, 3.0]], [[1.0, 2.0], [3.0]]))
    assert xh.max_difference(*ragged).place == "result['row_splits']"
    slices = (tf.IndexedSlices(tf.ones([1]), tf.constant([row])) for row in (0, 1))
    assert xh.max_difference(*slices).place == "result['indices']"


@pytest.mark.parametrize("thing", [{1, 2}, object(), np.zeros(2, [("a", "i4"), ("b", "f4")])])
def test_only_numbers_and_text_are_compared(thing):
    with pytest.raises(TypeError, match=r"result\[1\]"):
        xh.max_difference([1, thing], [1, thing])


@pytest.mark.parametrize(
    ("result", "reference", "words"),
    [
        (INF, -INF, "1 infinite instead of 0 NaN and 1 infinite (1 of them negative)"),
        (np.array([-INF, -INF, INF]), np.array([-INF, INF, INF]), "(2 of them negative) instead"),
        (np.array([NAN, 1.0]), np.array([1.0, NAN]), "1 NaN and 0 infinite in other places"),
        (np.array([NAN, 1.0]), np.array([1.0, 1.0]), "1 NaN and 0 infinite instead of 0 NaN"),
        (np.arange(5000), np.arange(5000) ^ 1, "5,000 of 5,000 entries are different, by 1"),
        (np.array([7, 9]), np.array([8, 5]), "2 of 2 entries are different, by at most 4"),
        (np.int32([1]), np.float32([1]), "type int32 instead of float32"),
    ],
)
def test_a_difference_is_told_in_words(result, reference, words):
    assert words in xh.max_difference(result, reference).detail


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_real_numbers_are_not_compared_as_complex_ones(dtype):
    """Which would take four times the memory of a result of `float32`."""
    array = np.ones(4 << 20, dtype)
    tracemalloc.start()
    assert xh.max_difference(array, array.copy()).size == 0
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most <= 2 * array.nbytes + 5 * 8 * array.size + (1 << 20)


def test_many_parts_are_compared_in_a_moment():
    """A list of numbers has a place for each of them, and no copy of all of them for each."""
    numbers = [float(number) for number in range(20_000)]
    assert xh.max_difference(numbers, [*numbers[:-1], 0.0]).place == "result[19999]"
