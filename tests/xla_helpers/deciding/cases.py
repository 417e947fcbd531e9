"""Decisions of many kinds, made by hand: findings and races for the page and its pictures."""

from dataclasses import replace

from tests.xla_helpers.deciding.examples import RAN, checked, findings, races
from xla_helpers.deciding.findings import (
    End,
    Findings,
    FirstCall,
    FirstCalls,
    Inside,
    LayerTime,
    Padded,
    Plan,
    Raced,
    Row,
    Shape,
    Work,
)
from xla_helpers.evidence import Evidence
from xla_helpers.operations import Refusal

QUICK = {"eager": 1e-3, "graph": 1e-4, "XLA": 5e-5}
LARGER = {"graph": 3e-4, "XLA": 2.5e-4}
REFUSAL = Refusal("StringLower", "words", "model.py, line 3 in call", "turn text into numbers")
HOSTILE = "<b>*x*</b> | [a](http://example.org) `y` _z_ $1$"
LONG = "_".join(["a_very_long_name"] * 12)


def usual():
    return findings(), races(QUICK, LARGER)


def one_shape():
    plan = Plan("a function", (Shape(("float32[4]",), 1),))
    alone = {"first": first_calls(1), "memory": findings().memory[:1], "raced": (Raced(0, "x"),)}
    return findings(plan=plan, checks=(checked(),), **alone), races(QUICK)


def first_calls(number, labels=("graph", "XLA")):
    return tuple(
        FirstCalls(
            label,
            380_000_000,
            tuple(
                FirstCall(i, 0.3, 1, int(label != "graph"), 0.1, 0.2, 400_000_000 + 3_000_000 * i)
                for i in range(number)
            ),
        )
        for label in labels
    )


def many_shapes():
    shapes = tuple(Shape((f"int32[8, {i + 1}]",), 40 - i) for i in range(30))
    known = findings(
        plan=Plan("GPT, 40 layers", shapes),
        checks=tuple(checked(number=i, arguments=s.arguments) for i, s in enumerate(shapes)),
        first=first_calls(30),
        raced=tuple(Raced(i, f"decide.{i}.json") for i in range(30)),
    )
    return known, races(*[QUICK] * 30)


def padded():
    shapes = tuple(Shape((f"int32[8, {n}]",), 3, 0 if n < 9 else 1) for n in (5, 7, 9, 12, 15))
    sizes = (Padded(("int32[8, 8]",), 0.25), Padded(("int32[8, 16]",), 0.0002))
    rows = (
        Row("graph", "[1.0, 2.0]", "", True),
        Row("XLA, padded", "[1.0, 2.5]", "differs by 0.2, allowed 0.0001", False, False, 0.2, 0.5),
    )
    other = checked("padding", 1, arguments=("int32[8, 7]",), rows=rows, agrees=False)
    same = checked("padding", 0, arguments=("int32[8, 5]",), rows=(rows[0], checked().rows[2]))
    known = findings(
        plan=Plan("an LSTM", shapes, sizes, "to the next multiple of 8"),
        checks=(checked(), same, other),
        first=(*first_calls(5), *first_calls(2, ("XLA, padded",))),
        raced=tuple(Raced(i, "x.json") for i in range(5)),
    )
    return known, races(*[QUICK | {"XLA_padded": 6e-5}] * 5)


def refused():
    return _refused(Inside("encoder", "Functional", 0.8))


def refused_without_a_part():
    return _refused(None)


def _refused(inside):
    rows = (
        *checked().rows[:2],
        Row("XLA", "InvalidArgumentError: unsupported", "gives an error", False, True),
    )
    summary = f"XLA does not support {REFUSAL.where}."
    one = checked(summary=summary, rows=rows, agrees=False, refused=(REFUSAL,))
    failing = replace(first_calls(1, ("XLA",))[0], calls=(FirstCall(0, 0.1, error="unsupported"),))
    plan = Plan("a text model", (Shape(("string[16]",), 1),))
    known = findings(
        plan=plan,
        checks=(one,),
        first=(first_calls(1)[0], failing),
        inside=inside,
        works=(Work("graph", 0, 1e-4, None),),
        memory=(),
        raced=(Raced(0, "x.json", {"XLA": "InvalidArgumentError: unsupported StringLower"}),),
        left_out=() if inside else ("it has no layers: split the function around StringLower",),
    )
    times = {"eager": 1e-3, "graph": 1e-4} | ({f"XLA in {inside.path}": 5e-5} if inside else {})
    return known, races(times)


