"""How far two results differ, whatever they are made of."""

import math
from collections.abc import Mapping

import numpy as np


def largest_difference(result, reference, equal_nan: bool = False) -> float:
    """Largest difference of two results, relative to the largest finite magnitude of its array.

    equal_nan: whether NaN equals NaN in the same place.

    Raises: ValueError when structure, shape, type of content, integers or strings differ, or a
    number is NaN.
    """
    left, right = dict(_leaves(result)), dict(_leaves(reference))
    if left.keys() != right.keys():
        raise ValueError(f"its result has parts {list(left)}, the reference {list(right)}")
    return max(
        (_difference(path, left[path], right[path], equal_nan) for path in left), default=0.0
    )


def _leaves(result, path="result"):
    if isinstance(result, Mapping):
        for key, value in result.items():
            yield from _leaves(value, f"{path}[{key!r}]")
    elif isinstance(result, (list, tuple)):
        for i, value in enumerate(result):
            yield from _leaves(value, f"{path}[{i}]")
    elif result is not None:
        yield path, np.asarray(result)


def _difference(path, a, b, equal_nan):
    if a.shape != b.shape:
        raise ValueError(f"its {path} has shape {a.shape}, the reference has {b.shape}")
    if _is_text(a) != _is_text(b):
        raise ValueError(f"its {path} has type {a.dtype}, the reference has {b.dtype}")
    if all(x.dtype.kind in "biuOSU" for x in (a, b)):
        return _no_difference(path, a, b)
    a, b = (np.asarray(x, np.complex128 if x.dtype.kind == "c" else np.float64) for x in (a, b))
    if equal_nan:
        both = np.isnan(a) & np.isnan(b)
        a, b = np.where(both, 0, a), np.where(both, 0, b)
    for name, x in (("its", a), ("the reference's", b)):
        if np.isnan(x).any():
            raise ValueError(
                f"{name} {path} holds NaN where the other does not"
                if equal_nan
                else f"{name} {path} holds NaN, which equals nothing: give arguments that avoid it"
            )
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite]):
        return math.inf
    scale = np.max(np.abs(b[finite]), initial=np.finfo(np.float32).tiny)
    return float(np.max(np.abs(a[finite] - b[finite]), initial=0) / scale)


def _is_text(array):
    return array.dtype.kind in "OSU"


def _no_difference(path, a, b):
    """Zero: a token that is almost the same is another token."""
    different = np.count_nonzero(a != b)
    if different:
        raise ValueError(f"its {path} differs in {different} of {a.size} entries, allowed none")
    return 0.0
