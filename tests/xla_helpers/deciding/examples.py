"""Findings made by hand: two layers, two shapes, and XLA does what a test says."""

from dataclasses import replace

from xla_helpers.agreement import Difference
from xla_helpers.comparisons import Comparison
from xla_helpers.deciding.findings import (
    Checked,
    End,
    Findings,
    FirstCall,
    FirstCalls,
    LayerTime,
    Peaks,
    Plan,
    ProgramMemory,
    Raced,
    Row,
    Shape,
    Work,
)
from xla_helpers.evidence import Evidence
from xla_helpers.results import Result
from xla_helpers.timing import Measurement

AROUND = (0.98, 0.985, 0.99, 0.995, 1.0, 1.005, 1.01, 1.015, 1.02)
SMALL, LARGE = ("float32[16, 10]",), ("float32[64, 10]",)
MACHINE = {
    "processor": "Some Processor",
    "cores": "2 cores",
    "accelerators": "no GPU",
    "Python": "Python 3.11.7",
    "TensorFlow": "TensorFlow 2.21.0",
}
RAN = {
    "eager": Evidence(eager=5, programs=0, compiled=0),
    "graph": Evidence(graphs=1, programs=0, compiled=0),
    "XLA": Evidence(programs=1, compiled=0),
}


def first_calls(label, seconds, compile_seconds=0.0):
    """Those of both shapes."""
    calls = (
        FirstCall(i, seconds, 1, bool(compile_seconds), 0.02, compile_seconds, 400_000_000 + i)
        for i in range(2)
    )
    return FirstCalls(label, 380_000_000, tuple(calls))


def checked(of="plan", number=0, **changes):
    """A call that came out the same in all three modes."""
    rows = (
        Row("eager", "[0.1, 0.9]", "", True, place="result"),
        Row("graph", "[0.1, 0.9]", "the same", True, relative=0.0, absolute=0.0, place="result"),
        Row("XLA", "[0.1, 0.9]", "the same to 1e-7", True, False, 1e-7, 1e-8, "result"),
    )
    summary = "The same result in all three modes."
    given = Checked(of, number, SMALL, summary, rows, True, True, True, ("result",))
    return replace(given, **changes)


def findings(**changes):
    """All that a decision without surprises found."""
    names = ("first calls, graph", "first calls, XLA", "results", "inside", "race 1", "race 2")
    known = Findings(
        name="my_model:make",
        command="python -m xla_helpers decide my_model:make --calls 10000",
        code='xh.decide("my_model:make", calls=10_000)',
        day="2026-11-22",
        calls=10_000,
        tolerance=1e-4,
        floor=1.05,
        budget=120.0,
        isolated=True,
        machine=MACHINE,
        load=(0.1, 0.2),
        plan=Plan("Sequential, 2 layers", (Shape(SMALL, 9), Shape(LARGE, 1))),
        ends=tuple(End(name, "finished", "", 8.0, 500_000_000, 40.0) for name in names),
        first=(first_calls("graph", 0.05), first_calls("XLA", 0.25, 0.2)),
        checks=(checked(), checked(number=1, arguments=LARGE)),
        layers=(
            LayerTime("graph", "dense", "Dense", 60e-6),
            LayerTime("graph", "not in a layer", "", 40e-6),
            LayerTime("XLA", "dense", "Dense", 30e-6),
            LayerTime("XLA", "not in a layer", "", 20e-6),
        ),
        works=(
            Work("graph", 0, 100e-6, 4, 40_000, 8_000),
            Work("XLA", 0, 50e-6, 2, 20_000, 8_000),
        ),
        peaks=Peaks(50e9, 10e9),
        memory=(
            ProgramMemory("XLA", 0, 1_000, 320, 640),
            ProgramMemory("XLA", 1, 4_000, 1_280, 640),
        ),
        raced=(Raced(0, "decide.0.json"), Raced(1, "decide.1.json")),
    )
    return replace(known, **changes)


def run(noise=1.0, evidence=RAN, **medians):
    """One run of a race: label to median; the graph raced against itself `noise` times apart."""
    names = {label.replace("_", ", "): s for label, s in medians.items()}
    measured = {
        label: Measurement(label, 0.2, tuple(s * share for share in AROUND), 10)
        for label, s in names.items()
    }
    itself = replace(measured["graph"], samples=tuple(noise * s for s in measured["graph"].samples))
    return Comparison(
        measured,
        {label: Difference(1e-7) for label in measured if label != "graph"},
        evidence={label: evidence.get(label, evidence["XLA"]) for label in measured},
        control=itself,
    )


def races(*shapes, runs=3):
    """Number of a shape to its `Result`. shapes: for each the medians, mode to seconds.

    A label with a comma is written with an underscore: ``XLA_padded``.
    """
    return {
        i: Result(
            "decide", "a model", "2026-11-22", MACHINE, run(**s), None, (run(**s),) * (runs - 1)
        )
        for i, s in enumerate(shapes)
    }
