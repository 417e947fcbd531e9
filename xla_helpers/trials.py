"""One call after the other, each from the same state: what it returned, changed and ran."""

import math
import time
from dataclasses import dataclass, field, replace

import numpy as np

from .agreement import Difference, as_arrays, by_size, difference_of, holds_something, leaves
from .evidence import Evidence, observe
from .operations import operations_in
from .state import State
from .targets import is_traced
from .timing import time_first_call

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


def trace(fn, args, kwargs, state: State, clock=time.perf_counter) -> float:
    """Seconds of tracing; the variables that the graph uses are saved before it has run.

    What holds nothing to trace takes none. Raises: whatever the function raises, and
    NotImplementedError for a graph at which XLA would end the process.
    """
    state.add_named_by(fn)
    if not is_traced(fn):
        return 0.0
    seconds, concrete = time_first_call(fn.get_concrete_function, args, kwargs, clock)
    state.add(concrete.graph.variables)
    if getattr(fn, "_jit_compile", None):
        aborting = {one.type for one in operations_in(concrete.graph)} & ABORTS
        if aborting:
            raise NotImplementedError(f"XLA was not asked: it would abort at {', '.join(aborting)}")
    return seconds


def run(fn, args, kwargs, state: State, clock=time.perf_counter, traced=None) -> Trial:
    """Trace and call it, and put back the variables that it changed.

    traced: seconds of the trace, when that is done already.
    Raises: TypeError when what it returns is no numbers and no text.
    """
    seconds, returned, error = traced, None, None
    try:
        with observe() as seen:
            try:
                seconds = trace(fn, args, kwargs, state, clock) if traced is None else traced
                last, returned = time_first_call(fn, args, kwargs, clock)
                seconds += last
            except Exception as raised:  # whatever a reader's function raises
                error = raised
        state.add_named_by(fn)  # a model that had not been called has its variables now
        return Trial(seconds or 0.0, as_arrays(returned), state.changed(), seen[0], error)
    finally:
        state.put_back()


def difference_between(
    trial: Trial, reference: Trial, state: State, equal_nan: bool = False, own: bool = False
) -> Difference:
    """The largest difference of results and of variables that either of the two changed.

    own: whether each may have changed variables of its own, as candidates of a race do.
    """
    if (trial.error is None) != (reference.error is None):
        return Difference(math.inf, reason="error")
    results = dict(leaves(trial.result)), dict(leaves(reference.result))
    states = _states((trial, reference), state, own)
    found = difference_of(*results, equal_nan), difference_of(*states, equal_nan, "variables")
    worst = max(found, key=by_size)
    return replace(worst, zeros=sum((one.zeros for one in found), ()))


def unpaired(trial: Trial, reference: Trial, state: State) -> bool:
    """Whether two changed variables of their own, which did not begin equal."""
    if not _apart(trial, reference):
        return False
    one, other = (list(map(state.saved, side.state)) for side in (trial, reference))
    return len(one) != len(other) or not all(map(np.array_equal, one, other))


def _states(trials, state, may_own):
    """For each of two trials, all variables that either changed, by place.

    Where they may own them and each changed variables of its own, they are paired in their order,
    under the names of the second; there are none where they cannot be, see `unpaired`.
    """
    one, other = trials
    if not (may_own and _apart(one, other)):
        names = dict.fromkeys([*one.state, *other.state])
        return [
            {_place(x): t.state[x] if x in t.state else state.saved(x) for x in names}
            for t in trials
        ]
    if unpaired(one, other, state):
        return {}, {}
    places = [_place(name) for name in other.state]
    return [dict(zip(places, trial.state.values(), strict=True)) for trial in trials]


def _apart(trial, other):
    """Whether two changed variables, and none of them is the same one."""
    return bool(trial.state and other.state) and not trial.state.keys() & other.state.keys()


def _place(name):
    return f"variables[{name!r}]"
