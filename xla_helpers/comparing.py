"""Measure one function; compare several: equal results first, then speed, in turns."""

import math
import random
import time
from collections.abc import Callable, Mapping

import numpy as np

from .calls import Call, State
from .comparisons import Comparison, ComparisonError, median_ratio
from .differences import TOLERANCE
from .errors import check_number, headline
from .outcomes import compare_outcomes, first_calls, have_own_variables
from .timing import BLOCK_SECONDS, ROUNDS, Block, Measurement, calibrate, time_block, timed


def measure(fn: Callable, args=(), kwargs=None, *, label="", rounds=ROUNDS) -> Measurement:
    """Time ``fn(*args, **kwargs)``: its first call alone, then a block of calls in each round.

    The device has finished when the clock is read, and the garbage collector rests meanwhile. Page
    faults are counted around each block, of all threads of the process. The
    first call of a `tf.function` includes its trace; to see it compile, pass one that is new.
    Variables are restored afterwards as by `compare`.

    Args:
        fn: Anything that can be called.
        args: Its positional arguments, a tuple.
        kwargs: Its keyword arguments.
        label: The name shown, by default the function's.
        rounds: Samples to take; each lasts about `BLOCK_SECONDS`, by enough calls in it.

    Returns:
        A `Measurement`, in seconds per call.

    Raises:
        TypeError: When `fn` cannot be called or `args` is no tuple.
        ValueError: When `rounds` is no whole number above zero.
        Exception: Whatever `fn` raises.

    Example:
        >>> measured = measure(sum, ([1, 2, 3],), rounds=5)
        >>> measured.label, len(measured.samples)
        ('sum', 5)
    """
    check_number("rounds", rounds, whole=True)
    call, state = Call(fn, args, kwargs), State()
    traced = state.trace(call)
    try:
        first, _ = timed(call)
        calls = calibrate(call)
        blocks = [time_block(call, calls) for _ in range(rounds)]
    finally:
        state.restore()
    return Measurement.of(label or call.name, traced + first, blocks, calls)


