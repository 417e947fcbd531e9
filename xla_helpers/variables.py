"""Variables, with the values from which each call begins."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import numpy as np

from . import internals
from .evidence import nodes_in
from .tables import abbreviate, pluralize

KINDS = {
    "IteratorResource": "an iterator",
    "LookupInterface": "a table",
    "QueueInterface": "a queue",
    "SummaryWriterInterface": "a summary writer",
    "Var": "a variable without a value",
}
"""TensorFlow's classes of resources, as a reader calls them."""

CHANGES_TABLES = re.compile(r"LookupTable(Insert|Remove|Import)(V2)?")


class _CapturedVariable:
    """A variable of which only the handle is known, as a graph holds it.

    `Variable.assign_add(x, read_value=False)` and the optimizers of Keras 2 write a variable by its
    handle, and a graph remembers only the variables that were read. It may also outlive them.
    """

    def __init__(self, handle):
        self.handle, self.dtype = handle, internals.variable_type(handle)
        self.name = re.sub(
            r"/\d+$", "", internals.fact_of(handle, "name")
        )  # TensorFlow adds a number

    def read_value(self):
        import tensorflow as tf

        return tf.raw_ops.ReadVariableOp(resource=self.handle, dtype=self.dtype)

    def assign(self, value):
        import tensorflow as tf

        value = tf.convert_to_tensor(value, self.dtype)
        tf.raw_ops.AssignVariableOp(resource=self.handle, value=value)


def resources_in(concrete: Any) -> Iterator:
    """The handles of what a graph may change: all that it captured but tables it only looks up."""
    import tensorflow as tf

    inputs = (x for x in concrete.captured_inputs if isinstance(x, tf.Tensor))
    for handle in (x for x in inputs if x.dtype == tf.resource):
        if _kind(handle) != "a table" or _changes_tables(concrete.graph):
            yield handle


def _changes_tables(graph):
    return any(CHANGES_TABLES.fullmatch(node.op) for node in nodes_in(graph))


def _kind(handle):
    """What a handle stands for, in words."""
    kind = internals.fact_of(handle, "type").rpartition("::")[2]
    return KINDS.get(kind, kind or "a resource")


class Snapshot:
    """Variables and the values that they had when they were added.

    A saved value shares its memory with the variable until the variable changes, because
    TensorFlow copies on write.

    Attributes:
        unrestored: What was added and has no value that could be saved, such as "an iterator".
    """

    def __init__(self):
        self._saved = {}  # name to variable and value
        self._known = dict[int, Any]()  # id to handle, which keeps the id from being used again
        self.unrestored = list[str]()

    def add(self, resources: Iterable) -> None:
        """Save what is new, with its present value.

        Args:
            resources: Variables, and handles of resources. A variable and its handle are the same.
        """
        for resource in resources:
            # A variable of a distribution strategy has one for each replica.
            for one in getattr(resource, "values", (resource,)):
                handle = getattr(one, "handle", one)
                if id(handle) not in self._known:
                    self._known[id(handle)] = handle
                    self._save(_CapturedVariable(one) if one is handle else one)

    def _save(self, variable):
        import tensorflow as tf

        name, handle = variable.name.removesuffix(":0"), variable.handle
        if name in self._saved:
            name = f"{name} ({len(self._saved) + 1})"
        if variable.dtype is None or not tf.raw_ops.VarIsInitializedOp(resource=handle):
            self.unrestored.append(_kind(handle))
        else:
            self._saved[name] = variable, variable.read_value()

    def changed(self) -> dict[str, np.ndarray]:
        """Name to present value of each variable that has changed."""
        read = {x: (v.read_value(), saved) for x, (v, saved) in self._saved.items()}
        now = {x: (np.asarray(value), np.asarray(saved)) for x, (value, saved) in read.items()}
        return {x: np.array(value) for x, (value, saved) in now.items() if not _same(value, saved)}

    def saved(self, name: str) -> np.ndarray:
        """The value from which each call begins."""
        return np.array(self._saved[name][1])

    def perturb(self, change: Callable[[np.ndarray], np.ndarray]) -> None:
        """Give each variable of floating numbers its saved value, changed."""
        for name, (variable, _) in self._saved.items():
            if variable.dtype.is_floating:
                variable.assign(change(self.saved(name)))

    def restore(self, names: Iterable[str] | None = None) -> None:
        """Give the variables of these names, or all that changed, their saved values."""
        for name in self.changed() if names is None else names:
            self._saved[name][0].assign(self.saved(name))  # a copy, which may change in place


def not_restored(unrestored: Collection[str]) -> str:
    """What a snapshot could not save, in a sentence with its number; "" for nothing."""
    resources = pluralize(len(unrestored), "resource")
    kinds = abbreviate(dict.fromkeys(unrestored))
    return f"{resources} may have changed and cannot be put back: {kinds}." if unrestored else ""


def _same(value, saved):
    return np.array_equal(value, saved, equal_nan=value.dtype.kind in "fcV")
