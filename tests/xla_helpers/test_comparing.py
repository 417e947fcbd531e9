"""Times here are exact: the clock moves only when a candidate says so."""

import math
import sys
from io import StringIO

import numpy as np
import pytest

from xla_helpers.agreement import Difference
from xla_helpers.comparing import compare, sweep
from xla_helpers.comparisons import ComparisonError, Failure, SweepError

SHORT = 1e-9  # a block this short holds one call
QUICK = {"rounds": 2, "budget": 0, "block": SHORT}
TOO_LARGE = Failure("ArithmeticError: too large")


@pytest.fixture(autouse=True)
def nothing_beside(request):
    """A test that does not ask for TensorFlow has none, whichever tests ran before it."""
    if "tf" not in request.fixturenames:
        request.getfixturevalue("no_tensorflow")


def fails(*args):
    raise ArithmeticError("too large")


# Speed


def test_first_calls_and_samples(clock):
    candidates = {"a": clock.takes(8.0, 2.0), "b": clock.takes(4.0, 0.5)}
    c = compare(candidates, rounds=3, budget=0, clock=clock)
    assert list(c.measurements) == ["a", "b"]
    assert (c["a"].first, c["a"].samples) == (8.0, (2.0, 2.0, 2.0))
    assert (c["b"].first, c["b"].samples) == (4.0, (0.5, 0.5, 0.5))
    assert c["b"].label == "b"
    assert c.baseline == "a"
    assert c.failures == {}


def test_candidates_take_turns(clock):
    candidates = {label: clock.takes(1.0, label=label) for label in "ABC"}
    compare(candidates, rounds=3, budget=0, block=SHORT, clock=clock)
    order = "".join(clock.labels)
    assert order.startswith("ABC")
    rounds = [order[-12:][i : i + 4] for i in (0, 4, 8)]
    assert all(sorted(round) == ["A", "A", "B", "C"] for round in rounds)  # the control twice
    assert len(set(rounds)) > 1


def test_samples_stand_in_the_order_of_the_rounds(clock):
    slower_and_slower = clock.takes(*(float(2**n) for n in range(10)))
    c = compare({"a": slower_and_slower}, rounds=3, budget=0, block=SHORT, clock=clock)
    rounds = list(zip(c["a"].samples, c.control.samples, strict=True))
    first = min(rounds[0])
    assert [sorted(one) for one in rounds] == [
        [scale * first, 2 * scale * first] for scale in (1, 4, 16)
    ]
    assert c.noise in (0.5, 2.0)


def test_each_candidate_has_its_own_number_of_calls(clock):
    candidates = {"slow": clock.takes(1 / 4), "fast": clock.takes(1 / 64)}
    c = compare(candidates, block=1 / 4, clock=clock)
    assert (c["slow"].calls, c["fast"].calls) == (1, 16)
    assert set(c["fast"].samples) == {1 / 64}


def test_the_arguments_arrive(clock):
    def add(x, y):
        clock.now += 1
        return x + y

    c = compare({"function": add, "method": lambda x, y: add(y, x)}, 2.0, 3.0, clock=clock)
    assert c.differences == {"function": Difference(), "method": Difference()}


def test_keyword_arguments_arrive_under_their_names(clock):
    def masked(x, *, mask, training=True):
        clock.now += 1
        return x * mask + training

    c = compare({"a": masked, "b": masked}, 2.0, mask=3.0, training=False, clock=clock)
    assert list(c.measurements) == ["a", "b"]


# The control


def test_the_control_is_the_first_that_runs_as_a_graph(tf):
    """And holds no XLA, if there is one; otherwise it is the baseline."""
    compiled = tf.function(tf.sin, jit_compile=True)
    candidates = {
        "eager": tf.sin,
        "mixed": tf.function(lambda x: compiled(x)),
        "graph": tf.function(tf.sin),
        "again": tf.function(tf.sin),
    }
    for labels, control in ((4, "graph"), (2, "mixed"), (1, "eager")):
        c = compare(dict(list(candidates.items())[:labels]), tf.ones([3]), **QUICK)
        assert c.control.label == control and len(c.control.samples) == 2
        assert f"{control} raced against itself" in str(c)


