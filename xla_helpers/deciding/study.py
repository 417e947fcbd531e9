"""What one process finds out about a model: equal results, counted programs, races."""

import inspect
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..calls import KEEP, Call
from ..comparing import by_label, race
from ..comparisons import Comparison
from ..errors import headline
from ..instruments.checking import LEFT_OUT, Check, check, check_of
from ..instruments.compilations import Reason, arguments_of, reasons_for
from ..instruments.first_calls import FirstCalls, first_calls
from ..instruments.logs import watch_compilations
from ..instruments.machine import describe_machine
from ..modes import MODES, functions_run_eagerly, modes_of
from ..tables import abbreviate, table
from ..timing import effort, timed
from ..variables import Snapshot
from .costs import Cost, ProcessResult

EXAMPLES = 10_000  # example calls that count, at most
SAMPLE = 10  # fewer example calls than that, with a program for each shape, are all there is
CALLING = 1 / 2  # of the budget: after that, no further example is called
DRAW_SECONDS = 10.0  # after that, no further example is counted
ROUNDS = 8  # of each race, at least
MORE_ROUNDS = 1 / 4  # of the budget, times the share of the calls that have the shape

DRAWING, RACING = "the next example", "the race"  # stages that belong to no candidate

NOTES = {"dropped_checks": "XLA drops the checks", "sensitive": LEFT_OUT}  # of a `Check`
SETTINGS = {
    "value": "the Python value of `{}` (pass tensors)",
    "content": "the content of `{}`",
    "shape": "the shape of `{}`",
}
"""Kinds of a `Reason` to what sets a program."""


class Candidates:
    """The modes of a model, and the reader's other candidates, each ready for a batch."""

    def __init__(self, fn: Any, kwargs, others, step: bool):
        self.fn = fn.train_step if step else fn
        self._step, self._kwargs = step, kwargs
        self._others = by_label(others or {})
        if taken := set(MODES) & self._others.keys():
            taken_names = abbreviate(taken)
            raise ValueError(f"`candidates` has {taken_names}: choose a label that is not taken")
        self._modes = modes_of(Call(self.fn).python)

    @property
    def has_others(self) -> bool:
        """Whether there are more than the modes."""
        return bool(self._others)

    def functions(self) -> dict[str, Callable]:
        """Label to function."""
        return self._modes | self._others

    def args_of(self, batch) -> tuple:
        """The arguments of a batch: a training step takes all that belongs to it as one."""
        return batch if isinstance(batch, tuple) and not self._step else (batch,)

    def calls(self, args) -> dict[str, Call]:
        """Label to call; the modes have the arguments of a `functools.partial`, too."""
        own = Call(self.fn, args, self._kwargs)
        modes = {label: Call(fn, own.args, own.kwargs) for label, fn in self._modes.items()}
        return modes | {x: Call(fn, args, self._kwargs) for x, fn in self._others.items()}

    def check(self, batch, tolerance) -> Check:
        """The `Check` of a call beside the examples."""
        return check(self.fn, self.args_of(batch), self._kwargs, tolerance=tolerance)


