"""What a choice was measured on, what was not tested, and what to mind."""

from collections.abc import Iterator, Mapping

from ..results import Result
from ..tables import counted, some
from .costs import Costs
from .findings import PADDED, Findings, label_of_part
from .standing import differs, evidence_of, how_it_ended

NAMED = 3  # of what a line names before it only counts


def measured_on(findings: Findings, races: Mapping[int, Result], costs: Costs) -> str:
    """The machine, the day, the processes and the load, in a line."""
    machine = " · ".join(findings.machine.values()) or "an unknown machine"
    said = [", ".join(filter(None, [machine, findings.day, _processes(findings, races, costs)]))]
    said.append(_load(findings.load))
    if costs.itself:
        itself = "the graph" if costs.itself == "graph" else costs.itself
        said.append(f"raced against itself, {itself} was up to {costs.noise:.2f}x apart")
    return f"{'Measured' if costs.labels else 'Asked'} on {'; '.join(said)}."


def not_tested(findings: Findings, races: Mapping[int, Result], costs: Costs, label: str) -> str:
    """What was left out, and what to mind with the choice, in a line.

    label: what was chosen; for "graph", what XLA would do is not to be minded.
    """
    out = [*findings.left_out, *_not_done(findings), *_not_raced(findings, costs)]
    out = list(dict.fromkeys(sentence.rstrip(".") for sentence in out))
    line = f"Not tested: {'; '.join(out)}." if out else "Nothing that was asked for was left out."
    mind = list(dict.fromkeys(_mind(findings, races, costs, label)))
    return f"{line} Mind: {'; '.join(mind)}." if mind else line


def _not_done(findings):
    """The parts that did not finish; the page says why some were left out."""
    if findings.unfinished:
        yield "all that was still to come when this was written"
    unfinished = [end for end in findings.ends if end.how not in ("finished", "left out")]
    yield from (f"{end.part} {how_it_ended(end)}" for end in unfinished)
    left_out = [end.part for end in findings.ends if end.how == "left out"]
    if left_out:
        yield f"these parts were left out: {', '.join(left_out)}"


def _processes(findings, races, costs):
    if not costs.labels:
        return "and nothing was raced against the graph"
    if not findings.isolated:
        return "in one process, from which others may differ"
    low, *_, high = sorted(len(races[shape].runs) for shape in costs.shapes) * 2
    number = f"{high}" if low == high else f"{low} to {high}"
    return f"in {number} process{'' if number == '1' else 'es'}"


def _load(load):
    if len(load) < 2 or None in load:
        return "how busy it was with other work is not known"
    return f"other work kept {load[0]:.1f} cores busy before and {load[-1]:.1f} after"


def _not_raced(findings, costs):
    shapes = findings.plan.shapes if findings.plan else ()
    if costs.labels and len(costs.shapes) < len(shapes):
        number = len(shapes) - len(costs.shapes)
        yield f"the speed with {number} of {counted(len(shapes), 'shape')}"


# What to mind


def _mind(findings, races, costs, label) -> Iterator[str]:
    if any(map(_graph_differs, findings.checks_of("plan"))):
        others = " and so does XLA" if any(map(_xla_differs, findings.checks_of("plan"))) else ""
        yield f"the graph gives other results than eager mode{others and ','}{others}"
    yield from _few_calls(findings, costs)
    if label == "graph" or findings.plan is None:
        return
    yield from _results(findings, label)
    yield from _vanished(findings, label)
    yield from filter(None, map(_hostile, findings.checks_of("worst")))
    yield from _switched_off(findings)
    yield from _reckoned(costs, label)
    yield from _not_seen(races, label)


def _graph_differs(check):
    rows = {row.mode: row for row in check.rows}
    both = check.decidable and {"eager", "graph"} <= set(rows)
    return both and not (rows["graph"].agrees or rows["graph"].error or rows["eager"].error)


def _xla_differs(check):
    rows = {row.mode: row for row in check.rows}
    return _graph_differs(check) and "XLA" in rows and not (rows["XLA"].agrees or rows["XLA"].error)


def _results(findings, label):
    """Where it is not known whether the results are the same. A layer was checked in the races."""
    if label and label == label_of_part(findings):
        return
    checks, plan = findings.checks_of("padding" if label == PADDED else "plan"), findings.plan
    unchecked = set(range(len(plan.shapes))) - {check.number for check in checks}
    if unchecked:
        shapes = counted(len(plan.shapes), "shape")
        yield f"results were not checked with {len(unchecked)} of {shapes}"
    undecidable = [check for check in checks if not check.decidable]
    if undecidable:
        draws = _some([draw for check in undecidable for draw in check.draws])
        why = f", since it draws random numbers ({draws})" if draws else ""
        yield f"whether XLA's results agree is not decidable{why}"
    if any(not check.compared for check in checks):
        yield "there was nothing to compare: it returns nothing and changes no variable"


def _vanished(findings, label):
    """The whole leaves checks out only where XLA compiled it; a part may where XLA could not."""
    part, checks = label and label == label_of_part(findings), findings.checks_of("plan")
    names = [name for check in checks if part or _xla_ran(check) for name in check.vanished]
    number = len(dict.fromkeys(names))
    if number and part:
        yield f"XLA leaves out those checks that stand in the compiled layer, of {_some(names)}"
    elif number:
        yield f"XLA leaves out {counted(number, 'check')} ({_some(names)})"


def _xla_ran(check):
    return any(row.mode == "XLA" and not row.error for row in check.rows)


def _hostile(check):
    """How XLA and the graph part at a hostile input, in a clause; "" where they do not."""
    rows = {row.mode: row for row in check.rows}
    if not {"graph", "XLA"} <= set(rows) or check.refused:
        return ""
    graph, own, which = rows["graph"], rows["XLA"], f"for hostile input {check.number + 1}"
    if graph.error and not own.error:
        return f"{which} XLA gives a result where the graph gives an error"
    if own.error and not graph.error:
        return f"{which} XLA gives an error where the graph gives a result"
    return f"{which} XLA gives another result" if differs(check, "XLA") else ""


def _switched_off(findings):
    layers = [one.where for check in findings.checks_of("plan") for one in check.switched_off]
    if layers:
        yield f"Keras' own `fit` and `predict` leave XLA out, because of {_some(layers)}"


def _reckoned(costs, label):
    """What was not seen, and how the numbers reckon with it."""
    if costs.labels:
        unseen = max(costs.unseen(one) for one in ([label] if label else costs.labels))
        if unseen:
            programs = counted(unseen, "program")
            yield f"the first calls of {programs} were not seen, and are reckoned like the others"


def _few_calls(findings, costs):
    """Where nothing was timed, no calls are counted."""
    plan = findings.plan if costs.labels else None
    if plan and any(plan.share(i) * findings.calls < 1 for i in range(len(plan.shapes))):
        less = "some shapes come less than once in so many calls"
        yield f"{less}, and the first call of each is counted in"


def _not_seen(races, label):
    if label and not all(found.seen for found in evidence_of(label, races)):
        yield "whether XLA ran in every process could not be seen"


def _some(names):
    """A few of them, each once."""
    return some(list(dict.fromkeys(names)), NAMED)
