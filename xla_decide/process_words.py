"""What one process found, in words: why not, what was not compared, and what to mind."""

from collections.abc import Iterator

from xla_helpers.errors import headline
from xla_helpers.look.check_words import LEFT_OUT
from xla_helpers.look.manual import see
from xla_helpers.machine import describe_machine
from xla_helpers.modes import mode_of
from xla_helpers.ratios import ENOUGH
from xla_helpers.tables import abbreviate, pluralize, table

from .costs import ProcessResult
from .eager_witness import is_as_close, three_results

OTHERS = 0.1  # of the processors: what other processes take beyond that is told
NOTES = {"dropped_checks": "XLA drops the checks", "sensitive": LEFT_OUT}  # of a `Check`
SETTINGS = {
    "value": "the Python value of `{}` (pass tensors)",
    "content": "the content of `{}`",
    "shape": "the shape of `{}`",
}
"""Kinds of a `Reason` to what sets a program."""


def result_of(study) -> ProcessResult:
    """What was found, as plain data."""
    called, passes = study.called, study.passes
    raced = passes.seconds if passes else {}
    costs = {label: called.counts[label].cost(label, called.stream, passes) for label in raced}
    return ProcessResult(
        machine=describe_machine(),
        shapes=called.stream.shares,
        costs=costs if len(costs) > 1 else {},
        objections={x: _objection(study, x) for x in called.counts if x != "graph"},
        not_compared=_not_compared(study),
        inconclusive=called.inconclusive,
        sets=abbreviate(dict.fromkeys(_settings(study))),
        why=study.why,
        warnings=tuple(_warnings(study)),
        notes=tuple(_notes(study)),
        noise=passes.noise if passes else 1.0,
        by_shape=_by_shape(called, passes) if passes else {},
        tables=tuple(_tables(study)),
        is_whole=called.stream.is_whole,
    )


def _by_shape(called, passes):
    """Shape to the seconds of a call of it, of each label that was raced."""
    shapes = dict.fromkeys(example.shape for example in called.stream.sample)
    return {x: {label: passes.usual(label, x) for label in passes.seconds} for x in shapes}


def _settings(study):
    """What sets a program beside the shape, in words."""
    for reason in (reason for counts in study.called.counts.values() for reason in counts.reasons):
        if reason.kind in SETTINGS:
            yield SETTINGS[reason.kind].format(reason.argument)


def _objection(study, label):
    """Why nobody should choose a candidate, or ""."""
    if label == "XLA":
        for shape, check in study.checks.items():
            if (why := check.objection) and not _eager_agrees(study, shape):
                return why
    why = study.called.others_failed.get(label) or study.called.counts[label].failure
    if not why and study.passes:
        why = study.passes.failures.get(label, "")
        why = f"fails in the race: {why}" if why else ""
    first = [one.first_calls.outcomes[label] for one in study.called.compared.values()]
    saw_none = mode_of(label) == "XLA" and any(x.evidence.programs == 0 for x in first)
    return why or ("was not seen to run a program of XLA" if saw_none else "")


def _eager_agrees(study, shape):
    """Whether eager mode is a witness that XLA is no worse than the graph."""
    one, eager = study.called.compared[shape], study.eager
    is_there = "eager" in one.check.outcomes and eager is not None
    return is_there and is_as_close(one.first_calls, eager)


def _not_compared(study):
    """XLA, where some of its results were not compared, and why; the others, where all were not."""
    why = next((check.inconclusive for check in study.checks.values() if check.inconclusive), "")
    if why:
        return {label: why for label in study.called.counts if label != "graph"}
    for shape, check in study.checks.items():
        if check.objection and _eager_agrees(study, shape):
            why = why or three_results(study.called.compared[shape].first_calls, study.eager)
    return {"XLA": why} if why else {}


def _warnings(study) -> Iterator[str]:
    for check in study.checks.values():
        eager = check.outcomes.get("eager")
        if eager and eager.difference and not (eager.agrees or check.inconclusive):
            yield (
                f"The graph differs from eager mode, in {eager.difference}: either of them may be "
                "wrong."
            )


def _notes(study) -> Iterator[str]:
    yield from _notes_on_the_model(study)
    yield from _notes_on_the_stream(study)
    if study.passes:
        yield from _notes_on_passes(study)
    for name, words in NOTES.items():
        places = dict.fromkeys(x for found in study.checks.values() for x in getattr(found, name))
        if places:
            yield f"{words}: {abbreviate(places)}."
    yield from dict.fromkeys(found.see for found in study.checks.values() if found.see)
    yield from _notes_on_invalid_inputs(study)


def _notes_on_the_model(study):
    if study.called.is_compiled_by_keras:
        grouped = "Keras gives grouped convolutions to XLA, so that the graph runs it, too."
        yield f"{grouped} {see('conv2d-with-groups-compiles-at-every-eager-call')}"
    if study.was_eager:
        yield "`tf.config.run_functions_eagerly(True)` was switched off: else nothing is a graph."
    if study.called.built:
        yield (
            f"{study.called.built} had no weights: they were made before it was compiled. A first "
            "call that is compiled may make others."
        )
    if study.eager and isinstance(study.eager.error, TimeoutError):
        why = headline(study.eager.error).removeprefix("TimeoutError: ")
        yield f"Eager mode is no witness: {why}."
    elif study.eager and study.eager.error:
        yield f"Eager mode fails: {headline(study.eager.error)}."


def _notes_on_the_stream(study):
    stream, compared = study.called.stream, study.called.compared
    if not stream.is_whole:
        yield f"The shapes are those of the first {stream.examples:,} examples."
    called = {example.shape for example in stream.sample}
    if left := [shape for shape in stream.shapes if shape not in called]:
        share = sum(stream.shares[shape] for shape in left)
        yield f"Not called: {abbreviate(left)}, {share:.0%} of the examples."
    if left := called - compared.keys():
        both = f"{len(compared)} of {len(left) + len(compared)}"
        yield f"Results were compared with {both} shapes."


def _notes_on_passes(study):
    if study.passes.others >= OTHERS:
        yield (
            f"Other processes took more than {OTHERS:.0%} of the processors during the race: "
            "measure again when they rest."
        )
    if (number := len(study.passes.seconds["graph"])) < ENOUGH:
        passes = pluralize(number, "pass")
        yield f"The calls take long: {passes} fitted in, so the interval has a wide margin."
    if not study.passes.is_sample:
        number = pluralize(len(study.called.stream.sample), "example")
        yield f"The interval is of {number}: others may differ."
    for label in study.passes.seconds:
        for shape, times in study.passes.uneven(label).items():
            yield (
                f"Calls of one shape take up to {times:.1f} times as long as others "
                f"({label}, {shape}): the examples must be typical."
            )


def _notes_on_invalid_inputs(study):
    for number, check in enumerate(study.invalid_inputs, start=1):
        if not check["XLA"].agrees:
            yield f"Invalid input {number} under XLA: {check.against('XLA')}."
    if not study.invalid_inputs:
        yield "Not tested: inputs that should fail, in `invalid_inputs`."


def _tables(study):
    stream = study.called.stream
    in_sample = [example.shape for example in stream.sample]
    rows = [[x, f"{share:.0%}", in_sample.count(x)] for x, share in stream.shares.items()]
    fixes = [found.fixes for found in study.checks.values() if found.unsupported]
    columns = ["shape", "of the examples", "called"]
    tables = [table("The example calls.", columns, rows), *study.checks.values(), *fixes]
    return map(str, [*tables, *([study.passes] if study.passes else [])])
