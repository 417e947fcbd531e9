"""How many times faster one is than another, with an interval."""

import math
import statistics
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95  # confidence level of the interval, at least
MOST_ALIKE = 0.9  # the largest dependence that is reckoned with


@dataclass(frozen=True)
class Ratio:
    """How many times faster a candidate is than a rival, in one run.

    value: the median over rounds. low, high: its interval, of confidence `CONFIDENCE` at least
    where rounds do not depend on each other, of about that where they do, and of less where it
    has reached the lowest and the highest ratio; from 0 to infinity where the rounds are too few
    for one. noise: how many times faster or slower than itself a function seemed to be in the
    same rounds. rounds: how many there were.
    """

    value: float
    low: float
    high: float
    noise: float = 1.0
    rounds: int = 0

    @property
    def clear(self) -> bool:
        """False when the interval as shown, with two decimals, holds 1, or within the noise."""
        beyond = max(self.value, 1 / self.value) > max(self.noise, 1 / self.noise)
        return beyond and not round(self.low, 2) <= 1 <= round(self.high, 2)

    @property
    def bounded(self) -> bool:
        """False when there were too few rounds for an interval."""
        return math.isfinite(self.high)

    @property
    def once(self) -> bool:
        """True when there was one round, which says nothing about its spread."""
        return self.rounds == 1

    @property
    def short(self) -> str:
        """In words, without the interval: ``1.36x slower``."""
        if self.bounded and not self.clear:
            return "no clear difference"
        number = max(self.value, 1 / self.value)
        shown = f"{number:.2f}" if self.bounded else f"{number:.3g}"
        if shown == "1":
            return "as fast"
        return f"{shown}x {'faster' if self.value >= 1 else 'slower'}"

    def against(self, rival: str) -> str:
        """In words, with the rival's name: ``1.36x slower than eager [1.35, 1.38]``."""
        if self.bounded and not self.clear:
            return f"not clearly different from {rival}{self._ending()}"
        word = "as" if self.short == "as fast" else "than"
        return f"{self.short} {word} {rival}{self._ending()}"

    def __repr__(self):
        return f"{self.short}{self._ending()}"

    def _ending(self):
        """The interval in times faster, turned round where the words say slower."""
        if not self.bounded:
            return ", seen once" if self.once else ", too few rounds"
        if self.clear and self.value < 1:
            return f" [{1 / self.high:.2f}, {1 / self.low:.2f}]"
        return f" [{self.low:.2f}, {self.high:.2f}]"


def median_ratio(ratios) -> Ratio:
    """The median of `ratios`, which stand in the order of their rounds, with its interval.

    The interval lies between two of the ratios, as many ranks from the lowest as from the
    highest: whatever their distribution is, each is below the true median with probability 1/2,
    so the binomial distribution says how far out the two must be (David and Nagaraja, Order
    Statistics, 2003, section 7.1). That holds for rounds that do not depend on each other. Where
    neighbours are alike, n rounds say as much as n (1 - r) / (1 + r) of independent ones, for a
    correlation r of neighbours (Bartlett, 1946), and the ranks lie further out accordingly, the
    extremes at most. r is of the ranks, corrected for its bias in short series (Kendall, 1954).
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


def _rank(rounds):
    """How far from either end the interval's own ends stand, 1 for the extremes; 0 for nowhere.

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
