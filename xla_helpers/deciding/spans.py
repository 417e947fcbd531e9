"""Numbers that are known from one end to another, and ratios weighted over a plan."""

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..ratios import Ratio


@dataclass(frozen=True)
class Span:
    """A number that is known from `low` to `high`; `value` is the best guess."""

    low: float
    value: float
    high: float

    def as_ratio(self, noise: float = 1.0) -> Ratio:
        """The same as what puts itself in words, such as "1.36x slower [1.35, 1.38]".

        noise: how far from itself the graph seemed to be.
        """
        return Ratio(self.value, self.low, self.high, noise)


def unknown(value: float) -> Span:
    """A number of which there is a guess, and no interval."""
    return Span(0.0, value, math.inf)


def union(spans: Iterable) -> Span:
    """From the lowest end to the highest; the value is the median of the values.

    spans: anything with low, value and high.
    """
    spans = list(spans)
    value = statistics.median(span.value for span in spans)
    return Span(min(span.low for span in spans), value, max(span.high for span in spans))


def added(spans: Iterable[Span], times: Iterable[float]) -> Span:
    """The sum of them, each so many times."""
    pairs = list(zip(spans, times, strict=True))
    return Span(
        sum(span.low * n for span, n in pairs),
        sum(span.value * n for span, n in pairs),
        sum(span.high * n for span, n in pairs),
    )


def at_least(span: Span, floor: Span) -> Span:
    """The larger of the two, end by end."""
    return Span(max(span.low, floor.low), max(span.value, floor.value), max(span.high, floor.high))


def weighted(times: Mapping[int, Span], seconds: Mapping[int, Span]) -> Span:
    """The ratio of all calls from those of the shapes.

    times: for each shape, how many times faster. seconds: for each, what all of its calls take in
    the slower mode. The ratio of all grows with that of each shape, so its ends come from all the
    low ends and all the high ends, at those seconds at which they lie furthest out.
    """
    value = _of_all([(times[i].value, seconds[i].value) for i in times])
    ends = [x for span in (*times.values(), *seconds.values()) for x in (span.low, span.high)]
    if not all(0 < x < math.inf for x in ends):
        return unknown(value)
    low = [(times[i].low, seconds[i]) for i in times]
    high = [(times[i].high, seconds[i]) for i in times]
    return Span(min(_mixtures(low)), value, max(_mixtures(high)))


def _mixtures(shapes: Sequence[tuple[float, Span]]) -> Iterator[float]:
    """The ratio of all calls for such seconds as may make it smallest or largest.

    It is smallest where the shapes with ratios below it take most and all others least, and
    largest the other way round. Which ones lie below it is not known, so each way to part the
    sorted shapes is tried.
    """
    shapes = sorted(shapes, key=lambda one: one[0])
    for parted in range(len(shapes) + 1):
        below, above = shapes[:parted], shapes[parted:]
        yield _of_all([(t, s.high) for t, s in below] + [(t, s.low) for t, s in above])
        yield _of_all([(t, s.low) for t, s in below] + [(t, s.high) for t, s in above])


def _of_all(pairs):
    """pairs: for each shape its ratio, and the seconds of its calls in the slower mode."""
    return sum(s for _, s in pairs) / sum(s / times for times, s in pairs)
