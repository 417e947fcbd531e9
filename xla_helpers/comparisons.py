"""What a comparison found: times, differences of results, failures, and how to show them."""

import math
import statistics
from dataclasses import dataclass, field, replace

import numpy as np

from .agreement import TOLERANCE, Difference
from .evidence import Evidence
from .modes import mode_of
from .ratios import Ratio, median_ratio
from .tables import Seconds, Table, tabulate
from .timing import Measurement


@dataclass(frozen=True)
class Failure:
    """Why a candidate was not timed: it raised, or its result is another one.

    error: what it raised, in one line; empty when its result differs. difference: by how much it
    differs from the result of `reference`, and `tolerance` what was allowed.
    """

    error: str = ""
    difference: Difference | None = None
    reference: str = ""
    tolerance: float = TOLERANCE

    def __str__(self):
        if self.difference is None:
            return self.error
        text = self.difference.describe("its", f"that of {self.reference!r}")
        if self.difference.reason == "numbers":
            return f"{text}, more than `tolerance` = {self.tolerance:.2g}"
        if self.difference.reason == "NaN":
            return f"{text}; NaN equals nothing: give arguments that avoid it"
        return text


class ComparisonError(RuntimeError):
    """A candidate failed or gave another result. `comparison` holds what was measured anyway."""

    def __init__(self, comparison):
        self.comparison = comparison
        super().__init__(_reasons(comparison))


class SweepError(RuntimeError):
    """A size of a sweep failed. `sweep` holds what was measured anyway."""

    def __init__(self, sweep):
        self.sweep = sweep
        super().__init__(_reasons(sweep))


def _reasons(result):
    reasons = "\n".join(f"- {label}: {failure}" for label, failure in result.failures.items())
    return f"{reasons}\n\n{result}"


def _is_another(failure):
    """Whether a result differed by what no size can say, such as its shape."""
    return failure.difference is not None and failure.difference.reason != "numbers"


@dataclass(frozen=True, repr=False)
class Comparison(Table):
    """Candidates on the same arguments. The first one measured is the baseline.

    measurements: label to `Measurement`. differences: label to the `Difference` of its result,
    and of the variables that it changed, from the reference, the first candidate that gave one.
    failures: label to the `Failure` that kept it from being timed. tolerance: the relative
    difference that was allowed. evidence: label to what its first call ran. control: another
    measurement of the candidate that it is labelled as, in the same rounds: the first graph, or
    the baseline. undecided: why results were not compared, in a sentence; empty when they were.
    remarks: what of them was not, in sentences.
    """

    measurements: dict[str, Measurement]
    differences: dict[str, Difference]
    failures: dict[str, Failure] = field(default_factory=dict)
    tolerance: float = TOLERANCE
    evidence: dict[str, Evidence] = field(default_factory=dict)
    control: Measurement | None = None
    undecided: str = ""
    remarks: tuple[str, ...] = ()

    def __getitem__(self, label: str) -> Measurement:
        if label in self.failures:
            raise KeyError(f"{label!r} was not measured: {self.failures[label]}")
        if label not in self.measurements:
            known = ", ".join(map(str, self.measurements)) or "nothing"
            raise KeyError(f"{label!r} was not measured; there is {known}")
        return self.measurements[label]

    @property
    def baseline(self) -> str:
        """The label that the others are compared with.

        Raises: KeyError when nothing was measured.
        """
        if not self.measurements:
            raise KeyError("nothing was measured, so there is no baseline")
        return next(iter(self.measurements))

    def ratio(self, label: str, baseline: str | None = None) -> Ratio:
        """How many times faster `label` is than `baseline` in this run, with an interval.

        The ratio is taken round by round, because a round's candidates ran side by side, and is
        the median over rounds: see `median_ratio` of `xla_helpers.ratios` for its interval. It is
        not clear when it is as close to 1 as the ratio of the control to itself. Another run, in
        another process, may lie outside of the interval: `record` keeps several.

        Raises: KeyError when one of the two was not measured.
        """
        slow, fast = self[baseline or self.baseline].samples, self[label].samples
        return replace(median_ratio(np.divide(slow, fast)), noise=self.noise)

    @property
    def noise(self) -> float:
        """How many times faster than itself the control seemed to be; 1 without a control."""
        if self.control is None or self.control.label not in self.measurements:
            return 1.0
        itself = self[self.control.label].samples
        return float(statistics.median(np.divide(itself, self.control.samples)))

    @property
    def as_labelled(self) -> bool:
        """Whether every row whose label names a mode, as "XLA, padded" does, ran in that mode.

        False also where nothing could be seen.
        """
        claiming = [label for label in self.measurements if mode_of(label)]
        seen = all(x in self.evidence and self.evidence[x].seen for x in claiming)
        return seen and not any(map(self._mislabelled, claiming))

    def against(self, *rivals: str) -> Table:
        """The same table with a column of ratios for each of `rivals` that was measured."""
        rivals = [rival for rival in rivals if rival in self.measurements]
        heads = [f"against {rival}" for rival in rivals]
        rows = [self._row(m, rivals) for m in self.measurements.values()]
        empty = [""] * (3 + len(rivals))
        rows += [[x, self._ran(x), *empty, str(why)] for x, why in self.failures.items()]
        columns = ["", "ran", "first call", "median", "spread", *heads, "note"]
        return tabulate(self._title(), columns, rows)

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

    def plot(self, *, predicted: dict | None = None, limits: dict | None = None, ax=None, title=""):
        """Every sample as a dot, its median as a bar, in the colour of its mode.

        predicted: label to seconds, drawn as a diamond in the label's row. limits: name to
        seconds, drawn as dashed lines through all rows. ax, title: made when not given.

        Returns: the axes, for `picture`.
        Raises: ValueError when nothing was measured.
        """
        from .plots import plot_comparison

        return plot_comparison(self, predicted or {}, limits or {}, ax, title)

    def _title(self):
        said = [self._agreement(), *self.remarks, self._itself(), self._alike()]
        return " ".join(filter(None, said))

    def _agreement(self):
        if not self.measurements:
            return "No candidate gave a result."
        if self.undecided or not self.differences:
            return self.undecided or "Results were not compared."
        found, whose = list(self.differences.values()), "results"
        if any(map(_is_another, self.failures.values())):
            found = [one for one in found if one.within(self.tolerance)]
            whose = "the results that agree"
            if len(found) < 2:
                return f"No other result agrees with that of {next(iter(self.differences))!r}."
        worst = max(difference.size for difference in found)
        if len(self.measurements) == len(found) == 1 and not worst:  # the reference, with itself
            return "Results were not compared: only one candidate gave one."
        return f"Largest relative difference of {whose} {worst:.1g}, allowed {self.tolerance:.1g}."

    def _itself(self):
        if self.control is None or self.control.label not in self.measurements:
            return ""
        times, label = max(self.noise, 1 / self.noise), self.control.label
        named = f'"{label}"' if "," in label else label
        return f"In this run, {named} raced against itself: {times:.2f}x apart."

    def _alike(self):
        others = list(self.measurements)[1:]
        if any(self.ratio(label).widened for label in others):
            return "Neighbouring rounds may depend on each other, so intervals are wider."
        return ""

    def _columns(self):
        return self._view()._columns()

    def _rows(self):
        return self._view()._rows()

    def _view(self):
        return self.against(*list(self.measurements)[:1])

    def _row(self, m, rivals):
        ratios = ["" if m.label == x else repr(self.ratio(m.label, x)) for x in rivals]
        seconds = map(Seconds, (m.first, m.median, m.spread))
        notes = ["noisy" if m.noisy else "", self._mislabelled(m.label)]
        return [m.label, self._ran(m.label), *seconds, *ratios, ", ".join(filter(None, notes))]

    def _ran(self, label):
        return str(self.evidence.get(label, ""))

    def _mislabelled(self, label):
        """Why a row is not what its label says; empty when it is, or says nothing."""
        claimed = mode_of(label)
        return self.evidence[label].unlike(claimed) if claimed and label in self.evidence else ""


