"""One part after the other, within the time that there is; what is found is shown after each."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ..tables import format_seconds
from .findings import End, Findings, Raced, merged
from .steps import LOST, STEPS, STEPS_HERE, Step, needs

Tell = Callable[[str, float], None]
"""Called before each part with its name and the seconds that are left of the budget."""


RESERVE = 0.1
"""The share of the budget that is not given away: parts end a little late."""

LATE = 1.4
"""How many times the seconds that a part has it is let run, where the budget reaches."""

AMPLE = 2
"""How many times the least seconds that a part takes it gets, where there are as many left."""


class NothingToDecide(ValueError):
    """What is to be decided about cannot be made, or not be called."""


def conduct(
    runner,
    known: Findings,
    results: str,
    keep: Callable[[Findings], None],
    tell: Tell = lambda part, left: None,
    steps: Sequence[Step] = (),
    clock: Callable[[], float] = time.monotonic,
) -> Findings:
    """Do the parts, as far as the budget reaches; none after a first one that was lost.

    runner: does them, such as `runners.Processes`. known: all that is known before, with `budget`.
    results: the folder of the races. keep: takes all that is known, after each part. steps: by
    default those that are worth doing where the runner does them. clock: gives seconds; tests
    bring their own.

    Returns: all that was found, still called unfinished.
    Raises: NothingToDecide when the first part could not even make or call what is decided about.
    """
    steps = steps or (STEPS if runner.isolated else STEPS_HERE)
    found, end = replace(known, unfinished=True), clock() + known.budget
    for number, step in enumerate(steps):
        order, left = step.order(found), end - clock()
        if order is None:
            continue
        tell(step.name, max(0.0, left))
        seconds, least = seconds_for(steps[number:], found, left), needs(found, order)
        if seconds <= least:
            found = joined(found, _left_out(order, seconds, least))
        else:
            order = replace(order, seconds=seconds, folder=results)
            limit = LATE * seconds if number else left / 2  # the first one makes the model, too
            found = joined(found, runner.run(order, min(left, limit), found.plan))
        if not number:
            _check_first(found)
        keep(found)
        if not number and found.ends[-1].how in LOST:
            break
    return found


def seconds_for(steps: Sequence[Step], found: Findings, left: float) -> float:
    """The seconds for the first of some steps, of those that are left for all of them.

    Its share of the budget, more where earlier steps left some, and more where it needs it.
    """
    step, *later = steps
    left = left - RESERVE * found.budget
    due = sum(one.share for one in later if found.plan is None or one.order(found))
    own = max(left * step.share / (step.share + due), step.share * found.budget)
    return max(0.0, min(left, max(own, AMPLE * needs(found, step.order(found)))))


def joined(found: Findings, more: Findings) -> Findings:
    """What is known with what a part found. A sentence stands once, and so do the races of a
    shape."""
    both = merged(found, more)
    return replace(
        both, left_out=tuple(dict.fromkeys(both.left_out)), raced=tuple(_by_shape(both.raced))
    )


def _left_out(order, seconds, least):
    had = format_seconds(seconds)
    said = f"it needs about {format_seconds(least)}, and there were {had} for it"
    return Findings(ends=(End(order.part, "left out", said, limit=seconds),))


def _check_first(found):
    """Refuse to go on where there is nothing to decide about."""
    end = found.ends[-1]
    if end.how == "failed":
        raise NothingToDecide(end.said)
    if found.plan is None:
        ended = {"time": f"it was not made within {end.limit:.0f} s", "memory": end.said}
        died = f"the process that makes it was {end.said}" if end.said else "it was not made"
        raise NothingToDecide(ended.get(end.how, died))


def _by_shape(raced: Iterable[Raced]):
    """Those of one shape as one, with the failures of all, and the file where one wrote it."""
    found = {}
    for one in raced:
        before = found.get(one.shape, one)
        failures = before.failures | one.failures
        found[one.shape] = replace(one, file=one.file or before.file, failures=failures)
    return found.values()
