"""Compare candidates: equal results first, then speed, in turns, with an interval."""

import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from .agreement import TOLERANCE
from .comparisons import Comparison, ComparisonError
from .errors import headline
from .ratios import median_ratio
from .state import State
from .tables import some
from .targets import is_traced, python_of, resolve
from .timing import BLOCK_SECONDS, ROUNDS, Measurement, calibrate, time_block
from .trials import apart, difference_between, differs_from_itself, run, trace
from .validation import check_count, check_not_negative, check_positive

NARROW = 0.05  # width of an interval beside its ratio, at which there are rounds enough
BUDGET = 2.0  # seconds for rounds beyond those that were asked for


def compare(
    candidates: Mapping[str, Callable],
    *args,
    rounds: int = ROUNDS,
    tolerance: float = TOLERANCE,
    block: float = BLOCK_SECONDS,
    budget: float = BUDGET,
    strict: bool = True,
    clock: Callable[[], float] = time.perf_counter,
    **kwargs,
) -> Comparison:
    """Check that all candidates agree on ``(*args, **kwargs)``, then time them in turns.

    candidates: label to whatever can be called, for a SavedModel its folder; the first is the
    baseline. Each is called once alone (the first call, whose result is checked as by
    `largest_difference`), then all in rounds, in an order drawn anew for each, so that drift hits
    all alike. Variables that a candidate changes belong to its result: those that its graph uses,
    that its Python names, or that are given to it. They have their values again before the next
    call, before each block, and in the end.

    The first candidate that starts a graph, otherwise the baseline, is the control: it is timed
    twice in each round, and a ratio as close to 1 as its own is not clear. Where it differs from
    itself, called again or traced anew, or where random numbers are drawn, no result is called
    different.

    rounds: samples for each candidate, at least; fewer than six give no interval. tolerance: the
    relative difference that is allowed. block: about the seconds that a sample lasts, by enough
    calls in it. budget: seconds for further rounds, while an interval is wider than 5 % of its
    ratio. strict: whether a candidate that fails is an error in the end, or only recorded. clock:
    gives the seconds of the rounds. An argument that has the name of an option must be bound
    beforehand, by `functools.partial`. Introduced in notebook 01.

    Returns: a `Comparison`, in seconds per call.
    Raises: ComparisonError after the others were measured, when a candidate raised, gave NaN or
    gave another result; ValueError or TypeError for arguments that make no sense.

    >>> import numpy as np
    >>> x = np.arange(1000.0)
    >>> comparison = compare({"loop": lambda x: sum(x), "NumPy": np.sum}, x, rounds=7)
    >>> list(comparison.measurements), comparison.differences["NumPy"].size
    (['loop', 'NumPy'], 0.0)
    >>> comparison.ratio("NumPy").value > 1
    True
    """
    check_count("rounds", rounds)
    check_positive("block", block)
    check_not_negative("budget", budget)
    check_not_negative("tolerance", tolerance)
    if not isinstance(candidates, Mapping):
        raise TypeError(
            f"`candidates` is {type(candidates).__name__}: give a dict, label to function"
        )
    state = State()
    first = _FirstCalls({str(label): fn for label, fn in candidates.items()}, args, kwargs, state)
    first.compare_results(tolerance)
    try:
        race = _Race(first.calls, first.control, state, block, clock)
        race.run(rounds, budget)
    finally:
        state.put_back()
    measurements = {
        label: Measurement(label, first.trials[label].seconds, tuple(samples), race.calls[label])
        for label, samples in race.samples.items()
    }
    control = measurements.get(first.control)
    comparison = Comparison(
        measurements,
        first.differences,
        first.failures | race.failures,
        tolerance,
        evidence={label: trial.evidence for label, trial in first.trials.items()},
        control=control and replace(control, samples=tuple(race.again)),
        undecided=first.undecided,
        remarks=tuple(first.remarks),
    )
    if comparison.failures and strict:
        raise ComparisonError(comparison)
    return comparison


