"""Compare candidates: equal results first, then speed, in turns, with an interval."""

import math
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from tqdm import tqdm

from .agreement import largest_difference
from .errors import headline
from .tables import Table, format_seconds
from .timing import (
    BLOCK_SECONDS,
    SAMPLES,
    Measurement,
    calibrate,
    check_counts,
    time_block,
    time_first_call,
)

TOLERANCE = 1e-4  # largest relative difference of results that still count as equal
CONFIDENCE = 0.95  # confidence level of the interval of a ratio


class ComparisonError(RuntimeError):
    """A candidate failed or gave another result. `comparison` holds what was measured anyway."""

    def __init__(self, comparison):
        self.comparison = comparison
        reasons = "\n".join(f"- {label}: {why}" for label, why in comparison.failures.items())
        super().__init__(f"{reasons}\n\n{comparison}")


@dataclass(frozen=True)
class Ratio:
    """How many times faster a candidate is than the baseline: median over rounds, and interval."""

    value: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """False when the interval as shown, with two decimals, holds 1."""
        return not round(self.low, 2) <= 1 <= round(self.high, 2)

    def __repr__(self):
        times, low, high = self.value, self.low, self.high
        if math.isinf(high):
            return f"{max(times, 1 / times):.3g}x {'faster' if times >= 1 else 'slower'}, seen once"
        if not self.clear:
            return f"no clear difference [{low:.2f}, {high:.2f}]"
        if times >= 1:
            return f"{times:.2f}x faster [{low:.2f}, {high:.2f}]"
        return f"{1 / times:.2f}x slower [{1 / high:.2f}, {1 / low:.2f}]"


@dataclass(frozen=True, repr=False)
class Comparison(Table):
    """Candidates on the same arguments. The first one measured is the baseline.

    measurements: label to `Measurement`. differences: label to the largest relative difference
    of its result from the reference, the first candidate that gave one. failures: label to the
    reason why it was not timed. tolerance: the difference that was allowed.
    """

    measurements: dict[str, Measurement]
    differences: dict[str, float]
    failures: dict[str, str] = field(default_factory=dict)
    tolerance: float = TOLERANCE

    def __getitem__(self, label: str) -> Measurement:
        if label in self.failures:
            raise KeyError(f"{label!r} was not measured: {self.failures[label]}")
        return self.measurements[label]

    @property
    def baseline(self) -> str:
        """The label that the others are compared with."""
        return next(iter(self.measurements))

    def ratio(self, label: str, baseline: str | None = None) -> Ratio:
        """How many times faster `label` is than `baseline`, with a bootstrap interval.

        The ratio is taken round by round, because a round's candidates ran side by side; the
        interval is the percentile bootstrap of the median (`scipy.stats.bootstrap`).
        """
        slow, fast = self[baseline or self.baseline].samples, self[label].samples
        return bootstrap_ratio(np.divide(slow, fast))

    def calls_to_repay(
        self, label: str, baseline: str | None = None, cost: float | None = None
    ) -> float:
        """Calls after which what `label` cost once is repaid by what each call saves.

        cost: seconds; by default what its first call took beyond that of `baseline`.

        Returns: 0 when there is nothing to repay, infinity when `label` is not clearly faster.
        """
        baseline = baseline or self.baseline
        if cost is None:
            cost = self[label].first - self[baseline].first
        saved = self[baseline].median - self[label].median
        if not self.ratio(label, baseline).clear or saved <= 0:
            return math.inf
        return max(0.0, cost / saved)

    def _title(self):
        if not self.measurements:
            return "No candidate gave a result."
        if not self.differences:
            return "Results were not compared."
        worst = max(self.differences.values())
        return f"Largest relative difference of results {worst:.1g}, allowed {self.tolerance:.1g}."

    def _columns(self):
        return ["", "first call", "median", "spread", f"against {self._baseline_or_dash()}", "note"]

    def _rows(self):
        return [self._row(m) for m in self.measurements.values()] + [
            [label, "", "", "", "", why] for label, why in self.failures.items()
        ]

    def _row(self, m):
        ratio = "" if m.label == self.baseline else repr(self.ratio(m.label))
        seconds = [format_seconds(s) for s in (m.first, m.median, m.spread)]
        return [m.label, *seconds, ratio, "noisy" if m.noisy else ""]

    def _baseline_or_dash(self):
        return self.baseline if self.measurements else "-"


