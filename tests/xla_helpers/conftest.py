"""Small results of every kind, made by hand: what the tests look at and draw."""

import os
from functools import partial
from types import SimpleNamespace

import matplotlib.pyplot as plt
import pytest

from xla_helpers import startup
from xla_helpers.agreement import Difference
from xla_helpers.checking import Check, Outcome
from xla_helpers.comparisons import Comparison
from xla_helpers.compilations import Call, Reason
from xla_helpers.logs import compilations_are_logged
from xla_helpers.results import Result
from xla_helpers.timing import Measurement

AROUND = (0.98, 0.985, 0.99, 0.995, 1.0, 1.005, 1.01, 1.015, 1.02)
CLOSE = {"eager": 0.0030, "graph": 0.0029, "XLA": 0.0021}
FAR = {"eager": 0.0300, "graph": 0.0290, "XLA": 0.0004}
SIZES = (256, 1024, 4096)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def keep_log(tf):
    """A test calls it first: pytest takes file descriptor 2 from TensorFlow's log for each."""

    def keep():
        log = os.open(startup.log_path(), os.O_WRONLY | os.O_APPEND)
        os.dup2(log, 2)
        os.close(log)
        compilations_are_logged.cache_clear()  # an earlier test may have asked without the log

    return keep


@pytest.fixture
def jit(tf):
    """`tf.function` with ``jit_compile=True``."""
    return partial(tf.function, jit_compile=True)


@pytest.fixture(scope="session")
def examples():
    """The functions below, and medians close together and far apart."""
    makers = (comparison, races, result, log, graph, check, checks)
    return SimpleNamespace(close=CLOSE, far=FAR, **{make.__name__: make for make in makers})


def comparison(scale=1.0, **seconds):
    """label to samples, or to a median with samples of up to 2 % around it."""
    samples = {
        label: s if isinstance(s, tuple) else tuple(scale * s * share for share in AROUND)
        for label, s in seconds.items()
    }
    return Comparison(
        {label: Measurement(label, 1.0, s, 10) for label, s in samples.items()},
        dict.fromkeys(samples, Difference()),
    )


def races(**medians):
    return {n: comparison(n / SIZES[0], **(medians or CLOSE)) for n in SIZES}


def result(name="fused-sum", what="a sum", **seconds):
    return Result(name, what, "2026-11-21", {"processor": "P"}, (comparison(**seconds),))


def log():
    """Three calls of a `CompilationLog`; the second found its program ready."""
    shape = Reason("shape", "input_ids", "(1, 8)", "(1, 16)")
    beams = Reason("value", "num_beams", "1", "2")
    return SimpleNamespace(
        calls=[
            Call(1, "f", 1, 1, 0.02, 0.03, 0.001, (Reason("first call"),)),
            Call(2, "f", 0, 0, 0.0, 0.0, 0.001, ()),
            Call(3, "f", 1, 1, 0.02, 0.03, 0.001, (shape, beams)),
        ]
    )


def graph(layers=6):
    """Nodes and edges: a chain of wide operations with constants, a long edge, two clusters."""
    nodes = {"x": ("_Arg", None)}
    edges = []
    for i in range(layers):
        nodes |= {
            f"c{i}": ("Const", None),
            f"op{i}": ("StatelessRandomNormalV2", f"cluster_{i % 2}"),
        }
        edges += [(f"op{i - 1}" if i else "x", f"op{i}"), (f"c{i}", f"op{i}")]
    return nodes, [*edges, ("x", f"op{layers - 1}")]


def check(**by_mode):
    """mode to the fields of its `Outcome`."""
    return Check("f", {mode: Outcome(**fields) for mode, fields in by_mode.items()})


def checks():
    error = {"error": ValueError("x")}
    return {
        "silent": check(eager=error, XLA={"result": 1, "agrees": False}),
        "loud": check(eager={"result": 2}, XLA=error | {"agrees": False}),
        "same": check(eager={"result": 3}, XLA={"result": "a " * 30}),
    }
