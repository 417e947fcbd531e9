"""Run a function eagerly, as a graph and compiled, and say where the three differ."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from ..calls import Call
from ..differences import TOLERANCE, Sensitive
from ..equality import judge
from ..errors import check_number
from ..first_calls import FirstCalls, call_each
from ..modes import MODES, functions_run_eagerly, modes_of
from ..outcomes import FirstCall, random_ops_in
from ..tables import Table, abbreviate, table
from . import check_words
from .layers import layers_of
from .manual import see_about
from .operations import (
    UnsupportedOp,
    compiled_in,
    dropped_checks_in,
    operations_in,
    unsupported_in,
)


@dataclass(frozen=True, repr=False)
class Check(Table):
    """The outcomes of one call in each mode: "eager", "graph" and "XLA".

    Attributes:
        function: Its name.
        outcomes: Mode to `FirstCall`; without "eager" for a graph that has no Python.
        unsupported: What XLA refuses: what its error names, which is the first operation only, and
            all others of the graph that it has no code for.
        jit_unsupported_layers: The paths of the layers because of which Keras compiles none of
            their model with XLA when it decides.
        dropped_checks: The names of the checks that XLA leaves out.
        inconclusive: Why the outcomes were not compared, or "".
        tolerance: The relative difference that was allowed.
        sensitive: The arrays that were not compared, because rounding alone moves them: they move
            so when the arguments of the graph are moved by their last bit.
        compiled: The names of the functions in the graph that are compiled all the same.
        unrestored: What the function may change and is neither compared nor put back, such as "an
            iterator".
    """

    function: str
    outcomes: dict[str, FirstCall]
    unsupported: tuple[UnsupportedOp, ...] = ()
    jit_unsupported_layers: tuple[str, ...] = ()
    dropped_checks: tuple[str, ...] = ()
    inconclusive: str = ""
    tolerance: float = TOLERANCE
    sensitive: tuple[Sensitive, ...] = ()
    compiled: tuple[str, ...] = ()
    unrestored: tuple[str, ...] = ()

    def __getitem__(self, mode: str) -> FirstCall:
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
    def differing(self) -> dict[str, FirstCall]:
        """Mode to outcome, for the modes that differ from the first.

        Where that is inconclusive, only an error on one side counts.
        """
        different = {mode: o for mode, o in self.outcomes.items() if not o.agrees}
        return {m: o for m, o in different.items() if not (self.inconclusive and o.difference)}

    @property
    def agrees(self) -> bool:
        """Whether all modes gave the same result, all was compared, and XLA left out no check."""
        unlike = self.errors or self.differing or self.dropped_checks
        return not (unlike or self.inconclusive or self.sensitive)

    @property
    def compiled_by(self) -> str:
        """What made XLA run in the graph; "" where it did not."""
        graph = self.outcomes.get("graph", FirstCall())
        if not (graph.evidence.programs or graph.compilations):
            return ""
        inside = "an operation inside, or clusters (TF_XLA_FLAGS or `tf.config.optimizer.set_jit`)"
        return abbreviate(self.compiled) or inside

    @property
    def summary(self) -> str:
        """What was found, in words."""
        return check_words.summary_of(self)

    @property
    def objection(self) -> str:
        """Why XLA cannot stand in for the first mode, in words; "" where nothing speaks against it.

        Results that were not compared do not.
        """
        return check_words.objection_of(self)

    @property
    def see(self) -> str:
        """The row of docs/messages.md that is about what was found, in words; "" for none."""
        return see_about(f"{self.errors.get('XLA')} {self.summary}")

    @property
    def fixes(self) -> Table:
        """A table of what XLA refuses, with its layer, its line and a fix."""
        rows = [[one.operation, one.layer, one.line, one.fix] for one in self.unsupported]
        title = f"{self.function}: {len(rows)} to fix."
        return table(title, ["refused", "layer", "line", "fix"], rows)

    def against(self, mode: str) -> str:
        """How a mode compares with the first one, in words; "" for the first one itself."""
        return check_words.against_first(self, mode)

    def _parts(self):
        first = next(iter(self.outcomes))
        rows = [[mode, o.short, self.against(mode)] for mode, o in self.outcomes.items()]
        title, columns = f"{self.function}: {self.summary}.", ["", "outcome", f"against {first}"]
        return title, columns, rows, *check_words.notes_on(self)


def check(fn: Callable, args=(), kwargs=None, *, tolerance=TOLERANCE) -> Check:
    """Call ``fn(*args, **kwargs)`` eagerly, as a graph and compiled, and compare the three.

    The first calls are those of `compare`, over three modes of one function: the same equality, and
    the same variables are part of the result and restored. What is compiled is the Python inside
    `fn`; options of a `tf.function` are not used, and in eager mode all that it calls runs eagerly.
    A graph without Python, such as a concrete function, has no eager mode. NumPy arrays are made
    tensors first. Iterators, tables and files are neither compared nor restored; the result says
    how many of them the graph may change. Where XLA ends the process, it ends yours: `decide_file`
    measures in others.

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
        TypeError: When `fn` cannot be called or `args` is not a tuple.
        ValueError: When `tolerance` is not a number, and for a Keras model that is not built.
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
    call = Call(fn, args, kwargs).with_tensors()
    calls = {mode: Call(f, call.args, call.kwargs) for mode, f in modes_of(call.python).items()}
    with functions_run_eagerly(False):
        return check_of(call_each(calls, tolerance))


def check_of(first_calls: FirstCalls) -> Check:
    """The `Check` of first calls of the modes of one function; others are left out.

    The first mode is the one that the others are compared with.
    """
    graph = first_calls.calls["graph"]
    modes = [mode for mode in first_calls.outcomes if mode in MODES]
    if "eager" in modes:
        ran = first_calls.outcomes["eager"].evidence
        only_graphs = (ran.graphs or ran.programs) and not ran.eager  # there is no Python
        if only_graphs or hasattr(graph.python, "function_def"):
            modes.remove("eager")
    found = judge(first_calls.only(modes))
    operations: list = []
    with suppress(Exception):  # a trace that fails is an outcome above
        operations = list(operations_in(graph.concrete().graph))
    layers = layers_of(graph.python)
    jit_unsupported = (x for x in layers if not getattr(layers[x], "supports_jit", True))
    return Check(
        function=graph.name,
        outcomes=dict(found.outcomes),
        unsupported=unsupported_in(operations, found.outcomes["XLA"].error, layers),
        jit_unsupported_layers=tuple(jit_unsupported),
        dropped_checks=dropped_checks_in(operations),
        inconclusive=found.inconclusive,
        tolerance=first_calls.tolerance,
        sensitive=found.sensitive,
        compiled=compiled_in(operations),
        unrestored=tuple(first_calls.snapshot.unrestored),
    )
