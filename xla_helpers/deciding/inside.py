"""The layer that is compiled alone: the largest that XLA compiles, where it refuses the whole."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from typing import NamedTuple

from ..layers import finder, parts_of
from ..logs import run_probe
from ..operations import Found, Refusal, operations_in, unsupported_in
from ..profiles import Profile, profile
from ..tables import some
from .findings import INSIDE, Findings, Inside
from .plan import Case, Order
from .turns import compared

BRIEF = 1e-9  # seconds: a block as short as this holds one call
NAMED = 3  # refused operations that a sentence names


def inside(case: Case, order: Order, report: Callable[[Findings], None]) -> None:
    """Find the layer that takes most of the graph's time among those that XLA compiles.

    A nested model counts as a layer. It must really compile, alone inside of the graph, and the
    whole must then give the same results and variables, as far as that can be decided. With a GPU
    it is the processor's time that counts, in which it starts the work.

    order: the first of its `shapes` and its `seconds` count. report: takes `Findings` with an
    `Inside`, or with a sentence that says why there is none.
    """
    if case.fresh:
        why = "with `fresh` each candidate is a copy of its own."
    else:
        why = _search(case, order, report)
    if why:
        report(Findings(left_out=(f"No layer was compiled alone: {why}",)))


def compiled_at(fn: Callable, path: str, holder=None) -> Callable:
    """`fn`, in whose graph one layer is compiled by XLA, for a `tf.function` to wrap.

    path: of the layer or nested model, as in `Inside`. holder: what reaches the layer, by default
    `fn`. The layer is looked up when `fn` is traced, since a first call may make layers. It has
    another `call` while `fn` is traced, and its own again afterwards.

    Raises, when it is traced: ValueError where no layer has this path, RuntimeError where the
    layer does its work without its `call`.
    """
    return partial(_call, fn, fn if holder is None else holder, path)


def candidate(case: Case, path: str) -> Callable:
    """The graph of a case in which one layer is compiled: a new function, never called before."""
    import tensorflow as tf

    fn = compiled_at(case.plain(), path, holder_of(case))
    return tf.function(fn, input_signature=case.signature)


def _call(fn, holder, path, /, *args, **kwargs):
    import tensorflow as tf

    layer = _layer_at(holder, path)
    converted = not hasattr(layer, "path")  # Keras 3 has no `call` converted by AutoGraph
    compiled = tf.function(layer.call, jit_compile=True, autograph=converted)
    with _called_instead(layer, compiled):
        result = fn(*args, **kwargs)
    if not compiled.experimental_get_tracing_count():
        raise RuntimeError(f"{path} does its work without its `call`")
    return result


@contextmanager
def _called_instead(layer, call) -> Iterator[None]:
    """Past Keras' own bookkeeping of attributes, which would take `call` for a part of it."""
    attributes = vars(layer)
    before = {"call": attributes["call"]} if "call" in attributes else {}
    attributes["call"] = call
    try:
        yield
    finally:
        del attributes["call"]
        attributes.update(before)


# Paths


def holder_of(case: Case):
    """What reaches the layers and variables of a case."""
    return case.fn if case.model is None else case.model


def _layer_at(holder, path):
    parts = parts_of(holder)
    for place, layer in parts.items():
        if _shown(place, parts) == path:
            return layer
    raise ValueError(f"no layer has the path {path}")


def _shown(place: str, parts: Iterable[str]) -> str:
    """The path as `layers_of` has it: without what is alone at the top, unless it is that."""
    top = place.partition("/")[0]
    alone = all(_is_in(part, top) for part in parts)
    return place.removeprefix(f"{top}/") if alone else place


def _is_in(place, part):
    """Whether a place is a part itself, or lies below it."""
    return place == part or place.startswith(f"{part}/")


# The search


class Seen(NamedTuple):
    """What is known of the graph: its operations, and where the time of a call goes."""

    found: list[Found]
    recorded: Profile


