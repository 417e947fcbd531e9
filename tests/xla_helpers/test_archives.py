"""What two outcomes are to each other, and the inputs of every replay."""

import numpy as np
import pytest

from xla_helpers import archives
from xla_helpers.replays import fingerprint


def outcome(*arrays):
    return {"results": [fingerprint(np.asarray(array)) for array in arrays]}


@pytest.mark.parametrize(
    "then, now, verdict",
    [
        ([1.0, -100.0], [1.0, -100.0], "same bits"),
        ([1.0, -100.0], [1.009, -100.0], "close"),  # relative to the largest
        ([1.0, -100.0], [1.011, -100.0], "different"),
        ([1.0, np.nan, np.inf], [1.00001, np.nan, np.inf], "close"),
        ([1.0, np.nan], [np.nan, 1.0], "different"),
        ([1.0, np.inf], [1.0, -np.inf], "different"),
        ([1 + 1j], [1 - 1j], "different"),
        ([1, 2], [1, 3], "different"),
        ([], [], "same bits"),
    ],
)
def test_verdicts(then, now, verdict):
    assert archives.verdict(outcome(then), outcome(now)) == verdict


def test_one_different_result_decides():
    assert archives.verdict(outcome([1.0], [2.0]), outcome([1.0], [3.0])) == "different"
    assert archives.verdict(outcome([1.0]), {"error": "E: x"}) == "other error"
    assert archives.verdict({"error": "E: x"}, {"error": "E: y"}) == "other error"
    assert archives.verdict({"error": "E: x"}, {"error": "E: x"}) == "same error"


def test_seeded_inputs_are_the_same_for_ever(tf):
    """Archives hold results for these numbers: if they change, `FORMAT` must."""
    assert archives.draw(0, "int32", (6,)).tolist() == [5, 0, 6, 4, 4, 6]
    assert archives.draw(1, "bool", (4,)).tolist() == [True, False, False, True]
    np.testing.assert_array_equal(
        archives.draw(0, "float64", (2,)), [0.6369616873214543, 0.04097352393619469]
    )
    wide = archives.draw(0, "float32", (1000,))
    assert 0 <= wide.min() < 0.01 and 0.99 < wide.max() <= 1
    assert set(archives.draw(0, "uint8", (1000,))) == set(range(8))
