"""What the modes return, for each shape, for hostile inputs, for gradients and after padding."""

import functools
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from ..agreement import Difference, leaves
from ..checking import Check, Outcome, check
from ..errors import headline
from ..tables import counted
from ..trials import Stage, Trial
from .batches import Example, words_of
from .draws import draws_aligned, draws_are_equal
from .findings import PADDED, Checked, Findings, Row
from .gradients import gradients, has_gradients
from .plan import Case, Order

Job = tuple[str, Callable[[], Iterable[Findings]]]
"""What is checked, in words, and what does it."""

ALWAYS = 3  # checks that are made whatever the time: a shape, gradients, a hostile input
ALIGNED = "With the same random numbers in every mode:"
NO_XLA = "Results were not compared: XLA did not get through its first calls."
NO_WORST = "Hostile inputs, such as an id out of range: none were given in `worst`."
NO_GRADIENTS = "Gradients by themselves: they were seen only through the variables of the step."


def results(case: Case, order: Order, report: Callable[[Findings], None]) -> None:
    """Check what the modes return, as far as `order.seconds` reach.

    The first of `order.shapes` comes first, then gradients, hostile inputs, and the other shapes;
    each is reported when it is known. The first few are always made; what did not fit is named.
    Nothing is compared when "XLA" is none of `order.labels`.
    """
    report(Findings(left_out=tuple(_not_asked(case))))
    if "XLA" not in order.labels:
        report(Findings(left_out=(NO_XLA,)))
        return
    jobs, longest, end = list(_jobs(case, order)), 0.0, time.perf_counter() + order.seconds
    for done, (name, job) in enumerate(jobs):
        began = time.perf_counter()
        if done >= ALWAYS and began + longest > end:
            report(_no_time_for([name for name, _ in jobs[done:]]))
            return
        for findings in _attempted(name, job):
            report(findings)
        longest = max(longest, time.perf_counter() - began)


def _not_asked(case):
    if not case.worst:
        yield NO_WORST
    if case.plan.step and not has_gradients(case.model):
        yield NO_GRADIENTS


def _jobs(case, order) -> Iterator[Job]:
    first, others = order.shapes[:1], order.shapes[1:]
    yield from (_of_shape(case, shape) for shape in first)
    if has_gradients(case.model):
        yield from (("gradients", functools.partial(_gradients, case, n)) for n in first)
    for number in range(len(case.worst)):
        yield f"hostile input {number + 1}", functools.partial(_worst, case, number)
    yield from (_of_shape(case, shape) for shape in others)


def _of_shape(case, shape) -> Job:
    return ", ".join(case.plan.shapes[shape].arguments), functools.partial(_shape, case, shape)


def _attempted(name, job):
    try:
        yield from job()
    except Exception as error:  # such as a result that is no number
        words = f"The results of {name} could not be compared: {headline(error)}."
        yield Findings(left_out=(words,))


def _no_time_for(names):
    """names: of checks that were not made."""
    some = "; ".join(names[:3]) + ("; …" if len(names) > 3 else "")
    words = f"{counted(len(names), 'check')} of results, for which there was no time: {some}."
    return Findings(left_out=(words,))


# One call in three modes


def _shape(case, shape):
    """A call of the plan, and the same after padding where XLA gave a result without."""
    example = case.examples[shape]
    found, checked = _checked("plan", shape, example, functools.partial(_check, case, example))
    yield Findings(checks=(checked,))
    if case.pad and found["XLA"].error is not None:
        words = f"Padding of {', '.join(checked.arguments)}: XLA gives no result without it."
        yield Findings(left_out=(words,))
    elif case.pad:
        yield Findings(checks=(padded(case, shape, found),))


def _worst(case, number):
    example = case.worst[number]
    _, checked = _checked("worst", number, example, functools.partial(_check, case, example))
    yield Findings(checks=(checked,))


def _gradients(case, shape):
    example = case.examples[shape]
    fn = functools.partial(gradients, case.model)
    run = functools.partial(check, fn, *example.args, tolerance=case.tolerance)
    _, checked = _checked("gradients", shape, example, run)
    yield Findings(checks=(checked,))


def _checked(of, number, example, run: Callable[[], Check]) -> tuple[Check, Checked]:
    """A check as it is, and as a decision keeps it: with equal random numbers where need be."""
    found = run()
    checked = checked_of(of, number, example, found)
    if found.decidable or not found.draws:
        return found, checked
    with draws_aligned():
        again = run()
    if again.draws or again.depends_on or not (again.agrees or draws_are_equal(found.draws)):
        return found, checked
    aligned = checked_of(of, number, example, again)
    summary = f"{checked.summary} {ALIGNED} {aligned.summary}"
    return found, replace(aligned, draws=checked.draws, summary=summary)