class _FirstCalls:
    """What the first call of each candidate did, and how far the results differ.

    trials: label to what it did. failures: label to why that is nothing, or another result than
    that of the reference. differences, undecided: as in a `Comparison`.
    """

    def __init__(self, candidates, args, kwargs, state):
        """All are traced before any is called: a trace may make variables that others use."""
        self._given, self._state = (args, kwargs, state), state
        self._functions, self.trials, self.failures = {}, {}, {}
        self.differences, self.undecided, self._reference = {}, "", None
        traced = {}
        for label, fn in candidates.items():
            try:
                self._functions[label] = resolve(fn)
                traced[label] = trace(self._functions[label], *self._given)
            except Exception as error:  # whatever a reader's function raises
                self.failures[label] = headline(error)
        for label, seconds in traced.items():
            try:
                trial = run(self._functions[label], *self._given, seconds)
                if trial.error is not None:
                    raise trial.error
                self.trials[label] = trial
            except Exception as error:
                self.failures[label] = headline(error)

    @property
    def calls(self):
        """Label to a call without arguments, of all that did not fail."""
        args, kwargs, _ = self._given
        labels = [label for label in self.trials if label not in self.failures]
        return {label: partial(self._functions[label], *args, **kwargs) for label in labels}

    @property
    def control(self):
        """The label of the first that starts a graph, otherwise of the first; None for none."""
        good = [label for label in self.trials if label not in self.failures]
        graphs = [label for label in good if self.trials[label].evidence.graphs]
        return next(iter([*graphs, *good]), None)

    def compare_results(self, tolerance):
        """With the first that equals itself, which is the reference."""
        if not any(trial.holds_something for trial in self.trials.values()):
            self.undecided = "Results were not compared: there are none."
            return
        differences = {}
        for label, trial in self.trials.items():
            other = self.trials[self._reference or label]
            differences[label] = difference_between(trial, other, self._state)
            if differences[label].within(tolerance):
                self._reference = self._reference or label
        too_large = {x: one for x, one in differences.items() if not one.within(tolerance)}
        if too_large:
            self.undecided = self._differs_from_itself(tolerance)
        if not self.undecided:
            self.differences = differences
            self.failures |= {x: self._why(one, tolerance) for x, one in too_large.items()}

    def _differs_from_itself(self, tolerance):
        """Why other results say nothing, in a sentence; empty when they do say something."""
        label = self.control
        fn, first = self._functions[label], self.trials[label]
        later = [run(one, *self._given) for one in (fn, _anew(fn))]
        why = differs_from_itself(first, later, self._state, tolerance, f"{label}'s")
        if not why and (drawn := ", ".join(sorted(self._drawn(later[0])))):
            why = f"random numbers are drawn ({drawn})"
        return why and f"Results were not compared: {why}."

    def _drawn(self, second):
        """The kinds of operations that draw random numbers, in graphs and in the second call.

        second: another call of the control. One by one in a first call, they may make weights.
        """
        draws = [draw for trial in self.trials.values() for draw in trial.evidence.draws]
        in_graphs = [(path, kind) for path, kind in draws if path]
        return {kind for _, kind in (*in_graphs, *second.evidence.draws)}

    def _why(self, difference, tolerance):
        """Why a result is another one, in words."""
        if difference.reason == "NaN":
            return f"its {difference.place} holds NaN, which equals nothing: give other arguments"
        words = difference.describe("its", f"that of {self._reference!r}")
        allowed = f", more than `tolerance` = {tolerance:.2g}"
        return f"{words}{allowed if difference.reason == 'numbers' else ''}"

    @property
    def remarks(self):
        """What beside results was compared, or that it was not, in sentences."""
        if len(self.differences) < 2 or not self._reference:
            return []
        first, trials = self.trials[self._reference], self.trials.values()
        if any(apart(trial, first) for trial in trials):
            return ["Candidates that change variables of their own were compared by results alone."]
        changed = dict.fromkeys(name for trial in trials for name in trial.state)
        return [f"Variables compared: {some(list(changed), 3)}."] if changed else []


def _anew(fn):
    """The same function, traced anew; what is no `tf.function`, as it is."""
    if not is_traced(fn):
        return fn
    import tensorflow as tf

    return tf.function(python_of(fn), jit_compile=getattr(fn, "_jit_compile", None))


class _Race:
    """Blocks of calls of several candidates, and of one of them twice, in rounds.

    samples: label to seconds per call, one entry for each round. again: the same for the control,
    the candidate that runs twice. calls: label to the calls in each block. failures: label to what
    a candidate raised, which then left the race.
    """

    def __init__(self, candidates, control, state, block, clock):
        """candidates: label to what is called, without arguments. block: seconds of one."""
        self.samples = {label: [] for label in candidates}
        self.again, self.calls, self.failures = [], {}, {}
        self._moved = set()  # names of variables that a candidate changes
        self._candidates, self._state, self._clock = candidates, state, clock
        self._lanes = list(self.samples.items())
        if control in candidates:
            self._lanes.append((control, self.again))
        self._shuffle = random.Random(0).shuffle  # always the same orders
        for label in candidates:
            calls = self._attempt(label, calibrate, block)
            self.calls[label] = calls and self._in_step(calls)
            self._moved |= state.changed().keys()

    def run(self, rounds, budget):
        """At least `rounds`; then twice as many, and so on, while an interval is wide.

        The intervals are looked at seldom, and only at their widths, never at which side of 1 they
        lie on, so that they stay nearly honest; `make bench` counts how nearly.
        budget: seconds after which no further round begins, from the end of the first ones.
        """
        for _ in range(rounds):
            self._round()
        end, done = self._clock() + budget, rounds
        while not self._narrow():
            for _ in range(done):
                if self._clock() >= end:
                    return
                self._round()
            done *= 2

    def _round(self):
        self._shuffle(self._lanes)
        for label, samples in self._lanes:
            if label in self.samples:
                samples.append(self._attempt(label, time_block, self.calls[label]))

    def _in_step(self, calls):
        """Calls in a block: as many as the first candidate's, or 4, 16 times as many or as few.

        The start of a block costs something too. So it costs two like candidates the same, also
        where a disturbance made one of them look slower than it is.
        """
        first = next(filter(None, self.calls.values()), calls)
        return max(1, round(first * 4.0 ** round(math.log(calls / first, 4))))

    def _narrow(self):
        first, *others = self.samples.values() or [[]]
        ratios = [median_ratio(np.divide(first, other)) for other in others]
        return all(r.high - r.low <= NARROW * r.value for r in ratios)

    def _attempt(self, label, act, amount):
        """What `act` gives for a candidate; None when it raises, and leaves."""
        self._state.put_back(self._moved)
        try:
            return act(self._candidates[label], amount, self._clock)
        except Exception as error:  # whatever a reader's function raises
            self.failures[label] = headline(error)
            del self.samples[label]
