"""A decision as JSON, for a CI job and for next year; docs/decision.schema.json describes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import msgspec

from .costs import ProcessResult
from .decision import Decision
from .gpu.target_programs import TargetProgram
from .rivals.table import Rival, Rivals


@dataclass(frozen=True)
class Gain:
    """How many times faster than the graph all calls are, first calls included.

    Attributes:
        value: The median of all processes; in one process, what it found.
        low, high: The lowest and the highest process of six; in one process, its interval. None
            where the rounds were too few.
    """

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class CompiledFor:
    """What XLA would start on a GPU for the first example call: compiled for it, and not run.

    Attributes:
        gpu: Its name.
        launches: The fewest and the most launches of a call, by what the card chooses.
        starts: The fewest and the most times that something is started: what is recorded is
            started at once.
        at_least: Seconds that the launches take at least which were counted; 0 for no bound.
        uncounted: How many launches were not counted.
        memory: The least and the most bytes that it needs, by the same.
        of_memory: The bytes that the card has.
        compiler: The compiler, with its version.
    """

    gpu: str
    launches: tuple[int, int]
    starts: tuple[int, int]
    at_least: float
    uncounted: int
    memory: tuple[int, int]
    of_memory: int
    compiler: str


@dataclass(frozen=True)
class DecisionFile:
    """What was decided about a model, on a day, and why.

    Attributes:
        model: File and function.
        day: As 2026-11-27.
        choice: "graph" or a candidate; "" where it is open.
        answer: The choice in a sentence.
        verdict: All of it in a line: the choice, how much faster, over how many calls, and where.
        inconclusive: Why there is no verdict at all, or "".
        calls: How many there will be.
        min_speedup: How many times faster than the graph XLA must be.
        repeats: Whether the examples come again and again; None where nobody said.
        gains: Candidate to its gain.
        objections: Candidate to why nobody should choose it; "" for no reason.
        not_compared: Each candidate whose results were not compared, to why.
        warnings: What to look at before anything else.
        notes: What was not tested, and what to mind.
        processes: What each process found; times in seconds.
        compiled_for: For GPUs that are not there.
        not_compiled: Why nothing was compiled for a GPU, or "".
        rivals: The same model in other runtimes, if that was asked.
        no_rivals: Why nothing was raced in them, or "".
    """

    model: str
    day: str
    choice: str
    answer: str
    verdict: str
    inconclusive: str
    calls: int
    min_speedup: float
    repeats: bool | None
    gains: dict[str, Gain]
    objections: dict[str, str]
    not_compared: dict[str, str]
    warnings: list[str]
    notes: list[str]
    processes: tuple[ProcessResult, ...]
    compiled_for: tuple[CompiledFor, ...] = ()
    not_compiled: str = ""
    rivals: tuple[Rival, ...] = ()
    no_rivals: str = ""


def in_json(
    decision: Decision,
    model: str,
    answer: str,
    programs: Sequence[TargetProgram] = (),
    why="",
    *,
    rivals: Rivals | None = None,
    no_rivals: str = "",
) -> bytes:
    """The decision as JSON. An end of an interval that is infinite is null.

    Args:
        decision: What was decided.
        model: File and function.
        answer: The choice in a sentence.
        programs: What was compiled for GPUs.
        why: Why nothing was, or "".
        rivals: The same model in other runtimes, if that was asked.
        no_rivals: Why nothing was raced in them, or "".
    """
    gains = {label: Gain(gain.value, gain.low, gain.high) for label, gain in decision.gains.items()}
    compiled = tuple(
        CompiledFor(
            gpu=program.target.name,
            launches=program.launch_range,
            starts=program.start_range,
            at_least=program.least.seconds,
            uncounted=program.least.uncounted,
            memory=program.memory_range,
            of_memory=program.target.memory,
            compiler=program.compiler,
        )
        for program in programs
    )
    found = DecisionFile(
        model=model,
        day=date.today().isoformat(),
        choice=decision.choice,
        answer=answer,
        verdict=decision.verdict,
        inconclusive=decision.inconclusive,
        calls=decision.calls,
        min_speedup=decision.min_speedup,
        repeats=decision.repeats,
        gains=gains,
        objections=decision.objections,
        not_compared=decision.not_compared,
        warnings=decision.warnings,
        notes=decision.notes,
        processes=decision.findings,
        compiled_for=compiled,
        not_compiled=why,
        rivals=rivals.rows if rivals else (),
        no_rivals=no_rivals,
    )
    return msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n"


def schema() -> bytes:
    """The JSON schema of the file."""
    made = msgspec.json.encode(msgspec.json.schema(DecisionFile))
    return msgspec.json.format(made, indent=1) + b"\n"
