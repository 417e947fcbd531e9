"""The race over a stream: passes over the example calls in their order, the candidates in turn."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from xla_helpers.calls import Call
from xla_helpers.errors import headline
from xla_helpers.evidence import Evidence
from xla_helpers.racing import Race
from xla_helpers.ratios import Ratio, median_ratio
from xla_helpers.tables import Table, format_si, pluralize
from xla_helpers.timing import BLOCK_SECONDS, effort, in_step, time_each
from xla_helpers.variables import Snapshot

from .stream import Stream

PASSES = 8  # that are timed, at least, where the budget allows it
FEWEST, LONGEST = 3, 40.0  # of calls that take seconds: passes, unless those take longer than that
MARGIN = 1.5  # beyond what so few passes showed
RESAMPLES = 400  # of passes and examples, for an interval
UNEVEN = 2.0  # calls of one shape whose times are so many times apart are told


@dataclass(frozen=True, repr=False)
class Passes(Table):
    """Seconds of each call, in each pass over the examples.

    Attributes:
        seconds: Label to an array with a row for each pass and a column for each example.
        shapes: The shape of each example.
        weights: How often each example stands for a call; all together once.
        is_sample: Whether the examples are a sample of more, so that others could have been drawn.
        control: The graph's seconds once more, from the same passes.
        failures: Label to why a candidate left.
        faults: Label to page faults of a call; 0 where none are counted.
        evidence: Label to what a call ran.
        others: The share of the processors that other processes took; 0 also where nobody knows.
    """

    seconds: Mapping[str, np.ndarray]
    shapes: tuple[str, ...]
    weights: tuple[float, ...]
    is_sample: bool = False
    control: np.ndarray | None = None
    failures: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, float] = field(default_factory=dict)
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    others: float = 0.0

    def call(self, label: str) -> float:
        """Seconds of a call of the stream: of each example the median, weighted."""
        return float(np.median(self.seconds[label], axis=0) @ self.weights)

    def usual(self, label: str, shape: str) -> float:
        """Seconds of a call of this shape, or of any where none was timed."""
        columns = [i for i, other in enumerate(self.shapes) if other == shape]
        if not columns:
            return self.call(label)
        return float(np.median(self.seconds[label][:, columns]))

    def ratio(self, label: str) -> Ratio:
        """How many times faster than the graph a candidate is, over a pass.

        The interval is that of the median over passes, and, where the examples are a sample, of
        other passes over other examples, too (bootstrap: Efron and Tibshirani, 1993). Fewer than
        six passes, of calls that take seconds, give no such interval: it reaches `MARGIN` times
        beyond the lowest and the highest.
        """
        ratios = self._ratios(self.seconds["graph"], self.seconds[label])
        found = median_ratio(ratios)
        if not found.has_interval:
            low, high = float(min(ratios)) / MARGIN, float(max(ratios)) * MARGIN
            found = replace(found, low=low, high=high)
        elif self.is_sample:
            low, high = np.percentile(list(self._resampled(label)), [2.5, 97.5]).tolist()
            found = replace(found, low=min(low, found.low), high=max(high, found.high))
        return replace(found, noise=self.noise)

    @property
    def noise(self) -> float:
        """How many times faster than itself the graph seemed."""
        if self.control is None:
            return 1.0
        return float(np.median(self._ratios(self.seconds["graph"], self.control)))

    def _ratios(self, slow, fast):
        return (slow @ self.weights) / (fast @ self.weights)

    def _resampled(self, label):
        draws, (passes, examples) = np.random.default_rng(0), self.seconds[label].shape
        slow, fast, weights = self.seconds["graph"], self.seconds[label], np.array(self.weights)
        for _ in range(RESAMPLES):
            row, column = (draws.integers(size, size=size) for size in (passes, examples))
            chosen = np.ix_(row, column)
            ours, theirs = (x[chosen] @ weights[column] for x in (slow, fast))
            yield float(ours.sum() / theirs.sum())

    def uneven(self, label: str) -> dict[str, float]:
        """Shape to how many times as long its slowest call takes as its fastest, if `UNEVEN`."""
        usual, found = np.median(self.seconds[label], axis=0), {}
        for shape in dict.fromkeys(self.shapes):
            calls = [t for t, other in zip(usual, self.shapes, strict=True) if other == shape]
            if max(calls) >= UNEVEN * min(calls):
                found[shape] = max(calls) / min(calls)
        return found

    @property
    def as_labelled(self) -> bool:
        """Whether every row whose label begins with a mode, as "XLA, padded" does, ran in it."""
        return all(self.evidence.get(x, Evidence()).is_as_labelled(x) for x in self.seconds)

    def _ran(self, label):
        return str(self.evidence.get(label, Evidence())) or "not recorded"

    def _parts(self):
        rows = [
            [x, self._ran(x), format_si(self.call(x), "s"), "" if x == "graph" else self.ratio(x)]
            for x in self.seconds
        ]
        counted = len(next(iter(self.seconds.values()), ()))
        examples = pluralize(len(self.shapes), "example call")
        title = f"{pluralize(counted, 'pass')} over {examples}."
        left = [f"{label} was not timed to the end: {why}." for label, why in self.failures.items()]
        return title, ["", "ran", "a call", "against the graph"], rows, *left


def race_passes(
    stream: Stream, calls: Mapping[str, Sequence[Call]], snapshot: Snapshot, budget: float,
    clock=time.perf_counter
) -> Passes:  # fmt: skip
    """Time passes over the sample of a stream; in each, the candidates in an order drawn anew.

    The first pass is not timed, unless it takes all the seconds that there are. Where eight would
    take longer than them, every k-th example is left. Variables have their values again before each
    pass, so a candidate that moves them moves them through a pass as it would in life.

    Args:
        stream: Its sample is what is called.
        calls: Label to a call for each example of the sample; "graph" is run twice, as a control.
        snapshot: The variables, with the values from which each pass begins.
        budget: Seconds, about.
        clock: Gives seconds.

    Returns:
        The `Passes`. Of a candidate that raises it says why.
    """
    lanes = {label: [call.bound for call in mine] for label, mine in calls.items()}
    options: dict = {"control": "graph", "needed": "graph", "timer": time_each, "clock": clock}
    race, budget, start = Race(lanes, snapshot, **options), budget * effort(), clock()
    try:
        took = _seconds_of_round(race, clock)
        if budget / PASSES < took < budget / 2:  # the first one is slow: look again
            took = _seconds_of_round(race, clock)
        if took < budget:
            every = max(1, math.ceil(took * PASSES / budget))
            stream = stream.thinned(every)
            lanes = {label: mine[::every] for label, mine in lanes.items() if label in race.blocks}
            passes, errors = _enough_passes(race, every), race.errors
            race = Race(lanes, snapshot, **options)
            race.passes, race.errors = passes, errors
        race.until(lambda: _are_enough(race, stream, clock() - start, budget))
    finally:
        snapshot.restore()
    return _result(race, stream)


def _seconds_of_round(race, clock):
    start = clock()
    race.round()
    return clock() - start


def _enough_passes(race, every):
    """Label to how often a lane of every k-th example is repeated, to be long enough to time."""
    last = {label: float(np.sum(mine[-1].seconds[::every])) for label, mine in race.blocks.items()}
    enough = {x: math.ceil(BLOCK_SECONDS * effort() / max(s, 1e-9)) for x, s in last.items()}
    return {label: in_step(number, enough["graph"]) for label, number in enough.items()}


def _are_enough(race, stream, seconds, budget):
    """Whether there are enough passes, or the time for more is over."""
    if len(race.again) < PASSES:
        if seconds > LONGEST:
            return True
        return len(race.again) >= FEWEST and seconds > 2 * budget
    if seconds > budget:
        return True
    found = _result(race, stream)
    return all(found.ratio(label).is_narrow for label in found.seconds if label != "graph")


def _result(race, stream):
    """What was timed until now."""
    blocks = race.blocks
    return Passes(
        control=np.array([block.seconds for block in race.again]),
        seconds={x: np.array([block.seconds for block in mine]) for x, mine in blocks.items()},
        shapes=tuple(example.shape for example in stream.sample),
        weights=tuple(stream.weights),
        is_sample=stream.is_sample and len(stream.sample) > 1,
        failures={label: headline(error) for label, error in race.errors.items()},
        faults={x: float(np.median([y.faults or 0.0 for y in mine])) for x, mine in blocks.items()},
    )
