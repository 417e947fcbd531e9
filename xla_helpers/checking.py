"""Run a function eagerly, as a graph and compiled, and say where the three part."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .agreement import TOLERANCE, Difference, holds_something
from .errors import headline
from .evidence import Evidence
from .layers import layers_of
from .modes import run_functions_eagerly
from .operations import (
    Place,
    Refusal,
    checks_in,
    draws_in,
    effects_in,
    operations_in,
    refused_by_keras,
    unsupported_in,
)
from .state import State
from .tables import Table, counted, cut, some, tabulate
from .targets import as_tensors, holds_no_python, name_of, python_of, resolve
from .trials import difference_between, differs_from_itself, run, trace
from .validation import check_not_negative

SHOWN = 64  # characters of an outcome in a table
ENTRIES = 6  # entries of an array that are shown
NAMES = 3  # names of variables or arrays that a sentence holds


@dataclass(frozen=True)
class Outcome:
    """What one mode made of a call.

    result: what it returned, as NumPy arrays, and dicts for what has named parts. error: what it
    raised. state: the variables that it changed, name to value. evidence: what ran. difference:
    from the first mode, in the result or a variable; None where one of the two raised. agrees:
    whether it came out as in the first mode.
    """

    mode: str
    result: object = None
    error: Exception | None = None
    state: dict[str, np.ndarray] = field(default_factory=dict)
    evidence: Evidence = Evidence()
    difference: Difference | None = None
    agrees: bool = True

    @property
    def short(self) -> str:
        """The result, or the error's type and its first telling line, at most `SHOWN` long."""
        if self.error is None:
            return cut(_text_of(self.result), SHOWN)
        return headline(self.error, SHOWN)


@dataclass(frozen=True, repr=False)
class Check(Table):
    """The outcomes of one call in each mode: "eager", "graph" and "XLA".

    function: its name. outcomes: mode to `Outcome`, without "eager" for what holds no Python.
    unsupported: what XLA refuses: what its error names, which is the first operation only, and all
    others of the graph that it has no code for. switched_off: the layers because of which Keras
    leaves XLA out when it decides. vanished: the checks that XLA leaves out, by name. draws: the
    operations that draw random numbers. not_put_back: those that may change for good what is no
    variable. undecided: why nothing was compared, or other numbers say nothing; else empty.
    tolerance: the relative difference that was allowed.
    """

    function: str
    outcomes: dict[str, Outcome]
    unsupported: tuple[Refusal, ...] = ()
    switched_off: tuple[Refusal, ...] = ()
    vanished: tuple[str, ...] = ()
    draws: tuple[Place, ...] = ()
    not_put_back: tuple[Place, ...] = ()
    undecided: str = ""
    tolerance: float = TOLERANCE

    def __getitem__(self, mode: str) -> Outcome:
        return self.outcomes[mode]

    @property
    def errors(self) -> dict[str, Exception]:
        """Mode to what it raised, for the modes that gave no result."""
        return {mode: o.error for mode, o in self.outcomes.items() if o.error is not None}

    @property
    def differing(self) -> dict[str, Outcome]:
        """Mode to its outcome, for the modes in which it came out otherwise than in the first.

        Where that is undecided, an error on one side is all that counts.
        """
        different = {mode: o for mode, o in self.outcomes.items() if not o.agrees}
        return {m: o for m, o in different.items() if not (self.undecided and o.difference)}

    @property
    def agrees(self) -> bool:
        """True when all modes gave the same result, and XLA left out no check."""
        return not (self.errors or self.differing or self.vanished or self.undecided)

    @property
    def summary(self) -> str:
        """What was found, in a sentence or a few."""
        return " ".join(f"{sentence}." for sentence in self._sentences())

    def against(self, mode: str) -> str:
        """How a mode came out against the first one, in words; "" for the first one itself."""
        first, outcome = next(iter(self.outcomes.values())), self[mode]
        difference = outcome.difference
        if outcome is first:
            return ""
        if outcome.error is not None:
            return "an error too" if outcome.agrees else "gives an error instead of a result"
        if difference is None:
            return "the same" if outcome.agrees else "gives a result instead of an error"
        if outcome.agrees:
            return f"the same to {difference.size:.1g}" if difference.size else "the same"
        if self.undecided:
            return "cannot be compared"
        place = "" if difference.place == "result" else f", in {difference.place}"
        allowed = f"; allowed {self.tolerance:.1g}" if difference.reason == "numbers" else ""
        return f"{difference.against(first.mode)}{place}{allowed}"

    @property
    def mends(self) -> Table:
        """A row for all that is refused: what, in which layer, at which line, and the mend."""
        refused = (*self.unsupported, *self.switched_off)
        rows = [[r.operation, r.layer, r.line, r.mend] for r in refused]
        heads = ["refused", "layer", "line", "what to do"]
        return tabulate(f"{self.function}: {len(rows)} to mend.", heads, rows)

    def _sentences(self):
        if self.unsupported:
            yield f"XLA does not support {_list(self.unsupported)}"
        for mode in self.differing:
            if not (mode == "XLA" and self.unsupported):
                yield f"{mode} {self.against(mode)}"
        if self.vanished and "XLA" not in self.errors:
            checks = counted(len(self.vanished), "check")
            yield f"XLA leaves out {checks}: {some(self.vanished, NAMES)}"
        if self.undecided:
            yield f"Not decidable: {self.undecided}"
        if self.agrees:
            yield self._same()
        if programs := "graph" in self.outcomes and self["graph"].evidence.programs:
            yield f"XLA ran {counted(programs, 'program')} in the graph, too"
        if self.switched_off:
            yield f"Keras' own `fit` runs it without XLA, because of {_list(self.switched_off)}"
        if self.not_put_back:
            yield f"Not put back: what {_list(self.not_put_back)} may have changed"

    def _same(self):
        where = "in all three modes" if len(self.outcomes) == 3 else "as a graph and under XLA"
        outcomes = self.outcomes.values()
        changed = list(dict.fromkeys(name for o in outcomes for name in o.state))
        same = ["result"] if any(holds_something(o.result) for o in outcomes) else []
        if changed:
            same += [f"values in {counted(len(changed), 'variable')} ({some(changed, NAMES)})"]
        return f"The same {' and the same '.join(same)} {where}"

    def _title(self):
        return f"{self.function}: {self.summary}"

    def _columns(self):
        return ["", "outcome", f"against {next(iter(self.outcomes))}"]

    def _rows(self):
        return [[mode, o.short, self.against(mode)] for mode, o in self.outcomes.items()]


