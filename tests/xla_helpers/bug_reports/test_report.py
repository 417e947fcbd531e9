"""How answers match, and the inputs of every replay."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from xla_helpers import BugReport, BugReportError
from xla_helpers.bug_reports.child import fingerprint
from xla_helpers.bug_reports.report import Answer, Spec

FAILED = Answer(error="E: x")


def answer(*arrays):
    return Answer(tuple(fingerprint(np.asarray(array)) for array in arrays))


def report(**parts):
    return BugReport(Path("a/report.zip"), "double", "a machine", {}, {}, **parts)


def seeded(*specs):
    return report(inputs=tuple(Spec(*spec) for spec in specs)).seeded_inputs()


@pytest.mark.parametrize(
    "then, now, match",
    [
        ([1.0, -100.0], [1.0, -100.0], "same bits"),
        ([1.0, -100.0], [1.009, -100.0], "close"),  # relative to the largest
        ([1.0, -100.0], [1.011, -100.0], "different"),
        ([1.0, np.nan, np.inf], [1.00001, np.nan, np.inf], "close"),
        ([1.0, np.nan], [np.nan, 1.0], "different"),
        ([1.0, np.inf], [1.0, -np.inf], "different"),
        ([1 + 1j], [1 - 1j], "different"),
        ([1 + 1j], [1 + 1.00001j], "close"),
        ([1, 2], [1, 3], "different"),
        ([1.0, 2.0], [1.0], "different"),
        ([], [], "same bits"),
    ],
)
def test_matches(then, now, match):
    assert answer(then).match(answer(now)) == match


def test_one_different_result_decides():
    assert answer([1.0], [2.0]).match(answer([1.0], [3.0])) == "different"
    assert answer([1.0], [2.0]).match(answer([1.0])) == "different"
    assert answer([1.0]).match(FAILED) == "other error"
    assert FAILED.match(Answer(error="E: y")) == "other error"
    assert FAILED.match(FAILED) == "same error"


@pytest.mark.parametrize(
    "with_xla, without_xla, match, line",
    [
        (answer(1.0), answer(1.0), "same bits", "same bits, results "),
        (answer(1.0, 5), answer(1.0), "same bits", "same bits, results "),  # 5: a variable
        (answer(1.0), answer(7.0), "different", "different, results "),
        (FAILED, answer(7.0), "other error", "results "),
        (answer(1.0), FAILED, "other error", "E: x"),
        (answer(1.0), None, None, "not recorded"),
    ],
)
def test_without_xla_stands_beside_with(with_xla, without_xla, match, line):
    both = report(with_xla=with_xla, without_xla=without_xla)
    assert both.match == match and both.line_without_xla.startswith(line)
    assert f"  with XLA:    {with_xla}\n  without XLA: {line}" in repr(both)


def test_a_report_in_three_lines():
    short = report(inputs=(Spec("float32", (2, 3)), Spec("bool", ())), with_xla=Answer())
    assert repr(short) == (
        "report.zip: double(float32[2, 3], bool[])\n"
        "  with XLA:    no results\n"
        "  without XLA: not recorded"
    )
    refused = replace(short, inputs=(), obstacle="XLA did not take it")
    assert "double(no inputs)\n  with XLA:    XLA did not take it\n" in repr(refused)


def test_seeded_inputs_are_the_same_for_ever(tf):
    """Archives hold results for these numbers: if they change, `FORMAT` must."""
    whole, truth = seeded(("int32", (6,)), ("bool", (4,)))
    assert whole.tolist() == [5, 0, 6, 4, 4, 6]
    assert truth.tolist() == [True, False, False, True]
    (numbers,), (complex_numbers,) = seeded(("float64", (2,))), seeded(("complex128", (1,)))
    np.testing.assert_array_equal(numbers, [0.6369616873214543, 0.04097352393619469])
    np.testing.assert_array_equal(complex_numbers, [0.6369616873214543 + 0.2697867137638703j])
    (wide,), (small,) = seeded(("float32", (1000,))), seeded(("uint8", (1000,)))
    assert 0 <= wide.min() < 0.01 and 0.99 < wide.max() <= 1
    assert set(small) == set(range(8))
    assert [array.shape for array in seeded(("bfloat16", (2, 0)), ("int8", ()))] == [(2, 0), ()]


def test_a_long_input_is_drawn_in_blocks(tf, monkeypatch):
    (at_once,) = seeded(("float32", (5, 7)))
    monkeypatch.setattr("xla_helpers.bug_reports.report.BLOCK", 4)
    np.testing.assert_array_equal(seeded(("float32", (5, 7)))[0], at_once)


@pytest.mark.parametrize("shape", [(10**6, 10**6), (0, 10**12, 10**12)])
def test_inputs_beyond_all_bounds_are_not_made(shape):
    with pytest.raises(BugReportError, match="a replay makes at most 1,073,741,824"):
        seeded(("int8", ()), ("float32", shape))
