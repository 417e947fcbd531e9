"""What was decided about a model: the sums, and a line in words."""

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from ..comparisons import Comparison
from ..instruments.checking import Check
from ..instruments.manual import see
from ..ratios import Ratio, median_ratio
from ..tables import Table, pluralize
from ..timing import SHARE
from .costs import ProcessResult


@dataclass(frozen=True, repr=False)
class Decision(Table):
    """What was found, and what to use.

    Attributes:
        findings: Of each process.
        calls: How many there will be.
        min_speedup: How many times faster than the graph all of them together must be, first calls
            included, to be worth it.
        checks: Shape to `Check`; like the two below, only where it was decided in memory.
        invalid_inputs: The checks of inputs that should fail.
        races: Shape to `Comparison`.
    """

    findings: tuple[ProcessResult, ...]
    calls: int
    min_speedup: float
    checks: Mapping[str, Check]
    invalid_inputs: tuple[Check, ...]
    races: Mapping[str, Comparison]

    @property
    def inconclusive(self) -> str:
        """Why there is no verdict at all, or ""."""
        return next((found.inconclusive for found in self.findings if found.inconclusive), "")

    @property
    def objections(self) -> dict[str, str]:
        """XLA, and each other candidate, to why nobody should choose it; "" for no reason."""
        merged: dict[str, str] = {}
        for found in self.findings:
            merged |= {x: merged.get(x) or why for x, why in found.objections.items()}
        return merged

    @property
    def gains(self) -> dict[str, Ratio]:
        """Candidate to how many times faster than the graph all calls are, first calls included.

        The interval is that of the median of all processes, of six the lowest and the highest gain
        (`median_ratio`); of one process, that of its races.
        """
        good = [] if self.inconclusive else [x for x, why in self.objections.items() if not why]
        return {label: self._gain(label) for label in good}

    def gains_of(self, label: str, end: str = "call") -> list[float]:
        """The gain of a candidate in each process."""
        costs = [(found.costs["graph"], found.costs[label]) for found in self.findings]
        return [graph.total(self.calls) / mine.total(self.calls, end) for graph, mine in costs]

    def _gain(self, label):
        gains, [first, *others] = self.gains_of(label), self.findings
        if not others:
            ends = (self.gains_of(label, end)[0] for end in ("slow", "fast"))
            return Ratio(gains[0], *ends, noise=first.noise)
        return median_ratio(gains)

    @property
    def label(self) -> str:
        """What to use: "graph" or a candidate; "" where only the middle of a gain is high enough.

        A candidate wins when the low end of its gain reaches `min_speedup`. Of several that may
        gain as much, it is the one that was given first, which should be the simplest.
        """
        gains = self.gains
        winners = {label: gain for label, gain in gains.items() if gain.low >= self.min_speedup}
        if winners:
            best = max(winners.values(), key=lambda gain: gain.value)
            return next(label for label, gain in winners.items() if gain.high >= best.low)
        may_win = self.inconclusive or any(
            gain.value >= self.min_speedup for gain in gains.values()
        )
        return "" if may_win else "graph"

    @property
    def subject(self) -> str:
        """The candidate to speak of: the choice, else the fastest, else XLA."""
        gains = self.gains
        fastest = max(gains, key=lambda x: gains[x].value, default="XLA")
        return self.label if self.label in gains else fastest

    def total(self, label: str, calls: int) -> float:
        """Estimate the seconds of so many calls, first calls included.

        Args:
            label: "graph" or a candidate.
            calls: How many.

        Returns:
            Seconds, the median of all processes.

        Raises:
            KeyError: For a candidate that was refused, with the reason.
        """
        if why := self.objections.get(label, "" if label == "graph" else "unknown"):
            raise KeyError(f"{label}: {why}")
        return statistics.median(found.costs[label].total(calls) for found in self.findings)

    def break_even_calls(self, label: str) -> float:
        """The calls after which `label` has repaid its first calls; infinity for never."""
        if label not in self.gains:
            return math.inf
        costs = [(found.costs[label], found.costs["graph"]) for found in self.findings]
        more = statistics.median(mine.fixed - graph.fixed for mine, graph in costs)
        saved = statistics.median(graph.per_call() - mine.per_call() for mine, graph in costs)
        return max(0.0, more / saved) if saved > 0 else math.inf

    @property
    def verdict(self) -> str:
        """One line to paste: what to use, how much faster it is, over how many calls, and where."""
        label, said, found = self.subject, self.inconclusive, self.findings[0]
        if label in self.gains:
            processes = len(self.findings)
            where = "in this process alone" if processes == 1 else f"in {processes} processes"
            said = f"{label} is {self.gains[label].against('the graph')} over "
            said += f"{pluralize(self.calls, 'call')}, first calls included, {where}"
            cost = found.costs[label]
            if cost.new > len(found.shapes):
                said += (
                    f"; {cost.new} of {pluralize(cost.examples, 'example call')} trace or compile"
                )
                said += f", set by {found.sets}" if found.sets else ""
        said = said or f"{label} {self.objections[label]}"
        return f"{self.label or 'undecided'}: {said.rstrip('.')}. {found.machine}"

    @property
    def notes(self) -> list[str]:
        """What was assumed and not tested, and what to mind, in short sentences."""
        more = "" if self.label or self.inconclusive else " More calls may decide it."
        notes, paying = [f"Asked for: {self.min_speedup:.4g}x.{more}"], []
        for label, cost in self.findings[0].costs.items():
            if cost.singletons:
                examples = f"{cost.singletons} of {pluralize(cost.examples, 'example call')}"
                chance = (
                    f"{cost.singletons / cost.examples:.0%} of further calls trace or compile anew"
                )
                notes.append(f"Assumed of {label}: {chance}, as {examples} shared nothing.")
            if cost.fault_share >= SHARE:
                pages = pluralize(round(cost.faults), "page")
                paying.append(f"{label} {pages} a call, about {cost.fault_share:.0%} of its time")
        if paying:
            keep = "An allocator that keeps what is freed, such as tcmalloc, may save them."
            notes.append(f"New memory: {'; '.join(paying)}. {keep}")
        if self.label == "graph" and any(gain.high < 1 for gain in self.gains.values()):
            notes.append(see("slower-when-compiled"))
        return list(dict.fromkeys([*notes, *(x for found in self.findings for x in found.notes)]))

    def _parts(self):
        gains, objections = self.gains, self.objections
        rows = [[label, gains.get(label, ""), why] for label, why in objections.items()]
        return self.verdict, ["", "against the graph", "why not"], rows, *self.notes
