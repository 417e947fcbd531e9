"""What each picture of a decision says, and when there is none."""

from dataclasses import replace

import pytest

from tests.xla_helpers.deciding.cases import CASES, HOSTILE, usual
from tests.xla_helpers.deciding.examples import findings, races
from xla_helpers.deciding import pictures
from xla_helpers.deciding.findings import LayerTime
from xla_helpers.deciding.pictures import (
    draw_all,
    draw_layers,
    draw_plan,
    draw_speed,
)

EXPECTED = {
    "usual": {"speed", "plan", "memory", "layers", "limit"},
    "refused": {"speed", "plan", "layers"},
    "refused_without_a_part": {"layers"},
    "died": set(),
    "interrupted": set(),
}


def few_rounds(result):
    """The same with three rounds in one run."""
    run = result.comparison
    short = {x: replace(m, samples=m.samples[:3]) for x, m in run.measurements.items()}
    control = replace(run.control, samples=run.control.samples[:3])
    return replace(result, comparison=replace(run, measurements=short, control=control), earlier=())


@pytest.mark.parametrize("kind", CASES)
def test_every_picture_is_described(kind):
    found = draw_all(*CASES[kind]())
    assert all(len(picture.alt) > 30 and picture.png for picture in found.values())
    assert set(found) == EXPECTED.get(kind, set(found))


def test_speed_is_told_for_the_plan_and_for_each_shape():
    told = draw_speed(*usual()).alt
    assert "XLA, over the plan: 1.71x faster [" in told
    assert "XLA, float32[16, 10] · 90 %: 2.00x faster [" in told


def test_one_shape_is_the_plan():
    assert "over the plan" not in draw_speed(*CASES["one_shape"]()).alt


def test_too_few_rounds_are_no_picture():
    known, found = usual()
    assert draw_speed(known, {i: few_rounds(result) for i, result in found.items()}) is None


def test_a_ratio_within_the_noise_is_no_winner():
    noisy = [{"graph": 1e-4, "XLA": 9e-5, "noise": noise} for noise in (1.3, 1.0)]
    told = draw_speed(usual()[0], races(*noisy)).alt
    assert told.count("no clear difference") == 3 and "faster [" not in told


def test_a_ratio_far_from_1_is_drawn():
    told = draw_speed(usual()[0], races({"graph": 1e-6, "XLA": 1e-2})).alt
    assert "10000.00x slower" in told


def test_the_time_of_the_plan_has_intervals():
    told = draw_plan(*usual()).alt
    assert "After 10,000 calls: graph 1.3 s [" in told
    assert "XLA is repaid after 8,000 calls [" in told


def test_a_part_of_the_plan_is_not_called_the_plan(monkeypatch):
    marked = []
    monkeypatch.setattr(pictures, "guide", lambda ax, words, **place: marked.append(words))
    draw_plan(*usual())
    draw_plan(findings(), races({"graph": 1e-4, "XLA": 5e-5}))
    assert marked == ["the plan", "these calls"]


def test_a_graph_alone_is_not_drawn():
    known, _ = usual()
    assert draw_plan(known, races({"graph": 1e-4}, {"graph": 1e-4})) is None


def test_the_largest_layers_have_rows_and_the_rest_has_one():
    layers = [LayerTime("graph", f"layer{i}", "Dense", 1e-6 * (20 - i)) for i in range(20)]
    layers.append(LayerTime("graph", "not in a layer", "", 5e-6))
    told = draw_layers(findings(layers=tuple(layers)), {}).alt
    assert "layer7: graph 13 µs; 12 other layers: graph 78 µs; not in a layer: graph 5 µs" in told


def test_no_layers_are_no_picture():
    assert draw_layers(findings(layers=()), {}) is None


def test_names_are_no_formulas():
    layers = (LayerTime("graph", HOSTILE, "$\\frac$", 1e-6),)
    assert HOSTILE in draw_layers(findings(layers=layers), {}).alt
