import json
from dataclasses import replace

import numpy as np
import pytest

from xla_helpers import claims
from xla_helpers.claims import Claim, Verdict, read_published
from xla_helpers.ratios import Ratio
from xla_helpers.results import Between
from xla_helpers.schemas import read_data
from xla_helpers.subjects import Subject


def claim(faster, slower, times=None):
    return Claim("name", "a claim", "a machine", faster, slower, times)


SPREAD = np.array([0.1, -0.1, 0.0, 0.15, -0.15, 0.05, -0.05])  # of seven rounds
TWO = "2.00x faster than eager [2.00, 2.00]"


@pytest.mark.parametrize(
    ("faster", "slower", "times", "kind", "words"),
    [
        ("XLA", "eager", None, "holds", f"XLA is {TWO}"),
        ("XLA", "eager", 3, "holds", f"XLA is {TWO}, published about 3x"),
        ("XLA", "eager", 4, "holds", f"XLA is {TWO}, published about 4x"),
        ("XLA", "eager", 100, "holds in part", f"XLA is {TWO}, published about 100x"),
        (
            *("eager", "XLA", None, "does not hold"),
            "eager is 2.00x slower than XLA [2.00, 2.00]",
        ),
        (
            *("same", "eager", None, "undecided"),
            "same is not clearly different from eager [1.00, 1.00]",
        ),
    ],
)
def test_a_claim_is_judged_by_its_interval(examples, faster, slower, times, kind, words):
    measured = examples.comparison(eager=2.0, XLA=1.0, same=2.0)
    judged = claim(faster, slower, times)
    verdict = judged.judge(measured)
    assert verdict == Verdict(judged, kind, measured.ratio(faster, slower))
    assert str(verdict) == f"{kind}, in one run: {words}"


@pytest.mark.parametrize(
    ("samples", "kind"),
    [
        (SPREAD + 2.0, "holds"),
        (SPREAD + 1.0, "undecided"),
        (SPREAD + 0.5, "does not hold"),
        ((5.0, 6.0, 7.0), "undecided"),  # too few rounds for an interval
    ],
)
def test_the_whole_interval_lies_on_its_side(examples, samples, kind):
    measured = examples.comparison(slow=tuple(samples), fast=(1.0,) * len(samples))
    assert claim("fast", "slow").judge(measured).kind == kind


@pytest.mark.parametrize(
    ("seconds", "kind", "words"),
    [
        (30.0, "holds", "300 times, one call each"),
        (0.05, "does not hold", "0.5 times, one call each"),
        (0.11, "undecided", "1.1 times, one call each"),
        (0.09, "undecided", "0.9 times, one call each"),
    ],
)
def test_single_calls_are_judged_by_their_order(examples, seconds, kind, words):
    blocks = examples.comparison(**{"call 1": (seconds,), "call 2": (0.1,)})
    single = {label: replace(m, calls=1) for label, m in blocks.measurements.items()}
    verdict = claim("call 2", "call 1").judge(replace(blocks, measurements=single))
    assert (verdict.kind, verdict.ratio.once) == (kind, True)
    assert verdict.ratio.value == pytest.approx(seconds / 0.1)
    assert str(verdict) == f"{kind}, by its order alone: {words}"
    of_blocks = str(claim("call 2", "call 1").judge(blocks))
    assert of_blocks == str(verdict).replace("call each", "sample each")


# Several runs


@pytest.fixture
def several(examples):
    """A result with a run for each of some comparisons."""

    def make(*runs):
        return replace(examples.result(), comparison=runs[-1], earlier=runs[:-1])

    return make


@pytest.mark.parametrize(
    ("ratios", "kind", "words"),
    [
        ((1.5, 1.2, 1.3), "holds", "3 runs: XLA is from 1.20x to 1.50x faster than eager"),
        ((0.5, 0.8), "does not hold", "2 runs: XLA is from 1.25x to 2.00x slower than eager"),
        ((1.5, 0.8), "undecided", "2 runs: XLA is from 1.25x slower to 1.50x faster than eager"),
        ((1.5, 1.0), "undecided", "2 runs: XLA is from 1.00x to 1.50x faster than eager"),
        ((1.0, 1.0), "undecided", "2 runs: XLA is as fast as eager"),
    ],
)
def test_several_runs_decide_where_they_agree(examples, several, ratios, kind, words):
    runs = [examples.comparison(eager=ratio, XLA=1.0) for ratio in ratios]
    verdict = claim("XLA", "eager").judge(several(*runs))
    assert (verdict.kind, str(verdict)) == (kind, f"{kind}, in {words}")
    assert verdict.ratio == runs[-1].ratio("XLA", "eager")
    assert verdict.between.ratios == pytest.approx(ratios)


def test_a_claim_holds_in_part_where_one_run_says_so(examples, several):
    runs = [examples.comparison(eager=ratio, XLA=1.0) for ratio in (60.0, 40.0)]
    verdict = claim("XLA", "eager", 100).judge(several(*runs))
    assert verdict.kind == "holds in part"
    assert str(verdict).endswith("from 40.00x to 60.00x faster than eager, published about 100x")


