"""What happened, as sections of the page: the verdict, what ran, what was refused."""

from collections.abc import Mapping

from ..modes import mode_of
from ..tables import Bytes, Seconds, counted, format_seconds
from .findings import Findings, label_of_part
from .markdown import Markdown, fenced, fill, table
from .wording import arguments, each, ended, listed, of_the_processor, share, why_nothing

SHAPES = 10  # shapes that have a row of their own
NO_CODE = "XLA has no code for these"
NOT_SEEN = "could not be seen"


def verdict(findings: Findings, choice) -> Markdown:
    """The three lines to paste, and the reasons. choice: what `judge` found."""
    return fill(
        "verdict", lines=choice.lines, reasons=choice.reasons, unfinished=findings.unfinished
    )


def what_ran(findings: Findings, races: Mapping) -> Markdown:
    """The plan, the rows that really ran, and how each part ended."""
    plan = findings.plan
    return fill(
        "what_ran",
        why=why_nothing(findings, "first calls, graph"),
        calls=counted(findings.calls, "call"),
        step=bool(plan and plan.step),
        pad=plan.pad if plan else "",
        isolated=findings.isolated,
        left_out=findings.left_out,
        parts=_parts(findings),
        failures=_failures(findings),
        rows=_rows(races),
        no_race=why_nothing(findings, "race 1"),
        **_shapes(plan),
    )


def _shapes(plan):
    """The table of shapes, and what does not stand in it."""
    if plan is None:
        return dict(shapes=Markdown(), examples="", distinct="", more_shapes="", more_share="")
    numbers = plan.most_frequent()
    more = numbers[SHAPES:]
    padded = [[_padded(plan, number)] if plan.padded else [] for number in numbers]
    rows = [
        [number + 1, arguments(one.arguments, 200), one.examples, share(plan.share(number)), *pad]
        for number, one, pad in zip(numbers, (plan.shapes[n] for n in numbers), padded, strict=True)
    ]
    heads = ["shape", "arguments", "example calls", "of the calls"]
    heads += ["padded to"] if plan.padded else []
    return {
        "shapes": table(heads, rows[:SHAPES]),
        "examples": counted(sum(one.examples for one in plan.shapes), "example call"),
        "distinct": counted(len(numbers), "shape"),
        "more_shapes": counted(len(more), "shape") if more else "",
        "more_share": share(sum(plan.share(number) for number in more)),
    }


def _padded(plan, number):
    to = plan.shapes[number].padded
    return "" if to is None else arguments(plan.padded[to].arguments)


def _rows(races):
    """What the calls of each candidate ran; shapes of which all is the same share a row."""
    shapes = {}
    for number in sorted(races):
        for row in _raced(races[number]):
            shapes.setdefault(row, []).append(number + 1)
    heads = ["row", "what it ran", "runs", "samples a run", "calls a sample", "note", "shapes"]
    rows = [[*row, listed(map(str, numbers), SHAPES)] for row, numbers in shapes.items()]
    return table(heads, rows)


def _raced(result):
    """A row for each candidate, in one race."""
    for label in dict.fromkeys(label for run in result.runs for label in run.measurements):
        runs = [run for run in result.runs if label in run.measurements]
        seen = dict.fromkeys(str(run.evidence.get(label, "")) for run in runs)
        ran = " or ".join(one or NOT_SEEN for one in seen)
        samples = dict.fromkeys(len(run[label].samples) for run in runs)
        calls = dict.fromkeys(f"{run[label].calls:,}" for run in runs)
        counts = [", ".join(map(str, samples)), ", ".join(calls)]
        yield (label, ran, len(runs), *counts, unlike(runs, label))


def unlike(runs, label: str) -> str:
    """Why a row is not what its label says, in one of its runs; "" where it is."""
    mode = mode_of(label)
    seen = [run.evidence[label] for run in runs if label in run.evidence] if mode else []
    return next(filter(None, (one.unlike(mode) for one in seen)), "")


def _failures(findings):
    """Why candidates were taken out of races, each reason once."""
    shapes = {}
    for raced in findings.raced:
        for label, reason in raced.failures.items():
            shapes.setdefault((label, reason), set()).add(raced.shape + 1)
    return [
        f"{label} was taken out of a race of {_numbers(numbers)}: {reason}"
        for (label, reason), numbers in shapes.items()
    ]


def _numbers(numbers):
    word = "shape" if len(numbers) == 1 else "shapes"
    return f"{word} {listed(map(str, sorted(numbers)))}"


