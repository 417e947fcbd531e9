"""The first call of each candidate: what it returned, changed and ran, and whether they agree."""

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import numpy as np

from .. import internals
from ..calls import Call
from ..differences import Difference, Sensitive, as_arrays, differences, largest, leaves
from ..errors import headline
from ..tables import abbreviate, truncate
from ..timing import timed
from ..variables import Snapshot
from .evidence import RANDOM, Evidence, observe
from .logs import compilations_are_logged, watch_compilations
from .operations import operations_in

PERTURBATIONS = 3  # runs with arguments that are moved by their last bit
EXPLAINED = 10  # times what rounding alone moves: a larger difference is an error


@dataclass(frozen=True)
class FirstCall:
    """What a call did, the first time.

    Attributes:
        seconds: Of the call, its trace included.
        result: What it returned, with NumPy arrays in place of tensors.
        variables: Name to value after the call, of each variable that it changed.
        evidence: What ran, as the profiler saw it in a second call.
        repeats: How far the second call differs from the first, from the same state.
        error: What it raised, or None.
        compilations: Programs of XLA that the call compiled; 0 also where the log names none.
        difference: From the first candidate, without what is left out; None where one of the two
            is an error.
        agrees: Whether that is within the tolerance; for an error, whether the first is one too.
        left_out: The arrays that differ by more than the tolerance, and that rounding alone moves.
    """

    seconds: float = 0.0
    result: object = None
    variables: dict[str, np.ndarray] = field(default_factory=dict)
    evidence: Evidence = field(default_factory=Evidence)
    repeats: Difference = field(default_factory=Difference)
    error: Exception | None = None
    compilations: int = 0
    difference: Difference | None = None
    agrees: bool = True
    left_out: tuple[Sensitive, ...] = ()

    @property
    def short(self) -> str:
        """The result, or the error, in at most 64 characters."""
        if self.error is not None:
            return headline(self.error, 64)
        texts = (_text_of(array) for _, array in leaves(self.result))
        return truncate(", ".join(texts) or "None", 64)

    @property
    def is_empty(self) -> bool:
        """Whether there is no error, no result and no changed variable to compare."""
        return not (self.error or self.variables or any(True for _ in leaves(self.result)))


