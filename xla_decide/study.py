"""What one process finds out about a model: equal results, counted programs, a race."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from xla_helpers.look.checking import Check, check, check_of
from xla_helpers.modes import functions_run_eagerly
from xla_helpers.outcomes import FirstCall
from xla_helpers.timing import effort

from .calling import CALLING, Called, Subject, call_examples
from .eager_witness import ask_eager
from .other_work import OtherWork
from .plan import Plan
from .protocol import END, EXPLAINING, RACING
from .reasons import why_compiling, why_slower
from .stream_race import Passes, race_passes

EAGER, EAGER_SECONDS = 1 / 2, 2.0  # of the budget, and seconds at least, for the witness


@dataclass(frozen=True)
class Examination:
    """What is known of a model under its example calls, as a graph and compiled.

    Attributes:
        called: What the example calls did.
        was_eager: Whether the file had switched every `tf.function` to eager mode.
        passes: The race; None where there was none.
        eager: What eager mode gave; None where it was not asked.
        why: Why XLA does not pay, or "".
        invalid_inputs: Checks of the inputs that should fail.
    """

    called: Called
    was_eager: bool = False
    passes: Passes | None = None
    eager: FirstCall | None = None
    why: str = ""
    invalid_inputs: tuple[Check, ...] = ()

    @property
    def checks(self) -> Mapping[str, Check]:
        """Shape to `Check`, in which the graph is the reference."""
        return {shape: one.check for shape, one in self.called.compared.items()}


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
        subject = Subject.of(fn, plan, on_stage)
        called = call_examples(subject, batches)
        found = Examination(called, was_eager, _race(subject, called))
        if is_first:
            found = _with_eager(subject, found)
            found = replace(found, why=_why(subject, found))
            found = _with_invalid_inputs(subject, found)
    on_stage(END, found)
    return found


def _race(subject, called):
    """Race all that returned, whatever is known of their results; None where nothing can be."""
    labels = [label for label in called.counts if called.returned(label)]
    if called.inconclusive or labels == ["graph"]:
        return None
    subject.on_stage(RACING)
    every = [subject.candidates.calls(example.args) for example in called.stream.sample]
    calls = {label: [mine[label] for mine in every] for label in labels}
    budget = subject.plan.budget * (1 - CALLING)
    others = OtherWork()
    passes = race_passes(called.stream, calls, subject.snapshot, budget)
    outcomes = called.compared[called.typical].first_calls.outcomes
    evidence = {label: outcomes[label].evidence for label in labels}
    return replace(passes, evidence=evidence, others=others.share())


def _with_eager(subject, found):
    """Let eager mode say what it gives with the most frequent shape, or where XLA differs."""
    called = found.called
    objected = (shape for shape, check in found.checks.items() if check.objection)
    shape = next(objected, called.typical)
    subject.on_stage("eager", found)
    seconds = max(EAGER_SECONDS, subject.plan.budget * effort() * EAGER)
    one = called.compared[shape]
    call = subject.candidates.eager_call(one.args).with_tensors()
    eager = ask_eager(call, subject.snapshot, seconds)
    if not (one.check.inconclusive or eager.error):
        all_calls = {**one.first_calls.calls, "eager": call}
        outcomes = {**one.first_calls.outcomes, "eager": eager}
        first_calls = replace(one.first_calls, calls=all_calls, outcomes=outcomes)
        one = replace(one, first_calls=first_calls, check=check_of(first_calls))
        called = replace(called, compared={**called.compared, shape: one})
    return replace(found, called=called, eager=eager)


def _why(subject, found):
    """Why XLA does not pay; "" where it does, or where nobody knows."""
    called, passes, plan = found.called, found.passes, subject.plan
    if passes is None or "XLA" not in passes.seconds:
        return ""
    graph, cost = (
        called.counts[label].cost(label, called.stream, passes) for label in ("graph", "XLA")
    )
    why = why_compiling(cost, graph, plan.calls, plan.min_speedup)
    if why or passes.ratio("XLA").value >= plan.min_speedup:
        return why
    subject.on_stage(EXPLAINING, found)
    new_calls = subject.candidates.new_calls(called.compared[called.typical].args)
    return why_slower(*new_calls, cost.call - graph.call)


def _with_invalid_inputs(subject, found):
    """Check each input that should fail."""
    candidates, plan = subject.candidates, subject.plan
    for number, batch in enumerate(plan.invalid_inputs, start=1):
        subject.on_stage(f"invalid input {number}", found)
        args = candidates.args_of(batch)
        one = check(candidates.fn, args, plan.kwargs, tolerance=plan.tolerance)
        found = replace(found, invalid_inputs=(*found.invalid_inputs, one))
    return found


def compare_with_same_numbers(fn: Any, batches: Iterable, plan: Plan, on_stage: Callable) -> dict:
    """Compare a model with itself where both draw the same random numbers.

    Args:
        fn: A model or a function, made after `stand_in`.
        batches: Example calls.
        plan: The options.
        on_stage: Is told what begins.

    Returns:
        Of XLA "differs" and "not compared", each why, or "".
    """
    with functions_run_eagerly(False):
        subject = Subject.of(fn, plan, on_stage)
        called = call_examples(subject, batches)
    checks = [one.check for one in called.compared.values()]
    differs = next((check.objection for check in checks if check.objection), "")
    return {
        "differs": differs and f"{differs} (both drew the same random numbers)",
        "not compared": next((check.inconclusive for check in checks if check.inconclusive), ""),
    }
