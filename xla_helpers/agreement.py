"""How far two results differ, whatever they are made of."""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

TOLERANCE = 1e-4  # largest relative difference of results that still count as equal
FLOOR = 1e-3  # of the largest number in a result: an array's own scale is at least that
ZERO = 1e-5  # of the same: an array whose numbers all lie below it is practically zero


@dataclass(frozen=True)
class Difference:
    """How a result differs from a reference, where it differs most.

    size: largest difference, relative to the largest finite magnitude of its array, with a floor
    (see `largest_difference`); infinity where numbers cannot say it. place: the part, such as
    ``result['loss'][1]``. reason: what differs: "numbers", "parts", "shape", "type", "entries" (of
    integers or text), "NaN" or "error" (on one side).
    here, there: what the two sides have, for the reasons that are no numbers. absolute: the
    largest difference as it is, for numbers. zeros: the places of the whole result whose numbers
    differ and are practically zero, which `size` leaves out.
    """

    size: float = 0.0
    place: str = "result"
    reason: str = "numbers"
    here: object = None
    there: object = None
    absolute: float = 0.0
    zeros: tuple[str, ...] = ()

    def within(self, tolerance: float) -> bool:
        """Whether a difference of `tolerance` allows it; nothing allows other parts or NaN.

        A tolerance of 0 asks for equality, of what is practically zero too.
        """
        exact = tolerance > 0 or (self.absolute == 0 and not self.zeros)
        return self.size <= tolerance and exact

    def describe(self, one: str = "its", other: str = "the reference") -> str:
        """In words. one: whose result it is, such as "its" or "XLA's". other: the other side."""
        what = f"{one} {self.place}"
        if self.reason == "numbers":
            numbers = f"{self.size:.2g} (relative), {self.absolute:.2g} (absolute)"
            return f"{what} differs from {other} by {numbers}"
        if self.reason == "entries":
            return f"{what} differs from {other} in {self.here} of {self.there} entries"
        if self.reason == "error":
            return f"{what} is an error where {other} is none, or the other way round"
        if self.reason == "NaN":
            return f"{what} holds {self.here} NaN, {other} holds {self.there}"
        return f"{what} has {self.reason} {self.here}, {other} has {self.there}"


def largest_difference(
    result, reference, equal_nan: bool = False, name: str = "result"
) -> Difference:
    """The largest difference of two results: arrays, tensors, numbers, text, or nests of them.

    result, reference: the two; the largest magnitude of each array of `reference` is its scale.
    equal_nan: whether NaN equals NaN in the same place. name: what the whole is called. Nests are
    lists, tuples, mappings, data classes, ragged and sparse tensors, whose entries may stand in any
    order. Introduced in notebook 01.

    Of several arrays, the scale of each is at least `FLOOR` of the largest number in the whole, or
    of one where that is larger, because rounding is of that size. An array that lies below `ZERO`
    of it may be what rounding left of a zero: its differences are only named, in `zeros`.

    Returns: a `Difference`, of infinite size when parts, shapes, types, integers or text differ,
    or a number is NaN.
    Raises: TypeError for what is neither numbers nor text.
    """
    return difference_of(dict(leaves(result, name)), dict(leaves(reference, name)), equal_nan, name)


def difference_of(left, right, equal_nan: bool = False, name: str = "result") -> Difference:
    """The same for results that were taken apart already, place to array."""
    if left.keys() != right.keys():
        return Difference(math.inf, name, "parts", list(left), list(right))
    largest = max(map(_magnitude, [*left.values(), *right.values()]), default=0.0)
    unit = min(1.0, largest)
    found = [_difference(path, left[path], right[path], equal_nan, unit) for path in left]
    zeros = tuple(one.place for one in found if one.size == 0 < one.absolute)
    worst = max(found, key=by_size, default=Difference(place=name))
    return dataclasses.replace(worst, zeros=zeros)


def by_size(difference: Difference):
    """What the largest of several differences is the largest of."""
    return difference.size, difference.absolute


def as_arrays(result):
    """A result with arrays of NumPy in place of its leaves, and dicts of what has named parts."""
    parts = _parts(result)
    if parts is None:
        return None if result is None else _own(as_array(result), result)
    if isinstance(result, Mapping):
        return {key: as_arrays(part) for key, part in result.items()}
    if isinstance(result, (list, tuple)) and not hasattr(result, "_fields"):
        return (list if isinstance(result, list) else tuple)(map(as_arrays, result))
    return {name.removeprefix("."): as_arrays(part) for name, part in parts.items()}


