"""Measure one function; compare several: equal results first, then speed, in turns."""

import time
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from .calls import Call, by_label
from .comparisons import Comparison, ComparisonError
from .differences import TOLERANCE
from .equality import judge
from .errors import check_number, headline
from .first_calls import call_each
from .racing import Race
from .ratios import median_ratio
from .timing import (
    BLOCK_SECONDS,
    ROUNDS,
    Block,
    Measurement,
    calibrate,
    effort,
    rounds_by_effort,
    time_block,
    timed,
)
from .variables import Snapshot


def measure(fn: Callable, args=(), kwargs=None, *, label="", rounds=ROUNDS) -> Measurement:
    """Time ``fn(*args, **kwargs)``: its first call alone, then a block of calls in each round.

    The device has finished when the clock is read, and the garbage collector rests meanwhile. Page
    faults are counted around each block, of all threads of the process. The first call of a
    `tf.function` includes its trace; to see it compile, pass one that is new. The variables of a
    `tf.function`, and those among the arguments, have their values again before each block and in
    the end, as with `compare`. Iterators, tables and queues are not put back.

    Args:
        fn: Anything that can be called.
        args: Its positional arguments, a tuple.
        kwargs: Its keyword arguments.
        label: The name shown, by default the function's.
        rounds: Samples to take; each lasts about `BLOCK_SECONDS`, by enough calls in it.

    Returns:
        A `Measurement`, in seconds per call.

    Raises:
        TypeError: When `fn` cannot be called or `args` is not a tuple.
        ValueError: When `rounds` is not a whole number above zero, and when `fn` changes its
            arguments in place, because only its first call would be given what you gave.
        Exception: Whatever `fn` raises.

    Example:
        >>> measured = measure(sum, ([1, 2, 3],), rounds=5)
        >>> measured.label, len(measured.samples)
        ('sum', 5)
    """
    check_number("rounds", rounds, whole=True)
    call, snapshot = Call(fn, args, kwargs), Snapshot()
    tracing, resources = call.trace()
    snapshot.add(resources)
    blocks: list[Block] = []
    try:
        with call.arguments_restored():
            first, _ = timed(call)
        changing = list(snapshot.changed())
        calls = calibrate([call.bound], BLOCK_SECONDS * effort())
        for _ in range(rounds_by_effort(rounds)):
            snapshot.restore(changing)
            blocks.append(time_block([call.bound], calls))
    finally:
        snapshot.restore()
    return Measurement.of(label or call.name, tracing + first, blocks, calls)


def compare(
    candidates: Mapping[str, Callable], args=(), kwargs=None, *, rounds=ROUNDS,
    tolerance=TOLERANCE, equal=None, block=BLOCK_SECONDS, budget=2.0, strict=True,
    clock=time.perf_counter
) -> Comparison:  # fmt: skip
    """Check that all candidates agree on ``(*args, **kwargs)``, then time them in turns.

    Each candidate is traced, called alone (the first call), and called again for what it runs. Then
    all are timed in rounds, in an order drawn anew for each, so that drift hits all alike. The
    first candidate that starts a graph, otherwise the baseline, is the control: it is timed twice
    in each round, and a ratio as close to 1 as its own is not significant.

    The variables that a graph captures, read or written, and those among the arguments, belong to
    the result, and have their values again before each call, before each block, and in the end.
    Plain Python is never traced, because an object that keeps a tensor of a trace cannot be called
    any more. So nobody knows its variables, and they are not restored, unless a `tf.function` of
    the same Python is a candidate, too. Nor is what Python callbacks touch. What a graph may change
    and nobody can put back, such as an iterator, is said with its number.

    A candidate that changes an array, a list or a dictionary among its arguments fails, because all
    later calls would be given something else. The others get what you gave.

    Where a candidate differs from itself when called again, or random numbers are drawn, no result
    is called different.

    Args:
        candidates: Label to function; the first is the baseline.
        args: Positional arguments of all, a tuple.
        kwargs: Keyword arguments of all.
        rounds: Samples for each candidate, at least; fewer than six give no interval.
        tolerance: The relative difference of results that is allowed, as of `max_difference`.
        equal: Your own word on results, with NumPy arrays in place of tensors: `equal(result,
            reference)` says whether one is as good as that of the first candidate.
        block: Seconds that a sample lasts, about, by enough calls in it.
        budget: Seconds for further rounds, where an interval is wider than 5 % of its ratio.
        strict: Whether a candidate that fails is an error in the end, or only recorded.
        clock: Gives the seconds of the rounds.

    Returns:
        A `Comparison`, in seconds per call.

    Raises:
        ComparisonError: After the others were measured, when a candidate raised or gave another
            result.
        TypeError, ValueError: For arguments that make no sense, two labels that read the same, and
            a Keras model that is not built.

    Example:
        >>> import numpy as np
        >>> x = np.arange(1000.0)
        >>> found = compare({"loop": lambda x: sum(x), "NumPy": np.sum}, (x,), rounds=7)
        >>> list(found.measurements), found.differences["NumPy"].size
        (['loop', 'NumPy'], 0.0)
        >>> found.ratio("NumPy").value > 1
        True
    """
    check_number("rounds", rounds, whole=True)
    check_number("block", block)
    check_number("budget", budget, zero=True)
    check_number("tolerance", tolerance, zero=True)
    calls = {label: Call(fn, args, kwargs) for label, fn in by_label(candidates).items()}
    options = {"rounds": rounds, "budget": budget, "block": block, "clock": clock, "equal": equal}
    comparison = _race(call_each(calls, tolerance), **options)
    if comparison.failures and strict:
        raise ComparisonError(comparison)
    options |= {"tolerance": tolerance, "strict": strict}
    return comparison.repeated_by(partial(compare, candidates, args, kwargs, **options))


