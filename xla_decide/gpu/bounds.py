"""The least time that a launch takes on a card: what it moves and what it multiplies, divided."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xla_helpers.look.kernels import Kernel, total_bytes
from xla_helpers.tables import format_si

from .launches import Launch
from .targets import Target

SHORTEST = 1e-6  # seconds, of a launch: to start it takes longer
PRODUCTS = frozenset("MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 Einsum".split())


@dataclass(frozen=True)
class Bound:
    """The least time of several launches, one after the other: never a forecast.

    Attributes:
        seconds: Of those that were counted.
        uncounted: How many were not, and have no least time.
    """

    seconds: float
    uncounted: int = 0

    def __str__(self):
        others = f" ({self.uncounted:,} not counted)" if self.uncounted else ""
        least = f"at least {format_si(self.seconds, 's')}" if self.seconds else "no least time"
        return f"{least}{others}"


def least_seconds(kernel: Kernel, target: Target) -> float | None:
    """The least time of a kernel on a card, from the roofline (Williams and others, 2009).

    It must move its bytes, at the bandwidth of the card's memory; what fits into the card's cache
    may be there already, and takes no time by this count. And it must multiply, at the card's peak
    for that type. The longer of the two is the bound.

    Args:
        kernel: A launch, or an operation of a graph as a kernel of its own.
        target: The card.

    Returns:
        Seconds, 0 where nothing bounds it; None where its bytes are not counted.
    """
    moved = total_bytes((kernel.bytes_read, kernel.bytes_written))
    if moved is None:
        return None
    by_memory = moved / target.bandwidth if moved > target.cache else 0.0
    by_arithmetic = 0.0
    if isinstance(kernel, Launch) and kernel.flops and (peak := target.peak(kernel.dtype)):
        by_arithmetic = kernel.flops / peak
    longest = max(by_memory, by_arithmetic)
    return longest if longest >= SHORTEST else 0.0


def bound_of(kernels: Iterable[Kernel], target: Target) -> Bound:
    """The least time of kernels, one after the other."""
    found = [least_seconds(kernel, target) for kernel in kernels]
    known = [seconds for seconds in found if seconds is not None]
    return Bound(sum(known), len(found) - len(known))


def one_by_one(traced: Sequence[Kernel], with_libraries: Iterable[Launch], target: Target) -> Bound:
    """The least time of a graph's operations, a kernel for each.

    All of them move their bytes; and the products multiply, while the others move theirs.

    Args:
        traced: The operations.
        with_libraries: The launches where libraries do all products, none of which is done twice.
        target: The card.
    """
    by_memory = bound_of(traced, target)
    others = bound_of((one for one in traced if one.operations[0] not in PRODUCTS), target)
    products = bound_of((one for one in with_libraries if one.flops), target)
    seconds = max(by_memory.seconds, others.seconds + products.seconds)
    return Bound(seconds, by_memory.uncounted)
