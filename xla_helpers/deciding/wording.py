"""How a decision's numbers and names are put, in the page and in its pictures."""

import math
from collections.abc import Iterable

from matplotlib.ticker import EngFormatter

from ..devices import HIDDEN, HIDDEN_HERE, NO_GPU, UNSEEN
from ..results import Result
from ..tables import counted, cut, format_bytes, format_seconds
from .findings import PADDED, Checked, End, Findings, FirstCalls
from .spans import Span

WIDE = 48  # characters of a shape in a row of a table or a picture
LEAST = 0.001  # the smallest share that is shown as a number, and the smallest rest
FLOPS = EngFormatter("FLOP/s")

WITHOUT = (NO_GPU, HIDDEN, HIDDEN_HERE, UNSEEN)
"""What a machine says of its accelerators where TensorFlow uses none."""

STARTED = (
    "Times by layer are those of the processor: with a GPU they show who starts the work, and not "
    "how long the GPU takes for it."
)

ENDED = {
    "finished": "finished",
    "failed": "failed: {said}",
    "time": "was stopped when its {limit} were over",
    "memory": "was stopped, because it held too much memory{peak}",
    "killed": "died: {said}",
    "left out": "was left out: {said}",
}
UNSAID = {"left out": "there was no time for it"}


def arguments(shape: tuple[str, ...], limit: int = WIDE) -> str:
    """The shapes of a call's arguments in a line; of a long one its beginning."""
    return cut(", ".join(shape) or "no arguments", limit)


def arguments_of(findings: Findings, label: str, number: int) -> str:
    """The arguments of a program in a line; a candidate that pads counts its shapes by itself."""
    if findings.plan is None:
        return f"shape {number + 1}"
    plan = findings.plan
    return arguments((plan.padded if label == PADDED else plan.shapes)[number].arguments)


def shapes_of(first: FirstCalls) -> str:
    """With how many shapes a candidate was called: ``2 shapes``."""
    return counted(len(first.calls), "shape")


def of_the_processor(findings: Findings) -> str:
    """A sentence that times by layer are not those of a GPU; "" where there is no GPU."""
    return "" if findings.machine.get("accelerators", NO_GPU) in WITHOUT else STARTED


def share(part: float) -> str:
    """A share from 0 to 1, such as ``12.5 %``; what is small is not nothing, or nearly all all."""
    if 0 < part < LEAST:
        return f"less than {100 * LEAST:g} %"
    if 1 - LEAST < round(part, 9) < 1:
        return f"more than {100 * (1 - LEAST):g} %"
    return f"{100 * part:.3g} %"


def flops(per_second: float) -> str:
    """Floating-point operations per second, with three digits: ``50 GFLOP/s``."""
    return FLOPS(float(f"{per_second:.3g}"))


def why_nothing(findings: Findings, part: str, nothing: str = "nothing of this") -> str:
    """Why there is nothing of a part to show, in a sentence. nothing: what it found, in words."""
    end = findings.end_of(part)
    if end is None and findings.unfinished:
        return f'Not finished: the part "{part}" had not ended when this page was written.'
    if end is None:
        return f'The part "{part}" did not run.'
    empty = f" and found {nothing}" if end.how == "finished" else ""
    return f'The part "{part}" {ended(end)}{empty}.'


def ended(end: End) -> str:
    """How a part ended, in words that go on after its name."""
    said = (end.said or UNSAID.get(end.how, "it did not say why")).rstrip(".")
    peak = f", {format_bytes(end.peak)} at the most" if end.peak else ""
    return ENDED[end.how].format(said=said, limit=format_seconds(end.limit), peak=peak)


def in_runs(result: Result, label: str) -> list[float]:
    """How many times faster than the graph in each run that measured both, the oldest first."""
    both = [run for run in result.runs if {label, "graph"} <= set(run.measurements)]
    return [run.ratio(label, "graph").value for run in both]


def seconds_of(span: Span) -> str:
    """Seconds with their interval: ``1.5 s [1.4 s, 1.6 s]``."""
    value, low = format_seconds(span.value), format_seconds(span.low)
    if not math.isfinite(span.high):
        return f"{value}, the interval is not known"
    return f"{value} [{low}, {format_seconds(span.high)}]"


def calls_of(span: Span) -> str:
    """A number of calls with its interval: ``1,200 calls [1,100, 1,350]``."""
    low, value = (float(f"{end:.3g}") for end in (span.low, span.value))
    high = f"{float(f'{span.high:.3g}'):,.0f}" if math.isfinite(span.high) else "no end"
    return f"{counted(round(value), 'call')} [{low:,.0f}, {high}]"


def end_of(path: str, limit: int) -> str:
    """A layer's path; a long one loses its beginning, because its end says which layer it is."""
    return path if len(path) <= limit else f"…{path[1 - limit :]}"


def listed(names, most: int = 6, what: str = "other") -> str:
    """Names in a line, at most so many, and how many more there are."""
    names = list(names)
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {counted(len(names) - most, what)}"


def the(label: str) -> str:
    """A candidate as a sentence names it."""
    return "the graph" if label == "graph" else label


def each(checks: Iterable[Checked], name: str) -> list:
    """What stands in a field of several checks, each once."""
    return list(dict.fromkeys(one for checked in checks for one in getattr(checked, name)))