def _race(first_calls, *, rounds, budget, block, clock, equal):
    """Time the calls that returned, and whose results agree, in turns. Returns: a `Comparison`."""
    evidence = {label: outcome.evidence for label, outcome in first_calls.outcomes.items()}
    errors = {x: outcome.error for x, outcome in first_calls.outcomes.items() if outcome.error}
    first_calls = judge(first_calls.only(x for x in first_calls.outcomes if x not in errors), equal)
    failures = {label: headline(error) for label, error in errors.items()} | _unlike(first_calls)
    lanes = {x: [first_calls.calls[x].bound] for x in first_calls.outcomes if x not in failures}
    graphs = (x for x in lanes if evidence[x].graphs)
    control = next(graphs, next(iter(lanes), ""))
    run = Race(
        lanes, first_calls.snapshot, control=control, timer=time_block, changing=set(), clock=clock
    )
    try:
        run.calibrate(calibrate, block * effort())
        for _ in range(rounds_by_effort(rounds)):
            run.round()
        end = clock() + (0 if _is_narrow(run) else budget * effort())
        run.until(lambda: clock() >= end)
    finally:
        first_calls.snapshot.restore()

    def measured(label, blocks):
        return Measurement.of(label, first_calls.outcomes[label].seconds, blocks, run.passes[label])

    differences = {x: outcome.difference for x, outcome in first_calls.outcomes.items()}
    return Comparison(
        measurements={label: measured(label, blocks) for label, blocks in run.blocks.items()},
        differences={} if first_calls.inconclusive else {x: d for x, d in differences.items() if d},
        failures=failures | {label: headline(error) for label, error in run.errors.items()},
        tolerance=first_calls.tolerance,
        evidence=evidence,
        control=measured(control, run.again) if control in run.blocks else None,
        inconclusive=first_calls.inconclusive,
        own_variables=first_calls.own_variables,
        sensitive=first_calls.sensitive,
        unrestored=tuple(first_calls.snapshot.unrestored),
    )


def _unlike(first_calls):
    """Label to how it differs from the first, of the candidates that do; none if inconclusive."""
    if first_calls.inconclusive:
        return {}
    reference = next(iter(first_calls.outcomes), "")
    why = f"differs from {reference} by more than {first_calls.tolerance:.2g}, in "
    unlike = {x: outcome for x, outcome in first_calls.outcomes.items() if not outcome.agrees}
    return {label: f"{why}{outcome.difference}" for label, outcome in unlike.items()}


def _is_narrow(run):
    """Whether the interval of each ratio is, asked once: so it stays honest."""
    seconds = [[block.seconds for block in blocks] for blocks in run.blocks.values()]
    first, *others = seconds or [[]]
    return all(median_ratio(np.divide(first, other)).is_narrow for other in others)
