"""Why a call traced or compiled: its arguments beside those of the most similar earlier call."""

import inspect
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .state import python_of
from .tables import cut

SHOWN = 60  # characters of a Python value that a reason shows
FEW = 8  # numbers of a tensor that are shown
MOST = 100_000  # numbers of a tensor that are compared

SENTENCES = {
    "first call": "first call",
    "new function": "a new function object: it shares nothing with the earlier one",
    "Python state": "no shape, dtype or Python value changed: look for Python state that the "
    "function reads, or a tensor whose content XLA has to know",
    "dtype": "dtype of {name}: {before} → {after}",
    "shape": "shape of {name}: {before} → {after}",
    "value": "{name}: {before} → {after}",
    "kind": "{name}: {before} → {after}",
    "content": "content of {name}: {before} → {after}, which XLA may have to know",
    "given": "{name}: not given → {after}",
    "not given": "{name}: {before} → not given",
}
"""What a `Reason` says, by its kind."""


@dataclass(frozen=True)
class Reason:
    """What made a call trace or compile.

    kind: "first call", "new function", "Python state", or what of an argument changed: "dtype",
    "shape", "value", "kind", "content", "given" (it was not before), "not given" (it was).
    argument: the name that its author gave it. before, after: the change, as text.
    """

    kind: str
    argument: str = ""
    before: str = ""
    after: str = ""

    def __str__(self):
        return self._sentence(f"`{self.argument}`")

    @property
    def plain(self) -> str:
        """The same sentence for a picture, without marks around the argument."""
        return self._sentence(self.argument)

    def _sentence(self, name):
        return SENTENCES[self.kind].format(name=name, before=self.before, after=self.after)


@dataclass(frozen=True)
class Leaf:
    """One part of a call's arguments, as far as it can cause a trace or a compilation.

    kind: "tensor", "variable" or "Python value". dtype, shape: of a tensor or variable. value: of
    a Python value its repr; of an integer tensor, which may set a shape, its content, or a text
    that stands for it.
    """

    kind: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    value: object = None

    def short(self) -> str:
        """A Python value in at most `SHOWN` characters."""
        return cut(self.value, SHOWN)

    def __str__(self):
        if self.kind == "Python value":
            return f"{self.short()}, a Python value"
        return f"a {self.kind} of shape {self.shape}"


def leaves_by_name(fn, args, kwargs) -> dict[str, Leaf]:
    """Every part of the arguments, defaults included, under the name that its author gave it."""
    python = python_of(fn)
    python = getattr(python, "call", python)  # of a Keras model: its `call`
    try:
        bound = inspect.signature(python).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return dict(_leaves(dict(enumerate(args)) | kwargs))
    bound.apply_defaults()
    arguments = bound.arguments
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            arguments = arguments | arguments.pop(name)
    return dict(_leaves(arguments))


def _leaves(value, path=""):
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, f"{path}[{key!r}]" if path else str(key))
    elif isinstance(value, (list, tuple)) and path:
        for i, part in enumerate(value):
            yield from _leaves(part, f"{path}[{i}]")
    else:
        yield path, _leaf(value)


def _leaf(value):
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return Leaf("Python value", value=repr(value))
    dtype = getattr(value.dtype, "name", str(value.dtype))
    shape = tuple(value.shape)
    content = _content(value, shape) if "int" in dtype else None
    return Leaf("variable" if hasattr(value, "assign") else "tensor", dtype, shape, content)


def _content(value, shape):
    """None for tensors of another make, such as ragged and sparse ones, and for large ones."""
    if None in shape or math.prod(shape) > MOST:
        return None
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iu":
        return None
    if numbers.size <= FEW:
        return numbers.tolist()
    return f"{numbers.size} numbers ({zlib.crc32(numbers.tobytes()):08x})"


def reasons(fn, leaves, seen) -> tuple[Reason, ...]:
    """Compare with the most similar earlier call of the same function.

    seen: (function, leaves by name) of every earlier call.
    """
    earlier = [old for other, old in seen if other == fn]  # a method is a new object each time
    if not earlier:
        anew = any(_same_code(other, fn) for other, _ in seen)
        return (Reason("new function" if anew else "first call"),)
    changes = min((_changes(old, leaves) for old in reversed(earlier)), key=len)
    return tuple(changes) or (Reason("Python state"),)


def _changes(old, new):
    changes = [
        change for name in new if name in old for change in _change(name, old[name], new[name])
    ]
    changes += [Reason("given", name, "", str(new[name])) for name in new if name not in old]
    changes += [Reason("not given", name, str(old[name])) for name in old if name not in new]
    return changes or [
        Reason("content", name, str(old[name].value), str(leaf.value))
        for name, leaf in new.items()
        if leaf.value != old[name].value
    ]


def _change(name, old, new):
    if old.kind != new.kind:
        return [Reason("kind", name, str(old), str(new))]
    if old.kind == "Python value":
        return [Reason("value", name, old.short(), str(new))] if old != new else []
    pairs = {"dtype": (old.dtype, new.dtype), "shape": (old.shape, new.shape)}
    return [
        Reason(what, name, str(before), str(after))
        for what, (before, after) in pairs.items()
        if before != after
    ]


def _same_code(one, other):
    """Whether two functions are one function of the reader's, wrapped or defined anew."""
    one, other = python_of(one), python_of(other)
    methods = hasattr(one, "__self__") or hasattr(other, "__self__")
    code = getattr(one, "__code__", None)
    return one is other or (not methods and code and code is getattr(other, "__code__", None))
