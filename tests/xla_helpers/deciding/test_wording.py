"""Numbers and names in words."""

import math

import pytest

from tests.xla_helpers.deciding.examples import findings, races
from xla_helpers import devices
from xla_helpers.deciding.findings import End, FirstCall, FirstCalls, Plan, Shape
from xla_helpers.deciding.spans import Span
from xla_helpers.deciding.wording import (
    arguments,
    arguments_of,
    calls_of,
    end_of,
    ended,
    flops,
    in_runs,
    listed,
    of_the_processor,
    seconds_of,
    shapes_of,
    share,
    the,
    why_nothing,
)


def test_what_is_small_is_not_nothing():
    assert [share(x) for x in (0.125, 1, 0, 0.0002)] == [
        "12.5 %",
        "100 %",
        "0 %",
        "less than 0.1 %",
    ]
    assert share(0.9998) == "more than 99.9 %" and share(sum([0.1] * 10)) == "100 %"


def test_arguments_are_cut_at_their_end_and_paths_at_their_beginning():
    assert arguments(("float32[2]", "int32[]")) == "float32[2], int32[]"
    assert arguments(()) == "no arguments"
    assert arguments(("a" * 90,), 10) == f"{'a' * 9}…"
    assert end_of("model/block/dense", 9) == "…ck/dense" and end_of("dense", 9) == "dense"


def test_padded_shapes_are_counted_by_themselves():
    known = findings()
    assert arguments_of(known, "XLA", 1) == "float32[64, 10]"
    assert arguments_of(findings(plan=None), "XLA", 1) == "shape 2"


def test_operations_per_second_have_three_digits():
    assert flops(123456789012) == "123 GFLOP/s"


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("finished", "finished"),
        ("failed", "failed: no such file"),
        ("time", "was stopped when its 40 s were over"),
        ("memory", "was stopped, because it held too much memory, 9 GB at the most"),
        ("killed", "died: no such file"),
        ("left out", "was left out: no such file"),
    ],
)
def test_a_part_says_how_it_ended(how, words):
    assert ended(End("work", how, "no such file.", 3.0, 9_000_000_000, 40.0)) == words


def test_a_part_that_says_nothing_is_said_to():
    assert ended(End("work", "left out")) == "was left out: there was no time for it"
    assert ended(End("work", "failed")) == "failed: it did not say why"


def test_why_there_is_nothing_is_said_of_the_part_itself():
    assert why_nothing(findings(), "work") == 'The part "work" did not run.'
    assert why_nothing(findings(unfinished=True), "work").startswith("Not finished:")
    known = findings(ends=(End("work", "finished"),))
    assert why_nothing(known, "work") == 'The part "work" finished and found nothing of this.'


def test_the_most_frequent_shape_comes_first():
    plan = Plan("a function", (Shape(("a",), 1), Shape(("b",), 5), Shape(("c",), 1)))
    assert plan.most_frequent((0, 1, 2)) == (1, 0, 2)


def test_numbers_of_calls_and_seconds_have_intervals():
    assert calls_of(Span(1100.4, 1234, 1350)) == "1,230 calls [1,100, 1,350]"
    assert calls_of(Span(3, 5, math.inf)) == "5 calls [3, no end]"
    assert seconds_of(Span(1.4, 1.5, 1.6)) == "1.5 s [1.4 s, 1.6 s]"
    assert seconds_of(Span(0, 1.5, math.inf)) == "1.5 s, the interval is not known"


def test_a_ratio_within_the_noise_is_not_clear():
    assert Span(1.05, 1.06, 1.07).as_ratio().clear
    assert not Span(1.05, 1.06, 1.07).as_ratio(noise=1.08).clear


def test_the_ratio_of_each_run():
    (result,) = races({"graph": 2.0, "XLA": 1.0}).values()
    assert in_runs(result, "XLA") == [2.0, 2.0, 2.0] and in_runs(result, "XLA, padded") == []


def test_names_in_a_line():
    assert listed("abc", 3) == "a, b, c"
    assert listed("abc", 2) == "a, b and 1 other"
    assert shapes_of(FirstCalls("XLA", 0, (FirstCall(0, 1.0),))) == "1 shape"
    assert (the("graph"), the("XLA")) == ("the graph", "XLA")


@pytest.mark.parametrize(
    "said", ["no GPU", devices.UNSEEN, devices.HIDDEN, devices.HIDDEN_HERE, None]
)
def test_without_a_gpu_times_by_layer_need_no_word(said):
    machine = {"accelerators": said} if said else {}
    assert of_the_processor(findings(machine=machine)) == ""


def test_with_a_gpu_times_by_layer_are_those_of_the_processor():
    found = findings(machine={"accelerators": "NVIDIA H100 80GB HBM3"})
    assert of_the_processor(found).startswith("Times by layer are those of the processor: with a G")