def test_a_control_that_fails_later_leaves_the_others(clock):
    countdown = iter(range(4))

    def breaks():
        clock.now += 1
        if next(countdown, None) is None:
            raise MemoryError

    c = compare({"a": breaks, "b": clock.takes(1.0)}, strict=False, block=SHORT, clock=clock)
    assert list(c.measurements) == ["b"] and c.control is None and c.noise == 1.0


# What really ran


def test_evidence_shows_whether_xla_ran(tf, keep_log):
    keep_log()
    plain, compiled = tf.function(tf.sin), tf.function(tf.sin, jit_compile=True)
    c = compare({"eager": tf.sin, "XLA": plain, "compiled": compiled}, tf.ones([3]), **QUICK)
    assert [(e.mode, e.programs) for e in c.evidence.values()] == [
        ("eager", 0),
        ("graph", 0),  # jit_compile was left out, whatever its label says
        ("XLA", 1),
    ]
    assert [row[1] for row in c._rows()] == ["1 operation", "1 graph", "1 XLA program"]
    assert not c.as_labelled and "not XLA: no compiled program ran" in str(c)


def test_a_candidate_that_raises_has_evidence_too(tf):
    def breaks(x):
        raise MemoryError(tf.sin(x))

    c = compare({"breaks": breaks, "good": tf.sin}, tf.ones([3]), strict=False, **QUICK)
    assert c.evidence["breaks"].eager >= 1


# Variables


def descent(tf):
    """Two plain graphs of one step on the same weights."""
    weights = tf.Variable([1.0, 2.0], name="weights")

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((weights * x) ** 2)
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss

    return weights, {"one": tf.function(step), "other": tf.function(step)}


def test_two_equal_steps_are_equal_and_train_nothing(tf):
    weights, candidates = descent(tf)
    c = compare(candidates, tf.constant([1.0, 3.0]), **QUICK)
    assert [d.size for d in c.differences.values()] == [0, 0]
    assert weights.numpy().tolist() == [1, 2]


def test_variables_are_as_before_although_a_candidate_raises(tf):
    weights, candidates = descent(tf)

    def half_done(x):
        weights.assign_sub(x)
        raise ArithmeticError("too large")

    c = compare({**candidates, "broken": half_done}, tf.ones([2]), strict=False, **QUICK)
    assert c.failures == {"broken": TOO_LARGE}
    assert weights.numpy().tolist() == [1, 2]


def test_each_block_begins_with_the_same_values(tf, clock):
    """A step that took longer with each change would not be the same step any more."""
    count, seen = tf.Variable(0.0), []

    def step():
        clock.now += 1
        seen.append(float(count))
        count.assign_add(1.0)

    compare({"step": step}, rounds=3, budget=0, block=SHORT, clock=clock)
    assert set(seen[-6:]) == {0.0}


# What cannot be decided


def drawing(tf, size):
    def draw():
        return size + tf.random.uniform([])

    return draw


def test_results_of_drawn_numbers_are_not_compared(tf):
    candidates = {"one": drawing(tf, 0.0), "other": tf.function(drawing(tf, 5.0))}
    c = compare(candidates, **QUICK)
    assert c.failures == c.differences == {}
    assert c.undecided.startswith("Results were not compared: ")
    assert str(c).startswith(c.undecided)


def test_a_control_that_differs_from_itself_says_how(tf, clock):
    def moment(x):
        clock.now += 1
        return x + clock.now

    c = compare({"one": moment, "other": moment}, 1.0, clock=clock, rounds=3, budget=0, block=SHORT)
    assert c.failures == {}
    assert "one's result differs from the first time" in c.undecided


def test_equal_results_are_compared_though_numbers_are_drawn(tf):
    def same():
        return tf.random.stateless_normal([2], [1, 2], alg="philox")

    c = compare({"eager": same, "graph": tf.function(same)}, **QUICK)
    assert c.undecided == "" and list(c.differences) == ["eager", "graph"]


def test_candidates_that_return_nothing_are_not_called_equal(clock):
    c = compare({"a": clock.takes(1.0), "b": clock.takes(1.0)}, clock=clock, rounds=2, budget=0)
    assert "Largest relative difference" not in str(c)


# Other results and other targets