def compare(
    candidates: Mapping[str, Callable], args=(), kwargs=None, *, rounds=ROUNDS,
    tolerance=TOLERANCE, block=BLOCK_SECONDS, budget=2.0, strict=True, clock=time.perf_counter
) -> Comparison:  # fmt: skip
    """Check that all candidates agree on ``(*args, **kwargs)``, then time them in turns.

    Each candidate is traced, called alone (the first call), and called again for what it runs. Then
    all are timed in rounds, in an order drawn anew for each, so that drift hits all alike. The
    first candidate that starts a graph, otherwise the baseline, is the control: it is timed twice
    in each round, and a ratio as close to 1 as its own is not significant.

    The variables that a trace uses (`concrete.graph.variables`), and those among the arguments,
    belong to the result, and have their values again before each call, before each block, and in
    the end. Plain Python of tensors, of arrays, or without arguments is traced for that, without
    AutoGraph, unless a `tf.function` of the same Python is a candidate. What is not traced, or
    cannot be, and what Python callbacks touch, is not restored.
    Where a candidate differs from itself when called again, or random numbers are drawn, no result
    is called different.

    Args:
        candidates: Label to function; the first is the baseline.
        args: Positional arguments of all, a tuple.
        kwargs: Keyword arguments of all.
        rounds: Samples for each candidate, at least; fewer than six give no interval.
        tolerance: The relative difference of results that is allowed, as of `max_difference`.
        block: Seconds that a sample lasts, about, by enough calls in it.
        budget: Seconds for further rounds, where an interval is wider than 5 % of its ratio.
        strict: Whether a candidate that fails is an error in the end, or only recorded.
        clock: Gives the seconds of the rounds.

    Returns:
        A `Comparison`, in seconds per call.

    Raises:
        ComparisonError: After the others were measured, when a candidate raised or gave another
            result.
        TypeError, ValueError: For arguments that make no sense.

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
    calls, state = {str(x): Call(fn, args, kwargs) for x, fn in candidates.items()}, State()
    outcomes = first_calls(calls, state)
    comparison = race(calls, outcomes, tolerance, state, rounds, budget, block, clock)
    if comparison.failures and strict:
        raise ComparisonError(comparison)
    return comparison


def race(
    calls, outcomes, tolerance, state, rounds, budget, block=BLOCK_SECONDS, clock=time.perf_counter
) -> Comparison:
    """Time the calls whose first outcomes agree, in turns; the options are those of `compare`."""
    failures = {x: headline(one.error) for x, one in outcomes.items() if one.error is not None}
    good = {label: one for label, one in outcomes.items() if one.error is None}
    good, undecided, rounded = compare_outcomes(calls, good, tolerance, state)
    reference = next(iter(good), "")
    if not undecided:
        unlike = {label: one.difference for label, one in good.items() if not one.agrees}
        why = f"differs from {reference} by more than {tolerance:.2g}, in "
        failures |= {label: f"{why}{difference}" for label, difference in unlike.items()}
    ready = {label: call for label, call in calls.items() if label not in failures}
    graphs = (label for label in ready if good[label].evidence.graphs)
    lanes = _Race(ready, next(graphs, next(iter(ready), "")), failures, state, block, clock)
    try:
        lanes.run(rounds, budget)
    finally:
        state.restore()

    def measured(label, blocks):
        return Measurement.of(label, good[label].seconds, blocks, lanes.calls[label])

    rows = {label: measured(label, blocks) for label, blocks in lanes.blocks.items()}
    control = measured(lanes.control, lanes.again) if lanes.control in rows else None
    return Comparison(
        rows,
        {} if undecided else {x: one.difference for x, one in good.items() if one.difference},
        failures,
        tolerance,
        {label: one.evidence for label, one in outcomes.items()},
        control,
        undecided,
        any(have_own_variables(one, good[reference]) for one in good.values()),
        rounded,
    )


class _Race:
    """Blocks of calls of several candidates, and of one of them twice, in rounds.

    blocks: label to the `Block` of each round. control: the label of the candidate that runs twice.
    again: its other blocks. calls: label to the calls in each block.
    A candidate that raises leaves the race.
    """

    def __init__(self, candidates, control, failures, state, block, clock):
        self.blocks: dict[str, list[Block]] = {label: [] for label in candidates}
        self.control, self.again = control, list[Block]()
        self.calls: dict[str, int] = {}
        self._candidates, self._failures, self._state = candidates, failures, state
        self._clock, self._shuffle = clock, random.Random(0).shuffle  # always the same orders
        self._lanes = [*self.blocks.items(), (control, self.again)]
        self._moved: set[str] = set()  # names of variables that a candidate changes
        for label in candidates:
            calls = self._attempt(label, calibrate, block)
            self.calls[label] = calls and self._in_step(calls)
            self._moved |= state.changed().keys()

    def run(self, rounds, budget):
        """At least `rounds`; where an interval is wide then, more of them until `budget` is over.

        It is looked at once, and only at its width, never at which side of 1 it lies on: so it
        stays honest, as `make bench` counts.
        """
        for _ in range(rounds):
            self._round()
        end = self._clock() + (0 if self._is_narrow() else budget)
        while self.blocks and self._clock() < end:
            self._round()

    def _round(self):
        self._shuffle(self._lanes)
        for label, blocks in self._lanes:
            if label in self.blocks:
                blocks.append(self._attempt(label, time_block, self.calls[label]))

    def _in_step(self, calls):
        """Calls in a block: as many as the first candidate's, or 4, 16 times as many or as few.

        The start of a block costs something too. So it costs two like candidates the same, also
        where a disturbance made one of them look slower than it is.
        """
        first = next(filter(None, self.calls.values()), calls)
        return max(1, round(first * 4.0 ** round(math.log(calls / first, 4))))

    def _is_narrow(self):
        seconds = [[block.seconds for block in blocks] for blocks in self.blocks.values()]
        first, *others = seconds or [[]]
        ratios = [median_ratio(np.divide(first, other)) for other in others]
        return all(r.high - r.low <= 0.05 * r.value for r in ratios)

    def _attempt(self, label, act, amount):
        """What `act` gives for a candidate; None when it raises, and leaves."""
        self._state.restore(self._moved)
        try:
            return act(self._candidates[label], amount, self._clock)
        except Exception as error:  # whatever a reader's function raises
            self._failures[label] = headline(error)
            del self.blocks[label]
            return None
