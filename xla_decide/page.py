"""The page about a decision: an answer in large letters, and below it what it rests on."""

import math
import re
import statistics
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from importlib import metadata
from pathlib import Path

from xla_helpers.ratios import digits, times_in_words
from xla_helpers.tables import format_si

from .curve import curve_of
from .decision import Decision
from .gpu.target_programs import TargetProgram
from .rivals.table import Rivals
from .words import gain_in_words

PAGE = Path(__file__).with_name("decision.html.j2")
TICKS = (
    *(0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95),
    *(1.1, 1.2, 1.3, 1.4, 1.5, 1.7, 2, 2.5, 3, 4, 5, 7, 10, 20, 50, 100),
)
MOST_TICKS = 5
LAST_TICK = 0.9  # of the width: what stands beside one further on would not fit


def html_of(
    decision: Decision, model: str, programs: Sequence[TargetProgram] = (), why: str = "", *,
    command: str = "", before: str = "", rivals: Rivals | None = None, no_rivals: str = ""
) -> str:  # fmt: skip
    """The page about a decision, as HTML.

    Args:
        decision: What was decided.
        model: File and function.
        programs: What was compiled for GPUs.
        why: Why nothing was, or "".
        command: Asks the same again.
        before: The verdict that stood there before, with its day, or "".
        rivals: The same model in other runtimes, if that was asked.
        no_rivals: Why nothing was raced in them, or "".
    """
    import jinja2
    from markupsafe import Markup

    raced = [] if decision.inconclusive else [*filter(decision.is_raced, decision.objections)]
    gains = {label: decision.gains_of(label) for label in raced}
    ends = [1.0, decision.min_speedup, *(gain for own in gains.values() for gain in own)]
    low, high = math.log(min(ends) / 1.1), math.log(max(ends) * 1.1)
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["code"] = _with_code
    head, sums = answer(decision)
    return environment.from_string(PAGE.read_text(encoding="utf-8")).render(
        model=model,
        decision=decision,
        head=head,
        sums=sums,
        tiles=tiles(decision),
        reason=reason(decision),
        programs=programs,
        why=why,
        si=format_si,
        day=date.today().isoformat(),
        gains=gains,
        place=lambda gain: f"{100 * (math.log(gain) - low) / (high - low):.1f}%",
        ticks=_ticks(math.exp(low), math.exp(high)),
        curves={label: Markup(curve_of(decision, label)) for label in raced},
        shapes=_by_shape(decision, raced),
        manual=_manual(),
        command=command,
        before=before,
        rivals=rivals,
        no_rivals=no_rivals,
    )


def _ticks(low, high):
    """A few round gains between two, on a scale that is logarithmic."""
    inside = [tick for tick in TICKS if low < tick < low * (high / low) ** LAST_TICK]
    return inside[:: math.ceil(len(inside) / MOST_TICKS)] if inside else []


def _by_shape(decision, raced):
    """Rows: a shape, its share, a call in the graph, and one with each candidate, in words."""
    seconds = [found.by_shape for found in decision.findings]
    for shape, share in decision.findings[0].shapes.items():
        if not all(shape in one for one in seconds):
            continue
        graph, *others = (
            statistics.median(one[shape][label] for one in seconds) for label in ("graph", *raced)
        )
        cells = [f"{format_si(x, 's')}, {times_in_words(graph / x)}" for x in others]
        yield [shape, f"{share:.0%}", format_si(graph, "s"), *cells]


def _manual():
    """The address of the manual; "" for a copy of the project that has none yet."""
    with suppress(metadata.PackageNotFoundError):
        for url in metadata.metadata("xla-helpers").get_all("Project-URL") or []:
            if "/OWNER/" not in url:
                return f"{url.partition(', ')[2]}/blob/main/docs/messages.md#"
    return ""


def _with_code(text):
    """A text as HTML, with what stands between backticks as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def answer(decision: Decision) -> tuple[str, str]:
    """A verdict in a sentence, for somebody who asks no more than that, and what explains it.

    The second is "" where `tiles` say it.
    """
    label, gains = decision.subject, decision.gains
    if decision.inconclusive:
        return "No verdict.", f"{decision.inconclusive[0].upper()}{decision.inconclusive[1:]}."
    if label not in gains:
        return "No: keep the graph.", _why_refused(decision, label)
    if decision.has_two_sums and not decision.choice:
        return "It depends on your calls.", f"{label} is {gain_in_words(decision, label)}."
    head = "No: keep the graph." if decision.choice else "Not decided."
    if decision.choice == label:
        use = "switch XLA on (jit_compile=True)" if label == "XLA" else f"use “{label}”"
        unsure = ", if you trust its results, which were not compared"
        head = f"Yes: {use}{unsure if label in decision.not_compared else ''}."
    return head, ""


def _why_refused(decision, label):
    """What speaks against a candidate: a race that it loses, before results that differ."""
    objection = decision.objections[label].rstrip(".")
    if not decision.is_raced(label):
        return f"{label} {objection}."
    gain = decision.gain(label)
    if gain.high < 1:
        return f"{label} is {_times(gain)}. And it {objection}."
    return f"{label} {objection}. It would be {_times(gain)}."


def _times(gain):
    if gain.low < 1 < gain.high:
        return f"{gain.low:.2f} to {gain.high:.2f} times as fast, so no difference is seen"
    low, high = map(digits, gain.ends)
    return f"{low} to {high} times as {'fast' if gain.value >= 1 else 'slow'}"


def tiles(decision: Decision) -> list[tuple[str, str, str]]:
    """What the answer rests on: a name, a value and a remark each; [] where there is no sum."""
    label, gains = decision.subject, decision.gains
    is_open = decision.has_two_sums and not decision.choice
    if decision.inconclusive or not decision.is_raced(label) or (is_open and label in gains):
        return []
    graph, mine = (
        format_si(statistics.median(found.costs[x].call for found in decision.findings), "s")
        for x in ("graph", label)
    )
    processes, needed = len(decision.findings), decision.break_even_calls(label)
    where = "in one process" if processes == 1 else f"over {processes} processes"
    asked = f"{where}, first calls included; less than {decision.min_speedup} times is no gain"
    repaid = "never repaid" if math.isinf(needed) else f"repaid after {needed:,.0f} calls"
    differ = "differ" if decision.objections[label].startswith("differs") else "not judged"
    compared = "agree" if label in gains else differ
    compared = "not compared" if label in decision.not_compared else compared
    return [
        ("A call", f"{graph} → {mine}", f"in the graph and with {label}"),
        (f"All {decision.calls:,} calls", _times(decision.gain(label)), asked),
        ("First calls", repaid, "as far as they take longer than the graph's"),
        ("Results", compared, "with the graph's, on the example calls"),
    ]


def reason(decision: Decision) -> str:
    """Why, in a sentence; "" where nobody knows."""
    label = decision.subject
    if label in decision.gains and label in decision.not_compared:
        return f"Results were not compared: {decision.not_compared[label]}."
    return next((x.why for x in decision.findings if x.why and decision.choice != label), "")
