"""The first call of each candidate: what it returned, changed and ran, and how far they differ."""

import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import numpy as np

from .calls import Call, State
from .differences import Difference, as_arrays, differences, largest, leaves
from .errors import headline
from .profiles import Evidence, observe
from .startup import compilations_are_logged, watch_compilations
from .tables import cut, first_of
from .timing import timed

ROUNDINGS = 3  # runs with arguments that are moved by their last bit
MOVED = 0.1  # of the tolerance: an array that rounding moves further is not compared


@dataclass(frozen=True)
class Outcome:
    """What a call did, the first time.

    Attributes:
        seconds: Of the call, its trace included.
        result: What it returned, with NumPy arrays in place of tensors.
        variables: Name to value after the call, of each variable that it changed.
        evidence: What ran, as the profiler saw it in a second call.
        repeats: How far the second call differs from the first, from the same state.
        error: What it raised, or None.
        compilations: Programs of XLA that the call compiled; 0 also where the log names none.
        difference: From the first outcome; None where one of them is an error.
        agrees: Whether that is within the tolerance; for an error, whether the first is one too.
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

    @property
    def short(self) -> str:
        """The result, or the error, in at most 64 characters."""
        if self.error is not None:
            return headline(self.error, 64)
        return cut(", ".join(_text_of(array) for _, array in leaves(self.result)) or "None", 64)

    @property
    def is_empty(self) -> bool:
        """Whether there is no error, no result and no changed variable to compare."""
        return not (self.error or self.variables or any(True for _ in leaves(self.result)))


def _text_of(array):
    if array.size > 6:
        return f"{array.dtype}{list(array.shape)}"
    return " ".join(np.array2string(array, precision=4, separator=", ").split())


def first_calls(
    calls: Mapping[str, Call], state: State, doing: Callable[[str], None] = lambda label: None
) -> dict[str, Outcome]:
    """Trace all calls, then make each alone, and again for what it runs; an error is an outcome.

    A model that is not built yet is built before, eagerly. All are traced before any is called,
    because a trace may make variables that others use; what is compiled comes first, because an
    inner `tf.function` keeps its first trace, and XLA may refuse that of a graph. Plain Python is
    not traced where a `tf.function` of the same Python is. `doing` is told the label of each before
    it is traced or called.
    """
    for call in calls.values():
        state.build(call)
    shared = [call.python for call in calls.values() if call.is_traced]
    traces: dict[str, float | Exception] = {}
    failed: dict[int, Exception] = {}  # of a trace of each Python: the first may spoil the next
    for label in sorted(calls, key=lambda x: (not calls[x].is_compiled, not calls[x].is_traced)):
        call = calls[label]
        doing(label)
        try:
            is_shared = not call.is_traced and call.python in shared
            traces[label] = 0.0 if is_shared else state.trace(call)
        except Exception as error:  # whatever a reader's function raises
            traces[label] = failed.setdefault(id(call.python), error)
    outcomes = {}
    for label, call in calls.items():
        doing(label)
        outcomes[label] = _call_twice(call, traces[label], state)
    return outcomes


def _call_twice(call, traced, state):
    """traced: seconds of the trace, or the error that it raised."""
    if isinstance(traced, Exception):
        return Outcome(error=traced)
    try:
        with watch_compilations() if compilations_are_logged() else nullcontext([]) as compiled:
            seconds, returned = timed(call)
        first = Outcome(traced + seconds, as_arrays(returned), state.changed())
        state.restore()
        with observe() as seen:
            returned = as_arrays(call())
        again = Outcome(0.0, returned, state.changed())
        repeats = largest(differences_between(again, first, state))
        return replace(first, evidence=seen[0], repeats=repeats, compilations=len(compiled))
    except Exception as error:  # whatever a reader's function raises, and results of no known kind
        return Outcome(error=error)
    finally:
        state.restore()


def differences_between(one: Outcome, other: Outcome, state: State) -> list[Difference]:
    """The difference of each array of the results, and of the variables that either changed.

    Where both changed variables, and none of them is the same one, these are not compared.
    """
    results = differences(dict(leaves(one.result)), dict(leaves(other.result)))
    if have_own_variables(one, other):
        return results
    names = {name: f"variables[{name!r}]" for name in (*other.variables, *one.variables)}
    mine, its = (
        {place: x.variables.get(name, state.saved(name)) for name, place in names.items()}
        for x in (one, other)
    )
    return results + differences(mine, its, "variables")


def have_own_variables(one: Outcome, other: Outcome) -> bool:
    """Whether both changed variables, and none of them is the same one."""
    return bool(one.variables and other.variables) and not one.variables.keys() & other.variables


def random_ops_in(outcomes: Mapping[str, Outcome]) -> tuple[str, ...]:
    """The types of the operations that drew random numbers in any of the calls."""
    return tuple(sorted({kind for one in outcomes.values() for kind in one.evidence.random_ops}))


def compare_outcomes(
    calls, outcomes, tolerance, state
) -> tuple[dict[str, Outcome], str, tuple[str, ...]]:
    """Compare each outcome with the first.

    Where one differs, the graph, or the first where there is none, is called again with arguments
    that are moved by their last bit. What that moves by more than `MOVED` of the tolerance is not
    compared, unless the difference is one of shapes, integers, text or NaN.

    Returns:
        The outcomes with their differences, why nothing can be said of them, or "", and the places
        of the arrays that were not compared.
    """
    reference = next(iter(outcomes.values()), Outcome())
    found = {
        label: differences_between(one, reference, state)
        for label, one in outcomes.items()
        if not (one.error or reference.error)
    }
    rounded: set[str] = set()
    every = [one for own in found.values() for one in own]
    if any(tolerance < one.size < np.inf for one in every):
        graphs = (x for x in found if calls[x].is_traced and not calls[x].is_compiled)
        label = next(graphs, next(iter(outcomes)))
        rounded = _moved_by_rounding(calls[label], outcomes[label], tolerance, state)
    compared = {}
    for label, one in outcomes.items():
        kept = [x for x in found.get(label, ()) if x.place not in rounded or x.size == np.inf]
        most = largest(kept) if label in found else None
        agrees = most.within(tolerance) if most else bool(one.error and reference.error)
        compared[label] = replace(one, difference=most, agrees=agrees)
    undecided = _why_undecided(compared, tolerance)
    if len(rounded) > len({one.place for one in every}) / 2:
        undecided = undecided or f"rounding alone moves most of the results ({first_of(rounded)})"
    return compared, undecided, tuple(sorted(rounded))


def _moved_by_rounding(call, outcome, tolerance, state):
    """The places that differ where only the last bits of the arguments do."""
    moved = set()
    for seed in range(ROUNDINGS if "tensorflow" in sys.modules else 0):
        try:
            other = Outcome(0.0, as_arrays(call.with_rounding(seed)()), state.changed())
        except Exception:  # whatever a reader's function raises
            continue
        finally:
            state.restore()
        found = differences_between(other, outcome, state)
        moved |= {one.place for one in found if not one.within(MOVED * tolerance)}
    return moved


def _why_undecided(outcomes, tolerance):
    every = list(outcomes.values())
    if every and all(one.error for one in every):
        return f"every mode fails: {headline(every[0].error)}"
    if all(one.is_empty for one in every):
        return "there is no result, and no variable changes"
    different = {x: one for x, one in outcomes.items() if one.difference and not one.agrees}
    if not different:
        return ""
    changing = {x: one for x, one in outcomes.items() if not one.repeats.within(tolerance)}
    if drawn := random_ops_in(outcomes):
        other = "at each call" if changing else f"in {', '.join(different)}"
        return f"random numbers are drawn ({first_of(drawn)}), other ones {other}"
    for label, one in changing.items():
        return f"{label} differs from itself when called again ({one.repeats})"
    return ""
