"""What a call did the first time, and how far two such outcomes differ."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .differences import (
    NOTHING,
    ArrayDifference,
    Difference,
    Sensitive,
    change_difference,
    differences,
    leaves,
)
from .errors import headline
from .evidence import Evidence
from .tables import truncate
from .variables import Snapshot

VARIABLES = "variables"  # begins the place of one


@dataclass(frozen=True)
class FirstCall:
    """What a call did, the first time.

    Attributes:
        seconds: Of the call, its trace included.
        result: What it returned, with NumPy arrays in place of tensors.
        variables: Name to value after the call, of each variable that it changed.
        evidence: What ran, as the profiler saw it in a second call.
        from_itself: How far a second call differs from this one, from the same state.
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
    from_itself: Difference = field(default_factory=Difference)
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
