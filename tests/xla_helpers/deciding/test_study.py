"""What a decision asks of a model, and what one process finds out about it."""

import itertools
import time

import numpy as np
import pytest

import xla_helpers as xh
from xla_helpers.deciding import study

pytestmark = pytest.mark.usefixtures("tf", "keep_log")
SHAPES = [np.ones(n, "float32") for n in (2, 3, 4)]


def test_a_model_that_xla_refuses(tf):
    found = xh.decide(lambda x: tf.strings.length(tf.strings.as_string(x)), [tf.ones([3])])
    assert found.label == "graph" and "AsString" in found.objections["XLA"]
    with pytest.raises(KeyError, match="AsString"):
        found.total("XLA", 1)


def test_keyword_arguments_are_the_model_s(tf):
    """Also those that `compare` and `decide` have options for, under the same names."""
    named = {"rounds": 2.0, "budget": 3.0, "strict": 4.0, "block": 5.0, "clock": 6.0}

    def model(x, rounds, budget, strict, block, clock):
        return x * (rounds + budget + strict + block + clock)

    found = xh.decide(model, [tf.ones([3])], kwargs=named, budget=0.1)
    [check], [race] = found.checks.values(), found.races.values()
    assert check["XLA"].result.tolist() == [20.0] * 3
    assert list(race.measurements) == ["graph", "XLA"] and not race.failures


def test_shapes_are_counted_and_an_endless_dataset_ends(tf):
    batches = itertools.chain([np.ones(4)], itertools.repeat(np.ones(3)))
    found = xh.decide(tf.tanh, batches, budget=0.1)
    assert found.findings[0].shapes == {"float64[3]": 0.9999, "float64[4]": 0.0001}


@pytest.mark.parametrize("batches", [None, "text", {"x": 1}, [], np.ones([3, 2])])
def test_batches_that_are_none(tf, batches):
    with pytest.raises((TypeError, ValueError)):
        xh.decide(tf.tanh, batches)


@pytest.mark.parametrize("name", ["calls", "min_speedup", "budget", "candidates"])
def test_options_that_make_no_sense(tf, name):
    wrong = {"graph": abs} if name == "candidates" else 0
    with pytest.raises(ValueError, match=name):
        xh.decide(tf.tanh, [tf.ones([2])], **{name: wrong})


def test_a_graph_that_fails_is_no_choice(tf):
    with pytest.raises(ValueError, match="the graph fails"):
        xh.decide(lambda x: x.no_such_thing, [tf.ones([2])])


def test_a_training_step_of_keras(tf):
    keras = tf.keras
    model = keras.Sequential([keras.Input([3]), keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    before = model.get_weights()[0]
    found = xh.decide(model, [(tf.ones([4, 3]), tf.zeros([4, 2]))], step=True, budget=1)
    assert list(found.findings[0].shapes) == ["float32[4, 3], float32[4, 2]"]
    assert np.array_equal(before, model.get_weights()[0])
    [check] = found.checks.values()
    assert any("kernel" in name for name in check["XLA"].variables)


# Examples that come slowly


def endless(seconds):
    while True:
        time.sleep(seconds)
        yield np.ones([3], "float32")


def slow_at_the_end():
    yield from [np.ones([3], "float32")] * 40
    yield from endless(0.2)


@pytest.mark.parametrize("batches", [lambda: endless(0.008), lambda: endless(0.3), slow_at_the_end])
def test_a_slow_pipeline_is_drawn_from_for_a_while_and_refuses_nothing(tf, monkeypatch, batches):
    monkeypatch.setattr(study, "DRAW_SECONDS", 0.5)
    start = time.monotonic()
    found = xh.decide(tf.tanh, batches(), budget=0.2)
    assert time.monotonic() - start < 30
    assert "XLA" in found.gains and list(found.findings[0].shapes) == ["float32[3]"]
    assert any(note.startswith("The examples come slowly") for note in found.notes)


@pytest.mark.parametrize(
    ("checked", "raced", "said"),
    [
        (3, 1, ["Not raced: float32[3], float32[4], 67% of the calls."]),
        (1, 1, ["Neither checked nor raced: float32[3], float32[4], 67% of the calls."]),
        (3, 3, []),
    ],
)
def test_shapes_that_were_not_raced_are_told(tf, monkeypatch, checked, raced, said):
    monkeypatch.setattr(study, "CALLING", 1e3 if checked == 3 else 1e-9)
    race = study.race

    def slow_race(*args, **options):
        found = race(*args, **options)
        time.sleep(0.3 if raced == 1 else 0)
        return found

    monkeypatch.setattr(study, "race", slow_race)
    found = xh.decide(tf.tanh, SHAPES, budget=0.2 if raced == 1 else 20)
    assert (len(found.checks), len(found.races)) == (checked, raced)
    assert [note for note in found.notes if "raced" in note] == said


# Candidates that fail


def checks_numbers(tf):
    return tf.function(lambda x: tf.debugging.check_numerics(tf.tanh(x), "bad"))


def wants_one_shape(tf):
    return tf.function(lambda x: tf.ensure_shape(tf.tanh(x), [3]))


def fails_the_second_time(tf):
    calls = iter([None])

    def model(x):
        return tf.tanh(x) if next(calls, 0) is None else x.missing

    return model


@pytest.mark.parametrize("make", [checks_numbers, wants_one_shape, fails_the_second_time])
def test_a_candidate_that_fails_at_a_later_example_is_no_choice(tf, make):
    bad = np.full(3, np.nan, "float32")
    batches = [np.ones(3, "float32"), bad, np.ones(4, "float32")]
    found = xh.decide(tf.tanh, batches, candidates={"mine": make(tf)}, budget=8)
    assert found.objections["mine"] and "XLA" in found.gains and "mine" not in found.gains


@pytest.mark.parametrize("labels", [{1: abs, "1": abs}, {"XLA": abs}, {None: abs, "None": abs}])
def test_candidates_have_labels_of_their_own(tf, labels):
    with pytest.raises(ValueError, match="label"):
        xh.decide(tf.tanh, SHAPES, candidates=labels)


def test_a_race_is_given_a_share_of_the_budget(tf, monkeypatch):
    """For further rounds, as often as its shape comes."""
    given = {}
    race = study.race

    def watched(first, *, rounds, budget):
        [x] = first.calls["graph"].args
        given[len(x)] = rounds, budget
        return race(first, rounds=rounds, budget=0)

    monkeypatch.setattr(study, "race", watched)
    xh.decide(tf.tanh, [SHAPES[0]] * 3 + [SHAPES[1]], budget=8)
    assert given == {2: (8, 8 * 0.25 * 0.75), 3: (8, 8 * 0.25 * 0.25)}
