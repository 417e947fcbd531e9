"""How far two results differ, whatever they are made of."""

import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TOLERANCE = 1e-4  # largest relative difference of results that count as equal
FLOOR = 1e-3  # of the largest number in a result: an array's own scale is at least that
ZERO = 1e-5  # of the same: an array whose numbers all lie below it is practically zero

EXACT = "biuOS"  # kinds of arrays in which almost equal is different: integers and text
FLOATING = "fcV"  # V is a type that NumPy does not know, such as bfloat16

PARTS = {
    "RaggedTensor": ("values", "row_splits"),
    "IndexedSlices": ("indices", "values"),
    "SparseTensor": ("indices", "values", "dense_shape"),
}
"""The parts of TensorFlow's composite tensors."""


@dataclass(frozen=True)
class Difference:
    """Where a result differs most from a reference. Two of the same size are equal.

    Attributes:
        size: Relative to the scale of its array (see `max_difference`); infinity where shapes,
            integers, text or NaN differ.
        place: The part of the result, such as ``result['loss'][1]``.
        detail: The difference in words; "" where there is none.
    """

    size: float = 0.0
    place: str = field(default="result", compare=False)
    detail: str = field(default="", compare=False)

    def within(self, tolerance: float) -> bool:
        """Whether a relative difference of `tolerance` allows it."""
        return self.size <= tolerance

    def allowed_by(self) -> str:
        """Which tolerance would allow it, in words: 1, 2 or 5 times a power of ten."""
        if not 0 < self.size < 1:
            return "no tolerance allows that"
        power = 10.0 ** math.floor(math.log10(self.size))
        allowed = next(step * power for step in (1, 2, 5, 10) if step * power >= self.size)
        return f"a tolerance of {allowed:.2g} would allow it"

    def __str__(self):
        return f"{self.place}: {self.detail}" if self.detail else "equal"


@dataclass(frozen=True)
class Sensitive:
    """An array that is not compared, because rounding alone moves it.

    Attributes:
        place: The part of the result, such as ``result['loss'][1]``.
        difference: How far it differs, relative to its scale.
        moved: How far it moves where the arguments move by their last bit.
    """

    place: str
    difference: float
    moved: float

    def __str__(self):
        return f"{self.place} (differs by {self.difference:.2g}, rounding moves {self.moved:.2g})"


def max_difference(result, reference) -> Difference:
    """Find the largest relative difference of two results.

    NaN equals NaN, and infinity the same infinity, in the same place. A difference is relative to
    the largest magnitude of its array in `reference`, but to at least `FLOOR` times the largest
    number in the whole result, because rounding is of that size. An array that lies below `ZERO`
    times that number may be what rounding left of a zero: its scale is the number itself. A largest
    number above one counts as one.

    Args:
        result: Arrays, tensors (ragged, sparse, and slices of gradients too), numbers, text, or
            nests of them: lists, tuples, mappings.
        reference: The same, to compare with.

    Returns:
        A `Difference`, of infinite size where parts, shapes, integers, text or NaN differ.

    Raises:
        TypeError: For anything but numbers and text.

    Example:
        >>> str(max_difference([1.0, 2.002], [1.0, 2.0]))
        'result[1]: 0.001 relative, 0.002 absolute'
    """
    left, right = (dict(leaves(as_arrays(nest))) for nest in (result, reference))
    return largest(differences(left, right))


def differences(left: Mapping, right: Mapping, name: str = "result") -> list[Difference]:
    """The difference of each array of two results, given as a mapping from place to array."""
    if left.keys() != right.keys():
        return [Difference(math.inf, name, f"parts {list(left)} instead of {list(right)}")]
    unit = min(1.0, max(map(_magnitude, [*left.values(), *right.values()]), default=0.0))
    return [_difference(path, left[path], right[path], unit) for path in left]


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
    return None if result is None else _as_array(result, place)


def _parts_of_extension(result):
    """The tensors of a type that a reader made with TensorFlow's help; None of another."""
    tf = sys.modules.get("tensorflow")
    if tf and (
        isinstance(result, tf.experimental.ExtensionType) or hasattr(result, "__tf_flatten__")
    ):
        return tf.nest.flatten(result, expand_composites=True)
    return None


def _as_array(leaf, place):
    array = np.array(leaf.numpy() if hasattr(leaf, "numpy") else leaf)
    if array.dtype.kind == "U":
        return np.char.encode(array, "utf-8")  # as a graph returns text
    is_text = all(isinstance(part, (bytes, str)) for part in array.flat)
    known = is_text if array.dtype.kind == "O" else array.dtype.kind in EXACT + FLOATING
    if array.dtype.names or not known:
        kind = type(leaf).__name__
        raise TypeError(f"`{place}` is a {kind}: only numbers, text and nests of them are compared")
    return array


def leaves(arrays, place: str = "result") -> Iterator[tuple[str, Any]]:
    """Each leaf of a nest but None, with its place, such as ``result['loss'][1]``."""
    if names := PARTS.get(type(arrays).__name__):
        arrays = {name: getattr(arrays, name) for name in names}
    if isinstance(arrays, (Mapping, list, tuple)):
        for key, part in arrays.items() if isinstance(arrays, Mapping) else enumerate(arrays):
            yield from leaves(part, f"{place}[{key!r}]")
    elif arrays is not None:
        yield place, arrays


def _magnitude(array):
    """The largest finite magnitude; 0 for integers and text."""
    if array.dtype.kind not in FLOATING:
        return 0.0
    array = _widened(array)
    return float(np.max(np.abs(array[np.isfinite(array)]), initial=0.0))


def _widened(array):
    """In double precision."""
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64, copy=False)


def _not_finite(array):
    """How many entries are NaN, and how many are infinite, in words."""
    negative = np.count_nonzero(np.isinf(array) & (array.real < 0))
    infinite = f"{np.isinf(array).sum()} infinite"
    infinite += f" ({negative} of them negative)" if negative else ""
    return f"{np.isnan(array).sum()} NaN and {infinite}"


def _difference(place, a, b, unit):
    """The difference of two arrays; unit: the largest number in the whole, at most one."""
    if a.shape != b.shape:
        return Difference(math.inf, place, f"shape {a.shape} instead of {b.shape}")
    if (a.dtype.kind in "OS") != (b.dtype.kind in "OS"):
        return Difference(math.inf, place, f"type {a.dtype} instead of {b.dtype}")
    if a.dtype.kind in EXACT and b.dtype.kind in EXACT:
        different = int(np.count_nonzero(a != b))
        words = f"{different} of {a.size} entries are different"
        return Difference(math.inf, place, words) if different else Difference(place=place)
    a, b = _widened(a), _widened(b)
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        words, instead = _not_finite(a), _not_finite(b)
        elsewhere = "in other places" if words == instead else f"instead of {instead}"
        return Difference(math.inf, place, f"{words} {elsewhere}")
    absolute = float(np.max(np.abs(a[finite] - b[finite]), initial=0.0))
    if not absolute:
        return Difference(place=place)
    magnitude, reference = _magnitude(a), _magnitude(b)
    is_zero = max(magnitude, reference) < ZERO * unit
    scale = unit if is_zero else max(reference or magnitude, FLOOR * unit)
    size = absolute / scale
    return Difference(size, place, f"{size:.2g} relative, {absolute:.2g} absolute")
