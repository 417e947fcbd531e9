"""Compare candidates: equal results first, then speed, in turns, with an interval."""

import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from .agreement import TOLERANCE
from .comparisons import Comparison, ComparisonError, Failure, Sweep, SweepError
from .errors import headline
from .layers import finder, layers_of
from .operations import Draw
from .racing import BUDGET, Race
from .state import State
from .tables import counted
from .targets import holds_no_python, is_traced, plain_callable, resolve
from .timing import BLOCK_SECONDS, ROUNDS, Measurement
from .trials import difference_between, run, trace, unpaired
from .validation import (
    check_callable,
    check_count,
    check_not_negative,
    check_positive,
    check_text,
    check_tolerance,
)


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
    baseline. Each is called once alone (the first call, whose result is checked), then all in
    rounds, in an order drawn anew for each, so that drift hits all alike. Results may be arrays,
    tensors (ragged and sparse ones too), numbers, text, or nests of them; they agree when shapes
    match and no number differs by more than `tolerance` relative to the largest finite magnitude
    of its array; integers and text must be equal. Variables that a candidate changes belong to its
    result, and have their values again before the next one, before each block, and in the end.

    The first candidate that runs as a graph, otherwise the baseline, is the control: it is called
    twice and timed twice in each round. Where it differs from itself, called again or traced anew,
    or where random numbers are drawn, no result can be called different; and a ratio as close to 1
    as its own is not clear.

    rounds: samples for each candidate, at least; fewer than six give no interval. block: about
    the seconds that a sample lasts, by enough calls in it. budget: seconds for further rounds,
    while an interval is wider than 5 % of its ratio; 0 for none. strict: whether a candidate
    that fails is an error in the end, or only recorded. clock: gives seconds; tests bring their
    own. An argument of a candidate that has the name of an option here must be bound beforehand,
    by `functools.partial`. Introduced in notebook 01.

    Returns: a `Comparison`, in seconds per call.
    Raises: ComparisonError after the others were measured, when a candidate raised, gave NaN or
    gave another result; TypeError or ValueError for arguments that make no sense.

    >>> import numpy as np
    >>> x = np.arange(1000.0)
    >>> comparison = compare({"loop": lambda x: sum(x), "NumPy": np.sum}, x, rounds=7)
    >>> list(comparison.measurements), comparison.differences["NumPy"].size
    (['loop', 'NumPy'], 0.0)
    >>> comparison.ratio("NumPy").value > 1
    True
    """
    _check_candidates(candidates)
    check_count("rounds", rounds)
    check_positive("block", block)
    check_not_negative("budget", budget)
    check_tolerance(tolerance)
    check_callable("clock", clock)
    state = State()
    functions, trials, failures = _first_calls(state, candidates, args, kwargs, clock)
    control = _control(trials, failures)
    agreed = _agreement(state, functions, trials, failures, control, tolerance, args, kwargs)
    failures |= agreed.failures
    calls = {x: partial(fn, *args, **kwargs) for x, fn in functions.items() if x not in failures}
    try:
        race = Race(calls, control, state, block, clock)
        race.run(rounds, budget)
    finally:
        state.put_back()
    failures |= race.failures
    measurements = {
        label: Measurement(label, trials[label].seconds, tuple(samples), race.calls[label])
        for label, samples in race.samples.items()
    }
    comparison = Comparison(
        measurements,
        agreed.differences,
        failures,
        tolerance,
        evidence={label: trial.evidence for label, trial in trials.items()},
        control=_again(measurements.get(control), race.again),
        undecided=agreed.undecided,
        remarks=agreed.remarks,
    )
    if failures and strict:
        raise ComparisonError(comparison)
    return comparison


def sweep(
    make: Callable, sizes: Iterable, *, name: str = "size", strict: bool = True, **options
) -> Sweep:
    """Run `compare` for each size, with a progress bar.

    make: takes a size and returns ``(candidates, args)``, or ``(candidates, args, kwargs)``.
    name: what the sizes are, with a unit. strict: whether a failure is an error after the last
    size, or only recorded. options: passed on to `compare`. Introduced in notebook 01.

    Returns: a `Sweep` of the sizes that could be made.
    Raises: TypeError and ValueError for no sizes, one that is not positive, and options that make
    no sense; after the last size, SweepError when `make` or a candidate failed at one of them.

    >>> def sums(length):
    ...     return {"list": sum, "tuple": lambda x: sum(tuple(x))}, [list(range(length))]
    >>> by_length = sweep(sums, [10, 100], name="length", rounds=3)
    >>> by_length.labels, list(by_length.comparisons)
    (['list', 'tuple'], [10, 100])
    """
    check_callable("make", make)
    check_text("name", name)
    sizes = _checked_sizes(sizes)
    comparisons, not_made = {}, {}
    for size in _progress(sizes, name):
        try:
            candidates, args, kwargs = _made(make(size), options)
        except Exception as error:  # too large for the memory, say; the other sizes still count
            not_made[size] = Failure(headline(error))
            continue
        comparisons[size] = compare(candidates, *args, strict=False, **options, **kwargs)
    result = Sweep(name, comparisons, not_made)
    if result.failures and strict:
        raise SweepError(result)
    return result


def _checked_sizes(sizes):
    if not isinstance(sizes, Iterable):
        raise TypeError(f"`sizes` is {sizes!r}: give numbers in a list")
    sizes = list(sizes)
    if not sizes:
        raise ValueError("`sizes` is empty: give at least one")
    for i, size in enumerate(sizes):
        check_positive(f"sizes[{i}]", size)
    return sizes


def _made(made, options):
    """What a call of `make` gave, whole, and checked before the race that might lose others."""
    candidates, args, *rest = made
    args, [kwargs] = list(args), rest or [{}]
    _check_candidates(candidates)
    if not isinstance(kwargs, Mapping):
        raise TypeError(f"`make` gave {type(kwargs).__name__} for `kwargs`: give names to values")
    for name in kwargs:
        check_text("a name in `kwargs`", name)
        if name in {"strict", *options}:
            raise TypeError(f"{name!r} is an option: bind the argument by functools.partial")
    return candidates, args, kwargs


def _progress(items, name):
    """A bar on standard output, for people: in a terminal or a notebook, and gone at the end."""
    watched = sys.stdout.isatty() or "ipykernel" in sys.modules
    return tqdm(items, desc=name, leave=False, file=sys.stdout, disable=not watched)


def _check_candidates(candidates):
    if not isinstance(candidates, Mapping) or not candidates:
        raise TypeError(
            '`candidates` must map labels to functions, for example {"eager": f, "XLA": g}'
        )
    for label, fn in candidates.items():
        check_text("a label in `candidates`", label)
        if not (callable(fn) or isinstance(fn, (str, Path)) or hasattr(fn, "signatures")):
            raise TypeError(
                f"`candidates[{label!r}]` is {type(fn).__name__}, which cannot be called"
            )


def _first_calls(state, candidates, args, kwargs, clock):
    """What is called for each candidate, what its first call did, and which of them failed.

    All are traced before any is called, because a trace may make variables that others use.
    """
    functions, traced, trials, failures = {}, {}, {}, {}
    for label, fn in candidates.items():
        try:
            functions[label] = resolve(fn)
            traced[label] = trace(functions[label], args, kwargs, state, clock)
        except Exception as error:  # whatever a reader's function raises; the others still count
            failures[label] = Failure(headline(error))
    for label, seconds in traced.items():
        try:
            trials[label] = run(functions[label], args, kwargs, state, clock, seconds)
        except TypeError as error:  # a result that is no numbers
            failures[label] = Failure(headline(error))
    failures |= {x: Failure(headline(t.error)) for x, t in trials.items() if t.error is not None}
    return functions, trials, failures


def _control(trials, failures):
    """The label of the candidate that is called twice and timed twice in each round."""
    labels = [label for label in trials if label not in failures]
    plain = [label for label in labels if trials[label].evidence.mode == "graph"]
    graphs = [label for label in labels if trials[label].evidence.graphs]
    return next(iter([*plain, *graphs, *labels]), None)


class Agreement(NamedTuple):
    """What was found of the results; the fields are those of a `Comparison`."""

    differences: dict
    failures: dict
    undecided: str = ""
    remarks: tuple[str, ...] = ()


def _agreement(state, functions, trials, failures, control, tolerance, args, kwargs):
    if not any(trial.holds_something for trial in trials.values()):
        return Agreement({}, {}, "Results were not compared: there are none.")
    trials = {label: trial for label, trial in trials.items() if label not in failures}
    differences, too_large = _compare(state, trials, tolerance)
    if too_large:
        again = [
            run(fn, args, kwargs, state) for fn in (functions[control], _anew(functions[control]))
        ]
        undecided = _undecided(state, functions, control, trials, again, tolerance)
        if undecided:
            return Agreement({}, {}, undecided)
    return Agreement(
        differences, too_large, "", tuple(_remarks(state, trials, differences, tolerance))
    )


def _anew(fn):
    """The same function, traced anew; what holds no Python, or is none of TensorFlow, as it is."""
    if not is_traced(fn) or holds_no_python(fn):
        return fn
    import tensorflow as tf

    return tf.function(plain_callable(fn), jit_compile=getattr(fn, "_jit_compile", None))


def _undecided(state, functions, control, trials, again, tolerance):
    """Why results that differ say nothing, in a sentence; empty when they do say something."""
    for other, how in zip(again, ("called twice", "traced anew"), strict=True):
        difference = difference_between(other, trials[control], state, equal_nan=True)
        if not difference.within(tolerance):
            words = difference.describe(f"{control}'s", "the first time")
            return f"Results were not compared: {how}, {words}."
    draws = _draws(functions, {**trials, control: again[0]}, control)
    if draws:
        return f"Results were not compared: random numbers are drawn ({', '.join(draws)})."
    return ""


def _draws(functions, trials, control):
    """Each operation that drew random numbers, with its layer where some row knows it.

    What draws one by one in a first call may only make weights, which is why the control's second
    call counts in place of its first, and of others only what stands in a graph.
    """
    places = {}
    for label, trial in trials.items():
        layer_of = finder(layers_of(functions[label]))
        for path, kind in trial.evidence.draws:
            if path or label == control:
                places.setdefault(kind, set()).add(layer_of(path) or "")
    return [
        str(Draw(kind, layer, ""))
        for kind, layers in places.items()
        for layer in sorted(layers - {""}) or [""]
    ]


def _remarks(state, trials, differences, tolerance):
    """What of the results was not compared, in sentences."""
    zeros = {place for difference in differences.values() for place in difference.zeros}
    if zeros and tolerance:
        yield f"Not compared, because practically zero: {counted(len(zeros), 'array')}."
    first, *others = trials.values() or [None]
    if any(unpaired(trial, first, state) for trial in others):
        yield "Candidates that change variables of their own were compared by results alone."


def _compare(state, trials, tolerance):
    """Label to its difference from the first, and to its failure when it is too large."""
    differences, too_large, name = {}, {}, None
    for label, trial in trials.items():
        difference = difference_between(trial, trials[name or label], state, own=True)
        if difference.reason == "numbers":
            differences[label] = difference
        if difference.within(tolerance):
            name = name or label
        else:
            too_large[label] = Failure("", difference, name or label, tolerance)
    return differences, too_large


def _again(measurement, samples):
    return measurement and replace(measurement, samples=tuple(samples))
