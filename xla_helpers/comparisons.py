"""What a comparison found: times, differences of results, failures, and how to show them."""

import math
import statistics
from dataclasses import dataclass, field, replace

import numpy as np

from .agreement import TOLERANCE, Difference
from .evidence import Evidence
from .modes import mode_of
from .ratios import Ratio, median_ratio
from .tables import Seconds, Table
from .timing import Measurement


class ComparisonError(RuntimeError):
    """A candidate failed or gave another result.

    found: the `Comparison` of all that was measured anyway.
    """

    def __init__(self, found):
        self.found = found
        reasons = "\n".join(f"- {label}: {why}" for label, why in found.failures.items())
        super().__init__(f"{reasons}\n\n{found}")


@dataclass(frozen=True, repr=False)
class Comparison(Table):
    """Candidates on the same arguments. The first one measured is the baseline.

    measurements: label to `Measurement`. differences: label to the `Difference` of its result,
    and of the variables that it changed, from the first that gave one. failures: label to the
    reason for which it was not timed. tolerance: the relative difference that was allowed.
    evidence: label to what its first call ran. control: another measurement of the candidate that
    it is labelled as, in the same rounds. undecided: why results were not compared, in a sentence;
    empty when they were. remarks: what of them was, and what was not, in sentences.
    """

    measurements: dict[str, Measurement]
    differences: dict[str, Difference]
    failures: dict[str, str] = field(default_factory=dict)
    tolerance: float = TOLERANCE
    evidence: dict[str, Evidence] = field(default_factory=dict)
    control: Measurement | None = None
    undecided: str = ""
    remarks: tuple[str, ...] = ()

    def __getitem__(self, label: str) -> Measurement:
        if label not in self.measurements:
            known = f"there is {', '.join(self.measurements) or 'nothing'}"
            raise KeyError(f"{label!r} was not measured: {self.failures.get(label, known)}")
        return self.measurements[label]

    @property
    def baseline(self) -> str:
        """The label that the others are compared with; "" when nothing was measured."""
        return next(iter(self.measurements), "")

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
        if not self._has_control:
            return 1.0
        itself = self[self.control.label].samples
        return float(statistics.median(np.divide(itself, self.control.samples)))

    @property
    def _has_control(self):
        return self.control is not None and self.control.label in self.measurements

    @property
    def as_labelled(self) -> bool:
        """Whether every row whose label names a mode, as "XLA, padded" does, ran in that mode.

        False also where nothing could be seen.
        """
        claims = {label: mode for label in self.measurements if (mode := mode_of(label))}
        ran = {label: self.evidence.get(label, Evidence()) for label in claims}
        return all(ran[x].seen and not ran[x].unlike(mode) for x, mode in claims.items())

    def calls_to_repay(
        self, label: str, baseline: str | None = None, cost: float | None = None
    ) -> float:
        """Calls after which what `label` cost once is repaid by what each call saves.

        cost: seconds; by default what its first call took beyond that of `baseline`.

        Returns: 0 when there is nothing to repay, infinity when `label` is not clearly faster.
        """
        one, other = self[label], self[baseline or self.baseline]
        cost = one.first - other.first if cost is None else cost
        saved = other.median - one.median
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
        return " ".join(filter(None, [self._agreement(), *self.remarks, self._itself()]))

    def _agreement(self):
        alike = [one for one in self.differences.values() if one.within(self.tolerance)]
        if self.undecided or not alike:
            return self.undecided or "Results were not compared."
        if len(self.differences) == 1:
            return "Results were not compared: there is only one."
        if len(alike) == 1:
            return "No other result agrees with the first."
        whose = "results" if len(alike) == len(self.differences) else "the results that agree"
        worst = max(one.size for one in alike)
        return f"Largest relative difference of {whose} {worst:.1g}, allowed {self.tolerance:.1g}."

    def _itself(self):
        if not self._has_control:
            return ""
        times, label = max(self.noise, 1 / self.noise), self.control.label
        named = f'"{label}"' if "," in label else label
        return f"In this run, {named} raced against itself: {times:.2f}x apart."

    def _columns(self):
        against = f"against {self.baseline}"
        return ["", "ran", "first call", "median", "spread", against, "note"]

    def _rows(self):
        for label, m in self.measurements.items():
            seconds = map(Seconds, (m.first, m.median, m.spread))
            ratio = "" if label == self.baseline else repr(self.ratio(label))
            ran, mode = self.evidence.get(label, Evidence()), mode_of(label)
            notes = filter(None, ["noisy" if m.noisy else "", ran.unlike(mode) if mode else ""])
            yield [label, str(ran), *seconds, ratio, ", ".join(notes)]
        for label, why in self.failures.items():
            yield [label, str(self.evidence.get(label, "")), *[""] * 4, why]