def died(how="time"):
    ends = (
        End("first calls, graph", "finished", "", 3.0, 400_000_000, 40.0),
        End("first calls, XLA", how, "signal 9", 40.0, 9_000_000_000, 40.0),
        End("results", "finished", "", 3.0, 400_000_000, 40.0),
        End("race 1", "finished", "", 9.0, 400_000_000, 40.0),
        End("work", "left out", "", 0.0, None, 0.0),
    )
    rest = {"layers": (), "works": (), "peaks": None, "memory": ()}
    rows = checked().rows[:2]
    known = findings(
        plan=Plan("a loop", (Shape(("float32[4]",), 1),)),
        ends=ends,
        first=first_calls(1)[:1],
        checks=(checked(rows=rows, summary="It works."),),
        **rest,
    )
    return known, races({"eager": 1e-3, "graph": 1e-4})


def interrupted():
    known = findings()
    return Findings(
        name=known.name,
        command=known.command,
        day=known.day,
        calls=known.calls,
        isolated=True,
        machine=known.machine,
        plan=known.plan,
        ends=known.ends[:1],
        first=known.first[:1],
        unfinished=True,
    ), {}


def draws():
    one = checked(
        decidable=False,
        agrees=False,
        draws=("RandomUniform in dropout (model.py, line 3 in call)",),
        summary="Not decidable for graph and XLA: it draws random numbers.",
        names=("result",),
        not_put_back=("a stream of random numbers (RandomUniform in dropout)",),
    )
    plan = replace(findings().plan, step=True)
    return findings(plan=plan, checks=(one,)), races(QUICK, LARGER)


def together():
    return findings(isolated=False), races(QUICK, LARGER, runs=1)


def long_names():
    known = findings(
        name=f"{LONG}:make",
        plan=Plan(LONG, (Shape((f"{LONG}: float32[16, 10]", "int32[]"), 9),)),
        layers=tuple(LayerTime("graph", f"{LONG}/{i}", LONG, 1e-5) for i in range(20)),
        first=first_calls(1),
        memory=(),
        checks=(checked(arguments=(LONG,) * 3, names=(LONG,) * 20, summary=f"{LONG}."),),
        left_out=(f"{LONG}: there was no time.",),
    )
    return known, races(QUICK)


def hostile():
    row = Row("eager", HOSTILE, HOSTILE, True, place=HOSTILE)
    inside = Inside(HOSTILE, HOSTILE, 0.5)
    known = findings(
        name=HOSTILE,
        command=f"python -m xla_helpers decide '{HOSTILE}'\n```\n# not a heading",
        plan=Plan(HOSTILE, (Shape((HOSTILE,), 9),), pad=HOSTILE),
        machine={"processor": HOSTILE},
        layers=(LayerTime("graph", HOSTILE, HOSTILE, 1e-5),),
        first=first_calls(1, ("graph", f"XLA in {HOSTILE}")),
        works=(Work(f"XLA in {HOSTILE}", 0, 1e-4, 3, 1000, 1000),),
        inside=inside,
        memory=(),
        checks=(
            checked(
                arguments=(HOSTILE,),
                summary=HOSTILE,
                names=(HOSTILE,),
                rows=(row, replace(row, mode="XLA", error=True)),
                refused=(Refusal(HOSTILE, HOSTILE, HOSTILE, HOSTILE),),
                vanished=(HOSTILE,),
            ),
            checked("worst", 0, arguments=(HOSTILE,), summary=HOSTILE, rows=(row,)),
        ),
        ends=(End("race 1", "failed", HOSTILE, 1.0),),
        raced=(Raced(0, "x", {"XLA": HOSTILE}),),
        left_out=(HOSTILE,),
    )
    return known, races({"eager": 1e-3, "graph": 1e-4, f"XLA in {HOSTILE}": 5e-5})


def mislabelled():
    ran = RAN | {"XLA": Evidence(graphs=1, programs=0, compiled=0)}
    known, found = usual()
    runs = {i: replace(r, comparison=replace(r.comparison, evidence=ran)) for i, r in found.items()}
    return known, runs


def partly_timed():
    raced = (Raced(0, "x"), Raced(1, "x", {"XLA": "ValueError: no"}))
    return findings(raced=raced), races(QUICK, {"graph": 3e-4})


CASES = {
    made.__name__: made
    for made in (
        usual,
        one_shape,
        many_shapes,
        padded,
        refused,
        refused_without_a_part,
        died,
        interrupted,
        draws,
        together,
        long_names,
        hostile,
        mislabelled,
        partly_timed,
    )
}
"""Name of a kind of decision to a function that gives its findings and races."""
