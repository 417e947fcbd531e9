"""What a plan costs in each mode, per call and once, and when the latter is repaid."""

import math
import statistics
from collections.abc import Collection, Mapping

from ..results import Result
from .findings import PADDED, Findings
from .spans import Span, added, at_least, unknown
from .steady import Steady

SCATTER = 1.25  # how far another first call may be, at least, since few of them are seen


class Costs(Steady):
    """What the calls of a plan take in each mode, first calls included.

    Labels are those of `labels`; see `Steady` for what is known per call.
    """

    def __init__(self, findings: Findings, races: Mapping[int, Result]):
        super().__init__(findings, races)
        self._shapes = range(len(self._plan.shapes)) if self._plan else range(0)

    def once(self, label: str, shapes: Collection[int] | None = None) -> Span:
        """Seconds of all first calls of the plan, beyond those of steady calls.

        Each program counts once, with what its first call really took: where a signature makes one
        trace of all shapes, further shapes cost next to nothing. The value is of a process that
        ran this candidate alone. Where there was none, it is that of the races, and at least what
        the graph costs. The ends are as far off as first calls of the races are from their median,
        and by `SCATTER` at least. A program whose first call was not seen may cost nothing, and as
        much as the dearest that was.
        label: of the candidate. shapes: those whose first calls count, by default all.
        """
        shapes = self._shapes if shapes is None else shapes
        first = [self._first(label, *one) for one in self._programs(label, shapes).items()]
        seen = [span for span in first if span is not None]
        if not seen:
            return unknown(0.0)
        values = [span.value for span in seen]
        other = Span(0.0, statistics.mean(values), max(span.high for span in seen))
        return added([*seen, other], [*(1 for _ in seen), len(first) - len(seen)])

    def unseen(self, label: str) -> int:
        """How many programs of the plan had no first call of this label that was seen."""
        programs = self._programs(label, self._shapes).items()
        return sum(self._first(label, *one) is None for one in programs)

    def total(self, label: str, calls: float) -> Span:
        """Seconds of so many calls of a label with the raced shapes, and of all first calls."""
        return added([self.once(label), self.per_call(label)], [1, calls])

    def gain(self, label: str, calls: float) -> Span:
        """How many times faster than the graph so many calls are, first calls included.

        By what can be relied on, see `relied`. label: of the candidate. calls: with the shapes
        that were raced. Where some were not, the ends hold with the first calls of those and
        without.
        """
        whole, raced = (self._gain(label, calls, x) for x in (self._shapes, self.shapes))
        return Span(min(whole.low, raced.low), whole.value, max(whole.high, raced.high))

    def repaid(self, label: str) -> Span | None:
        """The calls after which a label has repaid what it costs once beyond the graph.

        0 where it costs no more; None where it is not faster per call by what can be relied on.
        """
        times, graph = self.relied(label), self.per_call("graph")
        if times.low <= 1 or not graph.low:
            return None
        own, other = self.once(label), self.once("graph")
        return Span(
            max(0.0, own.low - other.high) / _saved(graph.high, times.high),
            max(0.0, own.value - other.value) / _saved(graph.value, times.value),
            max(0.0, own.high - other.low) / _saved(graph.low, times.low),
        )

    def _gain(self, label, calls, shapes):
        graph, own, times = self.once("graph", shapes), self.once(label, shapes), self.relied(label)
        steady = added([self.per_call("graph")], [calls])
        value = _faster(graph.value, own.value, steady.value, times.value)
        ends = (graph.high, own.high, steady.high, times.high)
        if not all(map(math.isfinite, ends)):
            return unknown(value)
        low = [_faster(graph.low, own.high, s, times.low) for s in (steady.low, steady.high)]
        high = [_faster(graph.high, own.low, s, times.high) for s in (steady.low, steady.high)]
        return Span(min(low), value, max(high))

    # First calls

    def _programs(self, label, shapes):
        """Number of a program to the shapes of the plan that come to it."""
        programs = {}
        for shape in shapes:
            number = self._plan.shapes[shape].padded if label == PADDED else shape
            if number is not None:
                programs.setdefault(number, []).append(shape)
        return programs

    def _first(self, label, program, shapes) -> Span | None:
        """Seconds of the first call of a program beyond a steady one; None when it was not seen."""
        alone, raced = self._alone(label, program), self._raced_firsts(label, shapes)
        if alone is None and not raced:
            return None
        value = statistics.median(raced) if alone is None else alone
        lower, upper = _scatter(raced)
        steady = next((self.seconds(label, i).value for i in shapes if i in self.shapes), 0.0)
        found = Span(*(max(0.0, s - steady) for s in (value * lower, value, value * upper)))
        if label == "graph" or alone is not None:
            return found
        return at_least(found, self.once("graph", shapes[:1]))

    def _alone(self, label, program):
        """Seconds of the first call in a process that ran this candidate alone."""
        calls = getattr(self._findings.first_of(label), "calls", ())
        found = (call.seconds for call in calls if call.shape == program and not call.error)
        return next(found, None)

    def _raced_firsts(self, label, shapes):
        """Seconds of the first calls in the races, after those of other candidates."""
        timed = [self._raced.get((label, shape), ()) for shape in shapes]
        return [run[label].first for runs in timed for run, _ in runs]


def _scatter(seconds):
    """How many times its median the first and the last of them are, or may be."""
    middle = statistics.median(seconds or [1.0])
    ends = [one / middle for one in seconds]
    return min([1 / SCATTER, *ends]), max([SCATTER, *ends])


def _faster(graph_once, own_once, steady, times):
    """steady: seconds of all calls of the graph, beyond the first ones."""
    return (graph_once + steady) / (own_once + steady / times)


def _saved(seconds, times):
    return seconds * (1 - 1 / times)
