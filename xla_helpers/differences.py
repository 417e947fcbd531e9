"""How far two results differ, whatever they are made of."""

import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

TOLERANCE = 1e-4  # largest relative difference of results that count as equal
MANY = 32  # different whole numbers in an array: then they are measured values, and no marks
FEW = 0.01  # of the entries of such an array, at most, may be rounded to the number beside
LAST_PLACES = 10  # of a variable's values: a change of fewer than these is within their rounding
PIECE = 1 << 20  # entries that are widened at a time

ROUNDED = 3  # last places, in which two ways of writing one value may differ

FLOATING = "fcV"  # V is a type that NumPy does not know, such as bfloat16
NUMBERS = "biu" + FLOATING
KINDS = {"b": "bool", "i": "int", "u": "uint", "f": "float", "V": "float", "c": "complex"}
"""What two arrays must share; all others are text, or None."""
NOTHING = np.array(None, dtype=object)  # what stands for None, which () does not equal

PARTS = {
    "RaggedTensor": ("values", "row_splits"),
    "IndexedSlices": ("indices", "values"),
    "SparseTensor": ("indices", "values", "dense_shape"),
}
"""The parts of TensorFlow's composite tensors."""


@dataclass(frozen=True, eq=False)
class Difference:
    """Where a result differs most from a reference. Two of the same size are equal.

    Attributes:
        size: Relative to the scale of its array (see `max_difference`); infinity where shapes,
            types, integers, text or NaN differ.
        place: The part of the result, such as ``result['loss'][1]``.
        detail: The difference in words; "" where there is none.
    """

    size: float = 0.0
    place: str = "result"
    detail: str = ""

    def __eq__(self, other):
        """Also with an `ArrayDifference`, because a file of results holds the size alone."""
        return self.size == other.size if isinstance(other, Difference) else NotImplemented

    def __hash__(self):
        return hash(self.size)

    def within(self, tolerance: float) -> bool:
        """Whether a relative difference of `tolerance` allows it."""
        return self.size <= tolerance

    def allowed_by(self) -> str:
        """Which tolerance would allow it, in words: 1, 2 or 5 times a power of ten."""
        if not 0 < self.size <= 0.5:
            return "no tolerance allows that"
        power = 10.0 ** math.floor(math.log10(self.size))
        allowed = next(step * power for step in (1, 2, 5, 10) if step * power >= self.size)
        return f"a tolerance of {allowed:.2g} would allow it"

    def __str__(self):
        return f"{self.place}: {self.detail}" if self.detail else "equal"


@dataclass(frozen=True, eq=False)
class ArrayDifference(Difference):
    """The difference of one array, with what it is judged by.

    Attributes:
        absolute: The largest difference of two entries.
        scale: What `absolute` was divided by.
        within_rounding: Whether it is of a variable that changed by fewer than `LAST_PLACES`.
    """

    absolute: float = 0.0
    scale: float = 0.0
    within_rounding: bool = False


@dataclass(frozen=True)
class Sensitive:
    """An array that is not compared, because rounding alone moves it.

    Attributes:
        place: The part of the result, such as ``result['loss'][1]``.
        difference: How far it differs, relative to its scale.
        perturbed: How far it moves where the arguments move by their last bit; None of a variable
            whose change is within the rounding of its values.
    """

    place: str
    difference: float
    perturbed: float | None

    def __str__(self):
        if self.perturbed is None:
            return f"{self.place} (the change is within rounding)"
        return (
            f"{self.place} (differs by {self.difference:.2g}, rounding moves {self.perturbed:.2g})"
        )


def max_difference(result, reference) -> Difference:
    """Find the largest relative difference of two results.

    NaN equals NaN, and infinity the same infinity, in the same place. The difference of an array is
    relative to the largest magnitude in `reference` of those entries that differ: what is equal, or
    differs by no more than its own last place, as a mask does, sets no scale. Bool, whole numbers
    with and without a sign, floating numbers, complex ones and text are different types; float32
    and float64 are not.

    Args:
        result: Arrays, tensors (ragged, sparse, and slices of gradients too), numbers, text, or
            nests of them: lists, tuples, mappings.
        reference: The same, to compare with.

    Returns:
        A `Difference`, of infinite size where parts, shapes, types, integers, text or NaN differ.
        Of whole numbers with many values, of which a few are one apart, the size is relative, too.

    Raises:
        TypeError: For anything but numbers and text.

    Example:
        >>> str(max_difference([1.0, 2.002], [1.0, 2.0]))
        'result[1]: 0.001 relative, 0.002 absolute'
    """
    left, right = (dict(leaves(as_arrays(nest))) for nest in (result, reference))
    return largest(differences(left, right))


