import math
from collections import namedtuple
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from xla_helpers.agreement import (
    FLOOR,
    TOLERANCE,
    ZERO,
    Difference,
    as_arrays,
    largest_difference,
    leaves,
)


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
        ("same", b"same"),  # a graph makes bytes of text
        (np.array(["ä"]), np.array(["ä".encode()])),
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


@pytest.mark.parametrize("number", [1e-30, 1e-3, 7.0])
def test_a_difference_from_zero_is_all_of_the_number(number):
    assert largest_difference(number, 0.0).size == 1
    assert largest_difference(0.0, number).size == 1


def test_a_difference_is_known_as_it_is_too():
    found = largest_difference(np.array([1.0, 100.0]), np.array([3.0, 100.0]))
    assert (found.size, found.absolute) == (0.02, 2.0)


# What is practically zero


def test_what_rounding_left_of_a_zero_is_named_and_does_not_differ():
    weights = {"mean": np.array([1e-10, -3e-10]), "kernel": np.array([0.5])}
    found = largest_difference(weights, {**weights, "mean": np.array([2e-10, 1e-10])})
    assert found.zeros == ("result['mean']",)
    assert found.size == 0 and found.within(TOLERANCE)
    assert not found.within(0)  # to the last bit


def test_what_is_equal_is_no_rounding():
    tiny = {"mean": 1e-10, "kernel": 0.5}
    assert largest_difference(tiny, dict(tiny)) == Difference(place="result['mean']")


@pytest.mark.parametrize(
    ("result", "reference"),
    [
        ([1.0, ZERO], [1.0, ZERO / 2]),  # large enough
        ([0.5, 1e-10], [0.5, 1e-3]),  # on one side only
        (np.array([1e-10]), np.array([2e-10])),  # nothing larger to hold it against
        ([0.5, 1], [0.5, 2]),  # integers
    ],
)
def test_other_small_numbers_differ(result, reference):
    found = largest_difference(result, reference)
    assert not found.within(TOLERANCE) and found.zeros == ()


def test_the_scale_of_a_small_array_has_a_floor_beside_larger_ones():
    """Rounding is of the size of the large numbers that a small one was made of."""
    beta, moved = np.array([1e-4]), np.array([1e-4 + 5e-8])
    assert largest_difference(moved, beta).size == pytest.approx(5e-4)
    beside = largest_difference({"beta": moved, "x": 1.0}, {"beta": beta, "x": 1.0})
    assert (beside.size, beside.place) == (pytest.approx(5e-8 / FLOOR), "result['beta']")
    huge = largest_difference({"beta": moved, "x": 1e9}, {"beta": beta, "x": 1e9})
    assert huge.size == beside.size
    assert not beside.within(0)


def test_the_place_is_where_results_differ_most():
    reference = {"loss": [1.0, 1.0], "step": 1.0}
    found = largest_difference({"loss": [1.1, 1.2], "step": 1.1}, reference)
    assert (found.place, found.size) == ("result['loss'][1]", pytest.approx(0.2))


class Pair(NamedTuple):
    """What an author may return."""

    first: object
    second: object


@dataclass
class Scores:
    loss: object
    parts: object = None


def test_named_parts_are_places():
    reference = Scores(1.0, Pair(2.0, [3.0]))
    found = largest_difference(Scores(1.0, Pair(2.0, [6.0])), reference)
    assert (found.place, found.size) == ("result.parts.second[0]", 1.0)
    assert as_arrays(reference) == {"loss": 1.0, "parts": {"first": 2.0, "second": [3.0]}}


def test_a_result_of_arrays_keeps_its_form(tf):
    result = as_arrays({"a": (tf.constant([1, 2]), [tf.Variable(3.0), None]), "text": "b"})
    assert result["a"][0].tolist() == [1, 2] and result["a"][1] == [3.0, None]
    assert result["text"] == b"b"
    assert isinstance(result["a"], tuple) and isinstance(result["a"][1], list)


