"""Variables, with the values from which each call begins."""

from collections.abc import Iterable

import numpy as np


class Snapshot:
    """Variables and the values that they had when they were added.

    A saved value shares its memory with the variable until the variable changes, because
    TensorFlow copies on write.
    """

    def __init__(self):
        self._saved = {}  # name to variable and value
        self._known = set[int]()  # of each variable above, its id

    def add(self, variables: Iterable) -> None:
        """Save the variables that are new, with their present values."""
        for variable in variables:
            if id(variable) in self._known:
                continue
            self._known.add(id(variable))
            name = variable.name.removesuffix(":0")
            if name in self._saved:
                name = f"{name} ({len(self._saved) + 1})"
            self._saved[name] = variable, variable.read_value()

    def changed(self) -> dict[str, np.ndarray]:
        """Name to present value of each variable that has changed."""
        read = {x: (v.read_value(), saved) for x, (v, saved) in self._saved.items()}
        now = {x: (np.asarray(value), np.asarray(saved)) for x, (value, saved) in read.items()}
        return {x: np.array(value) for x, (value, saved) in now.items() if not _same(value, saved)}

    def saved(self, name: str) -> np.ndarray:
        """The value from which each call begins."""
        return np.array(self._saved[name][1])

    def restore(self, names: Iterable[str] | None = None) -> None:
        """Give the variables of these names, or all that changed, their saved values."""
        for name in self.changed() if names is None else names:
            self._saved[name][0].assign(self.saved(name))  # a copy, which may change in place


def _same(value, saved):
    return np.array_equal(value, saved, equal_nan=value.dtype.kind in "fcV")
