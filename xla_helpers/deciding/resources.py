"""What programs hold and what the machine allows, as sections of the page."""

from ..modes import mode_of
from ..tables import Bytes, Seconds, counted, cut, format_bytes
from .findings import Findings
from .limits import ENOUGH, FURTHER, bytes_a_program, held, of_limit
from .markdown import Markdown, fill, table
from .wording import (
    WIDE,
    arguments,
    arguments_of,
    end_of,
    flops,
    of_the_processor,
    shapes_of,
    share,
    why_nothing,
)

PROGRAMS = 20  # programs whose memory has a row of its own
LAYERS = 15  # layers that have a row of their own
UNKNOWN = "not known"
ANOTHER = (
    "XLA makes at least one program for each shape: a shape that is not among the example calls "
    "would bring one more, or more than one{}; so would a smaller last batch, if it is none of "
    "these."
)
NO_LAYERS = 'no time by layer: either there is no layer of Keras, or "What ran" says why'
UNLESS = ", unless padding makes one of these of it"


def shapes(findings: Findings, picture: Markdown) -> Markdown:
    """Programs, exact and padded; what padding changed; and the memory of all of it."""
    heads = ["", "shape", "arguments", "results", "temporaries"]
    return fill(
        "shapes",
        programs=list(_programs(findings)),
        padding=_padding(findings),
        waste=_waste(findings.plan),
        memory=table(heads, [_memory(findings, one) for one in findings.memory[:PROGRAMS]]),
        no_memory=why_nothing(findings, "work"),
        picture=picture,
        process=list(_process(findings)),
    )


def _compiled(findings):
    """The first calls of what XLA compiles."""
    return [first for first in findings.first if mode_of(first.label) == "XLA"]


def _programs(findings):
    for first in _compiled(findings):
        programs = sum(call.compilations for call in first.calls)
        if programs:
            made = f"{first.label} compiled {counted(programs, 'program')}"
            yield f"{made} for {shapes_of(first)}{_failed(first)}."
        else:
            yield f"{first.label}: no compilation was seen, for {shapes_of(first)}."
    if not _compiled(findings):
        yield f"Programs are not known. {why_nothing(findings, 'first calls, XLA')}"
    if any(call.compilations for first in _compiled(findings) for call in first.calls):
        yield ANOTHER.format(UNLESS if findings.plan and findings.plan.padded else "")


def _failed(first):
    """With how many of the shapes the call failed, as the end of a clause; "" with none."""
    failed = sum(bool(call.error) for call in first.calls)
    return f", of which {failed} failed" if failed else ""


def _padding(findings):
    rows = []
    for one in findings.checks_of("padding"):
        row = one.rows[-1]
        sizes = ["" if x is None else f"{x:.1g}" for x in (row.relative, row.absolute)]
        rows.append([arguments(one.arguments), row.against, *sizes, row.place])
    return table(["arguments", "against the graph", "relative", "absolute", "where"], rows)


def _waste(plan):
    if not plan:
        return ""
    return table(
        ["padded to", "of it is padding"],
        [[arguments(one.arguments), share(one.waste)] for one in plan.padded],
    )


def _memory(findings, one):
    sizes = map(Bytes, (one.arguments, one.results, one.temporaries))
    return [one.label, arguments_of(findings, one.label, one.shape), *sizes]


def _process(findings):
    """What the process held, measured, and what it would hold, extrapolated."""
    for first in _compiled(findings):
        pairs = held(first)
        if not pairs:
            continue
        (_, before), (programs, after) = pairs[0], pairs[-1]
        yield (
            f"{first.label}, measured: the process held {format_bytes(before)} before, and "
            f"{format_bytes(after)} after {counted(programs, 'program')}."
        )
        yield _further(first, programs, after)