def test_ragged_and_sparse_results(tf):
    def ragged(x):
        return tf.RaggedTensor.from_row_splits(x, [0, 1, 3]), tf.sparse.from_dense(x)

    def moved(x):
        return tf.RaggedTensor.from_row_splits(x, [0, 2, 3]), tf.sparse.from_dense(x)

    candidates = {"eager": ragged, "graph": tf.function(ragged), "moved": moved}
    c = compare(candidates, tf.constant([1.0, 0.0, 2.0]), strict=False, **QUICK)
    assert list(c.failures) == ["moved"]
    assert c.failures["moved"].difference.place == "result[0]['row_splits']"


def test_what_rounding_left_of_a_zero_is_no_failure(clock):
    one, other = ({"mean": np.float32([tiny]), "kernel": 0.5} for tiny in (1e-10, -2e-10))
    candidates = {"a": clock.takes(1.0, result=one), "b": clock.takes(1.0, result=other)}
    c = compare(candidates, clock=clock)
    assert c.differences["b"].zeros == ("result['mean']",)
    assert c.remarks == ("Not compared, because practically zero: 1 array.",)
    assert compare(candidates, tolerance=0, strict=False, clock=clock).remarks == ()


def test_a_saved_model_may_be_a_candidate_by_its_folder(tf, tmp_path):
    module = tf.Module()
    module.__call__ = tf.function(lambda x: 2 * x, input_signature=[tf.TensorSpec([2])])
    tf.saved_model.save(module, str(tmp_path))
    candidates = {"saved": str(tmp_path), "path": tmp_path, "Python": lambda x: 2 * x}
    c = compare(candidates, tf.ones([2]), **QUICK)
    assert [d.size for d in c.differences.values()] == [0, 0, 0]


# Failures: the others are still reported


def others_are_measured(error, *labels):
    c = error.comparison
    assert list(c.measurements) == list(labels)
    assert all(len(m.samples) == 3 for m in c.measurements.values())
    assert all(label in str(error) for label in labels)
    return c


GOOD = np.array([1.0, 2.0])
ONE, TWO = (
    Difference(math.inf, reason="parts", here=here, there=["result"])
    for here in (["result['a']"], [])
)
BAD = {
    "raises": (fails, None),
    "NaN": (lambda: np.array([math.nan, 2.0]), Difference(math.inf, "result", "NaN", 1, 0)),
    "shape": (lambda: np.zeros([3]), Difference(math.inf, "result", "shape", (3,), (2,))),
    "structure": (lambda: {"a": np.zeros([2])}, ONE),
    "nothing": (lambda: None, TWO),
    "text": (
        lambda: np.array(["1", "2"]),
        Difference(math.inf, "result", "type", np.dtype("S1"), GOOD.dtype),
    ),
    "value": (lambda: np.array([1.0, 2.5]), Difference(0.25, absolute=0.5)),
}


@pytest.mark.parametrize("position", [1, 2])
@pytest.mark.parametrize("bad", BAD)
def test_a_bad_candidate_does_not_hide_the_good_ones(clock, bad, position):
    function, difference = BAD[bad]
    candidates = [(label, clock.takes(1.0, result=GOOD)) for label in ("good", "fine")]
    candidates.insert(position, ("bad", function))
    with pytest.raises(ComparisonError) as caught:
        compare(dict(candidates), rounds=3, budget=0, clock=clock)
    c = others_are_measured(caught.value, "good", "fine")
    failure = Failure("", difference, "good") if difference else TOO_LARGE
    assert c.failures == {"bad": failure}
    assert f"- bad: {failure}\n" in str(caught.value)


@pytest.mark.parametrize("bad", ["raises", "NaN"])
def test_what_gives_no_result_is_no_reference(clock, bad):
    good = clock.takes(1.0, result=GOOD)
    with pytest.raises(ComparisonError) as caught:
        compare({"bad": BAD[bad][0], "good": good, "fine": good}, rounds=3, budget=0, clock=clock)
    others_are_measured(caught.value, "good", "fine")


@pytest.mark.parametrize("bad", ["shape", "structure", "nothing", "text", "value"])
def test_the_first_result_is_the_reference(clock, bad):
    good, other = (clock.takes(1.0, result=result) for result in (GOOD, BAD[bad][0]()))
    with pytest.raises(ComparisonError) as caught:
        compare(
            {"bad": other, "good": good, "fine": good}, rounds=3, budget=0, block=SHORT, clock=clock
        )
    failures = caught.value.comparison.failures
    assert {label: why.reference for label, why in failures.items()} == {
        "good": "bad",
        "fine": "bad",
    }


