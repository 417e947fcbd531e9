"""What calls cost, and what one process found out about a model, as plain data."""

import math
from dataclasses import dataclass, field

Z = 1.96  # deviations of a normal distribution, between which 95 % of it lie


@dataclass(frozen=True)
class Cost:
    """What a candidate costs, in seconds, as one process found.

    Attributes:
        call: A call, when all is traced and compiled.
        slow, fast: A call at the ends of the interval of its race against the graph.
        per_new: What each new trace or program adds to its call, on average.
        per_new_slow, per_new_fast: The same at the ends of its interval.
        examples: The example calls on which the three counts below rest.
        new: The traces or programs that all example calls need.
        singletons: Those that a single example needs; 0 where the examples are all that there is.
        faults: Page faults of a call.
    """

    call: float
    slow: float
    fast: float
    per_new: float
    examples: int
    new: int
    singletons: int
    faults: float = 0.0
    per_new_slow: float | None = None
    per_new_fast: float | None = None

    def fixed(self, end: str = "call", *, repeats: bool = False) -> float:
        """Seconds that all calls together pay once, for traces and programs that come again."""
        return self._per_new(end) * (self.new - (0 if repeats else self.singletons))

    def per_call(self, end: str = "call", *, repeats: bool = False) -> float:
        """Seconds that every call pays: its own, and the chance that it traces or compiles.

        A call to come needs a new trace or program as often as an example shared its own with no
        other one (Good, 1953, after Turing); never, where the examples come again and again.

        Args:
            end: "call", or "slow" or "fast" for the ends of the interval, which holds which
                examples were drawn, too (Wilson, 1927).
            repeats: Whether the calls to come are the examples, again and again.
        """
        chance = 0.0 if repeats or not self.singletons else self._chance(end)
        return getattr(self, end) + self._per_new(end) * chance

    def total(self, calls: int, end: str = "call", *, repeats: bool = False) -> float:
        """Seconds of so many calls, what they pay once included."""
        return self.fixed(end, repeats=repeats) + calls * self.per_call(end, repeats=repeats)

    def _per_new(self, end):
        given = {"slow": self.per_new_slow, "fast": self.per_new_fast}.get(end)
        return self.per_new if given is None else given

    def _chance(self, end):
        """The share of calls to come that trace or compile, or an end of its interval."""
        share, z2 = self.singletons / self.examples, Z**2 / self.examples
        if end == "call":
            return share
        half = math.sqrt(z2 * share * (1 - share) + z2**2 / 4)
        return (share + z2 / 2 + (half if end == "slow" else -half)) / (1 + z2)


@dataclass(frozen=True)
class ProcessResult:
    """What one process found.

    Attributes:
        machine: What it ran on, in one line.
        shapes: Shape in words to the share of the calls that have it, the most frequent first.
        costs: "graph" and each candidate that was raced, to its `Cost`.
        objections: Each candidate to why nobody should choose it; "" for no reason.
        not_compared: Each candidate whose results were not compared, to why.
        inconclusive: Why there is no verdict at all, or "".
        sets: What sets a trace or a program beside the shape, in words, or "".
        why: What decides, where XLA does not pay: a layer or compilations; or "".
        warnings: What to look at before anything else.
        notes: What was not tested, and what to mind.
        noise: How many times faster or slower than itself the graph seemed.
        by_shape: Shape to label to seconds of a call of it.
        tables: The tables of checks and of the race, as text.
        is_whole: Whether all examples were drawn.
    """

    machine: str
    shapes: dict[str, float]
    costs: dict[str, Cost]
    objections: dict[str, str]
    not_compared: dict[str, str] = field(default_factory=dict)
    inconclusive: str = ""
    sets: str = ""
    why: str = ""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    noise: float = 1.0
    by_shape: dict[str, dict[str, float]] = field(default_factory=dict)
    tables: tuple[str, ...] = ()
    is_whole: bool = True
