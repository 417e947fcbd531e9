"""How each candidate stands to the graph: it wins, it loses, it is out, or it is open."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..evidence import NOTHING, Evidence
from ..modes import mode_of
from ..operations import Refusal
from ..results import Result
from ..tables import counted, format_seconds
from .costs import Costs
from .findings import PADDED, Checked, End, Findings, label_of_part
from .spans import Span
from .steps import runs
from .wording import arguments, arguments_of

HALF = 0.5  # of the plan's calls: below it, what was raced says too little of the plan

HOW = {
    "failed": "failed",
    "time": "did not end in time",
    "memory": "was stopped, because it held too much memory",
    "killed": "died",
    "left out": "was left out",
}
"""How a part ended that did not finish."""


@dataclass(frozen=True)
class Standing:
    """A candidate beside the graph.

    how: "wins", when it is worth it by what can be relied on; "loses", when it is not; "open",
    when its interval holds the floor; "out", when it cannot be used; "unknown", when nothing can
    be said. why: a clause that goes on after "XLA". gain: how many times faster than the graph
    it is over the plan's calls, where it was timed.
    """

    label: str
    how: str
    why: str
    gain: Span | None = None


def standings(
    findings: Findings, races: Mapping[int, Result], costs: Costs
) -> tuple[Standing, ...]:
    """How every candidate stands that was asked for, XLA first."""
    return tuple(_standing(x, findings, races, costs) for x in candidates(findings, costs))


def candidates(findings: Findings, costs: Costs) -> list[str]:
    """The labels that stand against the graph, the simplest first."""
    plan = findings.plan
    padded = [PADDED] if plan and plan.padded and len(plan.shapes) > 1 else []
    found = ["XLA", *padded, label_of_part(findings), *costs.labels]
    return [x for x in dict.fromkeys(found) if mode_of(x) == "XLA"]


def covered_calls(findings: Findings, costs: Costs) -> int:
    """How many of the plan's calls have a shape that was raced."""
    return round(findings.calls * costs.covered)


def graph_fails(findings: Findings) -> str:
    """Why there is no graph to compare with, in a clause; "" when there is one."""
    for check in findings.checks_of("plan"):
        for row in check.rows:
            if row.mode == "graph" and row.error:
                return f"the graph fails with {arguments(check.arguments)}: {row.short}"
    died = _died(findings, "graph")
    why = died or _first_error(findings, "graph")
    return f"the graph {why}" if why else ""


def nothing_ran(races: Mapping[int, Result]) -> bool:
    """Whether a row called graph was seen to run nothing of TensorFlow."""
    return any(str(found) == NOTHING for found in evidence_of("graph", races))


def runs_inside(races: Mapping[int, Result]) -> int:
    """The most programs of XLA that a call of the graph itself ran."""
    return max((found.programs or 0 for found in evidence_of("graph", races)), default=0)


def _standing(label, findings, races, costs):
    why = _out(findings, label)
    if why:
        return Standing(label, "out", why)
    why = _unknown(findings, races, costs, label)
    if why:
        return Standing(label, "unknown", why)
    gain = costs.gain(label, covered_calls(findings, costs))
    words = f"is {gain.as_ratio().against('the graph')}, first calls included"
    return Standing(label, _how(gain, findings.floor), words, gain)


def _how(gain, floor):
    """A winner of a floor above 1, or of 1, must be faster by what is shown."""
    if gain.low >= floor and (floor < 1 or gain.as_ratio().clear):
        return "wins"
    return "loses" if gain.high <= floor else "open"


# What cannot be used


def _out(findings, label):
    """Why a candidate cannot be used, in a clause; "" when it can, as far as is known."""
    part = label == label_of_part(findings)
    ways = (_failed_in_a_race,) if part else (_refused, _fails, _died, _differs, _failed_in_a_race)
    return next(filter(None, (way(findings, label) for way in ways)), "")


def refused(findings: Findings) -> tuple[Refusal, ...]:
    """What XLA has no code for, where it raised because of that."""
    return next((check.refused for check in _refusing(findings)), ())


def _refusing(findings):
    return [x for x in findings.checks_of("plan") if x.refused and _raised(x, "XLA")]


def _refused(findings, label):
    for check in _refusing(findings):
        places = ", ".join(one.where for one in check.refused)
        return f"does not support {places}{_with(findings, check)}"
    return ""


def _with(findings, check):
    """With which arguments that was; "" where there are no others."""
    several = findings.plan is None or len(findings.plan.shapes) > 1
    return f" with {arguments(check.arguments)}" if several else ""


def _fails(findings, label):
    for check in findings.checks_of("padding" if label == PADDED else "plan"):
        if _raised(check, label):
            return f"fails with {arguments(check.arguments)}: {check[label].short}"
    return _first_error(findings, label)