class Examination:
    """A model under its example calls, as a graph and compiled.

    Attributes:
        checks: Shape to `Check`.
        races: Shape to `Comparison`.
        shapes: Shape to its share of the calls, the most frequent first.
        inconclusive: Why there can be no verdict, or "".
    """

    def __init__(self, candidates: Candidates, tolerance: float, on_stage: Callable):
        self._candidates, self._tolerance, self._on_stage = candidates, tolerance, on_stage
        functions = candidates.functions().items()
        self._counts = {label: CompileCounts(fn) for label, fn in functions if label != "eager"}
        self._snapshot = Snapshot()
        self._examples = dict[str, tuple]()  # shape to the arguments of its first example
        self._first_calls = dict[str, FirstCalls]()
        self._drawn = ""  # how many examples were drawn until the time was over
        self.checks, self.races = dict[str, Check](), dict[str, Comparison]()
        self.shapes = dict[str, float]()

    def call_all(self, batches: Iterable, seconds: float) -> None:
        """Call the first example of each shape, and others until the seconds are over."""
        if isinstance(batches, (str, Mapping)) or hasattr(batches, "shape"):
            kind = type(batches).__name__
            raise TypeError(f"`batches` must be a list of example calls, not {kind}")
        counts, end = Counter[str](), 0.0
        for args in self._draw(batches):
            shape = _words(args)
            counts[shape] += 1
            if end and time.monotonic() > end + DRAW_SECONDS:
                self._drawn = f"the first {counts.total():,} that were drawn in time"
                break
            if not end or time.monotonic() <= end:
                if shape in self._examples:
                    self._again(shape, args)
                else:
                    self._first(shape, args)
                    self._examples[shape] = args
                end = end or time.monotonic() + seconds
        if not counts:
            raise ValueError("`batches` holds no example call: give at least one")
        self._snapshot.restore()
        self.shapes = {x: count / counts.total() for x, count in counts.most_common()}

    def _draw(self, batches):
        for batch in itertools.islice(batches, EXAMPLES):
            yield self._candidates.args_of(batch)
            self._on_stage(DRAWING)  # a slow pipeline is nobody's fault but its own

    def _first(self, shape, args):
        _refuse_pair(self._candidates.fn, args)
        calls = {x: call.with_tensors() for x, call in self._candidates.calls(args).items()}
        options = {"snapshot": self._snapshot, "on_stage": self._on_stage}
        with functions_run_eagerly(False):
            first = first_calls(calls, self._tolerance, **options)
            self._first_calls[shape], self.checks[shape] = first, check_of(first)
        if first.outcomes["graph"].error is not None:
            raise _graph_fails(shape, first.outcomes["graph"].error)
        for label, counts in self._counts.items():
            outcome = first.outcomes[label]
            counts.add(shape, outcome.seconds, outcome.compilations, calls[label])

    def _again(self, shape, args):
        calls = self._candidates.calls(args)
        for label, counts in self._counts.items():
            if counts.failure or self._first_calls[shape].outcomes[label].error:
                continue
            self._on_stage(label)
            seconds = 0.0
            with watch_compilations() as compiled:
                try:
                    seconds, _ = timed(calls[label])
                except Exception as error:  # whatever a reader's function raises
                    if label == "graph":
                        raise _graph_fails(shape, error) from error
                    counts.failure = f"fails with an example call: {headline(error)}"
            counts.add(shape, seconds, len(compiled), calls[label])

    @property
    def inconclusive(self) -> str:
        """Why there can be no verdict, or ""."""
        by = next((check.compiled_by for check in self.checks.values() if check.compiled_by), "")
        return f"the graph runs XLA, too, by {by}: give a plain function" if by else ""

    @property
    def has_choice(self) -> bool:
        """Whether there is something to race the graph against."""
        refused = any(map(_why_not_xla, self.checks.values()))
        return not self.inconclusive and (self._candidates.has_others or not refused)

    def race_all(self, budget: float) -> None:
        """Race the shapes, the most frequent first, until the seconds are over."""
        self._on_stage(RACING)
        end = time.monotonic() + budget * effort()
        for shape in filter(self._examples.__contains__, self.shapes):
            if self.races and time.monotonic() > end:
                break
            labels = [label for label, counts in self._counts.items() if not counts.failure]
            every = self._candidates.calls(self._examples[shape])
            calls = {label: every[label] for label in labels}
            first = replace(self._first_calls[shape].only(labels), calls=calls)
            more = budget * MORE_ROUNDS * self.shapes[shape]
            self.races[shape] = race(first, rounds=ROUNDS, budget=more)

    @property
    def result(self) -> ProcessResult:
        """All of it as plain data."""
        objections = {label: self._objection(label) for label in self._counts if label != "graph"}
        good = [label for label, why in objections.items() if not why and self.races]
        labels = ["graph", *good] if good else []
        noise = max((found.noise for found in self.races.values()), key=_apart, default=1.0)
        return ProcessResult(
            machine=describe_machine(),
            shapes=self.shapes,
            costs={label: self._cost(label) for label in labels},
            objections=objections,
            inconclusive=self.inconclusive,
            sets=abbreviate(dict.fromkeys(self._settings(good))),
            notes=tuple(self._notes()),
            noise=noise,
            evidence=tuple(self._evidence()),
        )

    def _settings(self, labels):
        """What sets a program beside the shape, in words."""
        for reason in (reason for label in labels for reason in self._counts[label].reasons):
            if reason.kind in SETTINGS:
                yield SETTINGS[reason.kind].format(reason.argument)

    def _objection(self, label):
        """The checks are of XLA; of other candidates the races say whether the results agree."""
        if label == "XLA":
            for found in self.checks.values():
                if why := _why_not_xla(found):
                    return why
        if why := self._counts[label].failure:
            return why
        return next(filter(None, (_why_not_raced(x, label) for x in self.races.values())), "")

    def _cost(self, label):
        counts, call = self._counts[label], self._seconds(label, "value")
        usual = {shape: found[label].median for shape, found in self.races.items()}
        more = [max(0.0, seconds - usual.get(shape, call)) for shape, seconds in counts.new]
        is_sample = counts.examples >= SAMPLE or len(more) > len(self.shapes)
        rows = [found[label] for found in self.races.values()]
        return Cost(
            call=call,
            slow=self._seconds(label, "low"),
            fast=self._seconds(label, "high"),
            first=float(np.mean(more or [0.0])),
            examples=counts.examples,
            new=len(more),
            singletons=counts.singletons if is_sample else 0,
            faults=self._average(row.faults or 0.0 for row in rows),
            fault_share=self._average(row.fault_share for row in rows),
        )

    def _seconds(self, label, end):
        """A call of any shape, by the value or one end of the label's ratio to the graph."""
        ratios = [getattr(found.ratio(label, "graph"), end) for found in self.races.values()]
        graph = [found["graph"].median for found in self.races.values()]
        return self._average(np.divide(graph, ratios))

    def _average(self, values):
        """Over the shapes that were raced, as often as they come."""
        return float(np.average(list(values), weights=[self.shapes[x] for x in self.races]))

    def _notes(self) -> Iterator[str]:
        if self._drawn:
            yield f"The examples come slowly: their shapes are those of {self._drawn}."
        unchecked = [shape for shape in self.shapes if shape not in self.checks]
        unraced = [x for x in self.shapes if x in self.checks and x not in self.races]
        if not self.races:
            unraced = []
        for what, left in (("Neither checked nor raced", unchecked), ("Not raced", unraced)):
            if left:
                share = sum(self.shapes[shape] for shape in left)
                yield f"{what}: {abbreviate(left)}, {share:.0%} of the calls."
        for name, words in NOTES.items():
            told = dict.fromkeys(x for found in self.checks.values() for x in getattr(found, name))
            if told:
                yield f"{words}: {abbreviate(told)}."
        yield from dict.fromkeys(found.see for found in self.checks.values() if found.see)

    def _evidence(self):
        raced = {x: "yes" if x in self.races else "no" for x in self.shapes}
        rows = [[x, f"{share:.0%}", raced[x]] for x, share in self.shapes.items()]
        fixes = [found.fixes for found in self.checks.values() if found.unsupported]
        calls = table("The example calls.", ["shape", "of the calls", "raced"], rows)
        return map(str, (calls, *self.checks.values(), *fixes, *self.races.values()))


