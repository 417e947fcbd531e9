"""Why XLA does not pay: the layer, the operations or the compilations that decide."""

from contextlib import suppress

from xla_helpers.calls import Call
from xla_helpers.look.layers import layers_of
from xla_helpers.look.profiles import ONE_CALL, OUTSIDE, Profile, profile
from xla_helpers.tables import format_si, pluralize

from .costs import Cost

SHARE = 0.2  # of what XLA takes longer: a smaller part explains nothing
FRAMES = OUTSIDE, ONE_CALL  # where time is booked that belongs to no layer and no operation


def why_compiling(cost: Cost, graph: Cost, calls: int) -> str:
    """That compilations decide, where a call of XLA is no slower than one of the graph; else ""."""
    total, once = cost.total(calls, repeats=True), cost.fixed(repeats=True)
    if cost.call > graph.call or total < graph.total(calls, repeats=True):
        return ""
    programs, examples = pluralize(cost.new, "program"), pluralize(cost.examples, "example call")
    return (
        f"Compilations decide: {programs} for {examples}, {format_si(cost.first, 's')} each, are "
        f"{once / total:.0%} of XLA's time over {calls:,} calls."
    )


def why_slower(graph: Call, compiled: Call) -> str:
    """Which layer, or which operations, take longer under XLA than in the graph; "" for none.

    Both are recorded by TensorFlow's profiler, as functions that are new.
    """
    with suppress(Exception):  # a recording that fails, or is none, explains nothing
        layers = layers_of(graph.python)
        ours, theirs = (_by_part(_recorded(call), layers) for call in (compiled, graph))
        longer = {part: ours[part] - theirs.get(part, 0.0) for part in ours if part not in FRAMES}
        part = max(longer, key=lambda name: longer[name])
        more = sum(ours.values()) - sum(theirs.values())
        if longer[part] > SHARE * max(more, 0.0) and longer[part] > 0:
            seconds = ours[part], sum(ours.values()), theirs.get(part, 0.0)
            under, whole, before = (format_si(number, "s") for number in seconds)
            return f"Under XLA {under} of {whole} a call are in `{part}`; in the graph, {before}."
    return ""


def _recorded(call):
    return profile(call.fn, call.args, call.kwargs)


def _by_part(recorded: Profile, layers):
    """Seconds by layer, or by the kind of operation where no layer is known."""
    seconds = recorded.seconds_by(layers)
    return recorded.seconds_by_kind() if seconds.keys() == {OUTSIDE} else seconds
