"""The parts of a decision in order, and what each is asked, given what is known by then."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from .findings import PADDED, Findings, label_of_part
from .plan import Order

FIRST = "first calls, {}"
"""The name of a part that makes first calls, with the label."""

LOST = ("time", "memory", "killed")
"""How a part ended that did not come to its own end."""

EAGER_SHARE = 1 / 300
"""The most of the budget that a call may take in eager mode for it to be raced."""

ABOUT = 3
"""How many times farther from eager mode XLA may be than the graph, to be called about as far."""


@dataclass(frozen=True)
class Step:
    """One part. name: of the part. share: of the budget that it may take, at least. order: what it
    is asked, given what is known; None when there is nothing to ask."""

    name: str
    share: float
    order: Callable[[Findings], Order | None]


def first_calls_by(label: str) -> Callable[[Findings], Order | None]:
    """First calls of the graph and of XLA, with every shape; padded only where XLA runs at all."""

    def order(found):
        if label != PADDED:
            return Order(FIRST.format(label), label)
        if found.plan.padded and len(found.plan.shapes) > 1 and "XLA" in runs(found):
            return Order(FIRST.format(label), label)
        return None

    return order


def results(found: Findings) -> Order | None:
    """Without XLA where it was lost; nothing at all where nobody tried it."""
    end = found.end_of(FIRST.format("XLA"))
    if end and end.how == "left out":
        return None
    return Order("results", labels=tuple(label for label in _tried(found) if label != "eager"))


def inside(found: Findings) -> Order | None:
    """Where XLA's first calls came to their end, and none of them worked."""
    first = found.first_of("XLA")
    refused = first and first.calls and all(call.error for call in first.calls)
    if not refused or "XLA" not in _tried(found) or "graph" not in runs(found):
        return None
    return Order("inside", labels=("graph",), shapes=shapes_of(found, "graph"))


def race(number: int) -> Callable[[Findings], Order | None]:
    """A race of all that runs, over the shapes with which all of it does.

    The first has eager mode beside, where a call of it is short; the others repeat its shapes.
    """

    def order(found):
        labels = runs(found)
        if "graph" not in labels:
            return None
        shapes = [i for i in found.plan.most_frequent() if _runs_with(found, labels, i)]
        raced = {one.shape for one in found.raced}
        if number > 1 and raced:
            shapes = [shape for shape in shapes if shape in raced]
        eager = ("eager",) if number == 1 and _eager_is_short(found) else ()
        path = found.inside.path if found.inside else ""
        given = {"labels": (*eager, *labels), "shapes": tuple(shapes), "inside": path}
        order = Order(f"race {number}", **given, tolerance=tolerance(found))
        return order if shapes else None

    return order


def tolerance(found: Findings) -> float:
    """What races allow where the graph is not equal to eager mode either.

    So it is with a training step that turns rounding into whole steps, as Adam does with a slope
    that is nothing else: then no mode is right, and each is as good as the others. That is shown
    by gradients that agree, or by distances from eager mode that are about the same. Numbers
    that are drawn anew show nothing.
    """
    checks = [check for check in found.checks_of("plan") if check.decidable]
    rows = [{row.mode: row for row in check.rows} for check in checks]
    pairs = [(one["graph"], one["XLA"]) for one in rows if {"eager", "graph", "XLA"} <= set(one)]
    gradients = found.checks_of("gradients")
    most = math.inf if gradients and all(one.agrees for one in gradients) else ABOUT
    return min(1.0, max((_apart(*pair, most) for pair in pairs), default=0.0))


def _apart(graph, xla, most):
    """How far the two may be from each other. most: how many times farther XLA may be than the
    graph."""
    if graph.agrees or xla.agrees or not (graph.relative and xla.relative):
        return 0.0
    return 2 * (graph.relative + xla.relative) if xla.relative <= most * graph.relative else 0.0


def work(found: Findings) -> Order | None:
    """For what runs."""
    labels = runs(found)
    if "graph" not in labels:
        return None
    shapes = tuple(i for i in found.plan.most_frequent() if _runs_with(found, labels, i))
    return Order("work", labels=labels, shapes=shapes) if shapes else None


STEPS = (
    Step(FIRST.format("graph"), 1 / 8, first_calls_by("graph")),
    Step(FIRST.format("XLA"), 1 / 6, first_calls_by("XLA")),
    Step(FIRST.format(PADDED), 1 / 10, first_calls_by(PADDED)),
    Step("results", 1 / 8, results),
    Step("inside", 1 / 6, inside),
    Step("race 1", 1 / 4, race(1)),
    Step("work", 1 / 10, work),
    Step("race 2", 1 / 6, race(2)),
    Step("race 3", 1 / 6, race(3)),
)

STEPS_HERE = tuple(step for step in STEPS if step.name not in ("race 2", "race 3"))
"""In one process, since a second race in it would show nothing that differs between processes."""


def runs(found: Findings) -> tuple[str, ...]:
    """The labels of what can be raced, the graph first: first calls that worked."""
    labels = [one for one in ("graph", "XLA", PADDED) if shapes_of(found, one)]
    inside = [label_of_part(found)] if found.inside and "graph" in labels else []
    return tuple(label for label in labels if label in _tried(found)) + tuple(inside)


def shapes_of(found: Findings, label: str) -> tuple[int, ...]:
    """The numbers of the shapes with which a first call worked."""
    first = found.first_of(label)
    return tuple(call.shape for call in first.calls if not call.error) if first else ()


def needs(found: Findings, order: Order) -> float:
    """The seconds that a part takes at least, from the parts before: its start and first calls."""
    graph = found.first_of("graph")
    if graph is None:
        return 0.0
    start = found.end_of(FIRST.format("graph")).seconds - sum(one.seconds for one in graph.calls)
    firsts = (found.first_of(label) for label in order.labels)
    calls = (next((x.seconds for x in one.calls if not x.error), 0.0) for one in firsts if one)
    return max(0.0, start) + sum(calls)


def _tried(found):
    """The labels whose first calls came to an end of their own."""
    labels = ("graph", "XLA", PADDED)
    ends = {label: found.end_of(FIRST.format(label)) for label in labels}
    return [label for label, end in ends.items() if end and end.how in ("finished", "failed")]


def _runs_with(found, labels, shape):
    """Whether a shape worked with each label; a padded one by its own number."""
    numbers = {label: shape for label in labels if label in ("graph", "XLA")}
    if PADDED in labels:
        numbers[PADDED] = found.plan.shapes[shape].padded
    return all(number in shapes_of(found, label) for label, number in numbers.items())


def _eager_is_short(found):
    first = found.first_of("eager")
    return bool(first) and all(
        not call.error and call.seconds <= EAGER_SHARE * found.budget for call in first.calls
    )