def examine(
    candidates: Candidates, batches: Iterable, *, tolerance: float, budget: float,
    on_stage: Callable[[str], None]
) -> Examination:  # fmt: skip
    """Check and race the candidates with each shape of the batches.

    Args:
        candidates: The modes of a model, and others.
        batches: Example calls.
        tolerance: The relative difference of results that is allowed.
        budget: Seconds: half of them for example calls, as many again for races.
        on_stage: Is told what begins, such as "XLA", which may end the process.

    Raises:
        TypeError, ValueError: For arguments that make no sense, and where the graph fails.
    """
    examination = Examination(candidates, tolerance, on_stage)
    examination.call_all(batches, budget * CALLING)
    if examination.has_choice:
        examination.race_all(budget)
    return examination


class CompileCounts:
    """The example calls of one candidate, and which of them share a trace or a program.

    Attributes:
        examples: How many calls there were.
        new: Shape and seconds of each that traced or compiled.
        reasons: What set those of a shape that had been there.
        failure: Why an example call failed, or "".
    """

    def __init__(self, fn):
        self.examples, self.failure = 0, ""
        self.new, self.reasons = list[tuple[str, float]](), list[Reason]()
        self._users, self._numbers, self._given = Counter[int](), dict[str, int](), list[dict]()
        self._fn, self._traces = fn, 0

    def add(self, shape: str, seconds: float, compilations: int, call: Call) -> None:
        """Note a call. Its program is known by its arguments, or by all but their contents."""
        given, traces = arguments_of(call), self._traced()
        alike = repr([(x, facts | {"content": None}) for x, facts in given.items()])
        number = self._numbers.get(repr(given), self._numbers.get(alike, 0))
        if compilations or traces > self._traces:
            number = len(self._given)
            if any(shape == other for other, _ in self.new):
                self.reasons += reasons_for(self._given, given)
            self.new.append((shape, seconds))
            self._given.append(given)
        self._numbers[repr(given)] = self._numbers[alike] = number
        self._users[number] += 1
        self.examples, self._traces = self.examples + 1, traces

    def _traced(self):
        """The traces until now; 0 for anything but a `tf.function`."""
        count = getattr(self._fn, "experimental_get_tracing_count", None)
        return count() if count else 0

    @property
    def singletons(self) -> int:
        """How many calls shared their trace and their program with no other one."""
        return list(self._users.values()).count(1)


