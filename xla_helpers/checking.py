"""Run a function eagerly, as a graph and compiled, and say where the three differ."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .calls import MODES, Call, State
from .differences import TOLERANCE
from .errors import check_number, headline
from .operations import (
    KNOWN,
    Place,
    compiled_in,
    dropped_checks_in,
    layers_of,
    operations_in,
    see,
    unsupported_in,
)
from .outcomes import Outcome, compare_outcomes, first_calls, random_ops_in
from .startup import functions_run_eagerly
from .tables import Table, first_of, table

CAVEATS = {
    "rounded": "Not compared, because rounding alone moves them",
    "built": "Built eagerly first; a first call that is compiled may make other weights",
}
"""Attributes of a `Check` to what they say."""


@dataclass(frozen=True, repr=False)
class Check(Table):
    """The outcomes of one call in each mode: "eager", "graph" and "XLA".

    Attributes:
        function: Its name.
        outcomes: Mode to `Outcome`; without "eager" for a graph that has no Python.
        unsupported: What XLA refuses: what its error names, which is the first operation only, and
            all others of the graph that it has no code for.
        jit_unsupported_layers: The paths of the layers because of which Keras compiles none of
            their model with XLA when it decides.
        dropped_checks: The names of the checks that XLA leaves out.
        undecided: Why the outcomes were not compared, or "".
        tolerance: The relative difference that was allowed.
        rounded: The places of the arrays that were not compared, because rounding alone moves them:
            so they do when the arguments of the graph are moved by their last bit.
        compiled: The names of the functions in the graph that are compiled all the same.
        built: The names of the models that were built first, eagerly.
    """

    function: str
    outcomes: dict[str, Outcome]
    unsupported: tuple[Place, ...] = ()
    jit_unsupported_layers: tuple[str, ...] = ()
    dropped_checks: tuple[str, ...] = ()
    undecided: str = ""
    tolerance: float = TOLERANCE
    rounded: tuple[str, ...] = ()
    compiled: tuple[str, ...] = ()
    built: tuple[str, ...] = ()

    def __getitem__(self, mode: str) -> Outcome:
        return self.outcomes[mode]

    @property
    def errors(self) -> dict[str, Exception]:
        """Mode to what it raised, for the modes that gave no result."""
        return {mode: o.error for mode, o in self.outcomes.items() if o.error is not None}

    @property
    def random_ops(self) -> tuple[str, ...]:
        """The types of the operations that drew random numbers."""
        return random_ops_in(self.outcomes)

    @property
    def differing(self) -> dict[str, Outcome]:
        """Mode to outcome, for the modes that differ from the first.

        Where that is undecided, only an error on one side counts.
        """
        different = {mode: o for mode, o in self.outcomes.items() if not o.agrees}
        return {m: o for m, o in different.items() if not (self.undecided and o.difference)}

    @property
    def agrees(self) -> bool:
        """Whether all modes gave the same result, and XLA left out no check."""
        return not (self.errors or self.differing or self.dropped_checks or self.undecided)

    @property
    def see(self) -> str:
        """The row of docs/messages.md that is about what was found, in words; "" for none."""
        said = f"{self.errors.get('XLA')} {self.said}"
        return next((see(row) for words, row in KNOWN["manual"].items() if words in said), "")

    @property
    def compiled_by(self) -> str:
        """What made XLA run in the graph; "" where it did not."""
        if not ("graph" in self.outcomes and self["graph"].evidence.programs):
            return ""
        return first_of(self.compiled) or "clusters (TF_XLA_FLAGS or `tf.config.optimizer.set_jit`)"

    @property
    def fixes(self) -> Table:
        """A table of what XLA refuses, with its layer, its line and a fix."""
        rows = [[one.operation, one.layer, one.line, one.fix] for one in self.unsupported]
        title = f"{self.function}: {len(rows)} to fix."
        return table(title, ["refused", "layer", "line", "fix"], rows)

    def against(self, mode: str) -> str:
        """How a mode compares with the first one, in words; "" for the first."""
        first, outcome = next(iter(self.outcomes)), self[mode]
        difference = outcome.difference
        if mode == first:
            return ""
        if outcome.error is not None:
            return "an error too" if outcome.agrees else "an error instead of a result"
        if difference is None:
            return "a result instead of an error"
        if outcome.agrees:
            return f"the same to {difference.size:.1g}" if difference.size else "the same"
        return "not compared" if self.undecided else f"differs, {difference}"

    @property
    def said(self) -> str:
        """What was found, in words."""
        said = "the same in all modes" + (", but XLA drops checks" if self.dropped_checks else "")
        if self.unsupported:
            said = f"XLA does not support {first_of(self.unsupported, 9)}"
        elif self.differing:
            why = {mode: f": {headline(error)}" for mode, error in self.errors.items()}
            found = (f"{mode}: {self.against(mode)}{why.get(mode, '')}" for mode in self.differing)
            said = "; ".join(found)
        elif self.undecided:
            said = f"not compared: {self.undecided}"
        return said

    def _parts(self):
        first = next(iter(self.outcomes))
        rows = [[mode, o.short, self.against(mode)] for mode, o in self.outcomes.items()]
        changed = dict.fromkeys(name for o in self.outcomes.values() for name in o.variables)
        notes = {
            "Changes variables": changed,
            "Dropped by XLA": () if "XLA" in self.errors else self.dropped_checks,
            "XLA ran in the graph, too, by": [self.compiled_by] if self.compiled_by else (),
            **{words: getattr(self, name) for name, words in CAVEATS.items()},
            "Keras' own `fit` leaves XLA out because of": self.jit_unsupported_layers,
        }
        said_too = [f"{words}: {first_of(found)}." for words, found in notes.items() if found]
        title, columns = f"{self.function}: {self.said}.", ["", "outcome", f"against {first}"]
        return title, columns, rows, *said_too, *filter(None, [self.see])


def check(fn: Callable, args=(), kwargs=None, *, tolerance=TOLERANCE) -> Check:
    """Call ``fn(*args, **kwargs)`` eagerly, as a graph and compiled, and compare the three.

    The first calls are those of `compare`, over three modes of one function: the same equality, and
    the same variables are part of the result and restored. What is compiled is the Python inside
    `fn`; options of a `tf.function` are not used, and in eager mode all that it calls runs eagerly.
    A graph without Python, such as a concrete function, has no eager mode. NumPy arrays are made
    tensors first. Iterators, tables and files are neither compared nor restored. Where XLA ends the
    process, it ends yours: `decide_file` measures in others.

    Args:
        fn: A function, method, Keras model, `tf.Module`, `tf.function`, or what
            `tf.saved_model.load` returned.
        args: Its positional arguments, a tuple.
        kwargs: Its keyword arguments.
        tolerance: The relative difference that is allowed, as of `max_difference`; integers, text
            and shapes must be the same.

    Returns:
        A `Check`; an error of `fn` is an outcome in it.

    Raises:
        TypeError: When `fn` cannot be called or `args` is no tuple.
        ValueError: When `tolerance` is no number.
        RuntimeError: Inside a `tf.function`.

    Example:
        >>> import tensorflow as tf
        >>> def third(v):
        ...     return tf.gather(v, [3])
        >>> found = check(third, (tf.constant([1.0, 2.0]),))
        >>> list(found.errors), found["XLA"].result.tolist()
        (['eager', 'graph'], [2.0])
    """
    import tensorflow as tf

    check_number("tolerance", tolerance, zero=True)
    if not tf.executing_eagerly():
        raise RuntimeError("check() was called inside a tf.function: call it from plain Python")
    call, state = Call(fn, args, kwargs).with_tensors(), State()
    calls = {mode: Call(f, call.args, call.keywords) for mode, f in modes_of(call.python).items()}
    with functions_run_eagerly(False):
        return check_of(calls, first_calls(calls, state), tolerance, state)


def modes_of(python: Any) -> dict[str, Callable]:
    """Mode to a new function that runs `python` in it."""
    import tensorflow as tf

    def eagerly(*args, **kwargs):
        with functions_run_eagerly(True):
            return python(*args, **kwargs)

    eagerly.python_function = python  # type: ignore[attr-defined]  # as a `tf.function` has it
    compiled = tf.function(python, jit_compile=True)
    return {"eager": eagerly, "graph": tf.function(python), "XLA": compiled}


def check_of(calls, outcomes, tolerance, state) -> Check:
    """The `Check` of first calls of the modes of one function; others are left out."""
    graph, ran = calls["graph"], outcomes["eager"].evidence
    only_graphs = (ran.graphs or ran.programs) and not ran.eager  # there is no Python
    modes = MODES[1:] if only_graphs or hasattr(graph.python, "function_def") else MODES
    outcomes = {mode: outcomes[mode] for mode in modes}
    outcomes, undecided, rounded = compare_outcomes(calls, outcomes, tolerance, state)
    found: list = []
    with suppress(Exception):  # a trace that fails is an outcome above
        found = list(operations_in(graph.concrete().graph))
    layers = layers_of(graph.python)
    jit_unsupported = (x for x in layers if not getattr(layers[x], "supports_jit", True))
    return Check(
        graph.name,
        outcomes,
        unsupported_in(found, outcomes["XLA"].error, layers),
        tuple(jit_unsupported),
        dropped_checks_in(found),
        undecided,
        tolerance,
        rounded,
        compiled_in(found),
        tuple(state.built),
    )
