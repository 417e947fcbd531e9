"""Small results of every kind, made by hand: what the tests look at and draw."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import pytest

import xla_helpers as xh
from xla_helpers.differences import Difference
from xla_helpers.results import Recorded, Result
from xla_helpers.timing import Measurement

AROUND = (0.98, 0.985, 0.99, 0.995, 1.0, 1.005, 1.01, 1.015, 1.02)
CLOSE = {"eager": 0.0030, "graph": 0.0029, "XLA": 0.0021}
FAR = {"eager": 0.0300, "graph": 0.0290, "XLA": 0.0004}
SIZES = (256, 1024, 4096)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def examples():
    """The functions below, and medians close together and far apart."""
    makers = (comparison, ratios, result, graph)
    return SimpleNamespace(close=CLOSE, far=FAR, **{make.__name__: make for make in makers})


def comparison(scale=1.0, **seconds):
    """label to samples, or to a median with samples of up to 2 % around it."""
    samples = {
        label: s if isinstance(s, tuple) else tuple(scale * s * share for share in AROUND)
        for label, s in seconds.items()
    }
    return xh.Comparison(
        {label: Measurement(label, 1.0, s, 10) for label, s in samples.items()},
        dict.fromkeys(samples, Difference()),
    )


def ratios(**medians):
    """A row for each size, of XLA against the first."""
    return {str(n): comparison(n / SIZES[0], **(medians or CLOSE)).ratio("XLA") for n in SIZES}


def result(*runs, name="fused-sum", what="a sum", **seconds):
    """runs: comparisons, by default one of these seconds."""
    found = runs or (comparison(**seconds),)
    recorded = tuple(Recorded("2026-11-21", one) for one in found)
    return Result(name, what, {"processor": "P"}, recorded)


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
