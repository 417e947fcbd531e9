"""What each part is asked, by what is known before it."""

from dataclasses import replace

import pytest

from tests.xla_helpers.deciding.examples import LARGE, SMALL, checked, findings, first_calls
from xla_helpers.deciding.findings import (
    PADDED,
    End,
    Findings,
    FirstCall,
    FirstCalls,
    Inside,
    Padded,
    Plan,
    Raced,
    Shape,
)
from xla_helpers.deciding.steps import STEPS, STEPS_HERE, needs, runs

BY_NAME = {step.name: step for step in STEPS}
ALL_SHAPES = (0, 1)


def ended(*lost, **how):
    """That first calls finished. lost: labels that did not. how: label to how it ended."""
    ends = dict.fromkeys(("graph", "XLA"), "finished") | dict.fromkeys(lost, "killed") | how
    return tuple(End(f"first calls, {label}", how, seconds=8.0) for label, how in ends.items())


def known(**changes):
    """What is known after first calls."""
    given = {"ends": ended(), "raced": (), "checks": ()} | changes
    return findings(**given)


def failing(label, *shapes):
    """First calls with both shapes, of which some raised."""
    calls = (FirstCall(i, 0.1, error="ValueError: x" if i in shapes else "") for i in range(2))
    return FirstCalls(label, 0, tuple(calls))


PADDING = Plan("f", (Shape(SMALL, 9, 0), Shape(LARGE, 1, 0)), (Padded(LARGE, 0.6),), "to 64")
REFUSED = (first_calls("graph", 0.05), failing("XLA", 0, 1))


def asked(name, found):
    return BY_NAME[name].order(found)


def labels(name, found):
    order = asked(name, found)
    return order and order.labels


def test_the_shapes_that_come_most_often_come_first():
    plan = Plan("f", tuple(Shape((), count) for count in (1, 7, 3, 7)))
    assert plan.most_frequent() == (1, 3, 2, 0)


# First calls


@pytest.mark.parametrize("label", ["graph", "XLA"])
def test_first_calls_need_nothing_before_them(label):
    order = asked(f"first calls, {label}", Findings())
    assert (order.part, order.label, order.shapes) == (f"first calls, {label}", label, ())


def test_padded_first_calls_where_padding_joins_shapes():
    part = f"first calls, {PADDED}"
    assert asked(part, known(plan=PADDING)).label == PADDED
    assert asked(part, known()) is None
    assert asked(part, known(plan=replace(PADDING, shapes=PADDING.shapes[:1]))) is None
    assert asked(part, known(plan=PADDING, first=REFUSED)) is None


# Results


def test_results_of_what_was_not_lost():
    assert labels("results", known()) == ("graph", "XLA")
    assert labels("results", known(first=REFUSED)) == ("graph", "XLA")


@pytest.mark.parametrize("how", ["time", "memory", "killed"])
def test_what_was_lost_is_not_compiled_again(how):
    found = known(ends=ended(XLA=how))
    assert labels("results", found) == ("graph",)
    assert labels("race 1", found) == ("graph",)
    assert labels("work", found) == ("graph",)


def test_nothing_is_compared_with_what_nobody_tried():
    assert asked("results", known(ends=ended(XLA="left out"))) is None


# A part that is compiled alone


def test_a_part_is_looked_for_where_the_whole_is_refused():
    assert asked("inside", known(first=REFUSED)).shapes == ALL_SHAPES
    assert asked("inside", known()) is None
    some = (first_calls("graph", 0.05), failing("XLA", 1))
    assert asked("inside", known(first=some)) is None


def test_no_part_is_looked_for_where_xla_was_lost():
    assert asked("inside", known(first=REFUSED, ends=ended("XLA"))) is None
    nothing = (first_calls("graph", 0.05), FirstCalls("XLA", 0))
    assert asked("inside", known(first=nothing)) is None


def test_what_is_compiled_alone_is_raced():
    order = asked("race 1", known(first=REFUSED, inside=Inside("body", "Model", 0.8)))
    assert order.labels == ("graph", "XLA in body")
    assert order.inside == "body"


# Races


def test_numbers_that_are_drawn_anew_do_not_widen_what_a_race_allows():
    first, *others = checked().rows
    far = (replace(row, agrees=False, relative=0.9) for row in others)
    apart = replace(checked(), rows=(first, *far), agrees=False)
    assert asked("race 1", known(checks=(apart,))).tolerance == 1.0
    drawn = replace(apart, decidable=False)
    assert asked("race 1", known(checks=(drawn,))).tolerance == 0.0


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_race_of_what_runs(number):
    order = asked(f"race {number}", known())
    assert (order.labels, order.shapes, order.inside) == (("graph", "XLA"), ALL_SHAPES, "")


def test_eager_mode_is_in_the_first_race_where_it_is_short():
    def with_eager(seconds, error=""):
        calls = (FirstCall(0, seconds, error=error),)
        return known(first=(*known().first, FirstCalls("eager", 0, calls)))

    assert labels("race 1", with_eager(0.4)) == ("eager", "graph", "XLA")
    assert labels("race 1", with_eager(0.5)) == ("graph", "XLA")
    assert labels("race 1", with_eager(0.1, "ValueError: x")) == ("graph", "XLA")
    assert labels("race 2", with_eager(0.4)) == ("graph", "XLA")


def test_later_races_repeat_the_shapes_of_the_first():
    found = known(raced=(Raced(1, "decide-1.x.json"),))
    assert asked("race 2", found).shapes == (1,)
    assert asked("race 1", found).shapes == ALL_SHAPES


def test_shapes_with_which_something_fails_are_not_raced():
    some = (failing("graph", 0), first_calls("XLA", 0.2))
    assert asked("race 1", known(first=some)).shapes == (1,)
    none = (failing("graph", 0), failing("XLA", 1))
    assert asked("race 1", known(first=none)) is None
    assert asked("work", known(first=none)) is None


def test_padded_shapes_have_numbers_of_their_own():
    padded = FirstCalls(PADDED, 0, (FirstCall(0, 0.2),))
    ends = (*ended(), End(f"first calls, {PADDED}", "finished"))
    found = known(plan=PADDING, first=(*known().first, padded), ends=ends)
    order = asked("race 1", found)
    assert (order.labels, order.shapes) == (("graph", "XLA", PADDED), ALL_SHAPES)


def test_nothing_is_raced_without_a_graph():
    found = known(first=(failing("graph", 0, 1), first_calls("XLA", 0.2)))
    assert [asked(name, found) for name in ("race 1", "work", "inside")] == [None] * 3
    assert runs(found) == ("XLA",)


def test_one_process_has_one_race():
    assert {step.name for step in STEPS} - {step.name for step in STEPS_HERE} == {
        "race 2",
        "race 3",
    }


# Time


def test_a_part_needs_its_start_and_its_first_calls():
    start = 8.0 - 2 * 0.05
    assert needs(known(), asked("results", known())) == pytest.approx(start + 0.05 + 0.25)
    assert needs(known(), asked("first calls, XLA", known())) == pytest.approx(start)
    first_failed = known(first=(first_calls("graph", 0.05), failing("XLA", 0)))
    assert needs(first_failed, asked("race 1", first_failed)) == pytest.approx(start + 0.05 + 0.1)
    none_came_through = known(first=REFUSED)
    assert needs(none_came_through, asked("results", known())) == pytest.approx(start + 0.05)


def test_nothing_is_known_of_the_first_part():
    assert needs(Findings(), asked("first calls, graph", Findings())) == 0
