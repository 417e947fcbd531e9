"""The first calls of several candidates, made in turn from the same state."""

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from . import internals
from .calls import Call
from .differences import Sensitive, as_arrays, largest
from .evidence import Evidence, draws_in, observe
from .logs import compilations_are_logged, watch_compilations
from .outcomes import FirstCall, differences_between, have_own_variables
from .timing import timed
from .variables import Snapshot


@dataclass(frozen=True)
class FirstCalls:
    """The first calls of several candidates, all from the same values of their variables.

    Attributes:
        calls: Label to call.
        outcomes: Label to what that call did.
        snapshot: The variables, with the values from which each call begins.
        tolerance: The relative difference that is allowed.
        inconclusive: Why nothing can be said of the differences, or "".
    """

    calls: Mapping[str, Call]
    outcomes: Mapping[str, FirstCall]
    snapshot: Snapshot
    tolerance: float
    inconclusive: str = ""

    def only(self, labels: Iterable[str]) -> "FirstCalls":
        """The first calls of these candidates alone."""
        labels = list(labels)
        outcomes = {label: self.outcomes[label] for label in labels}
        return replace(self, calls={x: self.calls[x] for x in labels}, outcomes=outcomes)

    @property
    def reference(self) -> FirstCall:
        """The outcome that the others are compared with: the first one."""
        return next(iter(self.outcomes.values()), FirstCall())

    @property
    def sensitive(self) -> tuple[Sensitive, ...]:
        """The arrays that are left out of any comparison, each with its largest difference."""
        left_out = [array for outcome in self.outcomes.values() for array in outcome.left_out]
        by_place = {x.place: x for x in sorted(left_out, key=lambda array: array.difference)}
        return tuple(by_place[place] for place in sorted(by_place))

    @property
    def own_variables(self) -> bool:
        """Whether candidates change variables of their own, which are not compared."""
        return any(have_own_variables(x, self.reference) for x in self.outcomes.values())


def call_each(
    calls: Mapping[str, Call], tolerance: float, *, snapshot: Snapshot | None = None,
    on_stage: Callable[[str], None] = lambda label: None, longest_recorded: float = math.inf
) -> FirstCalls:  # fmt: skip
    """Trace all calls, then make each alone, and again for what it runs; an error is an outcome.

    All are traced before any is called, because a trace may make variables that others use; what is
    compiled comes first, because an inner `tf.function` keeps its first trace, and XLA may refuse
    that of a graph. Plain Python is not traced.

    Args:
        calls: Label to call.
        tolerance: The relative difference that will be allowed.
        snapshot: Variables that are known already.
        on_stage: Is told the label of each before it is traced or called.
        longest_recorded: Seconds of a call of a graph; for one that takes longer, nobody knows what
            ran.

    Raises:
        ValueError: For a Keras model or layer that is not built.
    """
    for call in calls.values():
        _refuse_unbuilt(call)
    snapshot = snapshot or Snapshot()
    traces: dict[str, float | Exception] = {}
    failed: dict[tuple, Exception] = {}  # of a trace of each Python: the first may spoil the next
    for label in sorted(calls, key=lambda x: (not calls[x].is_compiled, not calls[x].is_traced)):
        call = calls[label]
        on_stage(label)
        try:
            traces[label], variables = call.trace()
            snapshot.add(variables)
        except Exception as error:  # whatever a reader's function raises
            traces[label] = failed.setdefault(call.identity, error)
    outcomes = {}
    for label, call in calls.items():
        on_stage(label)
        outcomes[label] = _call_twice(call, traces[label], snapshot, longest_recorded)
    return FirstCalls(calls, outcomes, snapshot, tolerance)


def _refuse_unbuilt(call):
    """Raise ValueError for a model without variables yet, which each candidate would make anew."""
    model = getattr(call.python, "__self__", call.python)
    if kind := unbuilt_in(model) if internals.is_layer(model) else "":
        raise ValueError(f"{kind} is not built yet: call it once first, so that it has its weights")


def unbuilt_in(layer: Any) -> str:
    """The kind of a Keras layer that has no weights yet, or of one that it holds; "" for none.

    A model without a `call` is never built itself: what it holds is what counts.
    """
    if layer.built:
        return ""
    if internals.has_own_call(layer):
        return type(layer).__name__
    parts = internals.layers_in(layer, recursive=False)
    return next(filter(None, map(unbuilt_in, parts)), "")


def _call_twice(call, traced, snapshot, longest_recorded):
    """traced: seconds of the trace, or the error that it raised."""
    if isinstance(traced, Exception):
        return FirstCall(error=traced)
    try:
        if call.is_compiled:
            call.refuse_text()
        watched = watch_compilations() if compilations_are_logged() else nullcontext([])
        with call.arguments_restored(), watched as compiled:
            seconds, returned = timed(call)
        first = FirstCall(traced + seconds, as_arrays(returned), snapshot.changed())
        snapshot.restore()
        is_long = seconds > longest_recorded and call.is_traced and not call.is_compiled
        with nullcontext([Evidence()]) if is_long else observe() as seen:
            returned = as_arrays(call())
        again = FirstCall(result=returned, variables=snapshot.changed())
        from_itself = largest(differences_between(again, first, snapshot))
        # A record can miss draws: it drops short operations among many, and may not be there.
        drawn = draws_in(call.concrete().graph) if call.is_traced or call.is_concrete else ()
        random_ops = tuple(sorted({*seen[0].random_ops, *drawn}))
        evidence = replace(seen[0], random_ops=random_ops)
        return replace(
            first, evidence=evidence, from_itself=from_itself, compilations=len(compiled)
        )
    except Exception as error:  # whatever a reader's function raises, and results of unknown kinds
        return FirstCall(error=error)
    finally:
        snapshot.restore()
