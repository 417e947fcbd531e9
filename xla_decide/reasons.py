"""Why XLA does not pay: the layer or the compilations that decide."""

from contextlib import suppress

from xla_helpers.calls import Call
from xla_helpers.look.layers import layers_of
from xla_helpers.look.profiles import OUTSIDE, profile
from xla_helpers.tables import format_si, pluralize

from .costs import Cost

SHARE = 1 / 3  # of what XLA takes longer: a smaller part explains nothing


def why_compiling(cost: Cost, graph: Cost, calls: int, min_speedup: float) -> str:
    """That compilations decide, where XLA would pay without them; else ""."""
    total, once = cost.total(calls, repeats=True), cost.fixed(repeats=True)
    if graph.call < min_speedup * cost.call or total < graph.total(calls, repeats=True):
        return ""
    programs, examples = pluralize(cost.new, "program"), pluralize(cost.examples, "example call")
    return (
        f"Compilations decide: {programs} for {examples}, {format_si(cost.per_new, 's')} each, are "
        f"{once / total:.0%} of XLA's time over {calls:,} calls."
    )


def why_slower(graph: Call, compiled: Call, gap: float) -> str:
    """Which layer takes longer under XLA than in the graph; "" for none.

    Both are recorded by TensorFlow's profiler, as functions that are new.

    Args:
        graph: The call of a graph.
        compiled: The same, compiled.
        gap: The seconds that a call of XLA takes longer, as the race says.
    """
    with suppress(Exception):  # a recording that fails, or is none, explains nothing
        layers = layers_of(graph.python)
        ours, theirs = (
            profile(call.fn, call.args, call.kwargs).seconds_by(layers)
            for call in (compiled, graph)
        )
        longer = {part: ours[part] - theirs.get(part, 0.0) for part in ours if part != OUTSIDE}
        part = max(longer, key=lambda name: longer[name])  # none raises, and explains nothing
        more = sum(ours.values()) - sum(theirs.values())
        if longer[part] >= SHARE * max(more, gap) and longer[part] > 0:
            seconds = ours[part], sum(ours.values()), theirs.get(part, 0.0)
            under, whole, before = (format_si(number, "s") for number in seconds)
            return f"Under XLA {under} of {whole} a call are in `{part}`; in the graph, {before}."
    return ""