def test_a_difference_is_kept_with_its_size_and_the_tolerance(clock):
    candidates = {"a": clock.takes(1.0, result=2.0), "b": clock.takes(1.0, result=3.0)}
    differences = {"a": Difference(), "b": Difference(0.5, absolute=1.0)}
    with pytest.raises(ComparisonError) as caught:
        compare(candidates, tolerance=0.25, clock=clock)
    c = caught.value.comparison
    assert c.failures == {"b": Failure("", differences["b"], "a", tolerance=0.25)}
    assert (c.differences, c.tolerance) == (differences, 0.25)
    assert compare(candidates, tolerance=0.5, clock=clock).differences == differences


@pytest.mark.parametrize("good_calls", [1, 2, 4])
def test_a_candidate_may_fail_in_a_later_call(clock, good_calls):
    countdown = iter(range(good_calls))

    def breaks():
        clock.now += 1
        if next(countdown, None) is None:
            raise MemoryError("no room")

    candidates = {"a": clock.takes(1.0), "breaks": breaks, "b": clock.takes(1.0)}
    with pytest.raises(ComparisonError, match="breaks: MemoryError: no room") as caught:
        compare(candidates, rounds=3, budget=0, clock=clock)
    others_are_measured(caught.value, "a", "b")


def test_failures_can_be_recorded_only(clock):
    c = compare({"a": fails, "b": clock.takes(1.0)}, rounds=3, budget=0, strict=False, clock=clock)
    assert c.failures == {"a": TOO_LARGE}
    assert c.baseline == "b"


def test_all_candidates_may_fail():
    with pytest.raises(ComparisonError, match="No candidate gave a result") as caught:
        compare({"a": fails, "b": fails})
    assert list(caught.value.comparison.failures) == ["a", "b"]


def test_an_interrupt_is_no_failure(clock):
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare({"a": interrupted}, clock=clock)


# Arguments that make no sense


@pytest.mark.parametrize("candidates", [None, {}, [], [len], len, "a"])
def test_candidates_must_be_a_mapping(candidates):
    with pytest.raises(TypeError, match="`candidates` must map labels to functions, for example"):
        compare(candidates)


def test_candidates_must_be_callable():
    with pytest.raises(TypeError, match=r"`candidates\['b'\]` is int, which cannot be called"):
        compare({"a": fails, "b": 3})


@pytest.mark.parametrize("name", ["rounds", "block"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), None])
def test_counts_must_be_positive(name, value):
    with pytest.raises(ValueError, match=f"`{name}` is {value!r}: give a number above zero"):
        compare({"a": fails}, **{name: value})


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), None])
def test_tolerance_must_not_be_negative(value):
    with pytest.raises(ValueError, match=f"`tolerance` is {value!r}: give a number, 0 for equal"):
        compare({"a": fails}, tolerance=value)


def test_equality_to_the_last_bit_can_be_asked_for(clock):
    near = {"a": clock.takes(1.0, result=1.0), "b": clock.takes(1.0, result=1.0 + 2**-52)}
    with pytest.raises(ComparisonError, match="more than `tolerance` = 0"):
        compare(near, tolerance=0, clock=clock)
    equal = {"a": clock.takes(1.0, result=1.0), "b": clock.takes(1.0, result=1.0)}
    assert compare(equal, tolerance=0, clock=clock).failures == {}


# Sweeps


def make(clock, broken=()):
    def candidates_of(size):
        fast = fails if size in broken else clock.takes(size / 4)
        return {"slow": clock.takes(float(size)), "fast": fast}, (size,)

    return candidates_of


def test_sweep(clock):
    s = sweep(make(clock), [1, 2, 4], name="rows", rounds=3, budget=0, clock=clock)
    assert (s.name, list(s.comparisons), s.labels) == ("rows", [1, 2, 4], ["slow", "fast"])
    assert [s[size]["slow"].median for size in (1, 2, 4)] == [1.0, 2.0, 4.0]
    assert s[4].ratio("fast").value == 4.0


def test_a_size_may_come_with_keyword_arguments(clock):
    def halved(x, *, by):
        clock.now += 1
        return x / by

    s = sweep(
        lambda size: ({"a": halved}, [size], {"by": 2}), [1, 2], rounds=2, budget=0, clock=clock
    )
    assert list(s.comparisons) == [1, 2]


