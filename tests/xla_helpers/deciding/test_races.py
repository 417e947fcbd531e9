"""Races: which candidates run with which shape, what is recorded, what is left out."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from xla_helpers.comparisons import Comparison
from xla_helpers.deciding import races
from xla_helpers.deciding.batches import Example
from xla_helpers.deciding.findings import Findings, Plan, Raced, Shape, merged
from xla_helpers.deciding.plan import Order, case_of
from xla_helpers.deciding.races import _least, _share, race
from xla_helpers.results import read_results
from xla_helpers.timing import Measurement

ORDER = Order("race 1", labels=("eager", "graph", "XLA"), shapes=(1, 0, 2), seconds=0.0)


def double(x):
    return 2.0 * x


def case(*examples, fresh=False, **functions):
    """Candidates that are Python functions, and example calls of which there are 1, 2, 3, ..."""
    examples = examples or [Example((np.ones(n),)) for n in (1, 2, 3)]
    shapes = [Shape((f"float64[{n}]",), n) for n in range(1, 1 + len(examples))]
    functions = {label: functions.get(label, double) for label in ("eager", "graph", "XLA")}
    return SimpleNamespace(
        fn=double,
        model=None,
        labels=tuple(functions),
        candidate=functions.get,
        examples=examples,
        plan=Plan("double", tuple(shapes)),
        tolerance=1e-4,
        fresh=fresh,
    )


def raced(case, order, folder):
    """What the part says, and number of a shape to what it recorded."""
    known, said = Findings(), []
    race(case, replace(order, folder=str(folder)), said.append)
    for one in said:
        known = merged(known, one)
    results, skipped = read_results(folder)
    assert skipped == {}
    by_file = {result.path.name: result for result in results}
    return known, {one.shape: by_file[one.file] for one in known.raced if one.file}


@pytest.fixture(autouse=True)
def quick(short_races):
    """How long the rounds of a race may take is asked of scripted ones."""


@pytest.fixture
def scripted(monkeypatch, clock):
    """Comparisons in place of `compared`, each of which takes two seconds and then its budget."""
    asked = []

    def compared(candidates, example, *, budget, **options):
        asked.append((list(candidates), budget))
        clock.now += 2.0 + budget
        sample = max(budget / 8, 1e-9)  # of the graph and its control, in four further rounds
        timed = {x: Measurement(x, 0.1, (sample,) * 12, 1) for x in list(candidates)[:1]}
        return Comparison(timed, {}, control=timed.get("graph"))

    monkeypatch.setattr(races, "compared", compared)
    monkeypatch.setattr(races, "time", SimpleNamespace(perf_counter=clock))
    return asked


def test_each_shape_is_timed_in_order_and_recorded_under_its_number(scripted, tmp_path):
    known, results = raced(case(), replace(ORDER, seconds=60.0), tmp_path)
    assert [one.shape for one in known.raced] == [1, 0, 2]
    assert known.left_out == ()
    assert [(r.name, r.what) for r in results.values()] == [
        (f"decide-{n}", f"double: float64[{n + 1}]") for n in (1, 0, 2)
    ]


def test_eager_mode_runs_with_the_first_shape_alone_and_the_graph_is_the_baseline(
    scripted, tmp_path
):
    raced(case(), replace(ORDER, seconds=60.0), tmp_path)
    assert [labels for labels, _ in scripted] == [
        ["graph", "XLA", "eager"],
        *[["graph", "XLA"]] * 2,
    ]


def test_each_shape_has_its_share_of_the_time_that_is_left(scripted, tmp_path):
    """Of 60 seconds each is first given three, as nobody knows yet what it takes; then the two that
    it took. Of the rest the first has a third, the next a quarter of what is left by then."""
    first = (60 - 9) / 3
    second = (60 - 2 - first - 4) / 4
    budgets = [first, second, 60 - 6 - first - second]
    raced(case(), replace(ORDER, seconds=60.0), tmp_path)
    assert [budget for _, budget in scripted] == pytest.approx(budgets)


def test_the_time_is_kept(scripted, tmp_path, clock):
    for seconds, done in ((0.0, 1), (3.0, 1), (5.0, 2), (60.0, 3)):
        start = clock.now
        known, _ = raced(case(), replace(ORDER, seconds=seconds), tmp_path / str(seconds))
        assert len(known.raced) == done
        assert clock.now - start <= max(seconds, 2.0)


def test_a_race_has_rounds_enough_for_an_interval_even_without_time(tmp_path):
    _, results = raced(case(), ORDER, tmp_path)
    assert results[1].comparison.ratio("XLA", "graph").bounded


def test_shapes_that_do_not_fit_are_counted(tmp_path):
    known, results = raced(case(), ORDER, tmp_path)
    assert list(results) == [1]
    assert known.left_out == (
        "race 1: 1 of 3 shapes were timed, for the others there was no time.",
    )


def test_a_candidate_that_fails_is_named_and_the_others_are_timed(tmp_path):
    def fails(x):
        raise MemoryError("too large")

    known, results = raced(case(XLA=fails), ORDER, tmp_path)
    assert known.raced[0].failures == {"XLA": "MemoryError: too large"}
    assert list(results[1].comparison.measurements) == ["graph", "eager"]


def test_another_result_is_not_timed(tmp_path):
    known, results = raced(case(XLA=lambda x: 3 * x), ORDER, tmp_path)
    assert "differs from that of 'graph'" in known.raced[0].failures["XLA"]
    assert "XLA" not in results[1].comparison.measurements


def test_nothing_is_recorded_where_nothing_was_timed(tmp_path):
    def fails(x):
        raise MemoryError("too large")

    known, results = raced(case(eager=fails, graph=fails, XLA=fails), ORDER, tmp_path)
    assert results == {}
    assert known.raced == (Raced(1, "", dict.fromkeys(ORDER.labels, "MemoryError: too large")),)


def test_a_second_race_in_one_process_takes_the_place_of_the_first(tmp_path):
    for _ in range(2):
        _, results = raced(case(), ORDER, tmp_path)
        assert len(results[1].runs) == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_the_file_stays_the_same_with_other_candidates(tmp_path):
    """Races of several processes, the first of them with eager mode, stand in one file."""
    both, _ = raced(case(), ORDER, tmp_path)
    one, _ = raced(case(), replace(ORDER, labels=("graph", "XLA")), tmp_path)
    assert both.raced[0].file == one.raced[0].file


def test_with_fresh_each_candidate_is_made_for_the_race(tmp_path):
    made = []
    stand_in = case(fresh=True)
    stand_in.candidate = lambda label: made.append(label) or double
    known, _ = raced(stand_in, ORDER, tmp_path)
    assert made == ["graph", "XLA", "eager"]
    assert known.raced[0].failures == {}


def test_what_a_race_takes_at_the_least_is_what_it_took_without_its_further_rounds():
    graph = Measurement("graph", 0.5, (1.0,) * 12, 2)
    comparison = Comparison({"graph": graph}, {}, control=graph)
    assert _least(comparison, 60.0) == 60.0 - 16.0
    assert _least(Comparison({}, {}), 3.0) == 3.0


def test_a_shape_gets_its_share_of_what_is_left():
    plan = case().plan
    assert _share(plan, (2, 1, 0)) == pytest.approx(3 / 6)
    assert _share(plan, (1, 0)) == pytest.approx(2 / 3)


def test_rows_are_what_they_are_called(tf, tmp_path):
    keras = tf.keras
    inner = keras.Sequential([keras.layers.Dense(3)], name="inner")
    model = keras.Sequential([keras.Input([4]), inner, keras.layers.Dense(2)])
    found = case_of(model, [np.ones([n, 4], np.float32) for n in (1, 2, 3)], {"pad": 4})
    labels = ("eager", "graph", "XLA", "XLA, padded", "XLA in inner")
    order = Order("race 1", labels=labels, shapes=(0,), inside="inner")
    known, results = raced(found, order, tmp_path)
    comparison = results[0].comparison
    assert known.raced[0].failures == {}
    assert set(comparison.measurements) == set(labels) and comparison.as_labelled
    assert comparison.subject.variables == 4 * 3 + 3 + 3 * 2 + 2


def test_a_training_step_is_recorded_with_the_variables_of_its_model_and_puts_them_back(
    tf, tmp_path
):
    keras = tf.keras
    model = keras.Sequential([keras.Input([4]), keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    before = model.get_weights()
    batch = np.ones([3, 4], np.float32), np.ones([3, 2], np.float32)
    order = Order("race 1", labels=("graph", "XLA"), shapes=(0,))
    known, results = raced(case_of(model, [batch], {"step": True}), order, tmp_path)
    assert known.raced[0].failures == {}
    assert results[0].comparison.subject.variables >= 4 * 2 + 2
    for value, kept in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(value, kept)