def _raised(check, mode):
    """Whether a mode raised where the graph did not."""
    rows = {row.mode: row for row in check.rows}
    return mode in rows and rows[mode].error and not ("graph" in rows and rows["graph"].error)


def _first_error(findings, label):
    for call in getattr(findings.first_of(label), "calls", ()):
        if call.error:
            return f"fails with {arguments_of(findings, label, call.shape)}: {call.error}"
    return ""


def _died(findings, label):
    end = findings.end_of(f"first calls, {label}")
    if end is None or end.how not in ("time", "memory", "killed"):
        return ""
    if end.how == "time":
        had = f"the {format_seconds(end.limit)}" if end.limit else "the time"
        return f"did not end its first calls within {had} that it had"
    if end.how == "memory":
        return "was stopped in its first calls, because it held too much memory"
    return f"died in its first calls{_said(end)}"


def _differs(findings, label):
    """Padding has checks of its own; without them, XLA's results are what is known of it."""
    padding = findings.checks_of("padding") if label == PADDED else ()
    checks = padding or (*findings.checks_of("plan"), *findings.checks_of("gradients"))
    mode = PADDED if padding else "XLA"
    found = (_by(findings, check, mode) for check in checks if differs(check, mode))
    return next(found, "")


def differs(check: Checked, mode: str) -> bool:
    """Whether a mode returned something else than the graph, as far as can be decided.

    Rows stand against the first mode, so the graph must agree with that one.
    """
    rows = {row.mode: row for row in check.rows}
    if not check.decidable or mode not in rows or rows[mode].error:
        return False
    graph = rows.get("graph")
    return not rows[mode].agrees and (graph is None or (graph.agrees and not graph.error))


def _by(findings, check, mode):
    """How the results of a mode differ, in a clause."""
    row, what = check[mode], "gradients" if check.of == "gradients" else "results"
    place = f" in {row.place}" if row.place else ""
    if row.relative is None:
        return f"gives other {what}{place} ({row.against}){_with(findings, check)}"
    absolute = "" if row.absolute is None else f", {row.absolute:.1g} (absolute)"
    size = f"{row.relative:.1g} (relative){absolute}, allowed {findings.tolerance:.1g}"
    return f"gives other {what}{place}{_with(findings, check)}, by {size}"


def _failed_in_a_race(findings, label):
    """Where the graph failed too, both were set against eager mode, which says nothing here.

    Nor does another result, where the numbers are drawn anew.
    """
    drawn = {check.number for check in findings.checks_of("plan") if not check.decidable}
    for raced in findings.raced:
        alone = label in raced.failures and "graph" not in raced.failures
        if alone and raced.shape not in drawn:
            return f"was taken out of a race: {raced.failures[label]}"
    return ""


# What is not known


def _unknown(findings, races, costs, label):
    """Why nothing can be said of a candidate, in a clause; "" when something can."""
    if label not in costs.labels:
        return _not_timed(findings, costs, label)
    for found in evidence_of(label, races):
        if str(found) == NOTHING:
            return "ran nothing of TensorFlow"
        if found.seen and found.mode != "XLA":
            return f"ran no compiled program, but {found}"
    if costs.covered < HALF:
        calls = f"{covered_calls(findings, costs):,} of {counted(findings.calls, 'call')}"
        return f"was timed with the shapes of no more than {calls}"
    return ""


def _not_timed(findings, costs, label):
    graph = [one.failures["graph"] for one in findings.raced if "graph" in one.failures]
    if graph and not costs.labels:
        return f"was not timed; the graph was taken out of a race: {graph[0]}"
    first = findings.end_of(f"first calls, {label}")
    if label == PADDED and first is None and "XLA" not in runs(findings):
        return f"was not tried, because XLA without padding {_not_through(findings)}"
    if costs.labels and (first is None or first.how == "finished"):
        return "was not timed at every shape at which the graph was"
    races = [end for end in findings.ends if end.part.startswith("race")]
    ended = [end for end in (first, *races) if end and end.how != "finished"]
    how = [f"{end.part} {how_it_ended(end)}" for end in ended[:1]]
    return "; ".join(["was not timed", *how])


def _not_through(findings):
    end = findings.end_of("first calls, XLA")
    if end is None or end.how == "left out":
        return "was not"
    return "did not get through its first calls"


def how_it_ended(end: End) -> str:
    """How a part ended that did not finish, as the end of a clause."""
    return f"{HOW[end.how]}{_said(end)}"


def _said(end):
    return f" ({end.said.rstrip('.')})" if end.said else ""


def evidence_of(label: str, races: Mapping[int, Result]) -> list[Evidence]:
    """What each run saw a candidate run."""
    runs = (run for result in races.values() for run in result.runs)
    return [run.evidence[label] for run in runs if label in run.evidence]