def differences(left: Mapping, right: Mapping, name: str = "result") -> list[ArrayDifference]:
    """The difference of each array of two results, given as a mapping from place to array."""
    if left.keys() != right.keys():
        return [ArrayDifference(math.inf, name, f"parts {list(left)} instead of {list(right)}")]
    return [_difference(path, left[path], right[path]) for path in left]


def largest(found: Iterable[Difference]) -> Difference:
    """The largest of several differences."""
    return max(found, key=lambda difference: difference.size, default=Difference())


def as_arrays(result, place: str = "result"):
    """A nest with its leaves copied to NumPy arrays.

    Raises:
        TypeError: For anything but numbers and text; it names the place.
    """
    names = PARTS.get(type(result).__name__) or getattr(result, "_fields", None)
    if names is not None:
        result = {name: getattr(result, name) for name in names}
    if (parts := _parts_of_extension(result)) is not None:
        result = parts
    if isinstance(result, Mapping):
        return {key: as_arrays(part, f"{place}[{key!r}]") for key, part in result.items()}
    if isinstance(result, (list, tuple)):
        return [as_arrays(part, f"{place}[{i}]") for i, part in enumerate(result)]
    return NOTHING if result is None else _as_array(result, place)


def _parts_of_extension(result):
    """The tensors of a type that a reader made with TensorFlow's help; None of another."""
    tf = sys.modules.get("tensorflow")
    if tf and (
        isinstance(result, tf.experimental.ExtensionType) or hasattr(result, "__tf_flatten__")
    ):
        return tf.nest.flatten(result, expand_composites=True)
    return None


def _as_array(leaf, place):
    value = leaf.numpy() if hasattr(leaf, "numpy") else leaf
    # NumPy's own type for text drops a NUL at its end.
    array = np.array(value, object if isinstance(value, (bytes, str)) else None)
    if array.dtype.kind == "U":
        array = array.astype(object)
    is_text = array.dtype.kind == "O" and all(isinstance(x, (bytes, str)) for x in array.flat)
    if array.dtype.names or not (is_text or array.dtype.kind in NUMBERS + "S"):
        kind = type(leaf).__name__
        raise TypeError(f"`{place}` is a {kind}: only numbers, text and nests of them are compared")
    return _encoded(array) if is_text else array


def _encoded(texts):
    """As a graph returns text: bytes."""
    encoded = [text.encode() if isinstance(text, str) else text for text in texts.flat]
    array = np.empty(len(encoded), object)
    array[:] = encoded
    return array.reshape(texts.shape)


def leaves(arrays, place: str = "result") -> Iterator[tuple[str, Any]]:
    """Each leaf of a nest but None, with its place, such as ``result['loss'][1]``."""
    if names := PARTS.get(type(arrays).__name__):
        arrays = {name: getattr(arrays, name) for name in names}
    if isinstance(arrays, (Mapping, list, tuple)):
        for key, part in arrays.items() if isinstance(arrays, Mapping) else enumerate(arrays):
            yield from leaves(part, f"{place}[{key!r}]")
    elif arrays is not None:
        yield place, arrays


def _difference(place, a, b):
    """The difference of two arrays."""
    if words := _unlike(a, b):
        return ArrayDifference(math.inf, place, words)
    if np.array_equal(a, b):
        return ArrayDifference(place=place)
    if a.dtype.kind not in FLOATING:
        return _exact(place, a, b)
    if (found := _apart(a, b)) is None:
        return ArrayDifference(math.inf, place, _in_words_where_not_finite(a, b))
    absolute, scale = found
    size = absolute / scale if absolute else 0.0
    words = f"{size:.2g} relative, {absolute:.2g} absolute" if absolute else ""
    return ArrayDifference(size, place, words, absolute, scale)


def _unlike(a, b):
    """Why two arrays cannot be compared number by number, or ""."""
    if a.shape != b.shape:
        return f"shape {a.shape} instead of {b.shape}"
    kinds = [KINDS.get(array.dtype.kind, "text") for array in (a, b)]
    return "" if kinds[0] == kinds[1] else f"type {a.dtype} instead of {b.dtype}"


def _exact(place, a, b):
    """The difference of arrays of whole numbers, bool or text that are not equal."""
    different = a != b
    words = f"{np.count_nonzero(different):,} of {a.size:,} entries are different"
    if a.dtype.kind not in "iu":
        return ArrayDifference(math.inf, place, words)
    apart = np.abs(a[different].astype(np.float64) - b[different].astype(np.float64))
    words += f", by {'' if np.ptp(apart) == 0 else 'at most '}{np.max(apart):,.0f}"
    is_rounded = np.max(apart) == 1 and np.mean(different) <= FEW and len(np.unique(b)) >= MANY
    scale = float(np.max(np.abs(b.astype(np.float64))))
    return ArrayDifference(1 / scale if is_rounded else math.inf, place, words, 1.0, scale)


