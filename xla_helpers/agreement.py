"""How far two results differ, whatever they are made of."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

TOLERANCE = 1e-4  # largest relative difference of results that still count as equal
FLOOR = 1e-3  # of the largest number in a result: an array's own scale is at least that
ZERO = 1e-5  # of the same: an array whose numbers all lie below it is practically zero

EXACT = "biuOS"  # kinds of arrays: an integer or a text that is almost the same is another one
FLOATING = "fcV"  # V is what NumPy does not know, such as bfloat16

PARTS = {"RaggedTensor": ("values", "row_splits"), "IndexedSlices": ("indices", "values")}
"""What TensorFlow's tensors of several parts are made of."""


@dataclass(frozen=True)
class Difference:
    """How a result differs from a reference, where it differs most.

    size: relative to the scale of its array (see `largest_difference`); infinity where numbers
    cannot say it. place: the part, such as ``result['loss'][1]``. reason: what differs: "numbers",
    "parts", "shape", "type", "entries" (of integers or text) or "NaN". before, after: the words
    that stand around the name of the other side.
    """

    size: float = 0.0
    place: str = "result"
    reason: str = "numbers"
    before: str = "differs from"
    after: str = ""

    def within(self, tolerance: float) -> bool:
        """Whether a difference of `tolerance` allows it."""
        return self.size <= tolerance

    def against(self, other: str) -> str:
        """How it stands to the other side, in words. other: whose result that is."""
        return f"{self.before} {other} {self.after}"


def largest_difference(result, reference) -> Difference:
    """The largest difference of two results: arrays, tensors, numbers, text, or nests of them.

    result, reference: the two. Nests are lists, tuples, mappings, ragged tensors and the slices
    that are the gradient of an embedding. NaN equals nothing. Introduced in notebook 01.

    A difference is relative to the largest magnitude of its array in `reference`, but to `FLOOR` of
    the largest number in the whole where that is more, because rounding is of that size. An array
    that lies below `ZERO` of that number may be what rounding left of a zero: its scale is the
    number itself. Where the largest number is larger than one, one counts instead.

    Returns: a `Difference`, of infinite size when parts, shapes, integers or text differ, or a
    number is NaN.
    Raises: TypeError for what is neither numbers nor text.
    """
    left, right = (dict(leaves(as_arrays(one))) for one in (result, reference))
    return difference_of(left, right)


def difference_of(left, right, equal_nan: bool = False, name: str = "result") -> Difference:
    """The same for results that were taken apart already, place to array.

    equal_nan: whether NaN equals NaN in the same place.
    """
    if left.keys() != right.keys():
        return _unlike(name, "parts", list(left), list(right))
    unit = min(1.0, max(map(_magnitude, [*left.values(), *right.values()]), default=0.0))
    found = [_difference(path, left[path], right[path], equal_nan, unit) for path in left]
    return max(found, key=lambda one: one.size, default=Difference(place=name))


def as_arrays(result, place: str = "result"):
    """A nest with copies of its leaves as arrays of NumPy, and dicts for what has named parts.

    Raises: TypeError, which names the place, for what is neither numbers nor text.
    """
    names = PARTS.get(type(result).__name__) or getattr(result, "_fields", None)
    if names is not None:
        result = {name: getattr(result, name) for name in names}
    if isinstance(result, Mapping):
        return {key: as_arrays(part, f"{place}[{key!r}]") for key, part in result.items()}
    if isinstance(result, (list, tuple)):
        parts = [as_arrays(part, f"{place}[{i}]") for i, part in enumerate(result)]
        return parts if isinstance(result, list) else tuple(parts)
    return None if result is None else _as_array(result, place)


def _as_array(leaf, place):
    array = np.array(leaf.numpy() if hasattr(leaf, "numpy") else leaf)
    if array.dtype.kind == "U":
        return np.char.encode(array, "utf-8")  # as a graph returns text
    known = array.dtype.kind in EXACT + FLOATING and not array.dtype.names
    if array.dtype.kind == "O":
        known = all(isinstance(part, (bytes, str)) for part in array.flat)
    if not known:
        kind = type(leaf).__name__
        raise TypeError(f"`{place}` is a {kind}: only numbers, text and nests of them are compared")
    return array


def leaves(arrays, place: str = "result") -> Iterator[tuple[str, np.ndarray]]:
    """Every array of what `as_arrays` made, with the place where it stands."""
    if isinstance(arrays, (dict, list, tuple)):
        for key, part in arrays.items() if isinstance(arrays, dict) else enumerate(arrays):
            yield from leaves(part, f"{place}[{key!r}]")
    elif arrays is not None:
        yield place, arrays


def holds_something(arrays) -> bool:
    """Whether there is anything to compare in what `as_arrays` made."""
    return any(True for _ in leaves(arrays))


def _magnitude(array):
    """The largest finite magnitude; 0 for integers and text."""
    if array.dtype.kind not in FLOATING:
        return 0.0
    array = array.astype(np.complex128)
    return float(np.max(np.abs(array[np.isfinite(array)]), initial=0.0))


def _unlike(place, reason, here, there):
    return Difference(math.inf, place, reason, f"has {reason} {here},", f"has {there}")


def _difference(place, a, b, equal_nan, unit):
    """unit: the largest number in the whole, at most one."""
    if a.shape != b.shape:
        return _unlike(place, "shape", a.shape, b.shape)
    if (a.dtype.kind in "OS") != (b.dtype.kind in "OS"):
        return _unlike(place, "type", a.dtype, b.dtype)
    if a.dtype.kind in EXACT and b.dtype.kind in EXACT:
        different = np.count_nonzero(a != b)
        size = math.inf if different else 0.0
        return Difference(size, place, "entries", after=f"in {different} of {a.size} entries")
    a, b = a.astype(np.complex128), b.astype(np.complex128)
    nan, other_nan = np.isnan(a), np.isnan(b)
    if (nan != other_nan if equal_nan else nan | other_nan).any():
        words = f"holds {nan.sum()} NaN,", f"holds {other_nan.sum()}"
        return Difference(math.inf, place, "NaN", *words)
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return Difference(math.inf, place, after="where one of them is infinite")
    absolute = float(np.max(np.abs(a[finite] - b[finite]), initial=0.0))
    own, other = _magnitude(a), _magnitude(b)
    practically_zero = max(own, other) < ZERO * unit
    scale = unit if practically_zero else max(other or own, FLOOR * unit)
    size = absolute / scale if absolute else 0.0
    sizes = f"by {size:.2g} (relative), {absolute:.2g} (absolute)"
    return Difference(size, place, after=sizes)