def test_a_sweep_goes_on_after_a_failure(clock):
    with pytest.raises(SweepError, match="fast at rows 2: ArithmeticError") as caught:
        sweep(make(clock, broken=[2]), [1, 2, 4], name="rows", rounds=3, budget=0, clock=clock)
    s = caught.value.sweep
    assert s.failures == {"fast at rows 2": TOO_LARGE}
    assert [s[size]["slow"].median for size in (1, 2, 4)] == [1.0, 2.0, 4.0]
    assert s[4]["fast"].median == 1.0
    assert s.labels == ["slow"]


@pytest.mark.parametrize(
    ("later", "why"),
    [
        (fails, "ArithmeticError: too large"),
        (lambda size: ({}, ()), "TypeError: `candidates` must map labels to functions"),
        (lambda size: ({"slow": 3}, ()), "TypeError: `candidates['slow']` is int"),
        (lambda size: None, "TypeError: cannot unpack"),
        (lambda size: ({"slow": len}, size), "TypeError: 'int' object is not iterable"),
    ],
    ids=["raises", "no candidates", "no function", "nothing", "no arguments"],
)
def test_a_size_that_cannot_be_made_does_not_stop_a_sweep(clock, later, why):
    def make_small(size):
        return make(clock)(size) if size <= 2 else later(size)

    with pytest.raises(SweepError) as caught:
        sweep(make_small, [1, 4, 2], name="rows", rounds=3, budget=0, clock=clock)
    assert f"- rows 4: {why}" in str(caught.value)
    s = sweep(make_small, [1, 4, 2], name="rows", strict=False, rounds=3, budget=0, clock=clock)
    for found in (caught.value.sweep, s):
        assert (list(found.comparisons), list(found.not_made)) == ([1, 2], [4])
        assert (found[2]["slow"].median, found.labels) == (2.0, ["slow", "fast"])
        assert list(found.failures) == ["rows 4"]
        assert found.failures["rows 4"].error.startswith(why)


def test_a_sweep_may_fail_everywhere(clock):
    with pytest.raises(SweepError) as caught:
        sweep(lambda size: ({"only": fails}, ()), [1, 2], clock=clock)
    assert list(caught.value.sweep.failures) == ["only at size 1", "only at size 2"]


def test_the_progress_of_a_sweep_is_seen_in_a_terminal(clock, monkeypatch):
    class Terminal(StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    sweep(make(clock), [1, 2], name="rows", rounds=3, budget=0, clock=clock)
    assert "rows:" in sys.stdout.getvalue()
    assert "0/2" in sys.stdout.getvalue()


def test_no_sizes_are_refused():
    with pytest.raises(ValueError, match="`sizes` is empty: give at least one"):
        sweep(fails, [])


@pytest.mark.parametrize("bad", [0, -8, float("nan"), None, "8"])
def test_sizes_must_be_positive(bad):
    with pytest.raises(ValueError) as caught:
        sweep(fails, [4, bad])
    assert f"`sizes[1]` is {bad!r}: give a number above zero" in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ([3, [1]], {}, "`make` is 3, which cannot be called"),
        ([fails, 3], {}, "`sizes` is 3: give numbers in a list"),
        ([fails, [1]], {"name": 3}, "`name` is 3: give text"),
    ],
)
def test_arguments_of_a_sweep_are_refused_by_name(arguments, options, message):
    with pytest.raises(TypeError, match=message):
        sweep(*arguments, **options)


@pytest.mark.parametrize("odd", [3, {"rounds": 1}, {"strict": True}, {1: 2}])
def test_a_later_size_with_odd_arguments_costs_no_finished_one(clock, odd):
    def make(size):
        return {"one": clock.takes(1)}, [], *([odd] if size == 2 else [])

    result = sweep(make, [1, 2, 3], strict=False, rounds=3, budget=0, clock=clock)
    assert list(result.comparisons) == [1, 3]
    assert list(result.failures) == ["size 2"]


def test_labels_are_text_and_the_clock_a_function():
    with pytest.raises(TypeError, match="`a label in `candidates`` is 1: give text"):
        compare({1: sum}, [1])
    with pytest.raises(TypeError, match="`clock` is 3, which cannot be called"):
        compare({"sum": sum}, [1], clock=3)
