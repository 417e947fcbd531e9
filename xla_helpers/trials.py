"""One call after the other, each from the same state: what it returned, changed and ran."""

import math
from dataclasses import dataclass, field

import numpy as np

from .agreement import Difference, as_arrays, by_size, difference_of, holds_something, leaves
from .evidence import Evidence, observe
from .operations import operations_in
from .state import State
from .targets import is_traced
from .timing import timed

ABORTS = {"StringSplit", "StringSplitV2"}
"""Operations at which XLA ends the whole process instead of refusing."""


@dataclass(frozen=True)
class Trial:
    """What one call did.

    seconds: of the call, its trace included. result: what it returned, tensors as arrays of
    NumPy. state: the variables that it changed, name to the value after the call. evidence: what
    it ran. error: what it raised.
    """

    seconds: float = 0.0
    result: object = None
    state: dict[str, np.ndarray] = field(default_factory=dict)
    evidence: Evidence = Evidence()
    error: Exception | None = None

    @property
    def holds_something(self) -> bool:
        """Whether it left anything that can be compared: a result, a variable, an error."""
        return bool(self.error or self.state) or holds_something(self.result)


def trace(fn, args, kwargs, state: State) -> float:
    """Seconds of tracing; the variables that the graph uses are saved before it has run.

    What holds nothing to trace takes none. Raises: whatever the function raises, and
    NotImplementedError for a graph at which XLA would end the process.
    """
    state.add_named_by(fn, *args, *kwargs.values())
    if not is_traced(fn):
        return 0.0
    seconds, concrete = timed(fn.get_concrete_function, *args, **kwargs)
    state.add(concrete.graph.variables)
    if getattr(fn, "_jit_compile", None):
        aborting = {one.type for one in operations_in(concrete.graph)} & ABORTS
        if aborting:
            raise NotImplementedError(f"XLA was not asked: it would abort at {', '.join(aborting)}")
    return seconds


def run(fn, args, kwargs, state: State, traced: float | None = None) -> Trial:
    """Trace and call it, and put back the variables that it changed.

    traced: seconds of the trace, when that is done already.
    Raises: TypeError when what it returns is no numbers and no text.
    """
    seconds, returned, error = traced, None, None
    try:
        with observe() as seen:
            try:
                seconds = trace(fn, args, kwargs, state) if traced is None else traced
                last, returned = timed(fn, *args, **kwargs)
                seconds += last
            except Exception as raised:  # whatever a reader's function raises
                error = raised
        state.add_named_by(fn, *args, *kwargs.values())  # a model may have made its own now
        return Trial(seconds or 0.0, as_arrays(returned), state.changed(), seen[0], error)
    finally:
        state.put_back()


def difference_between(
    trial: Trial, reference: Trial, state: State, equal_nan: bool = False
) -> Difference:
    """The largest difference of results and of variables that either of the two changed.

    Variables that each has of its own, and the other one does not change, are not compared.
    """
    if (trial.error is None) != (reference.error is None):
        return Difference(math.inf, reason="error")
    results = dict(leaves(trial.result)), dict(leaves(reference.result))
    names = [] if apart(trial, reference) else dict.fromkeys([*trial.state, *reference.state])
    states = [
        {f"variables[{x!r}]": one.state[x] if x in one.state else state.saved(x) for x in names}
        for one in (trial, reference)
    ]
    found = difference_of(*results, equal_nan), difference_of(*states, equal_nan, "variables")
    return max(found, key=by_size)


def apart(trial: Trial, other: Trial) -> bool:
    """Whether two changed variables, and none of them is the same one."""
    return bool(trial.state and other.state) and not trial.state.keys() & other.state.keys()


def differs_from_itself(first: Trial, later, state: State, tolerance: float, whose: str) -> str:
    """How a function's later results differ from its first one, in words; "" where they do not.

    later: the trial of calling it again, and that of tracing it anew. whose: result it is.
    """
    for trial, how in zip(later, ("called again", "traced anew"), strict=True):
        difference = difference_between(trial, first, state, equal_nan=True)
        if not difference.within(tolerance):
            return f"{how}, {difference.describe(whose, 'the first time')}"
    return ""
