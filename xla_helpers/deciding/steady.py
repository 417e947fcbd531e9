"""What a steady call takes in each mode, weighted over a plan, from races in several processes."""

import statistics
from collections.abc import Mapping

from ..comparisons import Comparison
from ..ratios import Ratio, median_ratio
from ..results import Result
from .findings import Findings
from .spans import Span, added, union, weighted

LONE = 1.1
"""How far another process may be from a lone one: a twentieth of luck, twice. Processes have such
luck, as notebook 12 shows; of several, the root of it counts, since they show their own."""


class Steady:
    """What calls take, reckoned from races over the shapes of a plan.

    Everything is weighted with how often each shape comes in the plan, over the shapes that were
    raced. A run is a race in one process; the intervals of its candidates hold together. Those of
    the shapes need not: all low ends at once are further off than what is weighted of them. Runs
    with too few rounds for an interval are left out where there are others.

    shapes: the numbers of those that were raced. labels: what was timed beside the graph at each
    of them, the graph first; eager mode is left out. covered: the share of the plan's calls whose
    shape was raced, from 0 to 1. runs: the fewest that count at a raced shape. noise: how many
    times slower than itself a candidate seemed to be in a run, at the worst; 1 where nothing was
    raced against itself. itself: the label of that candidate, or "".
    """

    def __init__(self, findings: Findings, races: Mapping[int, Result]):
        self._findings, self._plan = findings, findings.plan
        self._runs = dict(_timed(races, len(findings.plan.shapes) if findings.plan else 0))
        self.shapes, self.labels = tuple(self._runs), _labels(self._runs)
        self.covered = sum(map(self._share, self.shapes))
        together = max(1, len(self.labels) - 1)
        self._raced = {
            (label, shape): _against_graph(label, runs, together)
            for label in self.labels
            for shape, runs in self._runs.items()
        }
        self._own = {
            key: union(median_ratio(run[key[0]].samples) for run, _ in raced)
            for key, raced in self._raced.items()
        }
        self.runs = min((len(self._raced["graph", i]) for i in self.shapes), default=0)
        self._noise = {i: max(map(_noise, runs)) for i, runs in self._runs.items()}
        self.noise, self.itself = max(self._noise.values(), default=(1.0, ""))

    def seconds(self, label: str, shape: int) -> Span:
        """Seconds of a call with one shape, in the runs that count.

        The value is the graph's divided by `times`, since a round's candidates ran side by side.
        """
        own = self._own[label, shape]
        if label == "graph":
            return own
        value = self.seconds("graph", shape).value / self.times(label, shape).value
        return Span(min(own.low, value), value, max(own.high, value))

    def times(self, label: str, shape: int) -> Span:
        """How many times faster than the graph with one shape, over all runs."""
        return union(ratio for _, ratio in self._raced[label, shape])

    def per_call(self, label: str) -> Span:
        """Seconds per call, weighted over the plan.

        Raises, like `ratio`: KeyError for what was not timed at each raced shape.
        """
        self._check(label)
        return added((self.seconds(label, i) for i in self.shapes), map(self._weight, self.shapes))

    def ratio(self, label: str) -> Span:
        """How many times faster than the graph per call, weighted over the plan, as measured.

        From the lowest end of any run's interval to the highest; the value lies at the medians.
        """
        self._check(label)
        return self._weighted({shape: self.times(label, shape) for shape in self.shapes})

    def relied(self, label: str) -> Span:
        """The same by what can be relied on: wider, where rounds know too little.

        The runs' ratios may be wrong by as much as something seemed to differ from itself in the
        same rounds; and another process may be as far from them as they are from each other, and
        further where there are few of them, see `LONE`.
        """
        self._check(label)
        return self._weighted({shape: self._relied_at(label, shape) for shape in self.shapes})

    def _check(self, label):
        if label not in self.labels:
            timed = ", ".join(self.labels) or "nothing was"
            raise KeyError(f"{label!r} was not timed at each raced shape; timed: {timed}")

    def _relied_at(self, label, shape):
        found = [ratio.value for _, ratio in self._raced[label, shape]]
        low, high = min(found), max(found)
        beyond = max(high / low, LONE ** (1 / len(found)), self._noise[shape][0])
        wide = Span(low / beyond, statistics.median(found), high * beyond)
        return union([wide, self.times(label, shape)])

    def _weighted(self, times):
        seconds = {i: added([self.seconds("graph", i)], [self._weight(i)]) for i in times}
        return weighted(times, seconds)

    def _share(self, shape):
        return self._plan.share(shape)

    def _weight(self, shape):
        """Its share of the calls that were raced."""
        return self._share(shape) / self.covered


def _timed(races, shapes):
    """Number of a shape of the plan to the runs that timed the graph with it."""
    for shape in sorted(set(races) & set(range(shapes))):
        runs = [run for run in races[shape].runs if "graph" in run.measurements]
        if runs:
            yield shape, runs


def _labels(timed):
    """The graph, and what else was timed at every raced shape, in the order of the races."""
    every = [{label for run in runs for label in run.measurements} for runs in timed.values()]
    found = [label for runs in timed.values() for run in runs for label in run.measurements]
    others = dict.fromkeys(x for x in found if x not in ("graph", "eager"))
    return ("graph", *(x for x in others if all(x in one for one in every))) if timed else ()


def _against_graph(label, runs, together) -> list[tuple[Comparison, Ratio]]:
    """The runs that timed a label with rounds enough for an interval, or else all that did, each
    with the ratio. together: how many intervals must hold at once."""
    timed = [run for run in runs if label in run.measurements]
    raced = [(run, run.ratio(label, "graph", together)) for run in timed]
    return [one for one in raced if one[1].bounded] or raced


def _noise(run):
    """How far a candidate of a run was from itself, upwards from 1, and its label."""
    if run.control is None or run.control.label not in run.measurements:
        return 1.0, ""
    return max(run.noise, 1 / run.noise), run.control.label
