"""The example calls: the first of a shape is compared in all modes, the others are timed."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from xla_helpers import internals
from xla_helpers.calls import KEEP
from xla_helpers.equality import judge
from xla_helpers.errors import headline
from xla_helpers.first_calls import FirstCalls, call_each
from xla_helpers.logs import watch_compilations
from xla_helpers.look.checking import Check, check_of
from xla_helpers.timing import effort, timed
from xla_helpers.variables import Snapshot

from .candidates import Candidates
from .counts import CompileCounts
from .plan import Plan
from .protocol import DRAWING
from .stream import Example, Stream, draw

CALLING = 1 / 2  # of the budget: after that, no further example is called; the rest is for the race
COMPARED = 4  # shapes with which results are compared, at most: of the others, calls are timed
RECORDED_SECONDS = 1.0  # a graph that takes longer may run a million operations: it is not recorded


@dataclass(frozen=True)
class Subject:
    """What is studied, and how.

    Attributes:
        candidates: What is called.
        plan: The options.
        on_stage: Is told what begins, such as "XLA", which may end the process, and the
            `Examination`, once there is a race in it.
        snapshot: Variables, with the values from which each call begins.
    """

    candidates: Candidates
    plan: Plan
    on_stage: Callable = lambda *what: None
    snapshot: Snapshot = field(default_factory=Snapshot)

    @classmethod
    def of(cls, fn: Any, plan: Plan, on_stage: Callable) -> "Subject":
        """A model with its options."""
        return cls(Candidates(fn, plan.kwargs, plan.candidates, plan.step), plan, on_stage)


@dataclass(frozen=True)
class Compared:
    """An example call whose results were compared.

    Attributes:
        args: Its arguments, as they were given.
        first_calls: What each candidate did with them.
        check: The modes beside each other, of which the graph is the reference.
    """

    args: tuple
    first_calls: FirstCalls
    check: Check


@dataclass(frozen=True)
class Called:
    """What the example calls did.

    Attributes:
        stream: The examples, of which the sample holds those that were called.
        compared: Shape to the example whose results were compared.
        counts: Label to which example calls traced or compiled.
        others_failed: The reader's candidates whose results are no choice, each to why.
        built: The kind of model whose weights were made first, or "".
    """

    stream: Stream
    compared: Mapping[str, Compared]
    counts: Mapping[str, CompileCounts]
    others_failed: Mapping[str, str]
    built: str = ""

    def returned(self, label: str) -> bool:
        """Whether a candidate returned from each example call."""
        return _returned(label, self.counts, self.compared)

    @property
    def is_compiled_by_keras(self) -> bool:
        """Whether Keras compiles a grouped convolution inside the graph, and nobody else does."""
        compiled = {name for one in self.compared.values() for name in one.check.compiled}
        return compiled == {internals.GROUPED_CONVOLUTION}

    @property
    def inconclusive(self) -> str:
        """Why there can be no verdict, or ""."""
        if self.is_compiled_by_keras:  # it is the graph that the reader has
            return ""
        made_by = (one.check.compiled_by for one in self.compared.values())
        by = next(filter(None, made_by), "")
        return f"the graph runs XLA, too, by {by}: give a plain function" if by else ""

    @property
    def typical(self) -> str:
        """The most frequent shape of those that were compared."""
        return next(shape for shape in self.stream.shapes if shape in self.compared)


def call_examples(subject: Subject, batches: Iterable) -> Called:
    """Call the examples, one of each shape first, until the time for it is over.

    Args:
        subject: What is called.
        batches: Example calls.

    Raises:
        TypeError, ValueError: For arguments that make no sense, and where the graph fails.
    """
    calls = _Calls(subject)
    stream = draw(batches, subject.candidates.args_of, lambda: subject.on_stage(DRAWING))
    numbers, end = list[int](), None
    for example in stream.spread():
        if end and time.monotonic() > end:
            break
        calls.add(example)
        numbers.append(example.number)
        end = end or time.monotonic() + subject.plan.budget * effort() * CALLING
    subject.snapshot.restore()
    found = calls.compared, calls.counts, calls.others_failed, calls.built
    return Called(stream.only(numbers), *found)


class _Calls:
    """Gathers what the calls of one example after another do."""

    def __init__(self, subject):
        self._subject = subject
        functions = subject.candidates.functions.items()
        self.counts = {label: CompileCounts(fn) for label, fn in functions}
        self.compared = dict[str, Compared]()
        self.others_failed = dict[str, str]()
        self.built = ""

    def add(self, example: Example):
        if example.shape in self.compared or len(self.compared) == COMPARED:
            self._call(example)
        else:
            self._compare(example)

    def _compare(self, example):
        subject, (shape, args) = self._subject, (example.shape, example.args)
        subject.candidates.refuse(args)
        self.built = self.built or subject.candidates.build(args)
        calls = {x: call.with_tensors() for x, call in subject.candidates.calls(args).items()}
        subject.snapshot.restore()
        options = {"snapshot": subject.snapshot, "on_stage": subject.on_stage}
        options |= {"longest_recorded": RECORDED_SECONDS}
        found = call_each(calls, subject.plan.tolerance, **options)
        if (error := found.outcomes["graph"].error) is not None:
            raise _graph_fails(shape, error, args) from error
        self.compared[shape] = Compared(args, found, check_of(found))
        self.others_failed = _others_failed(found) | self.others_failed
        for label, counts in self.counts.items():
            outcome = found.outcomes[label]
            counts.add(shape, outcome.seconds, outcome.compilations, calls[label])

    def _call(self, example):
        calls = self._subject.candidates.calls(example.args)
        for label, counts in self.counts.items():
            if not _returned(label, self.counts, self.compared):
                continue
            self._subject.on_stage(label)
            seconds = 0.0
            with watch_compilations() as compiled:
                try:
                    seconds, _ = timed(calls[label])
                except Exception as error:  # whatever a reader's function raises
                    if label == "graph":
                        raise _graph_fails(example.shape, error, example.args) from error
                    counts.failure = f"fails with an example call: {headline(error)}"
            counts.add(example.shape, seconds, len(compiled), calls[label])


def _returned(label, counts, compared):
    errors = (one.first_calls.outcomes[label].error for one in compared.values())
    return not (counts[label].failure or any(errors))


def _others_failed(first_calls):
    """Each of the reader's other candidates that is no choice, to why."""
    others = [label for label in first_calls.outcomes if label not in ("graph", "XLA")]
    found = judge(first_calls.only(["graph", *others])) if others else first_calls
    failed = dict[str, str]()
    for label in others:
        outcome = found.outcomes[label]
        if outcome.error:
            failed[label] = f"fails: {headline(outcome.error)}"
        elif not (outcome.agrees or found.inconclusive):
            failed[label] = f"differs from the graph, in {outcome.difference}"
    return failed


def _graph_fails(shape, error, args):
    hint = f" {KEEP}" if "variables which have been deleted" in str(error) else ""
    if isinstance(error, TypeError) and len(args) == 1 and isinstance(args[0], Mapping):
        hint = " (a dict is one argument; for names give lambda x: model(**x))"
    return ValueError(f"the graph fails with {shape}: {headline(error)}{hint}")