def test_entries_of_sparse_tensors_may_stand_in_any_order(tf):
    places, values = [[0, 1], [2, 0], [1, 1]], [1.0, 2.0, 3.0]
    one = tf.SparseTensor(places, values, [3, 2])
    other = tf.SparseTensor(places[::-1], values[::-1], [3, 2])
    assert (
        largest_difference(one, other)
        == largest_difference(one, one)
        == Difference(place="result.indices")
    )
    assert as_arrays(other)["indices"].tolist() == [[0, 1], [1, 1], [2, 0]]
    moved = tf.SparseTensor(places, values[::-1], [3, 2])
    assert not largest_difference(moved, one).within(0.1)
    empty = tf.sparse.from_dense([[0.0]])
    assert largest_difference(empty, empty).within(0)


def test_what_cannot_be_compared_is_said_by_its_type(tf):
    records = np.zeros(2, [("a", "i4"), ("b", "f4")])
    for thing in (tf.data.Dataset.range(3), records, {1, 2}, object()):
        with pytest.raises(TypeError, match=r"`result\[1\]` is a \w+: only numbers, text and"):
            largest_difference([1, thing], [1, thing])


def test_half_a_character_is_text():
    halves = "\ud800", np.array(["\ud800", "b"])
    assert largest_difference(halves, halves).within(0)
    assert not largest_difference("\ud800", "?").within(1)


def test_ragged_and_sparse_tensors_are_their_parts(tf):
    ragged = [tf.ragged.constant(rows) for rows in ([[1.0], [2.0, 3.0]], [[1.0, 2.0], [3.0]])]
    assert largest_difference(ragged[0], ragged[0]).size == 0
    assert largest_difference(*ragged).place == "result.row_splits"
    sparse = [tf.sparse.from_dense([[0.0, number]]) for number in (1.0, 1.5)]
    found = largest_difference(*reversed(sparse))
    assert (found.place, found.size) == ("result.values", 0.5)
    assert as_arrays(sparse[0])["dense_shape"].tolist() == [1, 2]


def test_what_holds_neither_numbers_nor_text_is_refused_by_its_place():
    with pytest.raises(TypeError, match=r"`result\['a'\]` is a Lock: only numbers, text and nests"):
        largest_difference({"a": Lock()}, {"a": Lock()})


class Lock:
    """No number."""


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
        (1, "1", ("result", "type", np.dtype("S1"), INT)),
        ([0, "x"], [0, 1.0], ("result[1]", "type", FLOAT, np.dtype("S1"))),
        ("yes", "no", ("result", "entries", 1, 1)),
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
    [
        ([math.nan, 1.0], [1.0, 1.0], (1, 0)),
        ([1.0, 1.0], [math.nan, 1.0], (0, 1)),
        ([math.nan] * 3, [math.nan, math.nan, 1.0], (3, 2)),
    ],
)
def test_nan_in_another_place_is_no_equal_nan(result, reference, counts):
    found = largest_difference(np.array(result), np.array(reference), equal_nan=True)
    assert (found.reason, found.here, found.there) == ("NaN", *counts)


@pytest.mark.parametrize(
    ("difference", "words"),
    [
        (
            Difference(0.25, absolute=2.0),
            "its result differs from eager by 0.25 (relative), 2 (absolute)",
        ),
        (
            Difference(math.inf, absolute=math.inf),
            "its result differs from eager by inf (relative), inf (absolute)",
        ),
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


def test_what_is_kept_of_a_result_does_not_follow_its_buffer():
    buffer = np.zeros(3)
    kept = as_arrays({"a": buffer})
    buffer[:] = 1
    assert kept["a"].tolist() == [0, 0, 0]


def test_a_tuple_with_names_and_no_parts_is_an_empty_nest():
    empty = namedtuple("Empty", [])
    assert dict(leaves((1.0, empty()))).keys() == {"result[0]"}
