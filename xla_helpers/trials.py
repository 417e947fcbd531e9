"""One call after the other, each from the same state: what it returned, changed and ran."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from .agreement import (
    Difference,
    as_arrays,
    by_size,
    difference_of,
    holds_something,
    leaves,
)
from .evidence import Evidence, observe
from .operations import operations_in
from .state import Variables, fixed_streams, names_of, python_state
from .targets import is_traced, resolve
from .timing import time_first_call

UNSEEN = "something that cannot be seen here"  # of Python's state, when no name is known

ABORTS = {"StringSplit", "StringSplitV2"}
"""Operations at which XLA ends the whole process instead of refusing."""


@dataclass(frozen=True)
class Trial:
    """What one call did.

    seconds: of the call, its trace included. result: what it returned, tensors as arrays of
    NumPy. state: the variables that it changed, name to the value after the call. moved: what it
    changed of Python's own state, by name. evidence: what it ran. error: what it raised.
    """

    seconds: float = 0.0
    result: object = None
    state: dict[str, np.ndarray] = field(default_factory=dict)
    moved: tuple[str, ...] = ()
    evidence: Evidence = Evidence()
    error: Exception | None = None

    @property
    def holds_something(self) -> bool:
        """Whether it left anything that can be compared: a result, a variable, an error."""
        return bool(self.error or self.state) or holds_something(self.result)


class Stage:
    """Variables and Python's state, as they were when it was built; each trial starts from them."""

    def __init__(self):
        self._variables = Variables()
        self._names = {}  # of variables, under their `id`
        self._originals = {}  # name to variable
        self._changed = []  # variables that a trial has changed
        self._copies = []  # the variables of each copy, in the order in which they were made

    def build(self, make: Callable[[], Callable]) -> Callable:
        """A new copy from `make`, whose variables begin with the values of the first copy's.

        It is the copy that is run until the next is built. NumPy's and Python's random numbers,
        of which Keras makes its seeds, are the same for each.
        Raises: ValueError when this copy has other variables than the first.
        """
        with self._variables.adopting(at_once=False) as made, fixed_streams():
            fn = resolve(make())
        self._copies.append(made)
        first = self._copies[0][: len(made)]
        if [(v.shape, v.dtype) for v in made] != [(v.shape, v.dtype) for v in first]:
            raise ValueError("the new copies have different variables: build the same each time")
        for variable, original in zip(made, first, strict=True):
            self._variables.begin_as(variable, original)
        return fn

    def resolve(self, fn) -> Callable:
        """What is called for `fn`; the variables of a SavedModel that is loaded are saved."""
        found = resolve(fn)
        if found is not fn:
            self._variables.adopt()
        return found

    def run(self, fn: Callable, args=(), kwargs=None, clock=time.perf_counter) -> Trial:
        """Call it, and put back the variables that it changed.

        Raises: TypeError when what it returns is no numbers and no text.
        """
        before, changed = python_state(fn), None  # None: whatever changed
        try:
            seconds, returned, error, evidence = self._call(fn, args, kwargs or {}, clock)
            changed = self._variables.changed()
            self._name(changed, fn)
            state = {self._names[id(v)]: np.array(v.numpy()) for v in changed}
            after = python_state(fn)
            moved = (n for n in dict.fromkeys([*before, *after]) if before.get(n) != after.get(n))
            return Trial(seconds, as_arrays(returned), state, tuple(moved), evidence, error)
        finally:
            self._variables.put_back(changed)

    def difference(
        self, trial: Trial, reference: Trial, equal_nan: bool = False, own: bool = False
    ) -> Difference:
        """The largest difference of results and of variables that either of the two changed.

        own: whether each may have changed variables of its own, as candidates of a race do.
        """
        if (trial.error is None) != (reference.error is None):
            return Difference(math.inf, reason="error")
        results = dict(leaves(trial.result)), dict(leaves(reference.result))
        states = self._states((trial, reference), own)
        found = difference_of(*results, equal_nan), difference_of(*states, equal_nan, "variables")
        worst = max(found, key=by_size)
        return replace(worst, zeros=sum((one.zeros for one in found), ()))

    @contextmanager
    def adopting(self) -> Iterator[None]:
        """Save each variable that is made in the block, with the value that it is made with."""
        with self._variables.adopting() as made:
            yield
        if self._copies:
            self._copies[-1] += made

    def repeats(self, fn: Callable, trial: Trial, tolerance: float, args=(), kwargs=None) -> bool:
        """Whether a second call does what `trial` did.

        Python that changes state of its own may not: that state is not put back.
        """
        again = self.run(fn, args, kwargs)
        return self.difference(again, trial, equal_nan=True).within(tolerance)

    def note_changed(self) -> None:
        """Know the variables that have changed by now, for `put_back_known`."""
        known = set(map(id, self._changed))
        self._changed += [v for v in self._variables.changed() if id(v) not in known]

    def put_back(self) -> None:
        """Give every variable its value again."""
        self._variables.put_back()

    def put_back_known(self) -> None:
        """The same for those that a trial changed, without looking at all others."""
        self._variables.put_back(self._changed)

    def _call(self, fn, args, kwargs, clock):
        """Seconds, what came back, what was raised, and what ran."""
        seconds, returned, error = 0.0, None, None
        with observe() as seen, self.adopting():
            try:
                seconds = self._trace(fn, args, kwargs, clock)
                last, returned = time_first_call(fn, args, kwargs, clock)
                seconds += last
            except Exception as raised:  # whatever a reader's function raises
                error = raised
        return seconds, returned, error, seen[0]

    def _trace(self, fn, args, kwargs, clock):
        """Seconds of a trace: the variables that it makes must be saved before it runs."""
        if not is_traced(fn):
            return 0.0
        seconds, concrete = time_first_call(fn.get_concrete_function, args, kwargs, clock)
        self._variables.adopt_made()
        if getattr(fn, "_jit_compile", None):
            refuse_what_aborts(concrete.graph)
        return seconds

    def _states(self, trials, may_own):
        """For each of two trials, all variables that either changed, by name.

        Where they may own them and each changed variables of its own, they are paired in the
        order in which they were made, under the names of the second; there are none where they
        cannot be, see `unpaired`.
        """
        own, names = (trial.state for trial in trials)
        if not (may_own and _apart(own, names)):
            both = dict.fromkeys([*own, *names])
            return [{_place(name): self._value(trial, name) for name in both} for trial in trials]
        if self.unpaired(*trials):
            return {}, {}
        places = [_place(name) for name in names]
        return [dict(zip(places, trial.state.values(), strict=True)) for trial in trials]

    def unpaired(self, trial: Trial, reference: Trial) -> bool:
        """Whether two changed variables of their own, which did not begin equal."""
        if not _apart(trial.state, reference.state):
            return False
        one, other = (list(map(self._begun, side.state)) for side in (trial, reference))
        return len(one) != len(other) or not all(map(np.array_equal, one, other))

    def _begun(self, name):
        """The value that a variable begins every trial with."""
        return self._variables.saved(self._originals[name])

    def _value(self, trial, name):
        if name in trial.state:
            return trial.state[name]
        return self._begun(name)

    def _name(self, variables, fn):
        new = [v for v in variables if id(v) not in self._names]
        for variable, name in zip(new, names_of(new, fn, taken=self._originals), strict=True):
            self._names[id(variable)] = self._of_first_copy(variable) or name
            self._originals.setdefault(self._names[id(variable)], variable)
        self._changed += new

    def _of_first_copy(self, variable):
        """The name that the same variable has in the first copy; None for one of no copy."""
        for made in self._copies[1:]:
            for own, original in zip(made, self._copies[0], strict=False):
                if own is variable:
                    return self._names.get(id(original))
        return None


def refuse_what_aborts(graph) -> None:
    """Raise NotImplementedError for a graph at which XLA would end the process."""
    aborting = sorted({one.type for one in operations_in(graph)} & ABORTS)
    if aborting:
        raise NotImplementedError(f"XLA was not asked: it would abort at {', '.join(aborting)}")


def _apart(state, other):
    """Whether two changed variables, and none of them is the same one."""
    return bool(state and other) and not state.keys() & other.keys()


def _place(name):
    return f"variables[{name!r}]"