def _parts(findings):
    rows = [
        [end.part, ended(end), Seconds(end.seconds), Bytes(end.peak) if end.peak else "not known"]
        for end in findings.ends
    ]
    return table(["part", "how it ended", "took", "held at most"], rows)


def refused(findings: Findings) -> Markdown:
    """What XLA refuses, and the part that it compiles all the same."""
    found = each(findings.checks_of("plan"), "refused")
    return fill(
        "refused",
        sentence=_refusal(findings, found),
        refused=_mends(found),
        switched_off=_mends(each(findings.checks, "switched_off")),
        inside=_inside(findings) if _failed(findings, "XLA") - _failed(findings, "graph") else "",
    )


def _refusal(findings, found):
    end, first = findings.end_of("first calls, XLA"), findings.first_of("XLA")
    failed, too = _failed(findings, "XLA"), _failed(findings, "graph")
    if found and failed - too:
        return f"XLA refuses {_of_called(failed - too, first)}, because of this:"
    if failed:
        words = _failure(failed, first) + (" So did the graph." if failed <= too else "")
        return f"{words} {NO_CODE}:" if found else words
    if found:
        harmless = ", though no first call failed because of them" if first else ""
        return f"{NO_CODE}{harmless}:"
    if end and end.how == "finished" and first:
        return f"Nothing: {_compiled(findings, first.calls)}"
    return f"What XLA would refuse is not known. {why_nothing(findings, 'first calls, XLA')}"


def _of_called(numbers, first):
    return f"{len(numbers)} of {counted(len(first.calls), 'shape')}"


def _failure(failed, first):
    errors = list(dict.fromkeys(call.error.rstrip(".") for call in first.calls if call.error))
    how = ":" if len(errors) == 1 else ", first with:"
    return f"XLA failed for {_of_called(failed, first)}{how} {errors[0]}."


def _compiled(findings, calls):
    """For how many shapes a compilation was seen, and how many were tried at all."""
    seen = sum(bool(call.compilations) for call in calls)
    of, rest = counted(len(calls), "shape"), ""
    if findings.plan and len(calls) < len(findings.plan.shapes):
        of = f"{len(calls)} of {counted(len(findings.plan.shapes), 'shape')}"
        rest = "; the others were not tried"
    if seen == len(calls):
        return f"XLA compiled it for {of}{rest}."
    if not seen:
        return f"no compilation was seen, and no error, for {of}{rest}."
    return f"no error was seen for {of}, and a compilation for {seen} of these {len(calls)}{rest}."


def _failed(findings, label):
    """The numbers of the shapes whose first call raised."""
    first = findings.first_of(label)
    return {call.shape for call in first.calls if call.error} if first else set()


def _mends(refusals):
    rows = [[one.operation, one.layer, one.line, one.mend] for one in refusals]
    return table(["operation", "layer", "line", "what to do"], rows)


def _inside(findings):
    inside, end = findings.inside, findings.end_of("inside")
    if inside:
        return (
            "The largest part that could be compiled alone, with the same results as far as that "
            f"can be decided, is {inside.path} ({inside.kind}), with {share(inside.share)} of the "
            "time of a call of the graph with the most frequent shape. Below, "
            f'"{label_of_part(findings)}" is the graph in which only that part is compiled. '
            f"{of_the_processor(findings)}"
        )
    if end and end.how == "finished":
        return 'No layer was compiled alone; "What ran" says why.'
    return f"Whether a part of it compiles alone is not known. {why_nothing(findings, 'inside')}"


def reproduce(findings: Findings) -> Markdown:
    """How to do it again, and what to vary."""
    return fill(
        "reproduce",
        command=fenced(findings.command, "sh") if findings.command else "",
        code=fenced(findings.code, "python") if findings.code else "",
        given=_given(findings),
        vary=list(_vary(findings)),
    )


def _given(findings):
    took = sum(end.seconds for end in findings.ends)
    return (
        f"Decided with calls = {findings.calls:,}, tolerance = {findings.tolerance:g}, floor = "
        f"{findings.floor:g} and budget = {findings.budget:g}. The parts took "
        f"{format_seconds(took)}."
    )


def _vary(findings):
    yield "calls: with more calls the first ones weigh less."
    yield "batches: the shapes, and how often each comes, are the plan."
    plan = findings.plan
    if plan and len(plan.shapes) > 1 and not plan.padded:
        yield "pad: with padding, fewer shapes may come."
    if not findings.checks_of("worst"):
        yield "worst: hostile inputs, such as an id out of range or an empty row."
    if any(end.how in ("left out", "time") for end in findings.ends):
        yield "budget: with more time, more of it may be measured."
    yield "the machine: what is decided here holds for this one."
