"""A kernel, and the bytes that it reads and writes."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from .. import internals
from ..tables import format_si
from .lines import Line


@dataclass(frozen=True)
class Kernel:
    """One piece of work.

    Attributes:
        name: Its name.
        operations: The operations that it does.
        bytes_read, bytes_written: Of all arrays that it reads and writes each time it runs; None
            where some cannot be known, because a shape is unknown or it holds text.
        lines: The reader's lines that it came from; () where they are not known.
    """

    name: str
    operations: tuple[str, ...]
    bytes_read: int | None
    bytes_written: int | None
    lines: tuple[Line, ...] = field(default=(), kw_only=True, compare=False)


def total_bytes(counts: Iterable[int | None]) -> int | None:
    """The sum; None where one of them is not known."""
    known = list(counts)
    return None if None in known else sum(x for x in known if x is not None)


def bytes_shown(count):
    """Bytes with a unit, or "unknown"."""
    return "unknown" if count is None else format_si(count, "B")


def bytes_of_shape(shape):
    """The bytes of a `ShapeProto` (xla/xla_data.proto), of all parts of a tuple together."""
    if shape.tuple_shapes:
        return sum(map(bytes_of_shape, shape.tuple_shapes))
    dtype = internals.element_type(shape.element_type)
    bits = re.search(r"\d+", dtype)  # f32, c64, s8; neither in pred nor in token
    element = math.ceil(int(bits.group()) / 8) if bits else int(dtype == "pred")
    return math.prod(shape.dimensions) * element