def _seen(case, example) -> Seen:
    graph = case.candidate("graph")
    recorded = profile(partial(graph, *example.args, **example.kwargs))  # which may take `calls`
    concrete = graph.get_concrete_function(*example.args, **example.kwargs)
    return Seen(list(operations_in(concrete.graph)), recorded)


def _search(case, order, report) -> str:
    """Report the largest part that compiles; where there is none, say why."""
    end, example = time.perf_counter() + order.seconds, case.examples[order.shapes[0]]
    seen = _seen(case, example)
    parts = parts_of(holder_of(case))  # the first call may have made some
    refusals = _refusals(seen.found, parts)
    if not parts:
        return _no_layers(refusals)
    shares, failures = _shares(seen.recorded, _smaller(case, parts), _refused(seen, parts)), {}
    for place, share in shares.items():
        if failures and time.perf_counter() > end:
            break
        path = _shown(place, parts)
        failure, undecided = _tried(case, example, path)
        if not failure:
            report(_found(path, parts[place], share, undecided))
            return ""
        failures[path] = failure
    return _none(failures, len(shares), refusals)


def _tried(case, example, path) -> tuple[str, str]:
    """Why the graph with this layer compiled cannot be used, and why its results could not be
    compared; each is empty where there is no such reason."""
    label = INSIDE.format(path=path)
    candidates = {"graph": case.candidate("graph"), label: candidate(case, path)}
    brief = {"rounds": 1, "block": BRIEF, "budget": 0}
    tried = compared(candidates, example, tolerance=case.tolerance, **brief)
    return str(tried.failures.get(label, "")), tried.undecided


def _found(path, layer, share, undecided) -> Findings:
    sentences = (f"{INSIDE.format(path=path)}: {undecided}",) if undecided else ()
    return Findings(inside=Inside(path, type(layer).__name__, share), left_out=sentences)


def _smaller(case, parts):
    """All but what is the whole, which XLA has refused already."""
    return {place: part for place, part in parts.items() if part is not case.fn}


def _shares(recorded: Profile, parts: Mapping[str, object], refused) -> dict[str, float]:
    """Path to share of a call's time, the largest first; of equal ones, the outer one first.

    A part is missing when it holds one of the `refused` places, or when none of its time was
    recorded.
    """
    seconds = recorded.seconds_by(parts)
    shares = {
        part: sum(s for place, s in seconds.items() if _is_in(place, part)) / seconds.total()
        for part in parts
        if not any(_is_in(place, part) for place in refused)
    }
    ordered = sorted(shares.items(), key=lambda one: -one[1])
    return {part: share for part, share in ordered if share > 0}


def _refused(seen, parts) -> set[str]:
    """The innermost parts that hold what XLA has no code for, or text."""
    layer_of = finder(parts)
    text = {layer_of(one.name) or "" for one in seen.found if _handles_text(one.op)}
    return text | {refusal.layer for refusal in _refusals(seen.found, parts)}


def _handles_text(op):
    import tensorflow as tf

    return any(tensor.dtype == tf.string for tensor in (*op.inputs, *op.outputs))


def _refusals(found, parts) -> tuple[Refusal, ...]:
    """The operations that XLA has no code for."""
    _fill_registry()
    return unsupported_in(found, NotImplementedError(), parts)


@cache
def _fill_registry():
    """The registry of kernels is full once XLA has been asked to compile something."""
    run_probe()


# In words


def _none(failures, candidates, refusals) -> str:
    """Why no layer can be compiled alone."""
    if not candidates:
        named = f": {_some(refusals)}" if refusals else ""
        return f"each that takes time holds what XLA has no code for, or text{named}."
    tried = "; ".join(f"{path}: {why}" for path, why in failures.items())
    rest = candidates - len(failures)
    return f"{tried}.{f' There was no time to try {rest} more.' if rest else ''}"


def _no_layers(refusals) -> str:
    around = f" around {_some(refusals)}" if refusals else ""
    return f"no Keras layer was found in it. Split the function yourself{around}."


def _some(refusals) -> str:
    return some([refusal.where for refusal in refusals], NAMED)