def check(fn: Callable, /, *args, tolerance: float = TOLERANCE, **kwargs) -> Check:
    """Call ``fn(*args, **kwargs)`` eagerly, as a graph and compiled, and compare the three.

    fn: a function, method, Keras model, `tf.Module`, `tf.function`, or a SavedModel, of which the
    folder will do. `check` wraps the Python inside it by `tf.function` itself, options of another
    one are not used, and in eager mode all that it calls runs eagerly. A SavedModel, which holds no
    Python, has no eager mode. NumPy arrays are made tensors first. tolerance: the difference that
    is allowed, relative to the largest magnitude of each array. An argument of `fn` with that name
    must be bound beforehand, by `functools.partial`.

    Integers, text and shapes must be the same, and NaN must stand in the same places. Two errors
    are not compared. Variables that a call changes belong to its result, and have their values
    again before each mode and afterwards: those that the trace shows and that the Python around
    `fn` names. Where the modes differ, the graph is called again and traced anew: where it then
    differs from itself, or draws random numbers, nothing is said about XLA.
    Introduced in notebook 02, explained in notebook 08.

    Returns: a `Check`; an error of `fn` is an outcome in it.
    Raises: TypeError when `fn` cannot be called, or returns what is neither numbers nor text,
    ValueError for a tolerance that is no number, RuntimeError inside of a `tf.function`.

    >>> import tensorflow as tf
    >>> def third(v):
    ...     return tf.gather(v, [3])
    >>> found = check(third, tf.constant([1.0, 2.0]))
    >>> list(found.errors), found["XLA"].result.tolist()
    (['eager', 'graph'], [2.0])
    """
    import tensorflow as tf

    check_not_negative("tolerance", tolerance)
    if not tf.executing_eagerly():
        raise RuntimeError("check() was called inside of a tf.function: call it from plain Python")
    fn = resolve(fn)
    plain, state, trials = python_of(fn), State(), {}
    call = as_tensors(args), as_tensors(kwargs), state
    graph = tf.function(plain)
    with run_functions_eagerly(False):
        found = _operations(graph, *call)
        with run_functions_eagerly(True):
            trials["eager"] = run(plain, *call)
        trials["graph"] = run(graph, *call)
        trials["XLA"] = run(tf.function(plain, jit_compile=True), *call)
        ran = trials["eager"].evidence
        if holds_no_python(fn) or (ran.graphs and not ran.eager):
            del trials["eager"]
        first = next(iter(trials.values()))
        outcomes = {m: _outcome(m, trial, first, state, tolerance) for m, trial in trials.items()}
        layers = layers_of(fn)
        draws = draws_in(found, layers)
        later = (run(one, *call) for one in (graph, tf.function(plain)))
        undecided = _undecided(trials, outcomes, later, draws, state, tolerance)
    return Check(
        function=name_of(fn),
        outcomes=outcomes,
        unsupported=unsupported_in(found, trials["XLA"].error, layers),
        switched_off=refused_by_keras(layers),
        vanished=checks_in(found),
        draws=draws,
        not_put_back=effects_in(found, layers),
        undecided=undecided,
        tolerance=tolerance,
    )


def _operations(graph, args, kwargs, state):
    """Those of the graph; none where it cannot be traced: then its outcome says why."""
    try:
        trace(graph, args, kwargs, state)
        return list(operations_in(graph.get_concrete_function(*args, **kwargs).graph))
    except Exception:
        return []


def _outcome(mode, trial, first, state, tolerance):
    difference, agrees = None, trial.error is not None and first.error is not None
    if trial.error is None and first.error is None:
        difference = difference_between(trial, first, state, equal_nan=True)
        agrees = difference.within(tolerance)
    kept = trial.result, trial.error, trial.state, trial.evidence
    return Outcome(mode, *kept, difference, agrees)


def _undecided(trials, outcomes, later, draws, state, tolerance):
    """Why nothing was compared, or why it says nothing; "". later: the graph, again and anew."""
    if all(trial.error is not None for trial in trials.values()):
        return "it fails in every mode, so look at the arguments first"
    if not any(trial.holds_something for trial in trials.values()):
        return "it returns nothing and changes no variable"
    if all(outcome.agrees or outcome.difference is None for outcome in outcomes.values()):
        return ""
    if why := differs_from_itself(trials["graph"], later, state, tolerance, "its"):
        return f"the graph differs from itself: {why}"
    return f"it draws random numbers ({_list(draws)}), each mode perhaps its own" if draws else ""


def _list(places):
    return ", ".join(place.where for place in places)


def _text_of(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_text_of(part)}" for key, part in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(map(_text_of, value)) + ")"
    if value is None:
        return "None"
    array = np.asarray(value)
    if array.size > ENTRIES:
        return f"{array.dtype}{list(array.shape)}"
    return " ".join(np.array2string(array, precision=4, separator=", ").split())
