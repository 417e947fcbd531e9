"""How many times faster one is than another, with an interval."""

import math
import statistics
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95  # confidence level of the interval


@dataclass(frozen=True)
class Ratio:
    """How many times faster a candidate is than a rival.

    value: the median over rounds. low, high: its interval, of confidence `CONFIDENCE`. noise: how
    many times faster or slower than itself a function seemed to be in the same rounds.
    """

    value: float
    low: float
    high: float
    noise: float = 1.0

    @property
    def clear(self) -> bool:
        """False when the interval as shown, with two decimals, holds 1, or within the noise."""
        beyond = max(self.value, 1 / self.value) > max(self.noise, 1 / self.noise)
        return beyond and not round(self.low, 2) <= 1 <= round(self.high, 2)

    @property
    def once(self) -> bool:
        """True when there was one sample, which says nothing about its spread."""
        return math.isinf(self.high)

    @property
    def short(self) -> str:
        """In words, without the interval: ``1.36x slower``."""
        if not self.clear and not self.once:
            return "no clear difference"
        number = max(self.value, 1 / self.value)
        shown = f"{number:.3g}" if self.once else f"{number:.2f}"
        return f"{shown}x {'faster' if self.value >= 1 else 'slower'}"

    def against(self, rival: str) -> str:
        """In words, with the rival's name: ``1.36x slower than eager [1.35, 1.38]``."""
        if not self.clear and not self.once:
            return f"not clearly different from {rival}{self._ending()}"
        return f"{self.short} than {rival}{self._ending()}"

    def __repr__(self):
        return f"{self.short}{self._ending()}"

    def _ending(self):
        return ", seen once" if self.once else f" {self._interval()}"

    def _interval(self):
        """In times faster; turned round where the words say slower."""
        if self.clear and self.value < 1:
            return f"[{1 / self.high:.2f}, {1 / self.low:.2f}]"
        return f"[{self.low:.2f}, {self.high:.2f}]"


def bootstrap_ratio(ratios) -> Ratio:
    """The median of `ratios` with its percentile bootstrap interval (Efron, 1979; fixed seed).

    A single ratio says nothing about its spread: its interval holds everything.
    """
    from scipy.stats import bootstrap

    ratios = np.asarray(ratios, float)
    value = float(statistics.median(ratios))
    if len(ratios) == 1:
        return Ratio(value, 0.0, math.inf)
    if np.ptp(ratios) == 0:
        return Ratio(value, value, value)
    interval = bootstrap(
        (ratios,),
        np.median,
        confidence_level=CONFIDENCE,
        method="percentile",
        n_resamples=2000,
        rng=np.random.default_rng(0),
    ).confidence_interval
    return Ratio(value, float(interval.low), float(interval.high))