def _further(first, programs, now):
    slope = bytes_a_program(first)
    if slope is None:
        needed = f"at least {ENOUGH} programs, made by two calls or more, are needed"
        return f"Too few to extrapolate: {needed}."
    if slope <= 0:
        return "It did not grow with the programs, so nothing is extrapolated."
    many = FURTHER * programs
    then = format_bytes(now + slope * (many - programs))
    return (
        f"Extrapolated, not measured: {format_bytes(slope)} for each program, which makes {then} "
        f"after {counted(many, 'program')}."
    )


def where(findings: Findings, layers_picture: Markdown, limit_picture: Markdown) -> Markdown:
    """Seconds by layer, and how far each mode is from what the machine can do."""
    work = findings.works[0] if findings.works else None
    return fill(
        "where",
        layers=_layers(findings),
        layers_picture=layers_picture,
        of_the_processor=of_the_processor(findings),
        no_layers=why_nothing(findings, "work", NO_LAYERS),
        works=_works(findings),
        shape=arguments_of(findings, work.mode, work.shape) if work else "",
        limit_picture=limit_picture,
        limit=_limit(findings),
        no_works=why_nothing(findings, "work"),
    )


def _layers(findings):
    modes = list(dict.fromkeys(one.mode for one in findings.layers))
    seconds, kinds = {}, {}
    for one in findings.layers:
        bars = seconds.setdefault(one.layer, dict.fromkeys(modes, 0.0))
        bars[one.mode] += one.seconds
        kinds[one.layer] = one.kind
    names = sorted(seconds, key=lambda name: -max(seconds[name].values()))
    rows = [
        [end_of(name, WIDE), cut(kinds[name], WIDE), *_with_shares(seconds[name], seconds)]
        for name in names[:LAYERS]
    ]
    if names[LAYERS:]:
        rest = {m: sum(seconds[name][m] for name in names[LAYERS:]) for m in modes}
        rows.append([counted(len(names) - LAYERS, "other"), "", *_with_shares(rest, seconds)])
    heads = [head for mode in modes for head in (mode, f"of {mode}")]
    return table(["layer", "kind", *heads], rows)


def _with_shares(bars, seconds):
    for mode, own in bars.items():
        whole = sum(one[mode] for one in seconds.values())
        yield Seconds(own) if own else UNKNOWN
        yield share(own / whole) if own else UNKNOWN


def _works(findings):
    heads = ["", "time", "kernels", "bytes", "per second", "operations", "per second"]
    return table([*heads, "of the limit"], [_work(work, findings.peaks) for work in findings.works])


def _work(work, peaks):
    part = of_limit(work, peaks) if peaks else None
    kernels = UNKNOWN if work.kernels is None else f"{work.kernels:,}"
    least = "at least " if work.flops and work.least else ""
    limit = UNKNOWN if part is None else f"{least}{share(part)}" if part <= 1 else "above it"
    return [work.mode, Seconds(work.seconds), kernels, *_bytes(work), *_operations(work), limit]


def _bytes(work):
    if work.bytes is None:
        return [UNKNOWN, UNKNOWN]
    return [Bytes(work.bytes), f"{format_bytes(work.bytes / work.seconds)}/s"]


def _operations(work):
    if work.flops is None:
        return [UNKNOWN, UNKNOWN]
    least = "at least " if work.least else ""
    return [f"{least}{work.flops:,}", f"{least}{flops(work.flops / work.seconds)}"]


def _limit(findings):
    peaks = findings.peaks
    if peaks is None:
        return "What this machine reaches was not measured."
    words = (
        f"This machine reached {flops(peaks.flops_per_second)} in a product of matrices and "
        f"{format_bytes(peaks.bytes_per_second)}/s in a copy of a large array. The limit is the "
        "smaller of what these two allow. Operations are those of products of matrices and of "
        "convolutions in the function as it is written: a mode that leaves some out, or does them "
        "beforehand, seems to do them faster."
    )
    parts = [of_limit(work, peaks) for work in findings.works]
    if any(part and part > 1 for part in parts):
        words += (
            " What is above it found bytes in a cache, or did not do all that is counted, or had "
            "more of the machine than the limit had when it was measured."
        )
    return words
