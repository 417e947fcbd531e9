"""Run a function eagerly, as a graph and compiled, and say where the three part."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from .agreement import TOLERANCE, Difference, by_size, holds_something, leaves
from .errors import headline
from .evidence import Evidence
from .layers import layers_of
from .modes import run_functions_eagerly
from .operations import (
    Draw,
    Refusal,
    checks_in,
    draws_in,
    effects_in,
    operations_in,
    refused_by_keras,
    unsupported_in,
)
from .state import State
from .tables import Table, cut, tabulate
from .targets import as_tensors, holds_no_python, name_of, plain_callable, resolve
from .trials import difference_between, run, trace
from .validation import check_tolerance

SHOWN = 64  # characters of an outcome in a table
ENTRIES = 6  # entries of an array that are shown
NAMES = 3  # names of variables or arrays that a sentence holds


@dataclass(frozen=True)
class Outcome:
    """What one mode made of a call.

    result: what it returned, tensors as NumPy arrays, and dicts for what has named parts; None
    after an error. error: what it raised. state: the variables that it changed, name to value.
    evidence: what ran. difference: from the first mode, in the result or a variable; None where
    one of the two has no result. agrees: whether it came out as in the first mode, to the
    tolerance of the check.
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
    unsupported: what XLA refuses in the function. switched_off: the layers because of which Keras
    leaves XLA out when it decides. vanished: the checks in the graph that XLA leaves out, by name.
    draws: the operations in the graph that draw random numbers. not_put_back: what a call changes
    for good beside variables, in words. itself: how the graph, called again or traced anew, differs
    from itself, where the modes differ; None where it does not.
    tolerance: the relative difference that was allowed. clustered: whether TensorFlow was set to
    compile parts of graphs by itself.
    """

    function: str
    outcomes: dict[str, Outcome]
    unsupported: tuple[Refusal, ...] = ()
    switched_off: tuple[Refusal, ...] = ()
    vanished: tuple[str, ...] = ()
    draws: tuple[Draw, ...] = ()
    not_put_back: tuple[str, ...] = ()
    itself: Difference | None = None
    tolerance: float = TOLERANCE
    clustered: bool = False

    def __getitem__(self, mode: str) -> Outcome:
        return self.outcomes[mode]

    @property
    def errors(self) -> dict[str, Exception]:
        """Mode to what it raised, for the modes that gave no result."""
        return {mode: o.error for mode, o in self.outcomes.items() if o.error is not None}

    @property
    def differing(self) -> dict[str, Outcome]:
        """Mode to its outcome, for the modes in which it came out otherwise than in the first.

        Other numbers count only where they can be compared; see `decidable`.
        """
        different = {mode: o for mode, o in self.outcomes.items() if not o.agrees}
        if self._comparable:
            return different
        return {mode: o for mode, o in different.items() if o.difference is None}

    @property
    def settled(self) -> bool:
        """Whether the graph, called again and traced anew, did the same each time."""
        return self.itself is None or self.itself.within(self.tolerance)

    @property
    def decidable(self) -> bool:
        """False where numbers differ that are drawn anew, so that nobody can say what is right."""
        return self._comparable or all(o.agrees or o.error for o in self.outcomes.values())

    @property
    def compared(self) -> bool:
        """Whether there was anything to compare: a result, a variable that changed, an error."""
        return bool(self.errors) or any(_holds(o) for o in self.outcomes.values())

    @property
    def agrees(self) -> bool:
        """True when all modes gave the same result, and XLA left out no check."""
        same = not (self.errors or self.differing or self.vanished)
        return same and self.compared and self.decidable and self.settled

    @property
    def summary(self) -> str:
        """What was found, in a sentence or a few."""
        return " ".join([*self._sentences(), *self._remarks()])

    def against(self, mode: str) -> str:
        """How a mode came out against the first one, in words; "" for the first one itself."""
        return self._against_first(self[mode])

    @property
    def _comparable(self):
        return self.settled and not self.draws

    def _sentences(self):
        if len(self.errors) == len(self.outcomes):
            yield "It fails in every mode: look at the arguments first."
        if self.unsupported:
            yield f"XLA does not support {_places(self.unsupported)}."
        for mode, outcome in self.differing.items():
            if not (mode == "XLA" and self.unsupported):
                yield f"{mode} {self._how(outcome)}."
        if self.vanished and "XLA" not in self.errors:
            number = "a check" if len(self.vanished) == 1 else f"{len(self.vanished)} checks"
            yield f"XLA leaves out {number}: {', '.join(self.vanished)}."
        if not self.settled:
            how = self.itself.describe("its", "the first time")
            yield f"The graph differs from itself, so other numbers say nothing: {how}."
        elif not self.decidable:
            yield self._not_decidable()
        if self.agrees:
            yield self._same()
        elif not self.compared:
            yield "It returns nothing and changes no variable: there was nothing to compare."

    def _not_decidable(self):
        modes = [mode for mode, o in self.outcomes.items() if not (o.agrees or o.error)]
        where = f"Not decidable for {' and '.join(modes)}:"
        draws = ", ".join(map(str, self.draws))
        return f"{where} it draws random numbers ({draws}), and each mode may draw its own."

    def _same(self):
        where = "in all three modes" if len(self.outcomes) == 3 else "as a graph and under XLA"
        outcomes = self.outcomes.values()
        zeros = {place for o in outcomes for place in _zeros(o)}
        parts = {path for o in outcomes for path, _ in leaves(o.result)} - zeros
        changed = dict.fromkeys(name for o in outcomes for name in o.state)
        changed = [name for name in changed if f"variables[{name!r}]" not in zeros]
        same = ["result"] if parts else []
        same += [f"values in {_variables(changed)}"] if changed else []
        if not same:
            return "All that there is to compare is practically zero."
        return f"The same {' and the same '.join(same)} {where}."

    def _remarks(self):
        compiled = "graph" in self.outcomes and self["graph"].evidence.programs
        if compiled and self.clustered:
            yield f"Parts of its graph were compiled: XLA ran {compiled} program(s) in it."
        elif compiled:
            yield f"Its graph holds compiled functions: XLA ran {compiled} program(s) in it."
        zeros = dict.fromkeys(x for o in self.outcomes.values() for x in _zeros(o))
        if zeros and self.tolerance:
            yield f"Practically zero, and so not compared: {_some(list(zeros))}."
        if self.switched_off:
            layers = _places(self.switched_off)
            yield f"Keras' own `fit` and `predict` run it without XLA, because of {layers}."
        if self.not_put_back:
            yield f"Not put back: {', '.join(self.not_put_back)}."

    @property
    def mends(self) -> Table:
        """A row for all that is refused: what, in which layer, at which line, and the mend."""
        refused = (*self.unsupported, *self.switched_off)
        rows = [[r.operation, r.layer, r.line, r.mend] for r in refused]
        heads = ["refused", "layer", "line", "what to do"]
        return tabulate(f"{self.function}: {len(rows)} to mend.", heads, rows)

    def _title(self):
        return f"{self.function}: {self.summary}"

    def _columns(self):
        return ["", "outcome", f"against {next(iter(self.outcomes))}"]

    def _rows(self):
        return [[mode, o.short, self._against_first(o)] for mode, o in self.outcomes.items()]

    def _against_first(self, outcome):
        """The last column of the table."""
        first = next(iter(self.outcomes.values()))
        if outcome is first:
            return ""
        if outcome.error is not None and first.error is not None:
            return "an error too"
        if outcome.difference is not None and not (outcome.agrees or self._comparable):
            return "not decidable"
        if not outcome.agrees:
            return self._how(outcome)
        size = outcome.difference.size
        return f"the same to {size:.1g}" if size else "the same"

    def _how(self, outcome):
        """In words, how an outcome differs from that of the first mode."""
        difference = outcome.difference
        if difference is None:
            what = ("a result", "an error") if outcome.error is None else ("an error", "a result")
            return f"gives {what[0]} instead of {what[1]}"
        inside = "" if difference.place == "result" else f" in {difference.place}"
        if difference.reason == "numbers":
            sizes = f"{difference.size:.1g} (relative; {difference.absolute:.1g} absolute)"
            return f"differs{inside} by {sizes}, allowed {self.tolerance:.1g}"
        if difference.reason == "entries":
            return f"differs{inside} in {difference.here} of {difference.there} entries"
        return f"differs: {difference.describe('its', next(iter(self.outcomes)))}"


def check(fn: Callable, /, *args, tolerance: float = TOLERANCE, **kwargs) -> Check:
    """Call ``fn(*args, **kwargs)`` eagerly, as a graph and compiled, and compare the three.

    fn: a function, method, Keras model, `tf.Module`, `tf.function`, or a SavedModel, of which the
    folder will do. It is compiled by ``tf.function(fn, jit_compile=True)``, which `check` builds
    itself; a `tf.function` is unwrapped to the Python function inside it, and its options are not
    used. In eager mode every `tf.function` that `fn` calls runs eagerly too. What holds no Python,
    such as a SavedModel, has no eager mode, and is compared with its graph. NumPy arrays are made
    tensors first.

    Results are equal when they differ by at most `tolerance`, relative to the largest magnitude
    of each array. Integers, text and shapes must be the same, and NaN must stand in the same
    places. Two errors are not compared. Variables that a call changes belong to its result; each
    mode starts with the values that they have now, and they have them again afterwards. What
    cannot be put back is named in `Check.not_put_back`.

    Variables are those that the trace shows and that the Python around `fn` names; what neither
    shows is not compared. Where the modes differ, the graph is called again and traced anew: where
    it then differs from itself, nothing is said about XLA. Where random numbers are drawn and
    results differ, it is not decidable whether the rest agrees.

    `Check.unsupported` holds what XLA's error names, which is the first operation only, and the
    other operations of the graph that no compiler kernel is registered for.
    Introduced in notebook 02, explained in notebook 08.

    tolerance: the relative difference that is allowed. An argument of `fn` with that name must be
    bound beforehand, by `functools.partial`.

    Returns: a `Check`; an error of `fn` is an outcome in it.
    Raises: TypeError when `fn` cannot be called, ValueError for a tolerance that is no number,
    RuntimeError inside of a `tf.function`.

    >>> import tensorflow as tf
    >>> def third(v):
    ...     return tf.gather(v, [3])
    >>> found = check(third, tf.constant([1.0, 2.0]))
    >>> list(found.errors), found["XLA"].result.tolist()
    (['eager', 'graph'], [2.0])
    """
    import tensorflow as tf

    check_tolerance(tolerance)
    if not tf.executing_eagerly():
        raise RuntimeError("check() was called inside of a tf.function: call it from plain Python")
    fn = resolve(fn)
    args, kwargs = as_tensors(args), as_tensors(kwargs)
    plain, state, trials = plain_callable(fn), State(fn), {}
    graph = tf.function(plain)
    with run_functions_eagerly(False):
        found = _found(graph, args, kwargs, state)
    if not holds_no_python(fn):
        with run_functions_eagerly(True):
            trials["eager"] = run(plain, args, kwargs, state)
    with run_functions_eagerly(False):
        trials["graph"] = run(graph, args, kwargs, state)
        trials["XLA"] = run(tf.function(plain, jit_compile=True), args, kwargs, state)
        if "eager" in trials and _is_graph(trials["eager"].evidence):
            del trials["eager"]
        outcomes = _outcomes(state, trials, tolerance)
        itself = None
        if any(outcome.difference and not outcome.agrees for outcome in outcomes.values()):
            again = (run(one, args, kwargs, state) for one in (graph, tf.function(plain)))
            itself = _itself(state, trials["graph"], again)
    layers = layers_of(fn)
    return Check(
        function=name_of(fn),
        outcomes=outcomes,
        unsupported=unsupported_in(found, trials["XLA"].error, layers),
        switched_off=refused_by_keras(fn),
        vanished=checks_in(found),
        draws=draws_in(found, layers),
        not_put_back=tuple(dict.fromkeys(effects_in(found, layers))),
        itself=itself,
        tolerance=tolerance,
        clustered=_clusters(),
    )


def _clusters():
    """Whether TensorFlow is set to compile parts of graphs by itself."""
    import tensorflow as tf

    by_flag = "tf_xla_auto_jit" in os.environ.get("TF_XLA_FLAGS", "")
    return by_flag or bool(tf.config.optimizer.get_jit())


def _found(function, args, kwargs, state):
    """The operations of the graph; nothing when it has none: then its outcome says why."""
    try:
        trace(function, args, kwargs, state)
        return list(operations_in(function.get_concrete_function(*args, **kwargs).graph))
    except Exception:
        return []


def _is_graph(evidence):
    """Whether a call in eager mode ran nothing but graphs, because there is no Python inside."""
    return evidence.mode == "graph" and not evidence.eager


def _itself(state, once, others):
    """The largest difference of calls of the graph from the first one."""
    found = (difference_between(other, once, state, equal_nan=True) for other in others)
    return max(found, key=by_size)


def _outcomes(state, trials, tolerance):
    first = next(iter(trials.values()))
    outcomes = {}
    for mode, trial in trials.items():
        outcome = Outcome(mode, trial.result, trial.error, trial.state, trial.evidence)
        outcomes[mode] = replace(outcome, **_against(state, trial, first, tolerance))
    return outcomes


def _against(state, trial, first, tolerance):
    """What sets an outcome apart from that of the first mode."""
    if trial.error is not None or first.error is not None:
        return {"agrees": trial.error is not None and first.error is not None}
    difference = difference_between(trial, first, state, equal_nan=True)
    return {"difference": difference, "agrees": difference.within(tolerance)}


def _holds(outcome):
    return bool(outcome.state) or holds_something(outcome.result)


def _zeros(outcome):
    return outcome.difference.zeros if outcome.difference else ()


def _places(refusals):
    return ", ".join(refusal.where for refusal in refusals)


def _variables(names):
    if len(names) == 1:
        return f"variable {names[0]}"
    return f"{len(names)} variables ({_some(names)})"


def _some(names):
    return ", ".join(names[:NAMES]) + (", …" if len(names) > NAMES else "")


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
