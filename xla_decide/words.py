"""A decision in words: its verdict, its rows, and its notes."""

from dataclasses import replace
from typing import Any

from xla_helpers.look.manual import see
from xla_helpers.tables import pluralize

from .reasons import why_compiling

MANY_PAGES = 100_000  # of new memory in a second of calls: fewer cost a few percent at most


def verdict_of(decision: Any) -> str:
    """One line to paste: what to use, how much faster it is, over how many calls, and where.

    Args:
        decision: The `Decision`, like that of the functions below.
    """
    label = decision.subject
    if decision.inconclusive:
        text = decision.inconclusive
    elif label in decision.gains:
        text = _gain_over_calls(decision, label)
    else:
        text = f"{label} {decision.objections[label]}"
    machine = decision.findings[0].machine
    return f"{decision.label or 'undecided'}: {text.rstrip('.')}. {machine}"


def _gain_over_calls(decision, label):
    found, processes = decision.findings[0], len(decision.findings)
    where = "in this process alone" if processes == 1 else f"in {processes} processes"
    comma = "," if decision.has_two_sums else ""
    calls = pluralize(decision.calls, "call")
    text = f"{label} is {gain_in_words(decision, label)}{comma} over {calls}"
    text += f", first calls included, {where}{_programs(found.costs[label], found)}"
    if why := decision.not_compared.get(label):
        text += f"; results were not compared: {why}"
    return text


def gain_in_words(decision: Any, label: str) -> str:
    """How a candidate compares with the graph; both sums where they part."""
    if not decision.has_two_sums:
        return decision.gain(label).against("the graph")
    again, new = (
        replace(decision, repeats=repeats).gain(label).against("the graph")
        for repeats in (True, False)
    )
    return f"{again} if the examples come again and again, and {new} if new ones keep coming"


def _programs(cost, found):
    if cost.new <= 1:
        return ""
    words = f"; {cost.new:,} traces or programs for {pluralize(cost.examples, 'example call')}"
    return words + (f", set by {found.sets}" if found.sets else "")


def rows_of(decision: Any) -> list[list]:
    """A row for each candidate: its label, its gain, and why not, or why not compared."""
    rows = []
    for label, why in decision.objections.items():
        is_known = decision.is_raced(label) and not decision.inconclusive
        gain = decision.gain(label) if is_known else ""
        rows.append([label, gain, why or decision.not_compared.get(label, "")])
    return rows


def notes_on(decision: Any) -> list[str]:
    """What was assumed and not tested, and what to mind, in short sentences."""
    findings = decision.findings
    decided_by = [found.why for found in findings if found.why and decision.choice == "graph"][:1]
    is_open = not (decision.choice or decision.inconclusive or decision.has_two_sums)
    more = " More calls may decide it." if is_open else ""
    least = f"{decision.min_speedup:.4g} times as fast as the graph"
    notes = [
        *decided_by,
        f"Chosen is what is at least {least}.{more}",
        *_on_new_examples(decision),
        *_on_memory(decision),
        *_on_the_manual(decision),
        *(note for found in findings for note in found.notes),
    ]
    return list(dict.fromkeys(notes))


def _on_new_examples(decision):
    for label, cost in decision.findings[0].costs.items():
        if cost.singletons and decision.repeats is not True:
            examples = pluralize(cost.examples, "example call")
            share = f"{cost.singletons / cost.examples:.0%} of further calls"
            yield (
                f"If new ones keep coming, {share} trace or compile anew ({label}): so many of "
                f"{examples} shared nothing. `repeats` says which it is."
            )


def _on_memory(decision):
    touching = [
        f"{label} {pluralize(round(cost.faults), 'page')} a call"
        for label, cost in decision.findings[0].costs.items()
        if cost.faults > MANY_PAGES * cost.call
    ]
    if touching:
        keep = "An allocator that keeps what is freed, such as tcmalloc, may save them."
        yield f"New memory: {'; '.join(touching)}. {keep}"


def _on_the_manual(decision):
    if decision.choice == "graph" and "XLA" in decision.gains:
        graph, mine = (decision.findings[0].costs[label] for label in ("graph", "XLA"))
        if mine.fast > graph.call:
            yield see("slower-when-compiled")
        elif why_compiling(mine, graph, decision.calls, decision.min_speedup) and mine.new > 1:
            yield see("it-compiles-again-for-each-length")