def test_a_result_with_one_run_is_judged_as_its_comparison(examples, several):
    measured = examples.comparison(eager=2.0, XLA=1.0)
    for one in (claim("XLA", "eager"), claim("XLA", "graph")):
        assert one.judge(several(measured)) == one.judge(measured)


def test_a_run_that_did_not_measure_both_has_no_voice(examples, several):
    part, whole = examples.comparison(eager=1.0), examples.comparison(eager=2.0, XLA=1.0)
    judged = claim("XLA", "eager")
    for runs in ((part, whole), (whole, part)):
        assert judged.judge(several(*runs)) == judged.judge(whole)


def test_single_calls_of_several_runs(examples, several):
    runs = [examples.comparison(eager=(seconds,), XLA=(1.0,)) for seconds in (3.0, 4.0)]
    verdict = claim("XLA", "eager").judge(several(*runs))
    assert verdict.between == Between((3.0, 4.0))
    assert str(verdict) == "holds, in 2 runs: XLA is from 3.00x to 4.00x faster than eager"


def test_a_single_call_beside_many_is_judged_by_its_order(examples):
    measured = examples.comparison(once=(4.0,), many=(1.0, 2.0, 3.0))
    assert claim("many", "once").judge(measured).ratio == Ratio(2.0, 0.0, float("inf"))


@pytest.mark.parametrize(
    ("faster", "slower", "missing"),
    [
        ("XLA", "graph", ("graph",)),
        ("graph", "XLA", ("graph",)),
        ("True", "graph", ("True", "graph")),
    ],
)
def test_what_was_not_measured_cannot_be_judged(examples, faster, slower, missing):
    judged = claim(faster, slower)
    verdict = judged.judge(examples.comparison(eager=2.0, XLA=1.0))
    assert verdict == Verdict(judged, "cannot be judged", missing=missing)
    assert str(verdict) == f"cannot be judged: {' and '.join(missing)} not measured"


MODELS = {"A": "0123abcd", "B": "89ef4567"}


def test_a_claim_is_judged_by_its_models_alone(examples):
    measured = examples.comparison(eager=2.0, XLA=1.0)
    judged = replace(claim("XLA", "eager"), models=MODELS)
    kinds = {}
    for model in ("0123abcd", "89ef4567", "11111111"):
        subject = Subject(model, "00000000", (), 0)
        verdict = judged.judge(replace(measured, subject=subject))
        kinds[model] = verdict.kind
    assert kinds == dict.fromkeys(MODELS.values(), "holds") | {"11111111": "about something else"}
    assert verdict == Verdict(judged, "about something else")
    assert str(verdict) == "about something else: what was measured is not A or B"


def test_an_unknown_model_cannot_be_judged(examples):
    judged = replace(claim("XLA", "eager"), models=MODELS)
    verdict = judged.judge(examples.comparison(eager=2.0, XLA=1.0))
    assert verdict == Verdict(judged, "cannot be judged")
    assert str(verdict) == "cannot be judged: what was measured is not known to be A or B"


def test_figures_are_of_their_models_alone(examples):
    measured = examples.comparison(eager=2.0, XLA=1.0)
    figures = read_published("five-modes")[0]
    [model] = figures.models.values()
    same = replace(measured, subject=Subject(model, "00000000", ("float32[1]",), 0))
    assert figures.is_about(same) and not figures.is_about(measured)


# Published figures


def test_published_figures_support_their_own_claims():
    published = read_published()
    assert {entry.name for entry in published} == {"generate", "three-prompts", "five-modes"}
    for entry in published:
        assert entry.source and entry.hardware and entry.claims
        for claim in entry.claims:
            assert (claim.name, claim.hardware) == (entry.name, entry.hardware)
            assert claim.models == entry.models
            if entry.seconds:
                assert entry.seconds[claim.faster][0] < entry.seconds[claim.slower][0]


def test_figures_of_one_comparison():
    modes = read_published("five-modes")
    assert [entry.name for entry in modes] == ["five-modes"] * 2
    assert len(modes) < len(read_published())
    assert read_published("absent") == []
    assert {deviation > 0 for _, deviation in modes[0].seconds.values()} == {False}
    assert {deviation > 0 for _, deviation in modes[1].seconds.values()} == {True}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"name": "Two words"}, "name"),
        ({"source": ""}, "source"),
        ({"models": {}}, "models"),
        ({"models": {"a model": "EfficientNet"}}, "models"),
        ({"hardware": None}, "hardware"),
        ({"seconds": {"XLA": 1.0}}, "seconds"),
        ({"seconds": {"XLA": {"mean": 0}}}, "mean"),
        ({"claims": [{"says": "x", "faster": "XLA"}]}, "claims"),
        ({"claims": [{"says": "x", "faster": "a", "slower": "b", "times": 1}]}, "times"),
        ({"extra": 1}, "extra"),
    ],
)
def test_a_damaged_file_is_refused(monkeypatch, change, place):
    first, *others = json.loads(read_data("published.json"))
    text = json.dumps([first | change, *others])
    monkeypatch.setattr(claims, "read_data", lambda name: text)
    with pytest.raises(ValueError, match=rf"^published.json is damaged: \$\[0\].*{place}"):
        read_published()
