"""What calls cost, and what one process found out about a model, as plain data."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """What a candidate costs, in seconds, as one process found.

    Attributes:
        call: A call, when all is traced and compiled.
        slow, fast: A call at the ends of the interval of its races against the graph.
        first: What a new trace or program adds to its call, on average.
        examples: The example calls that were made.
        new: Those of them that traced or compiled.
        singletons: Those whose trace or program no other one used; 0 where the examples are not a
            sample of the calls to come.
        faults: Page faults of a call.
        fault_share: The share of its time that they take, by their measured price.
    """

    call: float
    slow: float
    fast: float
    first: float
    examples: int
    new: int
    singletons: int
    faults: float = 0.0
    fault_share: float = 0.0

    @property
    def fixed(self) -> float:
        """Seconds that all calls together pay once, for traces and programs that come again."""
        return self.first * (self.new - self.singletons)

    def per_call(self, end: str = "call") -> float:
        """Seconds that every call pays: its own, and the chance that it traces or compiles.

        A call to come needs a new trace or program as often as an example shared its own with no
        other one (Good, 1953, after Turing). `end` is "call", "slow" or "fast".
        """
        return getattr(self, end) + self.first * self.singletons / self.examples

    def total(self, calls: int, end: str = "call") -> float:
        """Seconds of so many calls, what they pay once included."""
        return self.fixed + calls * self.per_call(end)


@dataclass(frozen=True)
class ProcessResult:
    """What one process found.

    Attributes:
        machine: What it ran on, in one line.
        shapes: Shape in words to the share of the calls that have it, the most frequent first.
        costs: "graph" and each candidate that may be chosen, to its `Cost`.
        objections: Each candidate to why nobody should choose it; "" for no reason.
        inconclusive: Why there is no verdict at all, or "".
        sets: What sets a trace or a program beside the shape, in words, or "".
        notes: What was not tested, and what to mind.
        noise: How many times faster or slower than itself a function seemed.
        evidence: The tables of checks and races, as text.
    """

    machine: str
    shapes: dict[str, float]
    costs: dict[str, Cost]
    objections: dict[str, str]
    inconclusive: str = ""
    sets: str = ""
    notes: tuple[str, ...] = ()
    noise: float = 1.0
    evidence: tuple[str, ...] = ()
