"""What a decision rests on, as data: each part writes some of it, the verdict and the page read it.

A part is a piece of work with limits of its own, such as the first calls of one mode. What it
writes is a `Findings` with the fields that it knows; `merged` puts one beside the other.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import cattrs

from ..operations import Refusal
from ..schemas import read_file
from ..writing import write_file

LARGEST = 100_000_000  # bytes of a file that is still read
FORMAT = "decision of xla_helpers, 1"  # what a file says that it is

PADDED = "XLA, padded"
"""The label of XLA on arguments that were made larger, so that fewer shapes come."""

INSIDE = "XLA in {path}"
"""The label of a graph of which one layer is compiled."""


@dataclass(frozen=True)
class Shape:
    """What some of the plan's example calls have in common: the shapes of their arguments.

    arguments: such as "float32[16, 10]". examples: how many of the example calls have it. padded:
    the number of the shape that padding makes of it, or None without padding.
    """

    arguments: tuple[str, ...]
    examples: int
    padded: int | None = None


@dataclass(frozen=True)
class Padded:
    """A shape that padding makes of others.

    arguments: as in `Shape`. waste: the share of padding in the arguments that padding changes,
    over the example calls that come to it, from 0 to 1.
    """

    arguments: tuple[str, ...]
    waste: float


@dataclass(frozen=True)
class Plan:
    """What will be called, and how often.

    subject: what it is in a few words, such as "Sequential, 5 layers, 165 numbers in variables".
    shapes: those of the example calls, in the order in which they came first. padded: what
    padding makes of them. pad: how, in words, or "". step: whether it is a training step.
    """

    subject: str
    shapes: tuple[Shape, ...]
    padded: tuple[Padded, ...] = ()
    pad: str = ""
    step: bool = False

    def share(self, shape: int) -> float:
        """The share of the calls that have the shape of this number, from 0 to 1."""
        return self.shapes[shape].examples / sum(one.examples for one in self.shapes)

    def most_frequent(self, numbers: Iterable[int] | None = None) -> tuple[int, ...]:
        """The numbers of the shapes, or those given, the most frequent one first."""
        numbers = range(len(self.shapes)) if numbers is None else numbers
        return tuple(sorted(numbers, key=lambda number: -self.shapes[number].examples))


@dataclass(frozen=True)
class End:
    """How a part ended.

    part: its name, such as "first calls, XLA". how: one of "finished", "failed", "time", "memory",
    "killed" and "left out". said: what it said, in one line. seconds: of wall time. peak: the most
    bytes that its process held, or None where it had no process of its own. limit: the seconds
    that it had.
    """

    part: str
    how: str
    said: str = ""
    seconds: float = 0.0
    peak: int | None = None
    limit: float = 0.0


@dataclass(frozen=True)
class FirstCall:
    """The first call with a shape, in a process that has made those before it.

    shape: its number in the plan; for padded arguments, its number among the padded ones.
    seconds: of all. trace_seconds, compile_seconds: parts of them. traces, compilations: how many
    it caused. memory: bytes of the process after it. error: what it raised, in one line.
    """

    shape: int
    seconds: float
    traces: int = 0
    compilations: int = 0
    trace_seconds: float = 0.0
    compile_seconds: float = 0.0
    memory: int = 0
    error: str = ""


@dataclass(frozen=True)
class FirstCalls:
    """The first calls of a candidate.

    label: the candidate's. memory: bytes of the process before them. calls: one for each shape.
    """

    label: str
    memory: int
    calls: tuple[FirstCall, ...] = ()


@dataclass(frozen=True)
class Row:
    """What one mode made of a checked call.

    short: the result or the error, cut. against: how it stands to the first mode, in words; "" for
    the first mode itself. agrees: whether it came out the same. error: whether it raised.
    relative, absolute: the largest difference; None where numbers cannot say it. place: where.
    """

    mode: str
    short: str
    against: str
    agrees: bool
    error: bool = False
    relative: float | None = None
    absolute: float | None = None
    place: str = ""


@dataclass(frozen=True)
class Checked:
    """One call, checked in each mode.

    of: "plan" for a shape of the plan, "worst" for a hostile input, "gradients" for the gradients
    of a training step, "padding" for XLA after padding against the graph without. number: of the
    shape or of the hostile input. arguments: as in `Shape`. summary: what was found, in sentences.
    rows: one for each mode. agrees, decidable, compared: as in `Check`. names: what was compared,
    such as "result" or the name of a variable. draws: operations that draw random numbers, in
    words. vanished: checks that XLA leaves out. refused: what XLA has no code for. switched_off:
    layers because of which Keras leaves XLA out. not_put_back: what the call changes that lasts.
    """

    of: str
    number: int
    arguments: tuple[str, ...]
    summary: str
    rows: tuple[Row, ...]
    agrees: bool
    decidable: bool
    compared: bool
    names: tuple[str, ...] = ()
    draws: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()
    refused: tuple[Refusal, ...] = ()
    switched_off: tuple[Refusal, ...] = ()
    not_put_back: tuple[str, ...] = ()

    def __getitem__(self, mode: str) -> Row:
        return next(row for row in self.rows if row.mode == mode)


@dataclass(frozen=True)
class Inside:
    """The largest part of the model that XLA compiles, where it refuses the whole.

    path, kind: of the layer. share: of the time of a call of the graph, from 0 to 1.
    """

    path: str
    kind: str
    share: float


@dataclass(frozen=True)
class LayerTime:
    """Seconds per call in a layer.

    mode: of the call. layer: its path, or "not in a layer". kind: its class. seconds: per call.
    """

    mode: str
    layer: str
    kind: str
    seconds: float


@dataclass(frozen=True)
class Work:
    """What one call does.

    mode: which program. shape: its number in the plan. seconds: median of a call. kernels: how
    many run. bytes: that they read and write. flops: floating-point operations of products of
    matrices and convolutions. Each is None where it is not known. least: whether there may be more
    of these operations, in a loop or a condition.
    """

    mode: str
    shape: int
    seconds: float
    kernels: int | None
    bytes: int | None = None
    flops: int | None = None
    least: bool = False


@dataclass(frozen=True)
class Peaks:
    """What this machine reached.

    flops_per_second: in a product of two matrices of float32. bytes_per_second: in a copy of a
    large array, read and written.
    """

    flops_per_second: float
    bytes_per_second: float


@dataclass(frozen=True)
class ProgramMemory:
    """What XLA's plan of a program holds, in bytes.

    label, shape: as in `FirstCalls`. arguments: what is given to it, variables included. results:
    what it gives back. temporaries: what it needs in between.
    """

    label: str
    shape: int
    arguments: int
    results: int
    temporaries: int


@dataclass(frozen=True)
class Raced:
    """The races over one shape.

    shape: its number. file: the name of the result file, "" where nothing was timed. failures:
    label to the reason why a candidate was not timed.
    """

    shape: int
    file: str
    failures: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Findings:
    """All that is known so far.

    name: what was decided for, such as "my_model:make". command: how to do it again. code: the
    same in Python. day: as 2026-11-22. calls: how many calls the plan has. tolerance: the relative
    difference that was allowed. floor: how many times faster XLA must be to be worth it. budget:
    seconds for all parts. isolated: whether each part had a process of its own. machine: name to
    text. load: what other work there was before and after, in busy cores; None where unknown.
    plan: what is called. ends: how each part ended, in order. first, checks, inside, layers, works,
    peaks, memory, raced: what the parts found. left_out: what was not tested, in sentences.
    unfinished: whether parts were still to come when it was written.
    """

    name: str = ""
    command: str = ""
    code: str = ""
    day: str = ""
    calls: int = 0
    tolerance: float = 0.0
    floor: float = 1.0
    budget: float = 0.0
    isolated: bool = False
    machine: dict[str, str] = field(default_factory=dict)
    load: tuple[float | None, ...] = ()
    plan: Plan | None = None
    ends: tuple[End, ...] = ()
    first: tuple[FirstCalls, ...] = ()
    checks: tuple[Checked, ...] = ()
    inside: Inside | None = None
    layers: tuple[LayerTime, ...] = ()
    works: tuple[Work, ...] = ()
    peaks: Peaks | None = None
    memory: tuple[ProgramMemory, ...] = ()
    raced: tuple[Raced, ...] = ()
    left_out: tuple[str, ...] = ()
    unfinished: bool = False

    def first_of(self, label: str) -> FirstCalls | None:
        """The first calls of the candidate with this label; None where they are not known."""
        return next((one for one in self.first if one.label == label), None)

    def checks_of(self, of: str) -> tuple[Checked, ...]:
        """The checks of one kind."""
        return tuple(one for one in self.checks if one.of == of)

    def end_of(self, part: str) -> End | None:
        """How a part ended; None where it was not begun."""
        return next((one for one in self.ends if one.part == part), None)


def merged(findings: Findings, more: Findings) -> Findings:
    """What is known with `more`: its lists go on, and all else that it knows takes its place.

    First calls of a label take the place of those before.
    """
    labels = {one.label for one in more.first}
    kept = tuple(one for one in findings.first if one.label not in labels)
    findings, empty, changes = replace(findings, first=kept), Findings(), {}
    for one in fields(Findings):
        before, new = getattr(findings, one.name), getattr(more, one.name)
        if new != getattr(empty, one.name):
            goes_on = isinstance(new, tuple) and one.name != "load"
            changes[one.name] = (*before, *new) if goes_on else new
    return replace(findings, **changes)


def write(findings: Findings, path: Path) -> None:
    """Write it as JSON, complete or not at all."""
    write_file(path, _text(findings))


def read(path: Path) -> Findings:
    """Read what `write` wrote.

    Raises: OSError when there is no such file, ValueError when it holds something else: another
    format, fields that are missing or unknown, or values of other types.
    """
    data = read_file(path, LARGEST)
    try:
        content = json.loads(data)
        findings = cattrs.structure(content, Findings)
        same = content == json.loads(_text(findings))
    except Exception as error:  # cattrs has many, and a group for several of them
        raise ValueError(f"{path} holds no findings: {error}") from error
    if not same:
        raise ValueError(f"{path} holds no findings: it is not what a decision writes")
    return findings


def _text(findings):
    return json.dumps({"format": FORMAT, **cattrs.unstructure(findings)}, indent=1) + "\n"


def label_of_part(findings: Findings) -> str:
    """The label of the graph of which one layer is compiled; "" without one.

    A long path loses its beginning, because a result file takes labels of 40 characters.
    """
    if findings.inside is None:
        return ""
    path, room = findings.inside.path, 40 - len(INSIDE.format(path=""))
    return INSIDE.format(path=path if len(path) <= room else f"…{path[1 - room :]}")
