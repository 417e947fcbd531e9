"""The first call of each candidate: what it returned, changed and ran, and how far they differ."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from .calls import Call, State
from .differences import Difference, as_arrays, difference_of, leaves
from .errors import headline
from .operations import ABORTING, operations_in
from .profiles import Evidence, observe
from .tables import cut, first_of
from .timing import timed


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
        difference: From the first outcome; None where one of them is an error.
        agrees: Whether that is within the tolerance; for an error, whether the first is one too.
    """

    seconds: float = 0.0
    result: object = None
    variables: dict[str, np.ndarray] = field(default_factory=dict)
    evidence: Evidence = field(default_factory=Evidence)
    repeats: Difference = field(default_factory=Difference)
    error: Exception | None = None
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


def first_calls(calls: Mapping[str, Call], state: State) -> dict[str, Outcome]:
    """Trace all calls, then make each alone, and again for what it runs; an error is an outcome.

    All are traced before any is called, because a trace may make variables that others use. Plain
    Python is not, where a `tf.function` of the same Python is.
    """
    shared = [call.python for call in calls.values() if call.is_traced]
    traces: dict[str, float | Exception] = {}
    for label, call in calls.items():
        try:
            traces[label] = 0.0 if call.func in shared else state.trace(call)
            if getattr(call.func, "_jit_compile", None):
                _refuse_aborting(call)
        except Exception as error:  # whatever a reader's function raises
            traces[label] = error
    return {label: _call_twice(call, traces[label], state) for label, call in calls.items()}


def _refuse_aborting(call):
    if aborting := ABORTING & {one.type for one in operations_in(call.concrete().graph)}:
        raise NotImplementedError(f"XLA would end the process at {', '.join(aborting)}")


def _call_twice(call, traced, state):
    """traced: seconds of the trace, or the error that it raised."""
    if isinstance(traced, Exception):
        return Outcome(error=traced)
    try:
        seconds, returned = timed(call)
        first = Outcome(traced + seconds, as_arrays(returned), state.changed())
        state.restore()
        with observe() as seen:
            returned = as_arrays(call())
        again = Outcome(0.0, returned, state.changed())
        return replace(first, evidence=seen[0], repeats=difference_between(again, first, state))
    except Exception as error:  # whatever a reader's function raises, and results of no known kind
        return Outcome(error=error)
    finally:
        state.restore()


def difference_between(one: Outcome, other: Outcome, state: State) -> Difference:
    """The largest difference of results, and of variables that either changed.

    Where both changed variables, and none of them is the same one, these are not compared.
    """
    results = difference_of(dict(leaves(one.result)), dict(leaves(other.result)))
    if have_own_variables(one, other):
        return results
    names = {name: f"variables[{name!r}]" for name in (*other.variables, *one.variables)}
    mine, its = (
        {place: x.variables.get(name, state.saved(name)) for name, place in names.items()}
        for x in (one, other)
    )
    return max(results, difference_of(mine, its, "variables"), key=lambda found: found.size)


def have_own_variables(one: Outcome, other: Outcome) -> bool:
    """Whether both changed variables, and none of them is the same one."""
    return bool(one.variables and other.variables) and not one.variables.keys() & other.variables


def random_ops_in(outcomes: Mapping[str, Outcome]) -> tuple[str, ...]:
    """The types of the operations that drew random numbers in any of the calls."""
    return tuple(sorted({kind for one in outcomes.values() for kind in one.evidence.random_ops}))


def compare_outcomes(outcomes, tolerance, state) -> tuple[dict[str, Outcome], str]:
    """Compare each outcome with the first.

    Returns:
        The outcomes with their differences, and why nothing can be said of them, or "".
    """
    reference = next(iter(outcomes.values()), Outcome())
    compared = {}
    for label, one in outcomes.items():
        if one.error or reference.error:
            compared[label] = replace(one, agrees=bool(one.error and reference.error))
        else:
            found = difference_between(one, reference, state)
            compared[label] = replace(one, difference=found, agrees=found.within(tolerance))
    return compared, _why_undecided(compared, tolerance)


def _why_undecided(outcomes, tolerance):
    every = list(outcomes.values())
    if every and all(one.error for one in every):
        return f"every mode fails: {headline(every[0].error)}"
    if all(one.is_empty for one in every):
        return "there is no result, and no variable changes"
    if all(one.agrees or one.difference is None for one in every):
        return ""
    if drawn := random_ops_in(outcomes):
        return f"random numbers are drawn ({first_of(drawn)})"
    for label, one in outcomes.items():
        if not one.repeats.within(tolerance):
            return f"{label} differs from itself when called again ({one.repeats})"
    return ""
