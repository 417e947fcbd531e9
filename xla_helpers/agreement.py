"""How far two results differ, whatever they are made of."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

TOLERANCE = 1e-4  # largest relative difference of results that still count as equal


@dataclass(frozen=True)
class Difference:
    """How a result differs from a reference, where it differs most.

    size: largest difference, relative to the largest finite magnitude of its array; infinity
    where numbers cannot say it. place: the part, such as ``result['loss'][1]``. reason: what
    differs: "numbers", "parts", "shape", "type", "entries" (of integers or text) or "NaN".
    here, there: what the two sides have, for the reasons that are no numbers.
    """

    size: float = 0.0
    place: str = "result"
    reason: str = "numbers"
    here: object = None
    there: object = None

    def within(self, tolerance: float) -> bool:
        """Whether a difference of `tolerance` allows it; nothing allows other parts or NaN."""
        return self.size <= tolerance

    def describe(self, one: str = "its", other: str = "the reference") -> str:
        """In words. one: whose result it is, such as "its" or "XLA's". other: the other side."""
        what = f"{one} {self.place}"
        if self.reason == "numbers":
            return f"{what} differs from {other} by {self.size:.2g} (relative)"
        if self.reason == "entries":
            return f"{what} differs from {other} in {self.here} of {self.there} entries"
        if self.reason == "NaN":
            return f"{what} holds {self.here} NaN, {other} holds {self.there}"
        return f"{what} has {self.reason} {self.here}, {other} has {self.there}"


def largest_difference(result, reference, equal_nan: bool = False) -> Difference:
    """The largest difference of two results: arrays, tensors, numbers, text, or nests of them.

    result, reference: the two; the largest magnitudes of `reference` are the scale. equal_nan:
    whether NaN equals NaN in the same place. Introduced in notebook 09.

    Returns: a `Difference`, of infinite size when parts, shapes, types, integers or text differ,
    or a number is NaN.
    """
    left, right = dict(_leaves(result)), dict(_leaves(reference))
    if left.keys() != right.keys():
        return Difference(math.inf, reason="parts", here=list(left), there=list(right))
    found = [_difference(path, left[path], right[path], equal_nan) for path in left]
    return max(found, key=lambda difference: difference.size, default=Difference())


def _leaves(result, path="result"):
    if isinstance(result, Mapping):
        for key, value in result.items():
            yield from _leaves(value, f"{path}[{key!r}]")
    elif isinstance(result, (list, tuple)):
        for i, value in enumerate(result):
            yield from _leaves(value, f"{path}[{i}]")
    elif result is not None:
        yield path, np.asarray(result)


def _difference(place, a, b, equal_nan):
    if a.shape != b.shape:
        return Difference(math.inf, place, "shape", a.shape, b.shape)
    if _is_text(a) != _is_text(b):
        return Difference(math.inf, place, "type", a.dtype, b.dtype)
    if all(x.dtype.kind in "biuOSU" for x in (a, b)):
        return _different_entries(place, a, b)
    a, b = (np.asarray(x, np.complex128 if x.dtype.kind == "c" else np.float64) for x in (a, b))
    if equal_nan:
        both = np.isnan(a) & np.isnan(b)
        a, b = np.where(both, 0, a), np.where(both, 0, b)
    if np.isnan(a).any() or np.isnan(b).any():
        counts = (int(np.count_nonzero(np.isnan(x))) for x in (a, b))
        return Difference(math.inf, place, "NaN", *counts)
    return Difference(_largest(a, b), place)


def _largest(a, b):
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite]):
        return math.inf
    scale = np.max(np.abs(b[finite]), initial=np.finfo(np.float32).tiny)
    return float(np.max(np.abs(a[finite] - b[finite]), initial=0) / scale)


def _is_text(array):
    return array.dtype.kind in "OSU"


def _different_entries(place, a, b):
    """A token that is almost the same is another token."""
    different = int(np.count_nonzero(a != b))
    if different:
        return Difference(math.inf, place, "entries", different, a.size)
    return Difference(0.0, place)
