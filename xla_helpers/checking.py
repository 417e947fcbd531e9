"""Run a function eagerly, as a graph and compiled, and say where the three part."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from .agreement import TOLERANCE, Difference, largest_difference
from .errors import headline
from .operations import checks_in, draws_in, operations_in, unsupported_in
from .tables import Table, cut
from .validation import check_callable

SHOWN = 64  # characters of an outcome in a table
ENTRIES = 6  # entries of an array that are shown


@dataclass(frozen=True)
class Outcome:
    """What one mode made of a call.

    result: what it returned, tensors as NumPy arrays; None after an error. error: what it raised.
    difference: from eager's result; None where one of the two has no result. agrees: whether it
    came out as in eager mode, to the tolerance of the check.
    """

    mode: str
    result: object = None
    error: Exception | None = None
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
    """The outcomes of one call in three modes: "eager", "graph" and "XLA".

    function: its name. outcomes: mode to `Outcome`. unsupported: the operations because of which
    XLA refuses the function. vanished: the checks in the graph that XLA leaves out, by name.
    random: the operations in the graph that draw random numbers. tolerance: the relative
    difference that was allowed.
    """

    function: str
    outcomes: dict[str, Outcome]
    unsupported: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()
    random: tuple[str, ...] = ()
    tolerance: float = TOLERANCE

    def __getitem__(self, mode: str) -> Outcome:
        return self.outcomes[mode]

    @property
    def errors(self) -> dict[str, Exception]:
        """Mode to what it raised, for the modes that gave no result."""
        return {mode: o.error for mode, o in self.outcomes.items() if o.error is not None}

    @property
    def differing(self) -> dict[str, Outcome]:
        """Mode to its outcome, for the modes in which it came out otherwise than eagerly."""
        return {mode: o for mode, o in self.outcomes.items() if not o.agrees}

    @property
    def agrees(self) -> bool:
        """True when all modes gave the same result, and XLA left out no check."""
        return not (self.errors or self.differing or self.vanished)

    @property
    def summary(self) -> str:
        """What was found, in a sentence or a few."""
        return " ".join(self._sentences()) or "The same result in all three modes."

    def _sentences(self):
        if len(self.errors) == len(self.outcomes):
            yield "It fails in every mode: look at the arguments first."
        if self.unsupported:
            yield f"XLA does not support {', '.join(self.unsupported)}."
        for mode, outcome in self.differing.items():
            if not (mode == "XLA" and self.unsupported):
                yield f"{mode} {self._how(outcome)}."
        if self.vanished:
            number = "a check" if len(self.vanished) == 1 else f"{len(self.vanished)} checks"
            yield f"XLA leaves out {number}: {', '.join(self.vanished)}."
        if self.differing and self.random:
            yield f"It draws random numbers ({', '.join(self.random)}): each mode may draw its own."

    def _title(self):
        return f"{self.function}: {self.summary}"

    def _columns(self):
        return ["", "outcome", "against eager"]

    def _rows(self):
        return [[mode, o.short, self._against_eager(o)] for mode, o in self.outcomes.items()]

    def _against_eager(self, outcome):
        """The last column of the table."""
        if outcome.mode == "eager":
            return ""
        if outcome.error is not None and self["eager"].error is not None:
            return "an error too"
        if not outcome.agrees:
            return self._how(outcome)
        size = outcome.difference.size
        return f"the same to {size:.1g}" if size else "the same"

    def _how(self, outcome):
        """In words, how an outcome differs from eager's."""
        difference = outcome.difference
        if difference is None:
            what = ("a result", "an error") if outcome.error is None else ("an error", "a result")
            return f"gives {what[0]} instead of {what[1]}"
        if difference.reason == "numbers":
            return f"differs by {difference.size:.1g}, allowed {self.tolerance:.1g}"
        if difference.reason == "entries":
            return f"differs in {difference.here} of {difference.there} entries"
        return f"differs: {difference.describe('its', 'eager')}"


