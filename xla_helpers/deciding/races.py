"""The part that times the candidates in turns, shape by shape, and records each race."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ..comparisons import Comparison
from ..results import record
from ..subjects import subject_of
from ..tables import counted, cut, in_one_line
from .findings import Findings, Raced
from .inside import candidate, holder_of
from .plan import Case, Order, Plan
from .turns import compared

ROUNDS = 8  # enough for intervals of several candidates that hold together
RUNS = 9  # processes whose races a file holds, at the most
LEAST = 3.0  # seconds for the first calls and the fewest rounds of a shape, until one was raced
WORDS = 200  # characters in which a file says what was measured, at the most


def race(case: Case, order: Order, report: Callable[[Findings], None]) -> None:
    """Compare the candidates for each shape, the most frequent first, and record the races.

    Each shape gets what first calls and the fewest rounds take, and of the rest of the time the
    share that it has of the calls; those for which the time is up are left out. Eager mode runs
    with the first shape alone.

    order: its `labels`, `shapes`, `seconds`, `folder`, `inside` and `tolerance` count. report:
    takes `Findings` with a `Raced` for each shape, and a sentence for those that are left out.
    """
    end, least = time.perf_counter() + order.seconds, LEAST
    for number, shape in enumerate(order.shapes):
        begin = time.perf_counter()
        if number and begin + least > end:
            report(Findings(left_out=(_left_out(order, number),)))
            return
        to_come = order.shapes[number:]
        rest = max(0.0, end - begin - least * len(to_come))
        comparison = _race(case, order, shape, rest * _share(case.plan, to_come))
        report(Findings(raced=(_recorded(case, shape, comparison, order.folder),)))
        least = _least(comparison, time.perf_counter() - begin)


def _share(plan: Plan, shapes):
    """What the first of these shapes has of the calls that have one of them."""
    return plan.share(shapes[0]) / sum(map(plan.share, shapes))


def _race(case, order, shape, budget) -> Comparison:
    first = shape == order.shapes[0]
    labels = [label for label in order.labels if first or label != "eager"]
    ordered = sorted(labels, key=lambda label: (label != "graph", label == "eager"))
    return compared(
        {label: _candidate(case, label, order.inside) for label in ordered},
        case.examples[shape],
        rounds=ROUNDS,
        budget=budget,
        tolerance=max(case.tolerance, order.tolerance),
        fresh=case.fresh,
    )


def _candidate(case, label, inside):
    """What `compare` takes for a label: with `fresh`, what makes a copy."""
    if label not in case.labels:
        return candidate(case, inside)
    return partial(case.candidate, label) if case.fresh else case.candidate(label)


def _recorded(case, shape, comparison, folder) -> Raced:
    """The race as a file; it has no name where nothing was timed."""
    failures = {label: str(failure) for label, failure in comparison.failures.items()}
    if not comparison.measurements:
        return Raced(shape, "", failures)
    example = case.examples[shape]
    subject = subject_of([holder_of(case)], example.args, example.kwargs)
    what = f"{case.plan.subject}: {', '.join(case.plan.shapes[shape].arguments)}"
    known = replace(comparison, subject=subject)
    path = record(f"decide-{shape}", known, cut(in_one_line(what), WORDS), folder, runs=RUNS)
    return Raced(shape, path.name, failures)


def _least(comparison, seconds):
    """What a race takes with the fewest rounds, from one that took `seconds` with more."""
    timed = [*comparison.measurements.values(), comparison.control]
    timed = [measurement for measurement in timed if measurement is not None]
    spent = sum(sum(one.samples) * one.calls for one in timed)
    rounds = max((len(one.samples) for one in timed), default=ROUNDS)
    return seconds - spent * (1 - ROUNDS / rounds)


def _left_out(order, done):
    shapes = counted(len(order.shapes), "shape")
    return f"{order.part}: {done} of {shapes} were timed, for the others there was no time."