def _check(case, example):
    given = {"tolerance": case.tolerance, "fresh": case.fresh}
    own = {name: example.kwargs[name] for name in given if name in example.kwargs}
    others = {name: value for name, value in example.kwargs.items() if name not in own}
    return check(_bound(case, own) if own else case.fn, *example.args, **given, **others)


def _bound(case, own):
    """What is called, with the arguments that `check` would take for itself."""
    if case.fresh:
        return lambda: functools.partial(case.plain(), **own)
    return functools.partial(case.fn, **own)


def checked_of(of: str, number: int, example: Example, check: Check) -> Checked:
    """A check as a decision keeps it."""
    return Checked(
        of=of,
        number=number,
        arguments=words_of(example),
        summary=check.summary,
        rows=tuple(_row(check, mode, outcome) for mode, outcome in check.outcomes.items()),
        agrees=check.agrees,
        decidable=check.decidable,
        compared=check.compared,
        names=_compared(check.outcomes.values()),
        draws=tuple(map(str, check.draws)),
        vanished=check.vanished,
        refused=check.unsupported,
        switched_off=check.switched_off,
        not_put_back=check.not_put_back,
    )


def _compared(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """What the modes gave that was compared: parts of the result, variables by name.

    What is practically zero was not compared; nor is an error with a result.
    """
    whole = [one for one in outcomes if one.error is None]
    if len(whole) < 2:
        return ()
    zeros = {place for one in whole if one.difference for place in one.difference.zeros}
    parts = dict.fromkeys(path for one in whole for path, _ in leaves(one.result))
    state = dict.fromkeys(name for one in whole for name in one.state)
    names = {part: part for part in parts} | {f"variables[{name!r}]": name for name in state}
    return tuple(name for place, name in names.items() if place not in zeros)


def _row(check: Check, mode: str, outcome: Outcome) -> Row:
    against = check.against(mode)
    measured = _measured(outcome.difference) if against else {}
    failed = outcome.error is not None
    return Row(mode, outcome.short, against, outcome.agrees, failed, **measured)


def _measured(difference: Difference | None):
    """What of a difference a row holds; nothing where one side has no result."""
    if difference is None:
        return {}
    if difference.reason != "numbers" or not math.isfinite(difference.size):
        return {"place": difference.place}
    sizes = {"relative": difference.size, "absolute": difference.absolute}
    return sizes | {"place": difference.place}


# After padding


def padded(case: Case, shape: int, exact: Check) -> Checked:
    """XLA after padding, against the graph without. exact: the check without padding."""
    example, stage = case.examples[shape], Stage()
    graph, larger = (_trial(stage, case, label, example) for label in ("graph", PADDED))
    difference, agrees = _between(stage, larger, graph, case.tolerance)
    outcomes = (
        replace(_outcome("graph", graph), difference=Difference()),
        replace(_outcome(PADDED, larger), difference=difference, agrees=agrees),
    )
    found = Check(
        exact.function,
        {outcome.mode: outcome for outcome in outcomes},
        draws=exact.draws,
        depends_on=exact.depends_on,
        itself=exact.itself,
        tolerance=case.tolerance,
    )
    return replace(checked_of("padding", shape, example, found), summary=_of_padding(found))


def _trial(stage, case, label, example) -> Trial:
    make = functools.partial(case.candidate, label)
    return stage.run(stage.build(make) if case.fresh else make(), example.args, example.kwargs)


def _between(stage, larger, graph, tolerance):
    """The difference, None where something failed, and whether both came out the same."""
    failed = [trial.error is not None for trial in (larger, graph)]
    if any(failed):
        return None, all(failed)
    difference = stage.difference(larger, graph, equal_nan=True)
    return difference, difference.within(tolerance)


def _outcome(mode, trial):
    return Outcome(mode, trial.result, trial.error, trial.state, trial.evidence)


def _of_padding(check):
    """What was found, in a sentence."""
    outcome = check[PADDED]
    if outcome.error is not None:
        return f"After padding, XLA fails: {outcome.short}."
    if check.agrees and _compared(check.outcomes.values()):
        return "After padding, XLA gives the same as the graph without."
    if check.agrees or not (check.compared and check.decidable and check.settled):
        return check.summary
    return f"After padding, XLA {check.against(PADDED)}; the graph without padding is the measure."
