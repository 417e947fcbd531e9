"""How many times faster one thing is than another, with an interval by order statistics."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95  # confidence level of the interval, at least
ENOUGH = 6  # rounds or processes, whose extremes miss the median of all in 2 * (1/2)**6 = 3 %
NARROW = 0.05  # of a ratio: an interval that is wider asks for further rounds
MAX_AUTOCORRELATION = 0.9  # the largest correlation of neighbours that is reckoned with


@dataclass(frozen=True)
class Ratio:
    """How many times faster a candidate is than a rival, in one process or in several.

    Attributes:
        value: The median over rounds; of several processes, that of their ratios.
        low, high: Its interval (`median_ratio`), of confidence `CONFIDENCE` at least where rounds
            are independent, of about that where neighbours are alike, and of less where it has
            reached the lowest and the highest ratio; from 0 to infinity where the rounds are too
            few for one. Of six processes it is the lowest and the highest of their ratios, and a
            seventh process lies within it in five of seven cases.
        noise: How many times faster or slower than itself a function seemed in the same rounds.
        rounds: The number of rounds, or of processes.
    """

    value: float
    low: float
    high: float
    noise: float = 1.0
    rounds: int = 0

    @classmethod
    def of(cls, more: Sequence[float], less: Sequence[float]) -> "Ratio":
        """How many times longer, or larger, one thing is than another, of a few values of each.

        Of six pairs or more, the median of the ratios and its interval (`median_ratio`). Of fewer,
        the ratio of the medians, and from the lowest over the highest to the highest over the
        lowest: an interval beyond 1 says that each value on one side lies beyond each on the other.
        Where there is nothing between them, a claim still holds by chance: once in 6 times of two
        values each, once in 20 of three.

        Args:
            more: Such as the seconds of cold starts, or peaks of memory in bytes.
            less: As many of what they are compared with.

        Returns:
            A `Ratio`.

        Raises:
            ValueError: Unless there are as many of both, two at least, and all above zero.
        """
        if len(more) != len(less) or len(more) < 2 or min(*more, *less) <= 0:
            raise ValueError("give as many values of both, two at least, above zero")
        if len(more) >= ENOUGH:
            return median_ratio(np.divide(more, less))
        value = statistics.median(more) / statistics.median(less)
        return cls(value, min(more) / max(less), max(more) / min(less), rounds=len(more))

    @property
    def significant(self) -> bool:
        """Whether the interval excludes 1, and the value is further from 1 than the noise."""
        beyond = max(self.value, 1 / self.value) > max(self.noise, 1 / self.noise)
        return beyond and not self.low <= 1 <= self.high

    @property
    def has_interval(self) -> bool:
        """Whether there were enough rounds for an interval."""
        return math.isfinite(self.high)

    @property
    def is_narrow(self) -> bool:
        """Whether the interval is at most `NARROW` of the value wide."""
        return self.high - self.low <= NARROW * self.value

    @property
    def short(self) -> str:
        """The value in words, such as ``1.36x slower``."""
        if self.has_interval and not self.significant:
            return "not significantly different"
        return times_in_words(self.value)

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval, in times slower where the value is below 1."""
        if self.value >= 1:
            return self.low, self.high
        return 1 / self.high, 1 / self.low if self.low else math.inf

    def against(self, rival: str) -> str:
        """In words, with the rival's name: ``1.36x slower than eager [1.35, 1.38]``."""
        than = "than" if self.short.startswith(tuple("0123456789")) else "from"
        return f"{self.short} {than} {rival}{self._interval()}"

    def __str__(self):
        return f"{self.short}{self._interval()}"

    __repr__ = __str__

    def _interval(self):
        """In times faster; in times slower where the words say slower."""
        if not self.has_interval:
            return ", too few rounds"
        low, high = self.ends if self.significant else (self.low, self.high)
        return f" [{digits(low)}, {digits(high)}]"


def times_in_words(value: float) -> str:
    """A ratio in words, such as ``1.36x slower`` for 0.735."""
    return f"{digits(max(value, 1 / value))}x {'faster' if value >= 1 else 'slower'}"


def digits(number: float) -> str:
    """Two decimals; more where they would be those of 1."""
    return f"{number:.2f}" if abs(number - 1) >= 0.005 or number == 1 else f"{number:.4f}"


def median_ratio(ratios) -> Ratio:
    """The median of `ratios`, in the order of their rounds or processes, with its interval.

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
    independent = _rank(rounds)
    if not independent:
        return Ratio(value, 0.0, math.inf, rounds=rounds)
    correlation, middle = _rank_autocorrelation(ratios), (rounds + 1) / 2
    wider = math.sqrt((1 + correlation) / (1 - correlation))
    rank = max(1, math.floor(middle - (middle - independent) * wider))
    low, high = np.sort(ratios)[[rank - 1, rounds - rank]].tolist()
    return Ratio(value, low, high, rounds=rounds)


def _rank(rounds):
    """How far from either end the interval's ends stand, 1 for the extremes; 0 for nowhere.

    So many of the ratios at most may lie below the true median without that being too unlikely.
    """
    rank, below, share = 0, 1, (1 - CONFIDENCE) / 2
    while below / 2**rounds < share:
        rank += 1
        below += math.comb(rounds, rank)
    return rank


def _rank_autocorrelation(ratios):
    """Correlation of the ranks of neighbours, between 0 and `MAX_AUTOCORRELATION`."""
    rounds = len(ratios)
    lower, upper = (np.searchsorted(np.sort(ratios), ratios, side) for side in ("left", "right"))
    ranks = lower + upper - rounds  # twice the mean rank of equal ones, around zero
    if not ranks.any():
        return 0.0
    raw = float(ranks[1:] @ ranks[:-1] / (ranks @ ranks))
    return min(max((rounds * raw + 1) / (rounds - 3), 0.0), MAX_AUTOCORRELATION)
