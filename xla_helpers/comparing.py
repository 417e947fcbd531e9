"""Compare candidates: equal results first, then speed, in turns, with an interval."""

import math
import random
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
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
from .trials import difference_between, differs_from_itself, run, trace
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
    all alike. Variables that candidates change belong to their results, unless each changes its
    own. They are found where a graph uses them, where Python names them, or among the arguments,
    and have their values again before the next call, before each block, and in the end.

    The first candidate that starts a graph, otherwise the baseline, is the control: it is timed
    twice in each round, and a ratio as close to 1 as its own is not clear. Where it differs from
    itself, called again or traced anew, or where random numbers are drawn, no result is called
    different.

    rounds: samples for each candidate, at least; fewer than six give no interval. tolerance: the
    relative difference that is allowed. block: about the seconds that a sample lasts, by enough
    calls in it. budget: seconds for further rounds, where an interval is then wider than 5 % of its
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
        race = _Race(first.calls, first.control, first.failures, state, block, clock)
        race.run(rounds, budget)
    finally:
        state.put_back()
    measurements = {
        label: Measurement(label, first.trials[label].seconds, tuple(samples), race.calls[label])
        for label, samples in race.samples.items()
    }
    control = measurements.get(race.control)
    comparison = Comparison(
        measurements,
        first.differences,
        first.failures,
        tolerance,
        evidence={label: trial.evidence for label, trial in first.trials.items()},
        control=control and replace(control, samples=tuple(race.again)),
        undecided=first.undecided,
        remarks=first.remarks,
    )
    if comparison.failures and strict:
        raise ComparisonError(comparison)
    return comparison


class _FirstCalls:
    """What the first call of each candidate did, and how far the results differ.

    trials: label to what it did. failures: label to why it is not timed. differences, undecided,
    remarks: as in a `Comparison`.
    """

    def __init__(self, candidates, args, kwargs, state):
        """All are traced before any is called: a trace may make variables that others use."""
        self._given, self._state = (args, kwargs, state), state
        self._functions, self.trials, self.failures = {}, {}, {}
        self.differences, self.undecided, self.remarks = {}, "", ()
        traced = {}
        for label, candidate in candidates.items():
            with _noted(self.failures, label):
                fn = resolve(candidate)
                traced[label] = fn, trace(fn, *self._given)
        for label, (fn, seconds) in traced.items():
            with _noted(self.failures, label):
                trial = run(fn, *self._given)
                if trial.error is not None:
                    raise trial.error
                self.trials[label] = replace(trial, seconds=seconds + trial.seconds)
                self._functions[label] = fn

    @property
    def calls(self):
        args, kwargs, _ = self._given
        labels = [label for label in self.trials if label not in self.failures]
        return {label: partial(self._functions[label], *args, **kwargs) for label in labels}

    @property
    def control(self):
        """The label of the first that starts a graph, otherwise of the first; None for none."""
        graphs = (label for label in self.calls if self.trials[label].evidence.graphs)
        return next(graphs, next(iter(self.calls), None))

    def compare_results(self, tolerance):
        trials, state = self.trials, self._state
        if not any(trial.holds_something for trial in trials.values()):
            self.undecided = "Results were not compared: there are none."
            return
        reference, first = next(iter(trials.items()))
        found = {label: _difference(trial, first, state) for label, trial in trials.items()}
        too_large = {label: one for label, one in found.items() if not one.within(tolerance)}
        if too_large and (why := self._why_nothing_is_said(tolerance)):
            self.undecided = f"Results were not compared: {why}."
            return
        self.differences = found
        self.failures |= {x: _why(one, reference, tolerance) for x, one in too_large.items()}
        changed = dict.fromkeys(name for trial in trials.values() for name in trial.state)
        if any(_have_their_own(trial, first) for trial in trials.values()):
            self.remarks = ("Variables that each candidate has for itself were not compared.",)
        elif changed and len(trials) > 1:
            self.remarks = (f"Variables compared: {some(list(changed), 3)}.",)

    def _why_nothing_is_said(self, tolerance):
        """Why other results say nothing of a candidate; "" when they do say something."""
        label = self.control
        fn, first = self._functions[label], self.trials[label]
        later = (run(one, *self._given) for one in (fn, _anew(fn)))
        why = differs_from_itself(first, later, self._state, tolerance, f"{label}'s")
        drawn = {kind for trial in self.trials.values() for _, kind in trial.evidence.draws}
        return why or (f"random numbers are drawn ({', '.join(sorted(drawn))})" if drawn else "")


@contextmanager
def _noted(failures, label):
    """What a reader's function raises ends the block, and is why its candidate failed."""
    try:
        yield
    except Exception as error:
        failures[label] = headline(error)


def _difference(trial, first, state):
    if _have_their_own(trial, first):
        trial, first = replace(trial, state={}), replace(first, state={})
    return difference_between(trial, first, state)


def _have_their_own(trial, first):
    """Whether both changed variables, and none of them is the same one."""
    return bool(trial.state and first.state) and not trial.state.keys() & first.state.keys()


def _why(difference, reference, tolerance):
    words = f"its {difference.place} {difference.against(f'that of {reference!r}')}"
    allowed = f", more than `tolerance` = {tolerance:.2g}"
    endings = {"numbers": allowed, "NaN": ", and NaN equals nothing: give other arguments"}
    return words + endings.get(difference.reason, "")


def _anew(fn):
    """The same function, traced anew; what is no `tf.function`, as it is."""
    if not is_traced(fn):
        return fn
    import tensorflow as tf

    return tf.function(python_of(fn), jit_compile=getattr(fn, "_jit_compile", None))


class _Race:
    """Blocks of calls of several candidates, and of one of them twice, in rounds.

    samples: label to seconds per call, one entry for each round. control: the label of the
    candidate that runs twice. again: its other samples. calls: label to the calls in each block.
    A candidate that raises leaves the race.
    """

    def __init__(self, candidates, control, failures, state, block, clock):
        self.samples = {label: [] for label in candidates}
        self.control, self.again, self.calls = control, [], {}
        self._candidates, self._failures = candidates, failures
        self._state, self._clock = state, clock
        self._lanes = [*self.samples.items(), (control, self.again)]
        self._shuffle = random.Random(0).shuffle  # always the same orders
        self._moved = set()  # names of variables that a candidate changes
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
        end = self._clock() + (0 if self._narrow() else budget)
        while self.samples and self._clock() < end:
            self._round()

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
        with _noted(self._failures, label):
            return act(self._candidates[label], amount, self._clock)
        del self.samples[label]
