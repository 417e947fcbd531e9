"""What a comparison found: times, differences of results, failures, and how they are shown."""

import math
import statistics
from dataclasses import dataclass, field, replace

import numpy as np

from .calls import mode_of
from .differences import TOLERANCE, Difference
from .profiles import Evidence
from .tables import Table, first_of, format_si
from .timing import Measurement

CONFIDENCE = 0.95  # confidence level of the interval, at least
ENOUGH = 6  # processes, whose lowest and highest miss the median of all in 2 * (1/2)**6 = 3 %
MOST_ALIKE = 0.9  # the largest correlation of neighbours that is reckoned with


@dataclass(frozen=True)
class Ratio:
    """How many times faster a candidate is than a rival, in one process or in several.

    Attributes:
        value: The median over rounds; of several processes, that of their ratios.
        low, high: Its interval, of confidence `CONFIDENCE` at least where rounds are independent,
            of about that where neighbours are alike, and of less where it has reached the lowest
            and the highest ratio; from 0 to infinity where the rounds are too few for one. Of
            several processes, the lowest and the highest of their ratios (`process_ratio`).
        noise: How many times faster or slower than itself a function seemed in the same rounds.
        rounds: The number of rounds, or of processes.
    """

    value: float
    low: float
    high: float
    noise: float = 1.0
    rounds: int = 0

    @property
    def significant(self) -> bool:
        """Whether the interval excludes 1, and the value is further from 1 than the noise."""
        beyond = max(self.value, 1 / self.value) > max(self.noise, 1 / self.noise)
        return beyond and not self.low <= 1 <= self.high

    @property
    def bounded(self) -> bool:
        """Whether there were enough rounds for an interval."""
        return math.isfinite(self.high)

    @property
    def short(self) -> str:
        """The value in words, such as ``1.36x slower``."""
        if self.bounded and not self.significant:
            return "not significantly different"
        number = max(self.value, 1 / self.value)
        return f"{_digits(number)}x {'faster' if self.value >= 1 else 'slower'}"

    def against(self, rival: str) -> str:
        """In words, with the rival's name: ``1.36x slower than eager [1.35, 1.38]``."""
        than = "than" if self.short.startswith(tuple("0123456789")) else "from"
        return f"{self.short} {than} {rival}{self._interval()}"

    def __str__(self):
        return f"{self.short}{self._interval()}"

    __repr__ = __str__

    def _interval(self):
        """In times faster; in times slower where the words say slower."""
        if not self.bounded:
            return ", too few rounds"
        ends = self.low, self.high
        if self.significant and self.value < 1:
            ends = 1 / self.high, 1 / self.low
        return f" [{_digits(ends[0])}, {_digits(ends[1])}]"


def _digits(number):
    """Two decimals; more where they would be those of 1."""
    return f"{number:.2f}" if abs(number - 1) >= 0.005 or number == 1 else f"{number:.4f}"


def median_ratio(ratios) -> Ratio:
    """The median of `ratios`, in the order of their rounds, with its interval.

    The interval lies between two of the ratios, as many ranks from the lowest as from the
    highest: whatever their distribution is, each is below the true median with probability 1/2,
    so the binomial distribution says how far out the two must be (David and Nagaraja, Order
    Statistics, 2003, section 7.1). That holds for independent rounds. Where neighbours are alike, n
    rounds say as much as n (1 - r) / (1 + r) independent ones, for a correlation r of neighbours
    (Bartlett, 1946), and the ranks lie further out accordingly, the extremes at most. r is of the
    ranks, corrected for its bias in short series (Kendall, 1954).
    """
    ratios = np.asarray(ratios, float)
    rounds, value = len(ratios), float(statistics.median(ratios))
    alone = _rank(rounds)
    if not alone:
        return Ratio(value, 0.0, math.inf, rounds=rounds)
    dependence, middle = _dependence(ratios), (rounds + 1) / 2
    wider = math.sqrt((1 + dependence) / (1 - dependence))
    rank = max(1, math.floor(middle - (middle - alone) * wider))
    low, high = np.sort(ratios)[[rank - 1, rounds - rank]].tolist()
    return Ratio(value, low, high, rounds=rounds)


