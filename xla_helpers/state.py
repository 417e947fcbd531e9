"""The variables that a call may change: those that its graph and its Python name, put back."""

import functools
import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MethodType, ModuleType

import numpy as np


def started() -> bool:
    """Whether TensorFlow has been imported: before that there is nothing of it to look at."""
    return "tensorflow" in sys.modules


def python_of(fn):
    """The Python function inside a `tf.function`, bound if it is a method; else as it is."""
    if not hasattr(fn, "get_concrete_function"):
        return fn
    python = getattr(fn, "python_function", fn)
    method = inspect.unwrap(python) if callable(python) else python
    owner = getattr(getattr(method, "__self__", None), "target", None)  # TensorFlow holds it weakly
    return python if owner is None else MethodType(method.__func__, owner)


def named_by(fn) -> list:
    """What the Python of `fn` names: its object, its closure and defaults, the globals it reads.

    Functions of the same file are followed, and lists and dicts are opened; attributes are not.
    """
    found, waiting, home = {}, [python_of(fn)], None
    while waiting:
        value = waiting.pop()
        if isinstance(value, (ModuleType, type)) or id(value) in found:
            continue
        found[id(value)] = value
        if inspect.isfunction(value):
            home = value.__globals__ if home is None else home
            waiting += _read_by(value) if value.__globals__ is home else []
        else:
            waiting += _parts(value)
    return list(found.values())


def _read_by(function):
    try:
        read = inspect.getclosurevars(inspect.unwrap(function))
    except (TypeError, ValueError):  # without its code, or of a cell that is not filled yet
        return []
    defaults = function.__defaults__ or ()  # as in `lambda x, model=model: model(x)`
    return [*read.nonlocals.values(), *read.globals.values(), *defaults]


def _parts(value):
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, MethodType):
        return [value.__self__, value.__func__]
    return [python_of(value)] if hasattr(value, "python_function") else []


class State:
    """Variables, with the values from which every call begins; what was not found is not put back.

    On a CPU a saved value shares its memory with the variable until the variable changes, because
    TensorFlow copies on write; so this costs no memory for what stays as it is.
    """

    def __init__(self):
        self._saved = {}  # name to variable and value

    def add_named_by(self, fn, *arguments) -> None:
        """Save the variables that the Python of `fn` names, and those of models that it names.

        arguments: of a call, which may be variables or models as well.
        """
        if started():
            for value in (*named_by(fn), *arguments):
                self.add([value] if _is_variable(value) else _variables_of(value))

    def add(self, variables) -> None:
        """Save variables that were not saved yet, with the values that they have now."""
        known = {id(variable) for variable, _ in self._saved.values()}
        for variable in variables:
            if not _is_variable(variable):  # one of Keras 3 holds that of TensorFlow
                variable = getattr(variable, "value", None)
            value = _value(variable) if id(variable) not in known else None
            if value is not None:
                name = variable.name.removesuffix(":0")
                name += f" ({len(self._saved) + 1})" if name in self._saved else ""
                self._saved[name] = variable, value
                known.add(id(variable))

    def changed(self) -> dict[str, np.ndarray]:
        """Name to the value now, of those that have changed."""
        found = {}
        for name, (variable, value) in self._saved.items():
            now = _value(variable)
            if not _same(now, value):
                found[name] = np.array(now)
        return found

    def saved(self, name: str) -> np.ndarray:
        """The value that a variable begins with."""
        return np.array(self._saved[name][1])

    def put_back(self, names=None) -> None:
        """Give the variables of these names, or all that changed, their values again.

        They get copies: a variable that shares its memory must make one on its next change.
        """
        for name in self.changed() if names is None else names:
            variable, value = self._saved[name]
            variable.assign(np.array(value))


@contextmanager
def variables_kept(fn, *arguments) -> Iterator[None]:
    """The variables that `fn` and its arguments name have their values again after the block."""
    state = State()
    state.add_named_by(fn, *arguments)
    try:
        yield
    finally:
        state.put_back()


def _is_variable(value):
    import tensorflow as tf

    return isinstance(value, tf.Variable)


def _variables_of(value):
    """Those of a model, a module, an optimizer or a graph."""
    graph = getattr(value, "graph", None)
    try:
        found = getattr(value if graph is None else graph, "variables", ())
    except Exception:  # such as a model that has not been called yet
        return ()
    return found if isinstance(found, (list, tuple)) else ()


def _value(variable):
    """Its value as a tensor; None for one that has none yet, and for what is no variable."""
    import tensorflow as tf

    try:
        with tf.init_scope():
            value = variable.read_value()
        np.asarray(value)
    except Exception:  # of another graph, say
        return None
    return value


def _same(value, saved):
    if value is None:
        return True
    value, saved = np.asarray(value), np.asarray(saved)
    return np.array_equal(value, saved, equal_nan=saved.dtype.kind in "fcV")
