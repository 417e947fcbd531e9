"""Compare candidates: equal results first, then speed, in turns, with an interval."""

import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping

from tqdm import tqdm

from .agreement import TOLERANCE, largest_difference
from .comparisons import Comparison, ComparisonError, Failure, Sweep, SweepError
from .errors import headline
from .timing import BLOCK_SECONDS, ROUNDS, Measurement, calibrate, time_block, time_first_call
from .validation import check_positive


def compare(
    candidates: Mapping[str, Callable],
    *args,
    rounds: int = ROUNDS,
    tolerance: float = TOLERANCE,
    block: float = BLOCK_SECONDS,
    strict: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> Comparison:
    """Check that all candidates agree on `args`, then time them in turns.

    candidates: label to function; the first is the baseline. Each is called once alone (the first
    call, whose result is checked), then in rounds A B C, A B C, so that drift hits all alike.
    Results may be arrays, tensors, numbers, strings, or lists, tuples and dicts of them; they
    agree when shapes match and no number differs by more than `tolerance` relative to the largest
    finite magnitude of its array; integers and strings must be equal. rounds: samples for each
    candidate. block: about the seconds that a sample lasts, by enough calls in it. strict: whether
    a candidate that fails is an error in the end, or only recorded. clock: gives seconds; tests
    bring their own. Introduced in notebook 01.

    Returns: a `Comparison`, in seconds per call.
    Raises: ComparisonError after the others were measured, when a candidate raised, gave NaN or
    gave another result; TypeError or ValueError for arguments that make no sense.

    >>> import numpy as np
    >>> x = np.arange(1000.0)
    >>> comparison = compare({"loop": lambda x: sum(x), "NumPy": np.sum}, x, rounds=5)
    >>> list(comparison.measurements), comparison.differences["NumPy"].size
    (['loop', 'NumPy'], 0.0)
    >>> comparison.ratio("NumPy").value > 1
    True
    """
    _check_candidates(candidates)
    check_positive("rounds", rounds)
    check_positive("block", block)
    if not (isinstance(tolerance, (int, float)) and 0 <= tolerance < math.inf):
        raise ValueError(
            f"`tolerance` is {tolerance!r}: give a number, 0 for equal to the last bit"
        )
    firsts, differences, failures = _first_calls(candidates, args, tolerance, clock)
    samples, calls, later = _time_in_rounds(candidates, firsts, args, rounds, block, clock)
    failures |= later
    measurements = {
        label: Measurement(label, first, tuple(samples[label]), calls[label])
        for label, first in firsts.items()
        if label not in failures
    }
    comparison = Comparison(measurements, differences, failures, tolerance)
    if failures and strict:
        raise ComparisonError(comparison)
    return comparison


def sweep(
    make: Callable, sizes: Iterable, *, name: str = "size", strict: bool = True, **options
) -> Sweep:
    """Run `compare` for each size, with a progress bar.

    make: takes a size and returns ``(candidates, args)``. name: what the sizes are, with a unit.
    strict: whether a failure is an error after the last size, or only recorded. options: passed
    on to `compare`. Introduced in notebook 01.

    Returns: a `Sweep` of the sizes that could be made.
    Raises: ValueError for no sizes or one that is not positive, and, after the last size,
    SweepError when `make` or a candidate failed at one of them.

    >>> def sums(length):
    ...     return {"list": sum, "tuple": lambda x: sum(tuple(x))}, [list(range(length))]
    >>> by_length = sweep(sums, [10, 100], name="length", rounds=3)
    >>> by_length.labels, list(by_length.comparisons)
    (['list', 'tuple'], [10, 100])
    """
    sizes = list(sizes)
    if not sizes:
        raise ValueError("`sizes` is empty: give at least one")
    for i, size in enumerate(sizes):
        check_positive(f"sizes[{i}]", size)
    comparisons, not_made = {}, {}
    for size in _progress(sizes, name):
        try:
            candidates, args = make(size)
            args = list(args)
            _check_candidates(candidates)
        except Exception as error:  # too large for the memory, say; the other sizes still count
            not_made[size] = Failure(headline(error))
            continue
        comparisons[size] = compare(candidates, *args, strict=False, **options)
    result = Sweep(name, comparisons, not_made)
    if result.failures and strict:
        raise SweepError(result)
    return result


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
        if not callable(fn):
            raise TypeError(
                f"`candidates[{label!r}]` is {type(fn).__name__}, which cannot be called"
            )


def _first_calls(candidates, args, tolerance, clock):
    firsts, differences, failures, reference = {}, {}, {}, None
    for label, fn in candidates.items():
        try:
            seconds, result = time_first_call(fn, args, clock)
            name, expected = reference or (label, result)
            difference = largest_difference(result, expected)
        except Exception as error:  # a candidate may raise anything; the others still count
            failures[label] = Failure(headline(error))
            continue
        if difference.reason == "numbers":
            differences[label] = difference
        if difference.within(tolerance):
            firsts[label] = seconds
            reference = name, expected
        else:
            failures[label] = Failure("", difference, name, tolerance)
    return firsts, differences, failures


def _time_in_rounds(candidates, labels, args, rounds, block, clock):
    """Rounds A B C, A B C; a label that raises leaves with its reason."""
    calls, samples, failures = {}, {label: [] for label in labels}, {}
    for number in range(rounds + 1):
        for label in samples:
            if label in failures:
                continue
            try:
                if number == 0:
                    calls[label] = calibrate(candidates[label], args, block, clock)
                else:
                    seconds = time_block(candidates[label], args, calls[label], clock)
                    samples[label].append(seconds)
            except Exception as error:  # as above
                failures[label] = Failure(headline(error))
    return samples, calls, failures
