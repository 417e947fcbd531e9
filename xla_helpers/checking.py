"""Run a function eagerly, as a graph and compiled, and say where the three part."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from .agreement import TOLERANCE, Difference, holds_something, leaves
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
from .state import NUMPY_STREAM, PYTHON_STREAM
from .tables import Table, cut, tabulate
from .targets import as_tensors, holds_no_python, name_of, plain_callable, resolve
from .trials import UNSEEN, Stage
from .validation import check_tolerance

FRESH = "With `fresh=True` each mode gets a copy of its own."
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
    draws: the operations in the graph that draw random numbers. depends_on: what a call changes
    of Python's own state, by name, where eager mode called twice differs from itself.
    not_put_back: all of Python's state that a call changes, and what else lasts, in words.
    itself: how the graph, called twice, differs from itself.
    tolerance: the relative difference that was allowed. clustered: whether TensorFlow was set to
    compile parts of graphs by itself.
    """

    function: str
    outcomes: dict[str, Outcome]
    unsupported: tuple[Refusal, ...] = ()
    switched_off: tuple[Refusal, ...] = ()
    vanished: tuple[str, ...] = ()
    draws: tuple[Draw, ...] = ()
    depends_on: tuple[str, ...] = ()
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
        """Whether the graph, called twice from one state, did the same both times."""
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
        return self.settled and not self.draws and not self.depends_on

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
        if self.draws:
            draws = ", ".join(map(str, self.draws))
            return f"{where} it draws random numbers ({draws}), and each mode may draw its own."
        names = ", ".join(self.depends_on)
        return f"{where} called twice, eager mode differs from itself; it changes {names}. {FRESH}"

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


def check(
    fn: Callable, /, *args, tolerance: float = TOLERANCE, fresh: bool = False, **kwargs
) -> Check:
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

    The graph is called twice: where it differs from itself, nothing is said about XLA. Where
    random numbers are drawn and results differ, it is not decidable whether the rest agrees.

    `Check.unsupported` holds what XLA's error names, which is the first operation only, and the
    other operations of the graph that no compiler kernel is registered for.
    Introduced in notebook 02, explained in notebook 08.

    tolerance: the relative difference that is allowed. fresh: whether `fn` is called without
    arguments, once for each mode, for a new copy of what is checked, such as a step with an
    optimizer of its own; the copies begin with equal variables. An argument of `fn` named like
    one of these two must be bound beforehand, by `functools.partial`.

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
    fn = fn if fresh else resolve(fn)
    args, kwargs = as_tensors(args), as_tensors(kwargs)
    stage = Stage()

    def build():
        return plain_callable(stage.build(fn) if fresh else fn)

    trials, eager = {}, build()
    with run_functions_eagerly(True):
        trials["eager"] = stage.run(eager, args, kwargs)
    with run_functions_eagerly(False):
        graph = tf.function(build())
        trials["graph"] = stage.run(graph, args, kwargs)
        again = stage.run(graph, args, kwargs)
        found = _found(graph, args, kwargs)
        trials["XLA"] = stage.run(tf.function(build(), jit_compile=True), args, kwargs)
    if holds_no_python(eager if fresh else fn) or _is_graph(trials["eager"].evidence):
        del trials["eager"]
    outcomes = _outcomes(stage, trials, tolerance)
    depends_on = ()
    other_numbers = any(o.difference and not o.agrees for o in outcomes.values())
    if "eager" in trials and not fresh and other_numbers:
        depends_on = _depends_on(stage, eager, trials["eager"], tolerance, args, kwargs)
    layers = layers_of(eager)
    moved = () if fresh else _lasting(trials.values(), depends_on)
    return Check(
        function=name_of(eager if fresh else fn),
        outcomes=outcomes,
        unsupported=unsupported_in(found, trials["XLA"].error, layers),
        switched_off=refused_by_keras(eager),
        vanished=checks_in(found),
        draws=(*draws_in(found, layers), *_drawn_by_python(depends_on)),
        depends_on=depends_on,
        not_put_back=_once([*moved, *effects_in(found, layers)]),
        itself=_itself(stage, trials["graph"], again),
        tolerance=tolerance,
        clustered=_clusters(),
    )


def _clusters():
    """Whether TensorFlow is set to compile parts of graphs by itself."""
    import tensorflow as tf

    by_flag = "tf_xla_auto_jit" in os.environ.get("TF_XLA_FLAGS", "")
    return by_flag or bool(tf.config.optimizer.get_jit())


def _found(function, args, kwargs):
    """The operations of the graph; nothing when it has none: then its outcome says why."""
    try:
        return list(operations_in(function.get_concrete_function(*args, **kwargs).graph))
    except Exception:
        return []


def _once(names):
    return tuple(dict.fromkeys(names))


def _is_graph(evidence):
    """Whether a call in eager mode ran nothing but graphs, because there is no Python inside."""
    return evidence.mode == "graph" and not evidence.eager


def _depends_on(stage, eager, trial, tolerance, args, kwargs):
    """What a call changes of Python's state, where eager mode does not do the same twice."""
    with run_functions_eagerly(True):
        repeats = stage.repeats(eager, trial, tolerance, args, kwargs)
    return () if repeats else trial.moved or (UNSEEN,)


def _itself(stage, once, again):
    """The difference of two calls of the graph; None where both of them failed."""
    if once.error is not None and again.error is not None:
        return None
    return stage.difference(again, once, equal_nan=True)


def _lasting(trials, depends_on):
    """What the calls changed of Python's state. A stream counts where it has a bearing.

    Keras takes the seeds of a model's weights from Python's stream when it makes them.
    """
    moved = dict.fromkeys(name for trial in trials for name in trial.moved)
    streams = {NUMPY_STREAM, PYTHON_STREAM} - {*depends_on}
    return tuple(name for name in moved if name not in streams)


def _drawn_by_python(moved):
    streams = {NUMPY_STREAM: "numpy.random", PYTHON_STREAM: "Python's random"}
    return [Draw(name, "", "") for stream, name in streams.items() if stream in moved]


def _outcomes(stage, trials, tolerance):
    first = next(iter(trials.values()))
    outcomes = {}
    for mode, trial in trials.items():
        outcome = Outcome(mode, trial.result, trial.error, trial.state, trial.evidence)
        outcomes[mode] = replace(outcome, **_against(stage, trial, first, tolerance))
    return outcomes


def _against(stage, trial, first, tolerance):
    """What sets an outcome apart from that of the first mode."""
    if trial.error is not None or first.error is not None:
        return {"agrees": trial.error is not None and first.error is not None}
    difference = stage.difference(trial, first, equal_nan=True)
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
