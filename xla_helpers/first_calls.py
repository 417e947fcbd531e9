"""The first calls of several candidates: made in turn, and compared with the first of them."""

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np

from . import internals
from .arguments import perturb
from .calls import Call
from .differences import Difference, Sensitive, as_arrays, largest
from .evidence import Evidence, draws_in, nodes_in, observe
from .logs import compilations_are_logged, watch_compilations
from .modes import functions_run_eagerly
from .outcomes import (
    FirstCall,
    differences_between,
    have_own_variables,
    judged,
    random_ops_in,
    why_inconclusive,
)
from .tables import abbreviate
from .timing import timed
from .variables import Snapshot

PERTURBATIONS = 3  # runs with arguments that are moved by their last bit


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

    def compared(self) -> "FirstCalls":
        """Compare each outcome with the first, and say why that may be inconclusive.

        Where one differs, the graph, or the first where there is none, is called again with
        arguments that are moved by their last bit. An array that differs by at most `EXPLAINED`
        times what this moves is left out, unless it differs in shape, type, integers, text or NaN,
        or is so small that it is equal. A variable whose change is within the rounding of its
        values is left out, too. What draws random numbers, or differs from itself, is not called
        again: nobody could tell.
        """
        found = {
            label: differences_between(outcome, self.reference, self.snapshot)
            for label, outcome in self.outcomes.items()
            if not (outcome.error or self.reference.error)
        }
        sizes = [array.size for arrays in found.values() for array in arrays]
        differs = any(self.tolerance < size < math.inf for size in sizes)
        moved = self._moved_by_rounding(found) if differs and self._repeats else {}
        erratic, outcomes = self._erratic if found else {}, dict[str, FirstCall]()
        for label, outcome in self.outcomes.items():
            outcomes[label] = judged(self, outcome, found.get(label), moved)
            if label in erratic:
                outcomes[label] = replace(outcome, difference=erratic[label], agrees=False)
        first = replace(self, outcomes=outcomes)
        why = why_inconclusive(first, found, lambda labels: first._why_different(labels, erratic))
        return replace(first, inconclusive=why)

    @property
    def _repeats(self):
        """Whether each gives the same again from the same state, as far as is known."""
        alike = all(x.repeats.within(self.tolerance) for x in self.outcomes.values())
        return alike and not random_ops_in(self.outcomes)

    def _moved_by_rounding(self, found):
        """Place to how far it moves where only the last bits of the arguments do.

        Where no argument has floating numbers, as words have none, those of the variables do.
        """
        graphs = (x for x in found if self.calls[x].is_traced and not self.calls[x].is_compiled)
        label = next(graphs, next(iter(self.outcomes)))
        call, outcome = self.calls[label], self.outcomes[label]
        moved: dict[str, float] = {}
        for seed in range(PERTURBATIONS if "tensorflow" in sys.modules else 0):
            try:
                if not call.takes_floating:
                    draws = np.random.default_rng(seed)
                    self.snapshot.perturb(lambda value, draws=draws: perturb(value, draws))
                returned = as_arrays(call.perturbed(seed)())
                other = FirstCall(result=returned, variables=self.snapshot.changed())
            except Exception:  # whatever a reader's function raises
                continue
            finally:
                self.snapshot.restore()
            for array in differences_between(other, outcome, self.snapshot):
                moved[array.place] = max(array.absolute, moved.get(array.place, 0.0))
        return moved

    @property
    def _erratic(self):
        """Label to how it differs from itself, where XLA does, and all else repeats to the bit.

        Where random numbers are drawn, nobody can tell.
        """
        compiled = {x: y.repeats for x, y in self.outcomes.items() if self.calls[x].is_compiled}
        others = [outcome for label, outcome in self.outcomes.items() if label not in compiled]
        if not others or random_ops_in(self.outcomes) or any(x.repeats.size for x in others):
            return {}
        words = "other numbers at each call, and no other mode does so"
        return {
            label: Difference(math.inf, repeats.place, f"{words} ({repeats.detail})")
            for label, repeats in compiled.items()
            if not repeats.within(self.tolerance)
        }

    def _why_different(self, labels, erratic):
        """Why none of these can be blamed for what differs, or "": draws, or Python that counts."""
        changing = {
            label: outcome.repeats
            for label, outcome in self.outcomes.items()
            if label not in erratic and not outcome.repeats.within(self.tolerance)
        }
        if drawn := random_ops_in(self.outcomes):
            where = "at each call" if changing else f"in {', '.join(labels)}"
            return f"random numbers are drawn ({abbreviate(drawn)}), other ones {where}"
        call = next((call for call in self.calls.values() if call.is_traced), None)
        if not erratic and call and _traces_differ(call):
            return "its Python counts, or draws numbers: each trace holds other constants"
        for label, repeats in changing.items():
            return f"{label} differs from itself when called again ({repeats})"
        return ""


def first_calls(
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
    if internals.is_layer(model) and not model.built:
        kind = type(model).__name__
        raise ValueError(f"{kind} is not built yet: call it once first, so that it has its weights")


def _call_twice(call, traced, snapshot, longest_recorded):
    """traced: seconds of the trace, or the error that it raised."""
    if isinstance(traced, Exception):
        return FirstCall(error=traced)
    try:
        watched = watch_compilations() if compilations_are_logged() else nullcontext([])
        with call.arguments_restored(), watched as compiled:
            seconds, returned = timed(call)
        first = FirstCall(traced + seconds, as_arrays(returned), snapshot.changed())
        snapshot.restore()
        is_long = seconds > longest_recorded and call.is_traced and not call.is_compiled
        with nullcontext([Evidence()]) if is_long else observe() as seen:
            returned = as_arrays(call())
        again = FirstCall(result=returned, variables=snapshot.changed())
        repeats = largest(differences_between(again, first, snapshot))
        evidence = seen[0]
        if repeats.size and call.is_traced and not evidence.random_ops:
            evidence = replace(evidence, random_ops=draws_in(call.concrete().graph))
        return replace(first, evidence=evidence, repeats=repeats, compilations=len(compiled))
    except Exception as error:  # whatever a reader's function raises, and results of unknown kinds
        return FirstCall(error=error)
    finally:
        snapshot.restore()


def _traces_differ(call):
    """Whether two new traces hold other constants: the Python counts its calls, or draws numbers.

    False also where one fails.
    """
    try:
        with functions_run_eagerly(False):
            return _constants_of(call) != _constants_of(call)
    except Exception:  # whatever a reader's function raises
        return False


def _constants_of(call):
    """The constants of a new trace, in their order."""
    import tensorflow as tf

    graph = tf.function(call.python).get_concrete_function(*call.args, **call.kwargs).graph
    constants = (node for node in nodes_in(graph) if node.op == "Const")
    return [node.attr["value"].tensor.SerializeToString() for node in constants]