def _apart(noise):
    return max(noise, 1 / noise)


def _graph_fails(shape, error):
    keep = f" {KEEP}" if "variables which have been deleted" in str(error) else ""
    return ValueError(f"the graph fails with {shape}: {headline(error)}{keep}")


def _refuse_pair(model, args):
    """Raise ValueError where the labels of a batch would become the model's `training`."""
    if len(args) < 2 or not hasattr(model, "train_step") or not hasattr(args[1], "shape"):
        return
    names = list(inspect.signature(model.call).parameters)
    if names[1:2] in ([], ["training"]):
        raise ValueError(
            f"a batch is a tuple of {len(args)}, perhaps (inputs, labels), and the model takes "
            "inputs alone: give [inputs for inputs, _ in batches], or step=True for a training step"
        )


def _why_not_xla(found):
    """Why nobody should choose XLA, by what a check found; "" when nothing speaks against it."""
    if found.unsupported:
        return f"is refused: {'; '.join(f'{one}: {one.fix}' for one in found.unsupported)}"
    return f"is no choice: {found.said}" if found.inconclusive or found.differing else ""


def _why_not_raced(found, label):
    """Why nobody should choose a candidate, by what a race found; "" when nothing does so."""
    if why := found.inconclusive or found.failures.get(label) or found.failures.get("graph"):
        return f"cannot be judged: {why}"
    evidence = found.evidence.get(label)  # none where it failed before the race
    return "" if evidence and evidence.mode == "XLA" else "was not seen to run a program of XLA"


def _words(args):
    """Arguments by type and shape, such as "float32[16, 10]"; numbers of Python by type alone."""
    import tensorflow as tf

    return ", ".join(map(_word, tf.nest.flatten(args)))


def _word(value):
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{getattr(value.dtype, 'name', value.dtype)}[{', '.join(map(str, value.shape))}]"
    return type(value).__name__ if type(value) in (int, float) else repr(value)