def check(fn: Callable, *args, tolerance: float = TOLERANCE) -> Check:
    """Call ``fn(*args)`` eagerly, as a graph and compiled, and compare the three.

    It builds ``tf.function(fn)`` and ``tf.function(fn, jit_compile=True)`` itself. A `tf.function`
    is unwrapped to the Python function inside it, and its options are not used. In eager mode
    every `tf.function` that `fn` calls runs eagerly too. NumPy arrays are made tensors first.

    Results are equal when they differ by at most `tolerance`, relative to the largest magnitude
    of each array. Integers, text and shapes must be the same, and NaN must stand in the same
    places. Two errors are not compared. Variables that the graph uses start each mode with the
    values that they have now, and have them again afterwards. Other state, such as a Python list
    or the place in a stream of random numbers, goes on from mode to mode. A function loaded from
    a SavedModel holds no Python, so its first row is a graph too.

    `Check.unsupported` holds what XLA's error names, which is the first operation only, and the
    other operations of the graph that no compiler kernel is registered for.
    Introduced in notebook 08.

    tolerance: the relative difference that is allowed.

    Returns: a `Check`; an error of `fn` is an outcome in it.
    Raises: TypeError when `fn` cannot be called or is a graph already, RuntimeError inside of a
    `tf.function`.

    >>> import tensorflow as tf
    >>> def third(v):
    ...     return tf.gather(v, [3])
    >>> found = check(third, tf.constant([1.0, 2.0]))
    >>> list(found.errors), found["XLA"].result.tolist()
    (['eager', 'graph'], [2.0])
    """
    import tensorflow as tf

    check_callable(fn)
    if isinstance(fn, tf.types.experimental.ConcreteFunction):
        raise TypeError("`fn` is a ConcreteFunction, a graph already: give the Python function")
    if not tf.executing_eagerly():
        raise RuntimeError("check() was called inside of a tf.function: call it from plain Python")
    python = getattr(fn, "python_function", fn)
    args = tf.nest.map_structure(_as_tensor, args)
    modes = {
        "eager": python,
        "graph": tf.function(python),
        "XLA": tf.function(python, jit_compile=True),
    }
    graph = _trace(modes["graph"], args)
    outcomes = {}
    for mode, function in modes.items():
        with _variables_restored(graph):
            outcome = _run(mode, function, args)
        outcomes[mode] = _against_eager(outcome, outcomes.get("eager", outcome), tolerance)
    operations = list(operations_in(graph.as_graph_def())) if graph else []
    return Check(
        function=_name(python),
        outcomes=outcomes,
        unsupported=unsupported_in(operations, outcomes["XLA"].error),
        vanished=checks_in(operations),
        random=draws_in(operations),
        tolerance=tolerance,
    )


def _as_tensor(value):
    import tensorflow as tf

    return tf.convert_to_tensor(value) if isinstance(value, (np.ndarray, np.generic)) else value


def _name(function):
    """Its own name; that of its class for a model, which has none; a lambda has neither."""
    name = getattr(function, "__name__", type(function).__name__)
    return "the function" if name == "<lambda>" else name


@contextmanager
def _functions_run_eagerly(eagerly: bool) -> Iterator[None]:
    """The same whatever the caller has set, and afterwards as the caller has set it."""
    import tensorflow as tf

    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(eagerly)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(before)


def _trace(function, args):
    """The graph of the call, or None when it has none: then the modes below say why."""
    with _functions_run_eagerly(False):
        try:
            return function.get_concrete_function(*args).graph
        except Exception:
            return None


@contextmanager
def _variables_restored(graph) -> Iterator[None]:
    """The variables that the graph uses, found as they were after the block."""
    saved = (
        [(variable, np.array(variable.numpy())) for variable in graph.variables] if graph else []
    )
    try:
        yield
    finally:
        for variable, value in saved:
            variable.assign(value)


def _run(mode, function, args):
    import tensorflow as tf

    with _functions_run_eagerly(mode == "eager"):
        try:
            if mode != "eager":  # traced apart, a call is no reason to warn of retracing
                function.get_concrete_function(*args)
            return Outcome(mode, tf.nest.map_structure(_as_array, function(*args)))
        except Exception as error:
            return Outcome(mode, error=error)


def _as_array(leaf):
    """A leaf of a result as NumPy; what has parts, such as a ragged tensor, as the list of them."""
    import tensorflow as tf

    if isinstance(leaf, tf.Variable):
        leaf = leaf.value()
    parts = tf.nest.flatten(leaf, expand_composites=True)
    if len(parts) != 1 or parts[0] is not leaf:
        return [_as_array(part) for part in parts]
    if isinstance(leaf, str):
        return np.asarray(leaf.encode(), object)  # as a tensor of text gives it
    return leaf if leaf is None else np.asarray(leaf)


def _against_eager(outcome, eager, tolerance):
    """The outcome with what sets it apart from eager's."""
    if outcome.error is not None or eager.error is not None:
        return replace(outcome, agrees=outcome.error is not None and eager.error is not None)
    difference = largest_difference(outcome.result, eager.result, equal_nan=True)
    return replace(outcome, difference=difference, agrees=difference.within(tolerance))


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