def process_ratio(ratios) -> Ratio:
    """The median of the ratios of independent processes, from the lowest to the highest.

    Below `ENOUGH` of them there is no interval. A seventh process lies within that of six in five
    of seven cases.
    """
    ratios = list(ratios)
    low, high = (min(ratios), max(ratios)) if len(ratios) >= ENOUGH else (0.0, math.inf)
    return Ratio(statistics.median(ratios), low, high, rounds=len(ratios))


def _rank(rounds):
    """How far from either end the interval's ends stand, 1 for the extremes; 0 for nowhere.

    So many of the ratios at most may lie below the true median without that being too unlikely.
    """
    rank, below, share = 0, 1, (1 - CONFIDENCE) / 2
    while below / 2**rounds < share:
        rank += 1
        below += math.comb(rounds, rank)
    return rank


def _dependence(ratios):
    """Correlation of the ranks of neighbours, between 0 and `MOST_ALIKE`."""
    rounds = len(ratios)
    lower, upper = (np.searchsorted(np.sort(ratios), ratios, side) for side in ("left", "right"))
    ranks = lower + upper - rounds  # twice the mean rank of equal ones, around zero
    if not ranks.any():
        return 0.0
    raw = float(ranks[1:] @ ranks[:-1] / (ranks @ ranks))
    return min(max((rounds * raw + 1) / (rounds - 3), 0.0), MOST_ALIKE)


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
        undecided: Why results were not compared, or "".
        own_variables: Whether candidates change variables of their own, which are not compared.
        rounded: The places of arrays that were not compared, because rounding alone moves them.
    """

    measurements: dict[str, Measurement]
    differences: dict[str, Difference]
    failures: dict[str, str] = field(default_factory=dict)
    tolerance: float = TOLERANCE
    evidence: dict[str, Evidence] = field(default_factory=dict)
    control: Measurement | None = None
    undecided: str = ""
    own_variables: bool = False
    rounded: tuple[str, ...] = ()

    def __getitem__(self, label: str) -> Measurement:
        if label not in self.measurements:
            why = self.failures.get(label, f"there is {', '.join(self.measurements) or 'nothing'}")
            raise KeyError(f"{label!r} was not measured: {why}")
        return self.measurements[label]

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
        """The same of these rows alone."""
        rows = [(mode_of(x), self.evidence.get(x, Evidence())) for x in labels]
        return all(ran.programs is not None and not ran.unlike(mode) for mode, ran in rows if mode)

    def break_even_calls(self, label: str, baseline: str = "", cost: float | None = None) -> float:
        """Calls after which what `label` cost once is repaid by what each call saves.

        Args:
            label: The candidate.
            baseline: Its rival, by default the first candidate measured.
            cost: Seconds; by default what its first call took beyond that of `baseline`.

        Returns:
            0 when there is nothing to repay, infinity when `label` is not significantly faster.
        """
        one, other = self[label], self[baseline or self.baseline]
        cost = one.first - other.first if cost is None else cost
        saved = other.median - one.median
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
        agree = [one.size for one in self.differences.values() if one.within(self.tolerance)]
        title = f"Results were not compared: {self.undecided or 'there is only one'}."
        if len(self.differences) > 1 and not self.undecided:
            whose = "results" if len(agree) == len(self.differences) else "the results that agree"
            title = f"Largest relative difference of {whose} {max(agree):.1g}"
            title += f", allowed {self.tolerance:.1g}."
        columns = ["", "ran", "first call", "median", "IQR", f"against {self.baseline}", "note"]
        own = "Variables that a candidate has for itself were not compared."
        notes = [own] if self.own_variables else []
        if self.rounded:
            notes.append(f"Not compared, because rounding moves them: {first_of(self.rounded)}.")
        if self.control and self.control.label in self.measurements:
            apart = max(self.noise, 1 / self.noise)
            notes.append(f'"{self.control.label}" against itself, same rounds: {apart:.2f}x apart.')
        return title, columns, list(self._rows()), *notes

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
