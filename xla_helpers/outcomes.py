"""What a call did the first time, and how far two such outcomes differ."""

import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .differences import (
    FLOATING,
    NOTHING,
    ArrayDifference,
    Difference,
    Sensitive,
    change_difference,
    differences,
    largest,
    largest_number,
    leaves,
)
from .errors import headline
from .evidence import Evidence
from .tables import abbreviate, truncate
from .variables import Snapshot

VARIABLES = "variables"  # begins the place of one
EXPLAINED = 10  # times what rounding alone moves: a larger difference is an error
SMALL = 1e-3  # of the largest number: a result below it, which rounding moves, is nearly zero
NEGLIGIBLE = 1e-2  # of the median change of all variables: the same of a change
NOISE = 0.1  # of a change, which rounding alone moves: then the change is noise


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
        is_nothing = all(array is NOTHING for _, array in leaves(self.result))
        return is_nothing and not (self.error or self.variables)


def _text_of(array):
    if array.size > 6:
        return f"{array.dtype}{list(array.shape)}"
    return " ".join(np.array2string(array, precision=4, separator=", ").split())


def differences_between(
    outcome: FirstCall, reference: FirstCall, snapshot: Snapshot
) -> list[ArrayDifference]:
    """The difference of each array of the results, and of the variables that either changed.

    Variables are compared by their change. Where both changed variables, and none of them is the
    same one, these are not compared.
    """
    results = differences(dict(leaves(outcome.result)), dict(leaves(reference.result)))
    if have_own_variables(outcome, reference):
        return results
    changes = list[ArrayDifference]()
    for name in dict.fromkeys([*reference.variables, *outcome.variables]):
        before = snapshot.saved(name)
        values = (x.variables.get(name, before) for x in (outcome, reference))
        changes.append(change_difference(f"{VARIABLES}[{name!r}]", before, *values))
    return results + changes


def have_own_variables(outcome: FirstCall, reference: FirstCall) -> bool:
    """Whether both changed variables, and none of them is the same one."""
    both = outcome.variables and reference.variables
    return bool(both) and not outcome.variables.keys() & reference.variables.keys()


def random_ops_in(outcomes: Mapping[str, FirstCall]) -> tuple[str, ...]:
    """The types of the operations that drew random numbers in any of the calls."""
    return tuple(sorted({kind for x in outcomes.values() for kind in x.evidence.random_ops}))


def judged(first: Any, outcome: FirstCall, found: list | None, moved: Mapping) -> FirstCall:
    """An outcome with its difference, and what is left out of it.

    Args:
        first: The `FirstCalls`.
        outcome: One of them.
        found: The difference of each array, None beside an error.
        moved: Place to how far rounding alone moves an array.
    """
    if found is None:
        agrees = bool(outcome.error and first.reference.error)
        return replace(outcome, difference=None, agrees=agrees, left_out=())
    kept, left_out = list[Difference](), list[Sensitive]()
    for array in found:
        by_rounding = moved.get(array.place, 0.0)
        is_explained = first.tolerance < array.size < math.inf
        is_explained &= array.absolute <= EXPLAINED * by_rounding
        if array.within_rounding:
            left_out.append(Sensitive(array.place, array.size, None))
        elif not is_explained:
            kept.append(array)
        elif _is_rounding(first, array, by_rounding):
            kept.append(Difference(place=array.place))
        else:
            left_out.append(Sensitive(array.place, array.size, by_rounding / array.scale))
    most = largest(kept)
    agrees, arrays = most.within(first.tolerance), tuple(left_out)
    return replace(outcome, difference=most, agrees=agrees, left_out=arrays)


def _is_rounding(first, array, by_rounding):
    """Whether what rounding explains is equal, because the array is small, or hardly moved.

    A change of a variable has a floor, twice what rounding makes of it; where that is much of it,
    the array is noise, which is named, unless it is small.
    """
    if not array.place.startswith(VARIABLES):
        return array.scale < SMALL * min(1.0, largest_number(_results_of(first.reference)))
    typical = statistics.median(_changes(first.reference, first.snapshot) or [0.0])
    is_hardly_moved = by_rounding <= NOISE * array.scale and array.absolute <= 2 * by_rounding
    return array.scale < NEGLIGIBLE * typical or is_hardly_moved


def _results_of(outcome):
    return (array for _, array in leaves(outcome.result))


def _changes(outcome, snapshot):
    """The largest change of each variable of floating numbers."""
    return [
        largest_number([value - snapshot.saved(name)])
        for name, value in outcome.variables.items()
        if value.dtype.kind in FLOATING
    ]


def why_inconclusive(judged: Any, found: Mapping, why_different: Callable) -> str:
    """Why nothing can be said of the differences, or "".

    Args:
        judged: The `FirstCalls`, with their differences.
        found: Label to the difference of each array, before rounding was tried.
        why_different: Is asked where some differ, with their labels.
    """
    outcomes = judged.outcomes
    if all(outcome.error for outcome in outcomes.values()):
        return f"every mode fails: {headline(judged.reference.error)}" if outcomes else ""
    if all(outcome.is_empty for outcome in outcomes.values()):
        return "there is no result, and no variable that is known changes"
    different = [label for label, x in outcomes.items() if x.difference and not x.agrees]
    if different and (why := why_different(different)):
        return why
    places = {array.place for arrays in found.values() for array in arrays}
    if len(judged.sensitive) > len(places) / 2:
        most = abbreviate(array.place for array in judged.sensitive)
        return f"rounding alone moves most of the results ({most})"
    return ""
