"""What a race between runtimes found: a row for each, with its reason where it did not run."""

import math
from dataclasses import dataclass, replace

from xla_helpers.comparisons import Comparison
from xla_helpers.tables import Table, format_si, pluralize


@dataclass(frozen=True)
class Rival:
    """A model in a runtime.

    Attributes:
        label: The runtime.
        why: Why it was not raced, or "".
        note: Its release, and what it says of itself, such as the type in which it computes.
        export: Seconds to export the model; 0 where nothing was exported for it.
        disk: Bytes on disk; 0 where there is no file.
        load: Seconds to import the runtime and to load the model.
        first: Seconds of the first call.
        memory: Bytes that its process held at most until then.
        call: Seconds of a call, the median of blocks; None where it was not raced.
        speedup: How many times faster than the graph; None where it was not raced.
        low, high: The ends of its interval; None also where the rounds were too few.
        results: How its results compare with the graph's, in words; "" where it was not raced.
    """

    label: str
    why: str = ""
    note: str = ""
    export: float = 0.0
    disk: int = 0
    load: float = 0.0
    first: float = 0.0
    memory: int = 0
    call: float | None = None
    speedup: float | None = None
    low: float | None = None
    high: float | None = None
    results: str = ""

    @classmethod
    def raced(cls, started: "Rival", found: Comparison) -> "Rival":
        """A runtime that started, with what the race found of it."""
        if started.label not in found.measurements:
            return started
        ratio = found.ratio(started.label)
        return replace(
            started,
            call=found[started.label].median,
            speedup=ratio.value,
            low=ratio.low,
            high=ratio.high,
            results=_results_of(started.label, found),
        )


def _results_of(label, found):
    """How the results of a runtime compare with the graph's, in a few words."""
    if label == found.baseline:
        return "the reference"
    if found.inconclusive or label not in found.differences:
        return "not compared"
    difference = found.differences[label]
    verb = "agree" if difference.within(found.tolerance) else "differ"
    return f"{verb}, {difference.size:.1g}" if difference.size else verb


@dataclass(frozen=True, repr=False)
class Rivals(Table):
    """One call of a model in several runtimes, each in a process of its own.

    Attributes:
        rows: The runtimes, the graph first.
        comparison: The race between those that ran, from NumPy arrays to NumPy arrays.
        words: The arguments of the call.
        threads: How many each runtime was given.
    """

    rows: tuple[Rival, ...]
    comparison: Comparison
    words: str
    threads: int

    def __getitem__(self, label: str) -> Rival:
        for row in self.rows:
            if row.label == label:
                return row
        raise KeyError(f"{label!r}: there is {', '.join(row.label for row in self.rows)}")

    @property
    def fastest(self) -> str:
        """The runtime with the shortest call, of those whose results do not differ."""
        able = [row for row in self.rows if row.call and not row.results.startswith("differ")]
        return min(able, key=lambda row: row.call or math.inf).label

    @property
    def not_raced(self) -> dict[str, str]:
        """Label to why it was not raced."""
        return {row.label: row.why for row in self.rows if row.why}

    columns = (
        *("", "a call", "against the graph", "results", "memory", "on disk"),
        "export, load, first call",
    )

    def cells(self) -> list[list[str]]:
        """A row for each runtime that was raced, as `columns` names its cells."""
        found = self.comparison
        return [
            [
                f"{row.label} ({row.note})",
                format_si(row.call, "s"),
                "" if row.label == found.baseline else str(found.ratio(row.label)),
                row.results,
                format_si(row.memory, "B"),
                format_si(row.disk, "B") if row.disk else "",
                ", ".join(format_si(x, "s") for x in (row.export, row.load, row.first) if x),
            ]
            for row in self.rows
            if row.call
        ]

    def _parts(self):
        title = (
            f"{self.words}: a call from NumPy arrays to NumPy arrays, in a process for each "
            f"runtime, {pluralize(self.threads, 'thread')} each."
        )
        notes = [f"{label}: {why}" for label, why in self.not_raced.items()]
        if self.comparison.inconclusive:
            notes.append(f"Results were not compared: {self.comparison.inconclusive}.")
        return title, list(self.columns), self.cells(), *notes
