"""What one process finds out about a model: equal results, counted programs, a race."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from xla_helpers.calls import KEEP
from xla_helpers.errors import headline
from xla_helpers.first_calls import FirstCalls, first_calls
from xla_helpers.logs import watch_compilations
from xla_helpers.look.checking import Check, check, check_of
from xla_helpers.modes import functions_run_eagerly
from xla_helpers.outcomes import FirstCall
from xla_helpers.timing import effort, timed
from xla_helpers.variables import Snapshot

from .candidates import Candidates
from .counts import CompileCounts
from .eager_witness import ask_eager
from .plan import Plan
from .protocol import DRAWING, END, EXPLAINING, RACING
from .reasons import why_compiling, why_slower
from .stream import Example, draw
from .stream_race import Passes, race_passes

CALLING = 1 / 2  # of the budget: after that, no further example is called; the rest is for the race
COMPARED = 4  # shapes with which results are compared, at most: of the others, calls are timed
EAGER, EAGER_SECONDS = 1 / 2, 2.0  # of the budget, and seconds at least, for the witness
RECORDED_SECONDS = 1.0  # a graph that takes longer may run a million operations: it is not recorded


class Examination:
    """A model under its stream of example calls, as a graph and compiled.

    Attributes:
        candidates: What is raced.
        plan: The options.
        stream: The examples, of which the sample holds those that were called.
        snapshot: Variables, with the values from which each call begins.
        counts: Label to which example calls traced or compiled.
        first: Shape to the first calls with it.
        checks: Shape to `Check`, in which the graph is the reference.
        others_failed: The reader's candidates whose results are no choice, each to why.
        passes: The race; None where there was none.
        eager: What eager mode gave, where it was asked.
        why: Why XLA does not pay, or "".
        was_eager: Whether the file had switched every `tf.function` to eager mode.
        was_built: The kind of model whose weights were made first, or "".
        invalid_inputs: Checks of the inputs that should fail.
    """

    def __init__(
        self, fn: Any, batches: Iterable, plan: Plan, on_stage: Callable = lambda *what: None
    ):
        self.candidates = Candidates(fn, plan.kwargs, plan.candidates, plan.step)
        self.plan, self._on_stage = plan, on_stage
        functions = self.candidates.functions.items()
        self.counts = {label: CompileCounts(fn) for label, fn in functions}
        self.snapshot, self.first = Snapshot(), dict[str, FirstCalls]()
        self._given = dict[str, tuple]()  # shape to the arguments of its first calls, as given
        self.eager: FirstCall | None = None
        self.why, self.was_eager, self.was_built = "", False, ""
        self.invalid_inputs = list[Check]()
        self.checks = dict[str, Check]()
        self.passes: Passes | None = None
        self.others_failed = dict[str, str]()  # candidate to why its results are no choice
        self.stream = draw(batches, self.candidates.args_of, lambda: on_stage(DRAWING))

    # Calling

    def call_all(self) -> None:
        """Call the examples, one of each shape first, until the time for it is over."""
        called, end = list[Example](), None
        for example in self.stream.spread():
            if end and time.monotonic() > end:
                break
            if example.shape in self.first or len(self.first) == COMPARED:
                self._call(example)
            else:
                self._compare(example)
            called.append(example)
            end = end or time.monotonic() + self.plan.budget * effort() * CALLING
        self.snapshot.restore()
        self.stream = self.stream.only(example.number for example in called)

    def _compare(self, example):
        shape, args = example.shape, example.args
        self.candidates.refuse(args)
        self.was_built = self.was_built or self.candidates.build(args)
        calls = {x: call.with_tensors() for x, call in self.candidates.calls(args).items()}
        self.snapshot.restore()
        options = {"snapshot": self.snapshot, "on_stage": self._on_stage}
        options |= {"longest_recorded": RECORDED_SECONDS}
        first = first_calls(calls, self.plan.tolerance, **options)
        if (error := first.outcomes["graph"].error) is not None:
            raise _graph_fails(shape, error) from error
        self.first[shape], self.checks[shape] = first, check_of(first)
        self._given[shape] = args
        self._compare_others(first)
        for label, counts in self.counts.items():
            outcome = first.outcomes[label]
            counts.add(shape, outcome.seconds, outcome.compilations, calls[label])

    def _compare_others(self, first):
        """Note which of the reader's other candidates are no choice."""
        others = [label for label in first.outcomes if label not in ("graph", "XLA")]
        found = first.only(["graph", *others]).compared() if others else first
        for label in others:
            outcome = found.outcomes[label]
            if outcome.error:
                self.others_failed.setdefault(label, f"fails: {headline(outcome.error)}")
            elif not (outcome.agrees or found.inconclusive):
                why = f"differs from the graph, in {outcome.difference}"
                self.others_failed.setdefault(label, why)

    def _call(self, example):
        calls = self.candidates.calls(example.args)
        for label, counts in self.counts.items():
            if not self._returns(label):
                continue
            self._on_stage(label)
            seconds = 0.0
            with watch_compilations() as compiled:
                try:
                    seconds, _ = timed(calls[label])
                except Exception as error:  # whatever a reader's function raises
                    if label == "graph":
                        raise _graph_fails(example.shape, error) from error
                    counts.failure = f"fails with an example call: {headline(error)}"
            counts.add(example.shape, seconds, len(compiled), calls[label])

    # Racing

    @property
    def inconclusive(self) -> str:
        """Why there can be no verdict, or ""."""
        by = next((check.compiled_by for check in self.checks.values() if check.compiled_by), "")
        return f"the graph runs XLA, too, by {by}: give a plain function" if by else ""

    def _returns(self, label):
        """Whether a candidate returned from each example call."""
        return not self.counts[label].failure and not any(
            first.outcomes[label].error for first in self.first.values()
        )

    def race(self) -> None:
        """Race all that returned, whatever is known of their results."""
        labels = [label for label in self.counts if self._returns(label)]
        if self.inconclusive or labels == ["graph"]:
            return
        self._on_stage(RACING)
        every = [self.candidates.calls(example.args) for example in self.stream.sample]
        calls = {label: [mine[label] for mine in every] for label in labels}
        budget = self.plan.budget * (1 - CALLING)
        passes = race_passes(self.stream, calls, self.snapshot, budget)
        typical = self.first[next(shape for shape in self.stream.shapes if shape in self.first)]
        evidence = {label: typical.outcomes[label].evidence for label in labels}
        self.passes = replace(passes, evidence=evidence)

    # What comes last

    def ask_eager(self) -> None:
        """Let eager mode say what it gives with the most frequent shape, or where XLA differs."""
        shapes = [shape for shape, check in self.checks.items() if check.objection]
        shape = next(iter([*shapes, *(x for x in self.stream.shapes if x in self.checks)]))
        self._on_stage("eager", self)
        seconds = max(EAGER_SECONDS, self.plan.budget * effort() * EAGER)
        call = self.candidates.eager_call(self._given[shape]).with_tensors()
        self.eager, first = ask_eager(call, self.snapshot, seconds), self.first[shape]
        if not (self.checks[shape].inconclusive or self.eager.error):
            calls, outcomes = dict(first.calls), dict(first.outcomes)
            calls["eager"], outcomes["eager"] = call, self.eager
            self.first[shape] = replace(first, calls=calls, outcomes=outcomes)
            self.checks[shape] = check_of(self.first[shape])

    def explain(self) -> None:
        """Find the reason why XLA does not pay; "" where it does, or where nobody knows."""
        if self.passes is None or "XLA" not in self.passes.seconds:
            return
        graph, cost = (
            self.counts[label].cost(label, self.stream, self.passes) for label in ("graph", "XLA")
        )
        self.why = why_compiling(cost, graph, self.plan.calls)
        if not self.why and self.passes.ratio("XLA").value < self.plan.min_speedup:
            self._on_stage(EXPLAINING, self)
            shape = next(shape for shape in self.stream.shapes if shape in self.first)
            self.why = why_slower(*self.candidates.new_calls(self._given[shape]))

    def try_invalid_inputs(self) -> None:
        """Check each input that should fail."""
        for number, batch in enumerate(self.plan.invalid_inputs, start=1):
            self._on_stage(f"invalid input {number}", self)
            args = self.candidates.args_of(batch)
            found = check(self.candidates.fn, args, self.plan.kwargs, tolerance=self.plan.tolerance)
            self.invalid_inputs.append(found)


