"""Races on machines of which the truth is known: how much faster XLA is, and how they scatter."""

from dataclasses import replace

import numpy as np

from tests.xla_helpers.deciding.examples import MACHINE, RAN, SMALL, checked, findings, run
from xla_helpers.comparisons import Comparison
from xla_helpers.deciding.findings import Plan, Shape
from xla_helpers.results import Result
from xla_helpers.timing import Measurement


def several(*runs):
    """The races of one shape in several processes, the last one last."""
    *earlier, last = runs
    return Result("decide", "a model", "2026-11-22", MACHINE, last, None, tuple(earlier))


def in_turn(*ratios, noise=1.0, rounds=None, **medians):
    """Races of one shape, in which XLA was so many times faster than a graph of 100 us."""
    runs = [run(noise=noise, graph=1e-4, XLA=1e-4 / ratio, **medians) for ratio in ratios]
    return {0: several(*(short(one, rounds) for one in runs))}


def short(comparison, rounds):
    """The same with its first rounds alone."""
    measured = {
        x: replace(m, samples=m.samples[:rounds]) for x, m in comparison.measurements.items()
    }
    again = comparison.control
    control = again and replace(again, samples=again.samples[:rounds])
    return replace(comparison, measurements=measured, control=control)


def of_one_shape(**changes):
    """Findings about one shape, of so many calls that first calls cost next to nothing."""
    plan = Plan("Sequential, 2 layers", (Shape(SMALL, 1),))
    return findings(**{"plan": plan, "calls": 10_000_000, "checks": (checked(),)} | changes)


def made_up_run(draw, times, luck, rounds=15, scatter=0.02):
    """A race in one process, whose luck is a share that all its rounds have in common."""
    centres = np.array([1.0, np.exp(luck * draw.normal()) / times, 1.0])
    samples = 1e-3 * centres * draw.lognormal(0, scatter, (rounds, 3))
    graph, own, again = (
        Measurement(label, 0.2, tuple(column), 10)
        for label, column in zip(("graph", "XLA", "graph"), samples.T, strict=True)
    )
    return Comparison({"graph": graph, "XLA": own}, {}, evidence=RAN, control=again)
