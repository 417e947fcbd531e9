"""The roofline, and memory over programs."""

from dataclasses import replace

import pytest

from tests.xla_helpers.deciding.cases import first_calls
from tests.xla_helpers.deciding.examples import findings
from xla_helpers.deciding.findings import FirstCalls, Peaks, Work
from xla_helpers.deciding.limits import (
    bytes_a_program,
    draw_limit,
    draw_memory,
    held,
    of_limit,
    roof,
)

PEAKS = Peaks(flops_per_second=100e9, bytes_per_second=10e9)


def work(**changes):
    return replace(Work("XLA", 0, 1e-3, 2, bytes=1_000_000, flops=2_000_000), **changes)


def test_the_roof_is_the_smaller_of_the_two():
    assert roof(2, PEAKS) == 20e9 and roof(50, PEAKS) == 100e9


def test_a_program_is_held_against_the_roof_above_it():
    assert of_limit(work(), PEAKS) == pytest.approx(2e9 / 20e9)
    assert of_limit(work(flops=200_000_000), PEAKS) == pytest.approx(200e9 / 100e9)


@pytest.mark.parametrize("flops", [None, 0])
def test_without_operations_the_copy_is_the_limit(flops):
    assert of_limit(work(flops=flops), PEAKS) == pytest.approx(1e9 / 10e9)


def test_without_bytes_nothing_is_known():
    assert of_limit(work(bytes=None), PEAKS) is None


def test_the_roofline_says_how_far_each_mode_is():
    works = (work(mode="graph", seconds=2e-3), work())
    found = draw_limit(findings(works=works, peaks=PEAKS))
    assert "graph 5 % of it; XLA 10 % of it" in found.alt
    assert "100 GFLOP/s in a product of matrices, 10 GB/s in a copy" in found.alt


def test_more_than_the_limit_is_no_share():
    found = draw_limit(findings(works=(work(seconds=1e-6),), peaks=PEAKS))
    assert "XLA above it" in found.alt and "%" not in found.alt


def test_without_operations_bytes_are_drawn():
    found = draw_limit(findings(works=(work(flops=0),), peaks=PEAKS))
    assert "copy of a large array: XLA 1 GB/s, 10 % of it" in found.alt


def test_at_least_is_said():
    found = draw_limit(findings(works=(work(least=True),), peaks=PEAKS))
    assert "XLA at least 10 % of it" in found.alt


@pytest.mark.parametrize(
    "unknown", [{"peaks": None}, {"works": ()}, {"works": (work(bytes=None, kernels=None),)}]
)
def test_a_limit_without_data_is_no_picture(unknown):
    assert draw_limit(findings(**{"peaks": PEAKS} | unknown)) is None


def test_memory_is_that_after_each_program():
    (first,) = first_calls(3, ("XLA",))
    assert held(first) == ((0, 380_000_000), (1, 400_000_000), (2, 403_000_000), (3, 406_000_000))


def test_calls_that_compiled_nothing_are_no_programs():
    (first,) = first_calls(3, ("graph",))
    assert held(first) == () and held(FirstCalls("XLA", 5)) == ()


def test_the_first_program_does_not_count_as_growth():
    (many,), (few,) = first_calls(5, ("XLA",)), first_calls(3, ("XLA",))
    assert bytes_a_program(many) == 3_000_000
    assert bytes_a_program(few) is None


def test_memory_that_was_not_measured_is_called_so():
    assert "not measured" in draw_memory(findings(first=first_calls(5))).alt
    assert "not measured" not in draw_memory(findings(first=first_calls(3))).alt
    assert draw_memory(findings(first=first_calls(3, ("graph",)))) is None


def test_memory_that_did_not_grow_has_no_line_further_on():
    (first,) = first_calls(5, ("XLA",))
    flat = replace(first, calls=tuple(replace(call, memory=4 * 10**8) for call in first.calls))
    assert "not measured" not in draw_memory(findings(first=(flat,))).alt
