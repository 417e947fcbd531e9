"""One call after the other, each from the same state: what it returned, changed and ran."""

from dataclasses import dataclass, field

import numpy as np

from .agreement import Difference, as_arrays, difference_of, holds_something, leaves
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


def run(fn, args, kwargs, state: State) -> Trial:
    """Trace and call it, and put back the variables that it changed.

    Raises: TypeError when what it returns is no numbers and no text.
    """
    seconds, returned, error = 0.0, None, None
    try:
        with observe() as seen:
            try:
                traced = trace(fn, args, kwargs, state)
                seconds, returned = timed(fn, *args, **kwargs)
                seconds += traced
            except Exception as raised:  # whatever a reader's function raises
                error = raised
        state.add_named_by(fn, *args, *kwargs.values())  # a model may have made its own now
        return Trial(seconds, as_arrays(returned), state.changed(), seen[0], error)
    finally:
        state.put_back()


def difference_between(
    trial: Trial, reference: Trial, state: State, equal_nan: bool = False
) -> Difference:
    """The largest difference of results and of variables that either of the two changed."""
    names = dict.fromkeys([*reference.state, *trial.state])
    results = (dict(leaves(one.result)) for one in (trial, reference))
    variables = (_values(one, names, state) for one in (trial, reference))
    found = difference_of(*results, equal_nan), difference_of(*variables, equal_nan, "variables")
    return max(found, key=lambda one: one.size)


def _values(trial, names, state):
    return {
        f"variables[{name!r}]": trial.state[name] if name in trial.state else state.saved(name)
        for name in names
    }


def differs_from_itself(first: Trial, later, state: State, tolerance: float, whose: str) -> str:
    """How a function's later results differ from its first one, in words; "" where they do not.

    later: the trial of calling it again, and that of tracing it anew. whose: result it is.
    """
    for trial, how in zip(later, ("called again", "traced anew"), strict=True):
        if (trial.error is None) != (first.error is None):
            return f"{how}, {whose} result is {'an error' if trial.error else 'no error any more'}"
        difference = difference_between(trial, first, state, equal_nan=True)
        if not difference.within(tolerance):
            return f"{how}, {whose} {difference.place} {difference.against('the first time')}"
    return ""