@dataclass(frozen=True, repr=False)
class Sweep(Table):
    """Comparisons over sizes.

    name: what the sizes are. comparisons: size to `Comparison`. not_made: size to the `Failure`
    that kept it from being compared.
    """

    name: str
    comparisons: dict[float, Comparison]
    not_made: dict[float, Failure] = field(default_factory=dict)

    def __getitem__(self, size) -> Comparison:
        return self.comparisons[size]

    @property
    def failures(self) -> dict[str, Failure]:
        """All failures, under label and size."""
        return {f"{self.name} {size}": why for size, why in self.not_made.items()} | {
            f"{label} at {self.name} {size}": why
            for size, comparison in self.comparisons.items()
            for label, why in comparison.failures.items()
        }

    @property
    def as_labelled(self) -> bool:
        """Whether every row of every size ran in the mode that its label names."""
        return all(comparison.as_labelled for comparison in self.comparisons.values())

    @property
    def labels(self) -> list[str]:
        """The labels measured at every size."""
        all_sizes = [c.measurements for c in self.comparisons.values()]
        first = all_sizes[0] if all_sizes else {}
        return [label for label in first if all(label in m for m in all_sizes)]

    def against(self, *rivals: str) -> Table:
        """The same table with the last label's ratio to each of `rivals` that was measured."""
        labels = self.labels
        rivals = [rival for rival in rivals if rival in labels[:-1]]
        heads = [f"{labels[-1]} against {rival}" for rival in rivals]
        rows = [self._row(size, rivals) for size in self.comparisons]
        return tabulate(self._title(), [self.name, *labels, *heads], rows)

    def plot(
        self, label: str, baseline: str | None = None, *, predicted=None, ax=None, title: str = ""
    ):
        """How many times faster `label` is than `baseline` at each size, with intervals.

        baseline: by default the first label. predicted: size to the ratio that was expected,
        drawn as a dashed line. ax, title: made when not given.

        Returns: the axes, for `picture`.
        """
        from .plots import plot_ratios

        return plot_ratios(self, label, baseline or self.labels[0], predicted, ax, title)

    def _title(self):
        return f"Median seconds per call over {self.name}."

    def _columns(self):
        return self._view()._columns()

    def _rows(self):
        return self._view()._rows()

    def _view(self):
        return self.against(*self.labels[:1])

    def _row(self, size, rivals):
        medians = [Seconds(self[size][label].median) for label in self.labels]
        ratios = [repr(self[size].ratio(self.labels[-1], rival)) for rival in rivals]
        return [size, *medians, *ratios]