def _text_of(array):
    if array.size > 6:
        return f"{array.dtype}{list(array.shape)}"
    return " ".join(np.array2string(array, precision=4, separator=", ").split())


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
        return any(_have_own_variables(x, self.reference) for x in self.outcomes.values())

    def compared(self) -> "FirstCalls":
        """Compare each outcome with the first, and say why that may be inconclusive.

        Where one differs, the graph, or the first where there is none, is called again with
        arguments that are moved by their last bit. An array that differs by at most `EXPLAINED`
        times what this moves is left out, unless it differs in shape, integers, text or NaN. What
        draws random numbers, or differs from itself, is not called again: nobody could tell.
        """
        found = {
            label: differences_between(outcome, self.reference, self.snapshot)
            for label, outcome in self.outcomes.items()
            if not (outcome.error or self.reference.error)
        }
        moved = self._moved_by_rounding(found) if self._repeats else {}
        outcomes = {}
        for label, outcome in self.outcomes.items():
            outcomes[label] = self._judged(outcome, found.get(label), moved)
        judged = replace(self, outcomes=outcomes)
        places = {array.place for arrays in found.values() for array in arrays}
        why = _why_inconclusive(outcomes, self.tolerance)
        if len(judged.sensitive) > len(places) / 2:
            most = abbreviate(array.place for array in judged.sensitive)
            why = why or f"rounding alone moves most of the results ({most})"
        return replace(judged, inconclusive=why)

    @property
    def _repeats(self):
        """Whether each gives the same again from the same state, as far as is known."""
        alike = all(x.repeats.within(self.tolerance) for x in self.outcomes.values())
        return alike and not random_ops_in(self.outcomes)

    def _judged(self, outcome, found, moved):
        """An outcome with its difference; found: that of each array, None beside an error."""
        if found is None:
            agrees = bool(outcome.error and self.reference.error)
            return replace(outcome, difference=None, agrees=agrees, left_out=())
        left_out = {
            x.place: Sensitive(x.place, x.size, moved[x.place])
            for x in found
            if x.place in moved and self.tolerance < x.size <= EXPLAINED * moved[x.place]
        }
        most = largest(x for x in found if x.place not in left_out)
        agrees, arrays = most.within(self.tolerance), tuple(left_out.values())
        return replace(outcome, difference=most, agrees=agrees, left_out=arrays)

    def _moved_by_rounding(self, found):
        """Place to how far it moves where only the last bits of the arguments do."""
        sizes = [x.size for arrays in found.values() for x in arrays]
        if not any(self.tolerance < size < np.inf for size in sizes):
            return {}
        graphs = (x for x in found if self.calls[x].is_traced and not self.calls[x].is_compiled)
        label = next(graphs, next(iter(self.outcomes)))
        call, outcome = self.calls[label], self.outcomes[label]
        moved: dict[str, float] = {}
        for seed in range(PERTURBATIONS if "tensorflow" in sys.modules else 0):
            try:
                returned = as_arrays(call.perturbed(seed)())
                other = FirstCall(result=returned, variables=self.snapshot.changed())
            except Exception:  # whatever a reader's function raises
                continue
            finally:
                self.snapshot.restore()
            for array in differences_between(other, outcome, self.snapshot):
                if array.size < np.inf:
                    moved[array.place] = max(array.size, moved.get(array.place, 0.0))
        return moved


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
            evidence = replace(evidence, random_ops=_drawn_by(call))
        return replace(first, evidence=evidence, repeats=repeats, compilations=len(compiled))
    except Exception as error:  # whatever a reader's function raises, and results of unknown kinds
        return FirstCall(error=error)
    finally:
        snapshot.restore()


def _drawn_by(call):
    """The types of the random operations in a graph, of which short ones may not be recorded."""
    kinds = {one.type for one in operations_in(call.concrete().graph)}
    return tuple(sorted(filter(RANDOM.fullmatch, kinds)))


def differences_between(
    outcome: FirstCall, reference: FirstCall, snapshot: Snapshot
) -> list[Difference]:
    """The difference of each array of the results, and of the variables that either changed.

    Where both changed variables, and none of them is the same one, these are not compared.
    """
    results = differences(dict(leaves(outcome.result)), dict(leaves(reference.result)))
    if _have_own_variables(outcome, reference):
        return results
    names = {name: f"variables[{name!r}]" for name in (*reference.variables, *outcome.variables)}
    left, right = (
        {place: x.variables.get(name, snapshot.saved(name)) for name, place in names.items()}
        for x in (outcome, reference)
    )
    return results + differences(left, right, "variables")


def _have_own_variables(outcome, reference):
    """Whether both changed variables, and none of them is the same one."""
    both = outcome.variables and reference.variables
    return bool(both) and not outcome.variables.keys() & reference.variables.keys()


def random_ops_in(outcomes: Mapping[str, FirstCall]) -> tuple[str, ...]:
    """The types of the operations that drew random numbers in any of the calls."""
    return tuple(sorted({kind for x in outcomes.values() for kind in x.evidence.random_ops}))


def _why_inconclusive(outcomes, tolerance):
    every = list(outcomes.values())
    if every and all(outcome.error for outcome in every):
        return f"every mode fails: {headline(every[0].error)}"
    if all(outcome.is_empty for outcome in every):
        return "there is no result, and no variable that is known changes"
    different = [label for label, x in outcomes.items() if x.difference and not x.agrees]
    if not different:
        return ""
    changing = {label: x for label, x in outcomes.items() if not x.repeats.within(tolerance)}
    if drawn := random_ops_in(outcomes):
        where = "at each call" if changing else f"in {', '.join(different)}"
        return f"random numbers are drawn ({abbreviate(drawn)}), other ones {where}"
    for label, outcome in changing.items():
        return f"{label} differs from itself when called again ({outcome.repeats})"
    return ""