def _apart(a, b):
    """The largest difference of two entries, and the magnitude that it is relative to.

    That is of the entries which differ by more than their last place, or, where none does, of all
    that differ. None where NaN or infinity stand in other places.
    """
    last = max(_last_place(a.dtype), _last_place(b.dtype))
    close, beyond = np.zeros(3), np.zeros(3)  # the difference, the magnitudes in b and in a
    for x, y in _pieces(a, b):
        finite = np.isfinite(x) & np.isfinite(y)
        if not np.array_equal(x[~finite], y[~finite], equal_nan=True):
            return None
        parts = np.abs([x[finite] - y[finite], y[finite], x[finite]])
        for most, where in ((close, parts[0] > 0), (beyond, parts[0] > last * parts[1])):
            np.maximum(most, np.max(parts[:, where], axis=1, initial=0), out=most)
    absolute, scale, other = map(float, beyond if beyond[0] else close)
    return absolute, scale or other


def change_difference(place: str, before, after, reference) -> ArrayDifference:
    """The difference of two values that a variable may have after a call.

    It is relative to the largest change of the variable in the reference, and less by what the
    rounding of its values can do, `ROUNDED` last places.

    Args:
        place: The name.
        before: The value before the call, an array.
        after: The value after it.
        reference: The value to compare that with.

    Returns:
        An `ArrayDifference`.
    """
    is_moved = after.dtype.kind in FLOATING and not _unlike(after, reference)
    if not is_moved or _unlike(before, reference):
        return _difference(place, after, reference)
    most = np.zeros(5)  # beyond rounding, at all, the changes in both, and these in last places
    for start, x, y in _pieces(before, after, reference):
        finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(start)
        if not np.array_equal(x[~finite], y[~finite], equal_nan=True):
            words = _in_words_where_not_finite(after, reference)
            return ArrayDifference(math.inf, place, words)
        found = _change(start[finite], x[finite], y[finite], _last_place(after.dtype))
        np.maximum(most, np.max(found, axis=1, initial=0), out=most)
    beyond, absolute, change, other, places = map(float, most)
    scale = change or other
    size = beyond / scale if beyond else 0.0
    words = f"{size:.2g} of its largest change, {absolute:.2g} absolute" if beyond else ""
    return ArrayDifference(size, place, words, beyond, scale, 0 < places < LAST_PLACES)


def _change(start, x, y, last_place):
    """Of each entry: its difference beyond rounding and at all, both changes, their last places."""
    _, exponents = np.frexp(np.max(np.abs([start, x, y]), axis=0, initial=0))
    last = np.ldexp(last_place, exponents - 1)  # of a number of this size
    apart, change, other = np.abs(x - y), np.abs(y - start), np.abs(x - start)
    beyond = np.maximum(apart - ROUNDED * last, 0)
    return np.array([beyond, apart, change, other, np.maximum(change, other) / last])


def _pieces(*arrays):
    """Arrays of one shape, a piece of each at a time, in double precision.

    A complex number is two real ones, so that NaN in one half of it does not hide the other.
    """
    flat = [array.reshape(-1) for array in arrays]
    flat = [array.view(array.real.dtype) if array.dtype.kind == "c" else array for array in flat]
    for first in range(0, len(flat[0]), PIECE):
        yield [array[first : first + PIECE].astype(np.float64) for array in flat]


def _last_place(dtype):
    """The distance of the numbers beside one, in units of one."""
    from ml_dtypes import finfo  # of NumPy's types, too

    return float(finfo(dtype).eps)


def _in_words_where_not_finite(a, b):
    words, instead = _not_finite(a), _not_finite(b)
    elsewhere = "in other places" if words == instead else f"instead of {instead}"
    return f"{words} {elsewhere}"


def _not_finite(array):
    """How many entries are NaN, and how many are infinite, in words."""
    array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64, copy=False)
    negative = np.count_nonzero(np.isinf(array) & (array.real < 0))
    infinite = f"{np.isinf(array).sum()} infinite"
    infinite += f" ({negative} of them negative)" if negative else ""
    return f"{np.isnan(array).sum()} NaN and {infinite}"


def largest_number(arrays: Iterable) -> float:
    """The largest finite magnitude of any floating number in these arrays."""
    most = 0.0
    for array in arrays:
        for [piece] in _pieces(array) if array.dtype.kind in FLOATING else ():
            most = max(most, float(np.max(np.abs(piece[np.isfinite(piece)]), initial=0)))
    return most