def _own(array, leaf):
    """A copy of what a function may write into again."""
    return array.copy() if array is leaf else array


def leaves(result, path: str = "result") -> Iterator[tuple[str, np.ndarray]]:
    """Every array of a result, with the place where it stands.

    Raises: TypeError for what is neither numbers nor text.
    """
    parts = _parts(result)
    if parts is not None:
        for key, part in parts.items():
            yield from leaves(part, f"{path}{key}")
    elif result is not None:
        yield path, as_array(result, path)


def holds_something(result) -> bool:
    """Whether there is anything in a result that can be compared."""
    return any(True for _ in leaves(result))


def as_array(leaf, path: str = "result") -> np.ndarray:
    """A tensor, variable, number or text as NumPy; bytes stand for text.

    Raises: TypeError for anything else.
    """
    if hasattr(leaf, "assign"):
        leaf = leaf.numpy()
    array = np.asarray(leaf.encode(*UTF_8) if isinstance(leaf, str) else leaf)
    if array.dtype.kind == "U":
        array = np.char.encode(array, *UTF_8)
    if array.dtype.names or array.dtype.kind == "O" and not _holds_text(array):
        kind = type(leaf).__name__
        raise TypeError(f"`{path}` is a {kind}: only numbers, text and nests of them are compared")
    return array


def _holds_text(array):
    return all(isinstance(part, (bytes, str)) for part in array.flat)


PARTS = {
    "RaggedTensor": ("values", "row_splits"),
    "SparseTensor": ("indices", "values", "dense_shape"),
    "IndexedSlices": ("indices", "values"),
}
"""What TensorFlow's tensors of several parts are made of."""

UTF_8 = "utf-8", "surrogatepass"  # half a character is a text, too


def _parts(result):
    """What a nest is made of: key to part; None for a leaf."""
    if isinstance(result, Mapping):
        return {f"[{key!r}]": part for key, part in result.items()}
    if isinstance(result, (list, tuple)) and not hasattr(result, "_fields"):
        return {f"[{i}]": part for i, part in enumerate(result)}
    names = PARTS.get(type(result).__name__) or getattr(result, "_fields", None)
    if names is None and dataclasses.is_dataclass(result):
        names = [field.name for field in dataclasses.fields(result)]
    if names is None:
        return None
    return _in_order({f".{name}": getattr(result, name) for name in names})


def _in_order(parts):
    """With the entries of a sparse tensor from the first place to the last."""
    if parts.keys() != {".indices", ".values", ".dense_shape"}:
        return parts
    places, values = np.asarray(parts[".indices"]), np.asarray(parts[".values"])
    order = np.lexsort(places.T[::-1]) if places.size else slice(None)
    return parts | {".indices": places[order], ".values": values[order]}


def _magnitude(array):
    if array.dtype.kind not in "fcV":
        return 0.0
    finite = array[np.isfinite(array)] if array.dtype.kind in "fc" else array.astype(np.float64)
    return float(np.max(np.abs(finite), initial=0.0))


def _difference(place, a, b, equal_nan, unit):
    if a.shape != b.shape:
        return Difference(math.inf, place, "shape", a.shape, b.shape)
    if _is_text(a) != _is_text(b):
        return Difference(math.inf, place, "type", a.dtype, b.dtype)
    if all(x.dtype.kind in "biuOSU" for x in (a, b)):
        return _different_entries(place, a, b)
    a, b = (np.asarray(x, np.complex128 if x.dtype.kind == "c" else np.float64) for x in (a, b))
    one, other = np.isnan(a), np.isnan(b)
    if (one != other if equal_nan else one | other).any():
        counts = (int(np.count_nonzero(nan)) for nan in (one, other))
        return Difference(math.inf, place, "NaN", *counts)
    return _numbers(place, np.where(one, 0, a), np.where(other, 0, b), unit)


def _numbers(place, a, b, unit):
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite]):
        return Difference(math.inf, place, absolute=math.inf)
    absolute = float(np.max(np.abs(a[finite] - b[finite]), initial=0))
    if absolute == 0 or max(_magnitude(a), _magnitude(b)) < ZERO * unit:
        return Difference(0.0, place, absolute=absolute)
    scale = max(_magnitude(b) or _magnitude(a), FLOOR * unit)
    return Difference(absolute / scale, place, absolute=absolute)


def _is_text(array):
    return array.dtype.kind in "OSU"


def _different_entries(place, a, b):
    """A token that is almost the same is another token."""
    different = int(np.count_nonzero(a != b))
    if different:
        return Difference(math.inf, place, "entries", different, a.size)
    return Difference(0.0, place)