@dataclass(frozen=True, repr=False)
class Sweep(Table):
    """Comparisons over sizes.

    name: what the sizes are. comparisons: size to `Comparison`. not_made: size to the reason why
    it could not be compared.
    """

    name: str
    comparisons: dict[float, Comparison]
    not_made: dict[float, str] = field(default_factory=dict)

    def __getitem__(self, size) -> Comparison:
        return self.comparisons[size]

    @property
    def failures(self) -> dict[str, str]:
        """The reasons of all failures, keyed by label and size."""
        return {f"{self.name} {size}": why for size, why in self.not_made.items()} | {
            f"{label} at {self.name} {size}": why
            for size, comparison in self.comparisons.items()
            for label, why in comparison.failures.items()
        }

    @property
    def labels(self) -> list[str]:
        """The labels measured at every size."""
        all_sizes = [c.measurements for c in self.comparisons.values()]
        first = all_sizes[0] if all_sizes else {}
        return [label for label in first if all(label in m for m in all_sizes)]

    def _title(self):
        return f"Median seconds per call over {self.name}."

    def _columns(self):
        return [self.name, *self.labels, *(f"{b} against {a}" for a, b in self._ends())]

    def _rows(self):
        return [
            [
                size,
                *(format_seconds(c[label].median) for label in self.labels),
                *(c.ratio(b, a) for a, b in self._ends()),
            ]
            for size, c in self.comparisons.items()
        ]

    def _ends(self):
        """The first and the last label, when there are two to compare."""
        return [(self.labels[0], self.labels[-1])] if len(self.labels) > 1 else []


def compare(
    candidates: Mapping[str, Callable],
    *args,
    rounds: int = SAMPLES,
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
    finite magnitude of its array; integers and strings must be equal. Introduced in notebook 01.

    Returns: a `Comparison`, in seconds per call.
    Raises: ComparisonError after the others were measured, when a candidate raised, gave NaN or
    gave another result (``strict=False`` only records it); TypeError or ValueError for arguments
    that make no sense.
    """
    _check_candidates(candidates)
    check_counts(rounds=rounds, block=block)
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
    options: passed on to `compare`. Introduced in notebook 01.

    Returns: a `Sweep` of the sizes that could be made.
    Raises: ValueError for no sizes or one that is not positive, and, after the last size,
    ComparisonError when `make` or a candidate failed at one of them (``strict=False`` only
    records it).
    """
    sizes = list(sizes)
    if not sizes:
        raise ValueError("`sizes` is empty: give at least one")
    check_counts(**{f"sizes[{i}]": size for i, size in enumerate(sizes)})
    comparisons, not_made = {}, {}
    for size in _progress(sizes, name):
        try:
            candidates, args = make(size)
        except Exception as error:  # too large for the memory, say; the other sizes still count
            not_made[size] = headline(error)
            continue
        comparisons[size] = compare(candidates, *args, strict=False, **options)
    result = Sweep(name, comparisons, not_made)
    if result.failures and strict:
        raise ComparisonError(result)
    return result


def bootstrap_ratio(ratios) -> Ratio:
    """The median of `ratios` with its percentile bootstrap interval (Efron, 1979; fixed seed).

    A single ratio says nothing about its spread: its interval holds everything.
    """
    from scipy.stats import bootstrap

    ratios = np.asarray(ratios, float)
    value = statistics.median(ratios)
    if len(ratios) == 1:
        return Ratio(float(value), 0.0, math.inf)
    if np.ptp(ratios) == 0:
        return Ratio(float(value), float(value), float(value))
    interval = bootstrap(
        (ratios,),
        np.median,
        confidence_level=CONFIDENCE,
        method="percentile",
        n_resamples=2000,
        rng=np.random.default_rng(0),
    ).confidence_interval
    return Ratio(float(value), float(interval.low), float(interval.high))


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
    firsts, differences, failures, reference = {}, {}, {}, None  # the first result: the reference
    for label, fn in candidates.items():
        try:
            seconds, result = time_first_call(fn, args, clock)
            difference = largest_difference(result, reference if differences else result)
        except Exception as error:  # a candidate may raise anything; the others still count
            failures[label] = headline(error)
            continue
        reference = reference if differences else result
        differences[label] = difference
        if difference <= tolerance:
            firsts[label] = seconds
        else:
            failures[label] = (
                f"its result differs from that of {next(iter(differences))!r} by {difference:.2g} "
                f"(relative), more than `tolerance` = {tolerance:.2g}"
            )
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
                failures[label] = headline(error)
    return samples, calls, failures
