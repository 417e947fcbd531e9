"""What a call changes: variables, found and put back; Python's own state, named."""

import gc
import itertools
import random
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from .reach import reached, started

LARGEST = 1_000_000  # bytes of an array of NumPy that is looked at

NUMPY_STREAM, PYTHON_STREAM = "the stream of numpy.random", "the stream of Python's random"


class Variables:
    """Every variable of TensorFlow in this process, as it is now.

    On a CPU a saved value shares its memory with the variable until the variable changes, because
    TensorFlow copies on write; so this costs no memory for what stays as it is.
    """

    def __init__(self):
        self._saved, self._made = {}, []
        self.adopt()

    def adopt(self) -> None:
        """Save every variable that was made since, with the value that it has now."""
        for variable in _variables():
            self._save(variable)

    @contextmanager
    def adopting(self, at_once: bool = True) -> Iterator[list]:
        """Save each variable that is made in the block.

        at_once: with the value that it is made with, otherwise with that at the end. One that a
        trace makes has no value before the trace ends: see `adopt_made`.
        Yields: a list of the variables, which grows as they are made.
        """
        made = []
        if not started():
            yield made
            return
        import tensorflow as tf

        def make(next_creator, **kwargs):
            variable = next_creator(**kwargs)
            made.append(variable)
            self._made.append(variable)
            if at_once and tf.executing_eagerly():
                self._save(variable)
            return variable

        with tf.variable_creator_scope(make):
            yield made
        self.adopt_made()

    def adopt_made(self) -> None:
        """Save what was made and not saved yet, with the values that it has now."""
        for variable in self._made:
            self._save(variable)
        self._made = []

    def begin_as(self, variable, original) -> None:
        """Let `variable` begin with the value that was saved of another one."""
        value = self._saved[id(original)][1]
        variable.assign(value)
        self._saved[id(variable)] = variable, value

    def changed(self) -> list:
        """The variables whose values are not those that were saved, the oldest first."""
        changed = [v for v, saved in self._saved.values() if not _same(_value(v), saved)]
        return sorted(changed, key=_number)

    def saved(self, variable) -> np.ndarray:
        """The value that was saved."""
        return np.array(self._saved[id(variable)][1])

    def put_back(self, variables=None) -> None:
        """Give `variables`, or all that changed, the values that were saved.

        They get copies: a variable that shares its memory must make one on its next change.
        """
        errors = []
        for variable in self.changed() if variables is None else variables:
            try:
                variable.assign(_copy(self._saved[id(variable)][1]))
            except BaseException as error:  # the others must have their values all the same
                errors.append(error)
        if errors:
            raise errors[0]

    def _save(self, variable):
        if id(variable) not in self._saved:
            value = _value(variable)
            if value is not None:
                self._saved[id(variable)] = variable, value


@contextmanager
def variables_kept() -> Iterator[None]:
    """The variables that exist before the block have their values again after it."""
    if not started():
        yield
        return
    variables = Variables()
    try:
        with variables.adopting():
            yield
    finally:
        variables.put_back()


def names_of(variables, fn, taken: Collection[str] = ()) -> list[str]:
    """A name for each variable: that of the reader's code, or else TensorFlow's.

    fn: the function whose code is asked. taken: names that are given already; of equal names,
    the later ones get a number.
    """
    written = {id(v): name for name, v in reached(fn).items()}
    names = []
    for variable in variables:
        name = free = written.get(id(variable)) or variable.name.removesuffix(":0")
        numbers = itertools.count(2)
        while free in taken or free in names:
            free = f"{name} ({next(numbers)})"
        names.append(free)
    return names


@contextmanager
def fixed_streams() -> Iterator[None]:
    """NumPy and Python draw the same random numbers in every such block, and then go on."""
    numpys, pythons = np.random.get_state(), random.getstate()
    np.random.seed(0)
    random.seed(0)
    try:
        yield
    finally:
        np.random.set_state(numpys)
        random.setstate(pythons)


def python_state(fn) -> dict[str, object]:
    """Marks of what Python can change in a call: names to values that differ when it did.

    Numbers and text, the lengths and entries of lists, dicts and sets, arrays of NumPy, and the
    streams of random numbers of NumPy and Python.
    """
    # The entries of a list or dict are part of its own mark.
    whole = {name: value for name, value in reached(fn).items() if not name.endswith("]")}
    marks = {f"`{name}`": _mark(value) for name, value in whole.items()}
    marks[NUMPY_STREAM] = repr(np.random.get_state(legacy=False))
    marks[PYTHON_STREAM] = hash(random.getstate())
    return {name: mark for name, mark in marks.items() if mark is not None}


def _mark(value):
    if isinstance(value, bool):
        return None  # such as "built", which is set once
    if isinstance(value, (int, float, str, bytes)):
        return repr(value)  # in which NaN equals itself
    if isinstance(value, Mapping):
        return tuple(map(_entry, value)), tuple(map(_entry, value.values()))
    if isinstance(value, (list, tuple, set)):
        return tuple(map(_entry, value))
    if isinstance(value, np.ndarray) and value.nbytes <= LARGEST:
        return value.tobytes()
    return None


def _entry(value):
    return repr(value) if isinstance(value, (int, float, str, bytes)) else id(value)


def _variables():
    """Every variable that is alive. TensorFlow keeps no list of them, Python's collector does.

    To ask `gc.get_referrers` of the classes would be quicker, and crashes Python 3.11 beside a
    thousand variables.
    """
    if not started():
        return []
    from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

    frozen = gc.get_freeze_count() > 0
    if frozen:  # what is frozen is not listed
        gc.unfreeze()
    everything = gc.get_objects()
    kinds = {kind for kind in set(map(type, everything)) if issubclass(kind, BaseResourceVariable)}
    found = [thing for thing in everything if type(thing) in kinds]
    if frozen:
        gc.freeze()
    return found


def _value(variable):
    """Its value as a tensor; None for one that has none yet."""
    import tensorflow as tf

    try:
        with tf.init_scope():
            value = variable.read_value()
    except (tf.errors.OpError, ValueError, TypeError, AttributeError):  # of another graph, say
        return None
    if not tf.is_tensor(value) or value.dtype in (tf.resource, tf.variant):
        return None
    return tf.constant(value.numpy()) if value.dtype == tf.string else value


def _number(variable):
    """TensorFlow counts its variables as they are made."""
    return int(variable._unique_id.rpartition("_")[2])


def _same(value, saved):
    import tensorflow as tf

    if value is None:
        return True
    if value.dtype != tf.string and _address(value) == _address(saved) is not None:
        return True
    return np.array_equal(np.asarray(value), np.asarray(saved), equal_nan=_is_numbers(saved))


def _address(tensor):
    try:
        return np.asarray(memoryview(tensor)).__array_interface__["data"][0]
    except (TypeError, ValueError, BufferError, RuntimeError):  # of text, or on another device
        return None


def _copy(tensor):
    import tensorflow as tf

    try:
        with tf.device(tensor.device):
            return tf.raw_ops.DeepCopy(x=tensor)
    except tf.errors.OpError:  # of a type that it does not copy, such as text or four-bit integers
        return tensor


def _is_numbers(tensor):
    return tensor.dtype.is_floating or tensor.dtype.is_complex or tensor.dtype.is_integer
