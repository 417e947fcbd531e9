"""What the machine allows, and what programs hold: the roofline and the memory, drawn."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from ..figures import (
    GUIDE,
    Picture,
    beside,
    colours,
    draw_bars,
    draw_lines,
    finish,
    guide,
    new_axes,
    picture,
    plain,
)
from ..tables import counted, format_bytes
from .findings import Findings, FirstCalls, Peaks, Work
from .wording import flops, share

ENOUGH = 4  # programs from which a line may be extrapolated
FURTHER = 5  # times as many programs: how far it is extrapolated


def of_limit(work: Work, peaks: Peaks) -> float | None:
    """How far a program is from what the machine reached with its operations per byte: 1 is there.

    Where operations are not known or none, from the bytes of a copy; None without bytes.
    """
    if not work.bytes:
        return None
    if not work.flops:
        return work.bytes / work.seconds / peaks.bytes_per_second
    return work.flops / work.seconds / roof(work.flops / work.bytes, peaks)


def roof(flops_per_byte: float, peaks: Peaks) -> float:
    """The most floating-point operations per second, for so many of them per byte."""
    return min(peaks.flops_per_second, flops_per_byte * peaks.bytes_per_second)


def draw_limit(findings: Findings) -> Picture | None:
    """The roofline with a dot for each mode, or without operations a bar for each."""
    if findings.peaks is None:
        return None
    known = [work for work in findings.works if work.bytes and work.seconds]
    if not known:
        return None
    counted_ones = [work for work in known if work.flops]
    draw = _draw_roof if counted_ones else _draw_bandwidth
    return draw(counted_ones or known, findings.peaks)


def _draw_roof(works, peaks):
    ax, ridge = new_axes(3.4), peaks.flops_per_second / peaks.bytes_per_second
    places = [work.flops / work.bytes for work in works]
    across = np.geomspace(min([*places, ridge]) / 8, max([*places, ridge]) * 8, 200)
    ax.plot(across, [roof(place, peaks) for place in across], color=GUIDE)
    hues = colours([work.mode for work in works])
    for number, (place, work) in enumerate(zip(places, works, strict=True)):
        _draw_dot(ax, place, work, peaks, hues[work.mode], 6 if number % 2 else -6)
    _log_both(ax)
    beside(ax, (ridge, 1.25 * peaks.flops_per_second), "product of matrices", GUIDE, up=4)
    beside(ax, (across[0], roof(across[0], peaks)), "copy", GUIDE, up=12)
    title = "How far each mode is from what the machine reached"
    finish(ax, title, "operations per byte, log scale", "operations per second, log scale")
    told = "; ".join(f"{work.mode} {_reached(work, peaks)}" for work in works)
    reached = f"{flops(peaks.flops_per_second)} in a product of matrices"
    return picture(ax, f"{title}: {told}. It reached {reached}, {_copy(peaks)}.")


def _draw_dot(ax, place, work, peaks, colour, up):
    height = work.flops / work.seconds
    ax.plot([place, place], [height, roof(place, peaks)], ":", color=colour)
    ax.plot(place, height, "o", color=colour)
    beside(ax, (place, height), f" {plain(work.mode)}: {_reached(work, peaks)}", colour, up=up)


def _log_both(ax):
    for axis, name in ((ax.xaxis, "x"), (ax.yaxis, "y")):
        ax.set(**{f"{name}scale": "log"})
        axis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: flops(value)))
    low, high = ax.get_ylim()
    ax.set_ylim(low / 2, 4 * high)


def _draw_bandwidth(works, peaks):
    ax = new_axes(1.3 + 0.4 * len(works))
    draw_bars(ax, {work.mode: {work.mode: work.bytes / work.seconds} for work in works}, _rate)
    guide(ax, "a copy", x=peaks.bytes_per_second)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _rate(value)))
    title = "How far each mode is from the copy of a large array"
    told = "; ".join(f"{w.mode} {_rate(w.bytes / w.seconds)}, {_reached(w, peaks)}" for w in works)
    return picture(finish(ax, title, "bytes per second"), f"{title}: {told}. {_copy(peaks)}.")


def _reached(work, peaks):
    part = of_limit(work, peaks)
    least = "at least " if work.flops and work.least else ""
    return f"{least}{share(part)} of it" if part <= 1 else "above it"


def _copy(peaks):
    return f"{_rate(peaks.bytes_per_second)} in a copy of a large array"


def _rate(value):
    return f"{format_bytes(value)}/s"


def held(first: FirstCalls) -> tuple[tuple[int, int], ...]:
    """Pairs of how many programs a process had compiled, and the bytes that it held then."""
    pairs, programs = [(0, first.memory)], 0
    for call in first.calls:
        programs += call.compilations
        if call.compilations and call.memory and not call.error:
            pairs.append((programs, call.memory))
    return tuple(pairs) if len(pairs) > 1 else ()


def bytes_a_program(first: FirstCalls) -> float | None:
    """How many bytes each program after the first added; None where too few were measured.

    The first one also brings the compiler itself.
    """
    pairs = held(first)
    if not pairs or pairs[-1][0] < ENOUGH or len(pairs) < 3:
        return None
    (start, low), (end, high) = pairs[1], pairs[-1]
    return (high - low) / (end - start)


def draw_memory(findings: Findings) -> Picture | None:
    """What the process holds over the number of programs: measured, and extrapolated."""
    known = {first.label: held(first) for first in findings.first if held(first)}
    if not known:
        return None
    ax = new_axes(3.2)
    points = {plain(label): _points(pairs) for label, pairs in known.items()}
    lines = draw_lines(ax, points, marker="o")
    further = [_draw_on(ax, findings.first_of(x), lines[plain(x)]) for x in known]
    ax.set_ylim(0, 1.15 * ax.get_ylim()[1])
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda count, _: format_bytes(count)))
    on = " What is dashed is extrapolated, not measured." if any(further) else ""
    dashed = ", dashed: extrapolated" if any(further) else ""
    title = "Memory of the process over its programs"
    finish(ax, title, f"programs compiled (dot: measured{dashed})", "memory", lines)
    told = [f"{label} held {_ends(pairs)}" for label, pairs in known.items()]
    return picture(ax, f"{title}. {'; '.join(told)}.{on}")


def _points(pairs):
    return [programs for programs, _ in pairs], [held for _, held in pairs]


def _draw_on(ax: Axes, first, line):
    """The line to as many more programs, dashed, where it grows; False where it does not."""
    slope = bytes_a_program(first)
    if slope is None or slope <= 0:
        return False
    programs, now = held(first)[-1]
    end = FURTHER * programs
    further = [now, now + slope * (end - programs)]
    ax.plot([programs, end], further, "--", color=line.get_color(), linewidth=1.2)
    return True


def _ends(pairs):
    (_, before), (programs, after) = pairs[0], pairs[-1]
    what = counted(programs, "program")
    return f"{format_bytes(before)} before, {format_bytes(after)} after {what}"
