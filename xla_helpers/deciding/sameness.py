"""What each mode made of the calls, as a section of the page."""

from ..modes import mode_of
from ..tables import counted, cut
from .findings import Checked, Findings
from .markdown import Markdown, fill, table
from .wording import arguments, each, listed, why_nothing

CHECKS = 6  # checked calls that have a table of their own
BRIEF = 10  # others that have a line
NAMES = 8  # of what was compared
NAME = 60  # characters of each of them


def same(findings: Findings) -> Markdown:
    """What each mode made of the plan's calls, of gradients and of hostile inputs."""
    whole, brief, more = _by_interest(findings.checks_of("plan"))
    gradients = findings.checks_of("gradients")
    step = bool(findings.plan and findings.plan.step)
    return fill(
        "same",
        why=why_nothing(findings, "results"),
        plan=[_checked(one, step) for one in whole],
        as_well=any(map(_came_out_the_same, whole)),
        others=table(["arguments", "what was found"], map(_brief, brief)),
        more=counted(len(more), "other shape") if more else "",
        more_words=_agreeing(more),
        gradients=_checked(gradients[0]) if gradients else None,
        draws=each(findings.checks, "draws"),
        vanished=each(filter(_compiled, findings.checks), "vanished"),
        moved=each(findings.checks, "not_put_back"),
        worst=_worst(findings.checks_of("worst")),
        no_worst="none was checked.",
    )


def _compiled(check):
    """Whether XLA got through the call: where it did not, it left out nothing."""
    return any(mode_of(row.mode) == "XLA" and not row.error for row in check.rows)


def _by_interest(checks):
    """The checks that are shown whole, those in a line each, and those that are only counted.

    What does not agree comes first, then the first that does; the others of these are brief.
    """
    parted, agreeing = [x for x in checks if not x.agrees], [x for x in checks if x.agrees]
    whole = [*parted, *agreeing[:1]][:CHECKS]
    rest = [one for one in checks if one not in whole]
    brief = [one for one in rest if one.agrees][:BRIEF]
    return whole, brief, [one for one in rest if one not in brief]


def _brief(one):
    return arguments(one.arguments), one.summary


def _came_out_the_same(one):
    """Whether every row agrees; a check that XLA leaves out changes no row."""
    known = one.compared and one.decidable
    return known and all(row.agrees and not row.error for row in one.rows)


def _agreeing(checks):
    agreeing = sum(map(_came_out_the_same, checks))
    return f"in {agreeing} of {len(checks)} all modes came out the same."


def _checked(one: Checked, step: bool = False):
    heads = ["", "outcome", f"against {one.rows[0].mode}", "relative", "absolute", "where"]
    rows = [
        [row.mode, row.short, row.against, _size(row.relative), _size(row.absolute), row.place]
        for row in one.rows
    ]
    call = f"{arguments(one.arguments, 120)}."
    summary, compared = one.summary, _compared(one, step)
    return {"call": call, "summary": summary, "compared": compared, "table": table(heads, rows)}


def _compared(one, step):
    """What was compared, by name."""
    if not (one.compared and one.names):
        return "Nothing was compared."
    words = f"Compared: {listed((cut(name, NAME) for name in one.names), NAMES)}."
    if step and all(name == "result" or name.startswith("result[") for name in one.names):
        words += " No variable that the step may change is among it."
    return words


def _size(size):
    return "" if size is None else f"{size:.1g}"


def _worst(checks):
    modes = list(dict.fromkeys(row.mode for one in checks for row in one.rows))
    rows = []
    for one in checks:
        outcomes = {row.mode: row.short for row in one.rows}
        shown = [outcomes.get(mode, "not run") for mode in modes]
        rows.append([one.number + 1, arguments(one.arguments), *shown, one.summary])
    return table(["input", "arguments", *modes, "what it means"], rows)
