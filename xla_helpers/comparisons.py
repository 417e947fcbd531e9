"""What a comparison found: times, differences of results, failures, and how they are shown."""

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from .differences import TOLERANCE, Difference, Sensitive
from .evidence import Evidence
from .modes import mode_of
from .ratios import Ratio, median_ratio
from .tables import Table, abbreviate, format_si
from .timing import Measurement
from .variables import not_restored


class ComparisonError(RuntimeError):
    """A candidate failed or gave another result.

    Attributes:
        found: The `Comparison` of all that was measured anyway.
    """

    def __init__(self, found: "Comparison"):
        self.found = found
        reasons = "\n".join(f"- {label}: {why}" for label, why in found.failures.items())
        super().__init__(f"{reasons}\n\n{found}")


@dataclass(frozen=True, repr=False)
class Comparison(Table):
    """Candidates on the same arguments. The first one measured is the baseline.

    Attributes:
        measurements: Label to `Measurement`.
        differences: Label to the `Difference` of its result and of the variables that it changed
            from the first that gave one; empty when they were not compared.
        failures: Label to the reason why it was not timed.
        tolerance: The relative difference that was allowed.
        evidence: Label to what it ran.
        control: Another measurement of the candidate with its label, in the same rounds.
        inconclusive: Why results were not compared, or "".
        own_variables: Whether candidates change variables of their own, which are not compared.
        sensitive: The arrays that were not compared, because rounding alone moves them.
        unrestored: What the candidates may change and is neither compared nor put back, such as "an
            iterator".
    """

    measurements: dict[str, Measurement]
    differences: dict[str, Difference]
    failures: dict[str, str] = field(default_factory=dict)
    tolerance: float = TOLERANCE
    evidence: dict[str, Evidence] = field(default_factory=dict)
    control: Measurement | None = None
    inconclusive: str = ""
    own_variables: bool = False
    sensitive: tuple[Sensitive, ...] = ()
    unrestored: tuple[str, ...] = ()

    _repeat = None  # no field, because no file holds it

    def __getitem__(self, label: str) -> Measurement:
        if label not in self.measurements:
            why = self.failures.get(label, f"there is {', '.join(self.measurements) or 'nothing'}")
            raise KeyError(f"{label!r} was not measured: {why}")
        return self.measurements[label]

    def repeated_by(self, repeat: Callable[[], "Comparison"]) -> "Comparison":
        """This comparison, which `repeat` can make anew."""
        object.__setattr__(self, "_repeat", repeat)
        return self

    def again(self) -> "Comparison":
        """Compare the same candidates with the same arguments once more.

        Raises:
            ValueError: For a comparison that `compare` did not make in this process.
        """
        if self._repeat is None:
            raise ValueError("this comparison was read or made by hand: there is nothing to call")
        return self._repeat()

    @property
    def baseline(self) -> str:
        """The label that the others are compared with; "" when nothing was measured."""
        return next(iter(self.measurements), "")

    def ratio(self, label: str, baseline: str = "") -> Ratio:
        """How many times faster `label` is than `baseline` in this process, with an interval.

        The ratio is taken round by round, because a round's candidates ran side by side; its value
        is the median over rounds, its interval by order statistics (`median_ratio`). It is
        not significant when it is as close to 1 as the ratio of the control to itself. Another
        process may lie outside the interval.

        Args:
            label: The candidate.
            baseline: Its rival, by default the first candidate measured.

        Returns:
            A `Ratio`.

        Raises:
            KeyError: When one of the two was not measured.
        """
        slow, fast = self[baseline or self.baseline].samples, self[label].samples
        return replace(median_ratio(np.divide(slow, fast)), noise=self.noise)

    @property
    def noise(self) -> float:
        """How many times faster than itself the control seemed; 1 without a control."""
        if self.control is None or self.control.label not in self.measurements:
            return 1.0
        itself = self[self.control.label].samples
        return float(statistics.median(np.divide(itself, self.control.samples)))

    @property
    def as_labelled(self) -> bool:
        """Whether every row whose label begins with a mode, as "XLA, padded" does, ran in it.

        False also where nothing could be seen.
        """
        return self.ran_as_labelled(*self.measurements)

    def ran_as_labelled(self, *labels: str) -> bool:
        """Whether each of these rows ran in the mode with which its label begins, if it does."""
        return all(self.evidence.get(x, Evidence()).is_as_labelled(x) for x in labels)

    def break_even_calls(self, label: str, baseline: str = "", cost: float | None = None) -> float:
        """Calls after which what `label` cost once is repaid by what each call saves.

        Args:
            label: The candidate.
            baseline: Its rival, by default the first candidate measured.
            cost: Seconds; by default what its first call took beyond that of `baseline`.

        Returns:
            0 when there is nothing to repay, infinity when `label` is not significantly faster.
        """
        row, rival = self[label], self[baseline or self.baseline]
        cost = row.first - rival.first if cost is None else cost
        saved = rival.median - row.median
        if not self.ratio(label, baseline).significant or saved <= 0:
            return math.inf
        return max(0.0, cost / saved)

    def plot(self, *, predicted: dict | None = None, limits: dict | None = None, ax=None, title=""):
        """Draw every sample as a dot and its median as a bar, in the colour of its mode.

        Args:
            predicted: Label to seconds, drawn as a diamond in the label's row.
            limits: Name to seconds, drawn as dashed lines through all rows.
            ax: Matplotlib axes, made when not given.
            title: The title.

        Returns:
            The axes, for `picture`.

        Raises:
            ValueError: When nothing was measured.
        """
        from .plots import plot_comparison

        return plot_comparison(self, predicted or {}, limits or {}, ax, title)

    def _parts(self):
        columns = ["", "ran", "first call", "median", "IQR", f"against {self.baseline}", "note"]
        return self._title(), columns, list(self._rows()), *self._notes()

    def _title(self):
        if len(self.differences) < 2 or self.inconclusive:
            return f"Results were not compared: {self.inconclusive or 'there is only one'}."
        agree = [x.size for x in self.differences.values() if x.within(self.tolerance)]
        whose = "results" if len(agree) == len(self.differences) else "the results that agree"
        left_out = " without those not compared" if self.sensitive else ""
        largest = f"Largest relative difference of {whose}{left_out} {max(agree):.1g}"
        return f"{largest}, allowed {self.tolerance:.1g}."

    def _notes(self):
        if self.own_variables:
            yield "Variables that a candidate has for itself were not compared."
        if self.unrestored:
            yield not_restored(self.unrestored)
        if self.sensitive:
            yield f"Not compared, because rounding moves them: {abbreviate(self.sensitive)}."
        if self.control and self.control.label in self.measurements:
            apart = max(self.noise, 1 / self.noise)
            yield f'"{self.control.label}" against itself, same rounds: {apart:.2f}x apart.'

    def _rows(self):
        for label, m in self.measurements.items():
            seconds = [format_si(s, "s") for s in (m.first, m.median, m.iqr)]
            ratio = "" if label == self.baseline else str(self.ratio(label))
            ran = self.evidence.get(label, Evidence())
            notes = filter(
                None, ["noisy" if m.noisy else "", ran.unlike(mode_of(label)), m.new_memory]
            )
            yield [label, str(ran), *seconds, ratio, ", ".join(notes)]
        for label, why in self.failures.items():
            yield [label, str(self.evidence.get(label, "")), *[""] * 4, why]
