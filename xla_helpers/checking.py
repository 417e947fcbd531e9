"""Run a function eagerly, as a graph and compiled, and say where the three differ."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from .calls import Call, State
from .differences import TOLERANCE
from .errors import check_number
from .operations import Place, dropped_checks_in, layers_of, operations_in, unsupported_in
from .outcomes import Outcome, compare_outcomes, first_calls, random_ops_in
from .startup import functions_run_eagerly
from .tables import Table, first_of, table


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
    """

    function: str
    outcomes: dict[str, Outcome]
    unsupported: tuple[Place, ...] = ()
    jit_unsupported_layers: tuple[str, ...] = ()
    dropped_checks: tuple[str, ...] = ()
    undecided: str = ""
    tolerance: float = TOLERANCE

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

    def _parts(self):
        first = next(iter(self.outcomes))
        said = "the same in all modes" + (", but XLA drops checks" if self.dropped_checks else "")
        if self.unsupported:
            said = f"XLA does not support {first_of(self.unsupported, 9)}"
        elif self.differing:
            said = "; ".join(f"{mode}: {self.against(mode)}" for mode in self.differing)
        elif self.undecided:
            said = f"not compared: {self.undecided}"
        rows = [[mode, o.short, self.against(mode)] for mode, o in self.outcomes.items()]
        changed = dict.fromkeys(name for o in self.outcomes.values() for name in o.variables)
        programs = "graph" in self.outcomes and self["graph"].evidence.programs
        notes = {
            "Changes variables": changed,
            "Dropped by XLA": () if "XLA" in self.errors else self.dropped_checks,
            "Programs of XLA that ran in the graph, too": [programs] if programs else (),
            "Keras' own `fit` leaves XLA out because of": self.jit_unsupported_layers,
        }
        said_too = [f"{words}: {first_of(found)}." for words, found in notes.items() if found]
        return f"{self.function}: {said}.", ["", "outcome", f"against {first}"], rows, *said_too


def check(fn: Callable, args=(), kwargs=None, *, tolerance=TOLERANCE) -> Check:
    """Call ``fn(*args, **kwargs)`` eagerly, as a graph and compiled, and compare the three.

    It is the first half of `compare`, over three modes of one function: the same equality, and the
    same variables are part of the result and restored. What is compiled is the Python inside `fn`;
    options of a `tf.function` are not used, and in eager mode all that it calls runs eagerly. A
    graph without Python, such as a concrete function, has no eager mode. NumPy arrays are made
    tensors first. Iterators, tables and files are neither compared nor restored.

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
    call = Call(fn, args, kwargs).with_tensors()
    plain, state = call.python, State()

    def eagerly(*args, **kwargs):
        with functions_run_eagerly(True):
            return plain(*args, **kwargs)

    compiled = tf.function(plain, jit_compile=True)
    modes = {"eager": eagerly, "graph": tf.function(plain), "XLA": compiled}
    calls = {mode: Call(fn, call.args, call.keywords) for mode, fn in modes.items()}
    with functions_run_eagerly(False):
        outcomes = first_calls(calls, state)
        ran = outcomes["eager"].evidence
        if call.is_concrete or ((ran.graphs or ran.programs) and not ran.eager):
            del outcomes["eager"]
        outcomes, undecided = compare_outcomes(outcomes, tolerance, state)
        found = []
        with suppress(Exception):  # a trace that fails is an outcome above
            found = list(operations_in(calls["graph"].concrete().graph))
    layers = layers_of(plain)
    jit_unsupported = (x for x in layers if not getattr(layers[x], "supports_jit", True))
    unsupported = unsupported_in(found, outcomes["XLA"].error, layers)
    facts = unsupported, tuple(jit_unsupported), dropped_checks_in(found)
    return Check(call.name, outcomes, *facts, undecided, tolerance)
