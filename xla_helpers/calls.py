"""A function with its arguments."""

import functools
import inspect
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import MethodType
from typing import Any

from . import arguments, internals
from .errors import check_args
from .modes import modes_of
from .tables import truncate
from .variables import Snapshot, resources_in

KEEP = "Keep what tf.saved_model.load returns in a global name, and give its method or signature."


class Call:
    """A function with its arguments; those of a `functools.partial` are taken out of it.

    Attributes:
        fn: The function.
        args: Its positional arguments, a tuple.
        kwargs: Its keyword arguments.
        bound: The function with its arguments; calling it costs no more than that.
    """

    def __init__(self, fn: Callable, args=(), kwargs=None):
        """Raise TypeError where `args` is not a tuple or list, or `fn` cannot be called."""
        check_args(args)
        args, kwargs = tuple(args), dict(kwargs or {})
        while isinstance(fn, functools.partial):
            args, kwargs, fn = (*fn.args, *args), fn.keywords | kwargs, fn.func
        # An object that was loaded has its function in itself, and a class has one of others.
        if not isinstance(fn, type):
            fn = getattr(fn, "__dict__", {}).get("__call__", fn)
        if not callable(fn):
            may_be_saved = isinstance(fn, (str, os.PathLike)) or "tensorflow" in type(fn).__module__
            keep = f" {KEEP}" if may_be_saved else ""
            raise TypeError(f"{truncate(repr(fn), 60)} cannot be called.{keep}")
        self.fn: Any = fn
        self.args, self.kwargs = args, kwargs
        self.bound = functools.partial(fn, *args, **kwargs)

    def __call__(self):
        return self.bound()

    @property
    def name(self) -> str:
        """The name of the function; of a model, that of its class."""
        return getattr(self.python, "__name__", None) or type(self.python).__name__

    @property
    def is_traced(self) -> bool:
        """Whether it is a `tf.function` that would run as a graph now."""
        if not hasattr(self.fn, "experimental_get_tracing_count"):
            return False
        return not sys.modules["tensorflow"].config.functions_run_eagerly()

    @property
    def is_compiled(self) -> bool:
        """Whether it is a `tf.function` that was made with ``jit_compile=True``."""
        return self.is_traced and internals.is_compiled(self.fn)

    @property
    def is_concrete(self) -> bool:
        """Whether it is a concrete function: one graph, without Python."""
        return hasattr(self.fn, "function_def")

    @property
    def python(self) -> Any:
        """The Python function inside a `tf.function`, bound if it is a method; else as it is.

        A function that was loaded is as it is, because its Python knows neither names nor defaults.
        """
        if internals.is_loaded(self.fn):
            return self.fn
        python = getattr(self.fn, "python_function", self.fn)
        method = inspect.unwrap(python)
        owner = internals.owner_of(method)
        is_stand_in = owner is not getattr(method, "__self__", None)
        return MethodType(method.__func__, owner) if is_stand_in else python

    @property
    def identity(self) -> tuple[int, ...]:
        """What two calls of the same Python share, while one of them is there.

        A bound method is made anew each time that it is asked for; its object and its function are
        not.
        """
        python = self.python
        parts = getattr(python, "__self__", None), getattr(python, "__func__", python)
        return tuple(map(id, parts))

    def concrete(self) -> Any:
        """The concrete function for these arguments, traced if need be.

        An object that keeps a tensor of a trace has what it had before, for the next trace.
        """
        fn, python = self.fn, self.python
        if self.is_concrete:
            return fn
        with arguments.attributes_restored(getattr(python, "__self__", python)):
            return fn.get_concrete_function(*self.args, **self.kwargs)

    def trace(self) -> tuple[float, list]:
        """Trace a `tf.function`.

        Returns:
            The seconds of the trace, which the first call would take otherwise, and what `Snapshot`
            should know: the variables among the arguments, those that the trace reads, and the
            handles of all that it may change. Plain Python is not traced, because what it keeps of
            a trace would be of no use in a call: 0 seconds, and nobody knows which variables it
            uses.
        """
        if "tensorflow" not in sys.modules:
            return 0.0, []
        import tensorflow as tf

        given = arguments.flattened((self.args, self.kwargs))
        resources: list[Any] = [value for value in given if isinstance(value, tf.Variable)]
        iterators = [value for value in given if isinstance(value, tf.data.Iterator)]
        resources += tf.nest.flatten(iterators, expand_composites=True)
        if not (self.is_traced or self.is_concrete):
            return 0.0, resources
        start = time.perf_counter()
        concrete = self.concrete()
        seconds = time.perf_counter() - start
        with suppress(AssertionError):  # a loaded graph may have outlived its variables
            resources += concrete.graph.variables  # before their handles, for their full names
        return seconds, [*resources, *resources_in(concrete)]

    @contextmanager
    def variables_restored(self) -> Iterator[None]:
        """The variables of the call, as `trace` knows them, have their values after the block."""
        snapshot = Snapshot()
        snapshot.add(self.trace()[1])
        try:
            yield
        finally:
            snapshot.restore()

    def arguments_restored(self):
        """The arrays, lists and dictionaries among the arguments are after the block as before."""
        return arguments.restored(args=self.args, kwargs=self.kwargs)

    def with_tensors(self) -> "Call":
        """The same call with tensors in place of NumPy arrays."""
        return Call(self.fn, *arguments.as_tensors((self.args, self.kwargs)))

    def perturbed(self, seed: int) -> "Call":
        """The same call with each floating number moved up or down by its last bit."""
        return Call(self.fn, *arguments.perturbed((self.args, self.kwargs), seed))

    def as_compiled(self) -> "Call":
        """The same call of a function with ``jit_compile=True``: its own, or a new one of it."""
        if self.is_compiled:
            return self
        compiled = modes_of(self.python, **internals.options_of(self.fn))["XLA"]
        return Call(compiled, self.args, self.kwargs)

    def refuse_text(self) -> None:
        """Raise what XLA says of text among the inputs of a compiled function, without a call.

        The call itself would end the process where XLA has compiled anything before (seen in
        TensorFlow 2.21).
        """
        import tensorflow as tf

        if any(one.dtype == tf.string for one in self.concrete().inputs):
            call = self.with_defaults()
            call.fn.experimental_get_compiler_ir(*call.args, **call.kwargs)("hlo")

    def with_defaults(self) -> "Call":
        """The same call with all defaults, which some parts of TensorFlow do not look up."""
        given = inspect.signature(self.python).bind(*self.args, **self.kwargs)
        given.apply_defaults()
        return Call(self.fn, given.args, given.kwargs)


def by_label(candidates: Mapping[Any, Callable]) -> dict[str, Callable]:
    """Label as text to function.

    Raises:
        ValueError: For two labels that read the same, such as 1 and "1".
    """
    functions = {str(label): fn for label, fn in candidates.items()}
    if len(functions) < len(candidates):
        raise ValueError(f"two labels read the same: {', '.join(map(repr, candidates))}")
    return functions
