"""A function with its arguments, and the variables that its trace uses."""

import functools
import inspect
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import MethodType
from typing import Any

import numpy as np

from .errors import check_args
from .startup import functions_run_eagerly
from .tables import cut
from .timing import timed

MODES = ("eager", "graph", "XLA")
KEEP = "Keep what tf.saved_model.load returns in a global name, and give its method or signature."


def mode_of(label: str) -> str | None:
    """The mode with which a label begins, such as "XLA" for "XLA, padded"; else None."""
    first = label.partition(",")[0]
    return first if first in MODES else None


class Call(functools.partial):
    """A function with its arguments; the one of a `functools.partial` is taken out of it."""

    def __new__(cls, fn: Callable, args=(), kwargs=None):
        """Raise TypeError for `args` that are no tuple, and for what cannot be called."""
        check_args(args)
        while isinstance(fn, functools.partial):
            args, kwargs, fn = (*fn.args, *args), fn.keywords | dict(kwargs or {}), fn.func
        # An object that was loaded has its function in itself, and a class has one of others.
        loaded: Any = (
            fn if isinstance(fn, type) else getattr(fn, "__dict__", {}).get("__call__", fn)
        )
        if not callable(loaded):
            raise TypeError(f"{cut(repr(fn), 60)} cannot be called. {KEEP}")
        if type(loaded).__name__ == "RestoredFunction" and kwargs:  # its Python knows no names
            bound = loaded.function_type.bind(*args, **kwargs)
            args, kwargs = bound.args, bound.kwargs
        return super().__new__(cls, loaded, *args, **(kwargs or {}))

    @property
    def name(self) -> str:
        """The name of the function; of a model, that of its class."""
        return getattr(self.python, "__name__", None) or type(self.python).__name__

    @property
    def is_traced(self) -> bool:
        """Whether it is a `tf.function` that would run as a graph now."""
        if not hasattr(self.func, "experimental_get_tracing_count"):
            return False
        return not sys.modules["tensorflow"].config.functions_run_eagerly()

    @property
    def is_compiled(self) -> bool:
        """Whether it is a `tf.function` that was made with ``jit_compile=True``."""
        return self.is_traced and bool(getattr(self.func, "_jit_compile", None))

    @property
    def is_concrete(self) -> bool:
        """Whether it is a concrete function: one graph, without Python."""
        return hasattr(self.func, "function_def")

    @property
    def python(self) -> Any:
        """The Python function inside a `tf.function`, bound if it is a method; else as it is."""
        python = getattr(self.func, "python_function", self.func)
        method = inspect.unwrap(python)
        owner = getattr(getattr(method, "__self__", None), "target", None)  # a weak reference
        return python if owner is None else MethodType(method.__func__, owner)

    def concrete(self) -> Any:
        """The concrete function for these arguments, traced if need be."""
        fn: Any = self.func
        return fn if self.is_concrete else fn.get_concrete_function(*self.args, **self.keywords)

    def with_tensors(self) -> "Call":
        """The same call with tensors in place of NumPy arrays."""
        import tensorflow as tf

        def as_tensor(value):
            is_array = isinstance(value, (np.ndarray, np.generic))
            return tf.convert_to_tensor(value) if is_array else value

        return Call(self.func, *tf.nest.map_structure(as_tensor, (self.args, self.keywords)))

    def with_rounding(self, seed: int) -> "Call":
        """The same call with each floating number moved up or down by its last bit.

        Zeros, infinities and whole numbers, whose meaning would change, stay.
        """
        import tensorflow as tf
        from ml_dtypes import finfo

        signs = np.random.default_rng(seed)

        def moved(value):
            is_array = isinstance(value, (np.ndarray, tf.Tensor))
            if not is_array or not tf.as_dtype(value.dtype).is_floating:
                return value
            array = np.asarray(value)
            eps = signs.choice([-1, 1], array.shape) * float(finfo(array.dtype).eps)
            other = np.where(array == np.round(array), array, array * (1 + eps))
            return tf.convert_to_tensor(other.astype(array.dtype))

        given = tf.nest.map_structure(moved, (self.args, self.keywords), expand_composites=True)
        return Call(self.func, *given)

    def with_defaults(self) -> "Call":
        """The same call with all defaults, which some parts of TensorFlow do not look up."""
        given = inspect.signature(self.python).bind(*self.args, **self.keywords)
        given.apply_defaults()
        return Call(self.func, given.args, given.kwargs)