def examine(
    fn: Any, batches: Iterable, plan: Plan, *, on_stage: Callable = lambda *what: None,
    is_first: bool = True
) -> Examination:  # fmt: skip
    """Compare, count and race a model under its example calls.

    Args:
        fn: A model or a function.
        batches: Example calls.
        plan: The options.
        on_stage: Is told what begins, such as "XLA", which may end the process, and the
            `Examination`, once there is a race in it.
        is_first: Whether this process also asks eager mode, explains, and tries invalid inputs.

    Raises:
        TypeError, ValueError: For arguments that make no sense, and where the graph fails.
    """
    import tensorflow as tf

    was_eager = tf.config.functions_run_eagerly()
    with functions_run_eagerly(False):
        examination = Examination(fn, batches, plan, on_stage)
        examination.was_eager = was_eager
        examination.call_all()
        examination.race()
        if is_first:
            examination.ask_eager()
            examination.explain()
            examination.try_invalid_inputs()
    on_stage(END, examination)
    return examination


def compare_alike(fn: Any, batches: Iterable, plan: Plan, drawn: Any, on_stage: Callable) -> dict:
    """Compare a model with itself where both draw the same random numbers.

    Args:
        fn: A model or a function, made after `stand_in`.
        batches: Example calls.
        plan: The options.
        drawn: What `stand_in` returned.
        on_stage: Is told what begins.

    Returns:
        Of XLA "differs" and "not compared", each why, or "".
    """
    with functions_run_eagerly(False):
        examination = Examination(fn, batches, plan, on_stage)
        examination.snapshot.add([drawn])
        examination.call_all()
    checks = examination.checks.values()
    differs = next((check.objection for check in checks if check.objection), "")
    return {
        "differs": differs and f"{differs} (both drew the same random numbers)",
        "not compared": next((check.inconclusive for check in checks if check.inconclusive), ""),
    }


def _graph_fails(shape, error):
    keep = f" {KEEP}" if "variables which have been deleted" in str(error) else ""
    return ValueError(f"the graph fails with {shape}: {headline(error)}{keep}")
