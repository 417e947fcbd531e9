"""What was decided about a model: the sums, and what follows from them."""

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace

from xla_helpers.look.checking import Check
from xla_helpers.ratios import Ratio, median_ratio
from xla_helpers.tables import Table

from . import words
from .costs import ProcessResult
from .stream_race import Passes

NOT_COMPARED = ", results not compared"


@dataclass(frozen=True, repr=False)
class Decision(Table):
    """What was found, and what to use.

    Attributes:
        findings: Of each process.
        calls: How many there will be.
        min_speedup: How many times faster than the graph all of them together must be, first calls
            included, to be worth it.
        repeats: True where the calls to come are the examples, again and again; False where new
            shapes keep coming as often as one stood alone among the examples; None where nobody
            said, and both are worked out.
        checks: Shape to `Check`; like the two below, only where it was decided in memory.
        invalid_inputs: The checks of inputs that should fail.
        passes: The race.
    """

    findings: tuple[ProcessResult, ...]
    calls: int
    min_speedup: float
    repeats: bool | None = None
    checks: Mapping[str, Check] | None = None
    invalid_inputs: tuple[Check, ...] = ()
    passes: Passes | None = None

    @property
    def inconclusive(self) -> str:
        """Why there is no verdict at all, or ""."""
        return next((found.inconclusive for found in self.findings if found.inconclusive), "")

    @property
    def objections(self) -> dict[str, str]:
        """XLA, and each other candidate, to why nobody should choose it; "" for no reason.

        What some processes found and others did not is said with their number.
        """
        merged: dict[str, str] = {}
        for label in dict.fromkeys(x for found in self.findings for x in found.objections):
            whys = [found.objections.get(label, "") for found in self.findings]
            why = next(filter(None, whys), "")
            some = f" (in {sum(map(bool, whys))} of {len(whys)} processes)"
            merged[label] = why + (some if why and not all(whys) else "")
        return merged

    @property
    def not_compared(self) -> dict[str, str]:
        """Each candidate whose results were not compared, to why."""
        merged: dict[str, str] = {}
        for found in self.findings:
            merged = found.not_compared | merged
        return merged

    @property
    def has_new_shapes(self) -> bool:
        """Whether it counts if new shapes keep coming: some example stood alone."""
        return any(cost.singletons for found in self.findings for cost in found.costs.values())

    @property
    def has_two_sums(self) -> bool:
        """Whether that counts, and nobody said whether they do."""
        return self.repeats is None and self.has_new_shapes

    @property
    def gains(self) -> dict[str, Ratio]:
        """Candidate to how many times faster than the graph all calls are, first calls included.

        Those that nobody should choose are left out. The interval is that of the median of all
        processes, of six the lowest and the highest gain (`median_ratio`); of one process, that of
        its race. Where nobody said whether the examples repeat, they do; `replace` the `repeats`
        of a decision for the other sum.
        """
        good = [] if self.inconclusive else [x for x, why in self.objections.items() if not why]
        return {label: self.gain(label) for label in good if self.is_raced(label)}

    def is_raced(self, label: str) -> bool:
        """Whether each process raced this candidate and the graph."""
        return all({"graph", label} <= found.costs.keys() for found in self.findings)

    def gains_of(self, label: str, end: str = "call") -> list[float]:
        """The gain of a candidate in each process."""
        costs = [(found.costs["graph"], found.costs[label]) for found in self.findings]
        return [self._sum(graph) / self._sum(mine, end) for graph, mine in costs]

    def _sum(self, cost, end="call"):
        return cost.total(self.calls, end, repeats=self.repeats is not False)

    def gain(self, label: str) -> Ratio:
        """The gain of a candidate that was raced, whatever else speaks against it."""
        gains, [first, *others] = self.gains_of(label), self.findings
        if others:
            return median_ratio(gains)
        low, high = (self.gains_of(label, end)[0] for end in ("slow", "fast"))
        return Ratio(gains[0], low, high, noise=first.noise)

    @property
    def choice(self) -> str:
        """What to use: "graph" or a candidate; "" where it is open.

        A candidate wins when the low end of its gain reaches `min_speedup`. Of several that may
        gain as much, it is the one that was given first, which should be the simplest. It is open
        where only the middle of a gain is high enough, and where it depends on whether new shapes
        keep coming.
        """
        if self.has_two_sums:
            both = {replace(self, repeats=repeats).choice for repeats in (True, False)}
            return both.pop() if len(both) == 1 else ""
        gains = self.gains
        winners = {label: gain for label, gain in gains.items() if gain.low >= self.min_speedup}
        if winners:
            best = max(winners.values(), key=lambda gain: gain.value)
            return next(label for label, gain in winners.items() if gain.high >= best.low)
        may_win = any(gain.value >= self.min_speedup for gain in gains.values())
        return "" if self.inconclusive or may_win else "graph"

    @property
    def label(self) -> str:
        """The choice, with "results not compared" where they were not."""
        return self.choice + (NOT_COMPARED if self.choice in self.not_compared else "")

    @property
    def subject(self) -> str:
        """The candidate to speak of: the choice, else the fastest, else XLA."""
        gains = self.gains
        fastest = max(gains, key=lambda x: gains[x].value, default="XLA")
        return self.choice if self.choice in gains else fastest

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
        plan = replace(self, calls=calls)
        return statistics.median(plan._sum(found.costs[label]) for found in self.findings)

    def break_even_calls(self, label: str) -> float:
        """The calls after which `label` has repaid its first calls; infinity for never."""
        if not self.is_raced(label):
            return math.inf
        costs, repeats = [], self.repeats is not False
        for found in self.findings:
            mine, graph = found.costs[label], found.costs["graph"]
            more = mine.fixed(repeats=repeats) - graph.fixed(repeats=repeats)
            saved = graph.per_call(repeats=repeats) - mine.per_call(repeats=repeats)
            costs.append((more, saved))
        more, saved = (statistics.median(parts) for parts in zip(*costs, strict=True))
        return max(0.0, more / saved) if saved > 0 else math.inf

    @property
    def verdict(self) -> str:
        """One line to paste: what to use, how much faster it is, over how many calls, and where."""
        return words.verdict_of(self)

    @property
    def warnings(self) -> list[str]:
        """What to look at before anything else."""
        return list(dict.fromkeys(x for found in self.findings for x in found.warnings))

    @property
    def notes(self) -> list[str]:
        """What was assumed and not tested, and what to mind, in short sentences."""
        return words.notes_on(self)

    def _parts(self):
        columns = ["", "against the graph", "why not, or not compared"]
        rows = words.rows_of(self)
        return self.verdict, columns, rows, *self.warnings, *self.notes