class State:
    """The variables of traced functions, with the values from which each call begins.

    A saved value shares its memory with the variable until the variable changes, because
    TensorFlow copies on write.
    """

    def __init__(self):
        self._saved = {}  # name to variable and value
        self.built: list[str] = []  # names of the models that `build` has built

    def add(self, variables) -> None:
        """Save the variables that are new, with their present values."""
        for variable in variables:
            if not any(variable is known for known, _ in self._saved.values()):
                name = variable.name.removesuffix(":0")
                name += f" ({len(self._saved) + 1})" if name in self._saved else ""
                self._saved[name] = variable, variable.read_value()

    def build(self, call: Call) -> None:
        """Call a Keras model or layer that is not built yet, eagerly; its variables are as made."""
        model = getattr(call.python, "__self__", call.python)
        if getattr(model, "built", True):
            return
        made = []

        def make(create, **facts):
            variable = create(**facts)
            made.append((variable, variable.read_value()))
            return variable

        import tensorflow as tf

        with suppress(Exception), functions_run_eagerly(True), tf.variable_creator_scope(make):
            call.python(*call.args, **call.keywords)
        for variable, value in made:
            variable.assign(value)
        self.built += [type(model).__name__] * model.built

    def trace(self, call: Call) -> float:
        """Trace a call, and save the variables that the trace uses, and those among its arguments.

        Plain Python of tensors, of arrays, or without arguments is traced too, once and without
        AutoGraph. Of other Python, and where that fails, nobody knows the variables, and they are
        not restored.

        Returns:
            The seconds of the trace, which its first call would take otherwise; 0 for Python that
            calls no `tf.function`.
        """
        if "tensorflow" not in sys.modules:
            return 0.0
        import tensorflow as tf

        given = tf.nest.flatten((call.args, call.keywords))
        self.add([value for value in given if isinstance(value, tf.Variable)])
        if call.is_traced or call.is_concrete:
            seconds, concrete = timed(call.concrete)
            with suppress(AssertionError):  # a loaded graph may have outlived its variables
                self.add(concrete.graph.variables)
            return seconds
        if given and not any(hasattr(value, "dtype") for value in given):
            return 0.0
        graphs: list = []

        def traced(*args, **kwargs):
            graphs.append(tf.compat.v1.get_default_graph())
            return call.func(*args, **kwargs)

        start = time.perf_counter()
        with suppress(Exception):  # whatever a reader's code raises when it is traced
            plain = Call(tf.function(traced, autograph=False), call.args, call.keywords)
            self.add(plain.concrete().graph.variables)
        seconds = time.perf_counter() - start
        operations = (op for graph in graphs for op in graph.get_operations())
        return seconds if any("PartitionedCall" in op.type for op in operations) else 0.0

    def changed(self) -> dict[str, np.ndarray]:
        """Name to present value of each variable that has changed."""
        read = {x: (v.read_value(), saved) for x, (v, saved) in self._saved.items()}
        now = {x: (np.asarray(value), np.asarray(saved)) for x, (value, saved) in read.items()}
        return {x: np.array(value) for x, (value, saved) in now.items() if not _same(value, saved)}

    def saved(self, name: str) -> np.ndarray:
        """The value from which each call begins."""
        return np.array(self._saved[name][1])

    def restore(self, names=None) -> None:
        """Give the variables of these names, or all that changed, their saved values."""
        for name in self.changed() if names is None else names:
            self._saved[name][0].assign(self.saved(name))  # a copy, which may change in place


def _same(value, saved):
    return np.array_equal(value, saved, equal_nan=value.dtype.kind in "fcV")


@contextmanager
def variables_restored(call: Call) -> Iterator[None]:
    """The variables of a call have their values again after the block."""
    state = State()
    state.trace(call)
    try:
        yield
    finally:
        state.restore()
