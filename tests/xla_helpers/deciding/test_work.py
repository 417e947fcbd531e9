"""What a call does: layers, kernels, operations and memory, and what could not be known."""

import pytest

from xla_helpers.deciding import work as room
from xla_helpers.deciding.findings import PADDED, Findings, Peaks, merged
from xla_helpers.deciding.plan import Order, case_of
from xla_helpers.deciding.work import work
from xla_helpers.profiles import NOT_IN_A_LAYER
from xla_helpers.state import Variables

BOTH = ("graph", "XLA")


@pytest.fixture(autouse=True)
def quick(short_measures, monkeypatch):
    """The peaks of the machine have tests of their own."""
    peaks = iter([Peaks(2.0, 5.0), Peaks(3.0, 4.0), Peaks(1.0, 1.0)])
    monkeypatch.setattr(room, "measure_peaks", lambda: next(peaks))
    monkeypatch.setattr(room, "in_cache", lambda: False)


@pytest.fixture
def found(tf):
    """What the part reports, all together."""

    def find(what, batches, labels=BOTH, seconds=0.0, **options):
        case, reported = case_of(what, batches, options), [Findings()]
        numbers = range(len(case.examples))
        shapes = tuple(sorted(numbers, key=case.plan.share, reverse=True))
        order = Order("work", labels=labels, shapes=shapes, seconds=seconds)
        work(case, order, lambda more: reported.append(merged(reported[-1], more)))
        return reported[-1]

    return find


@pytest.fixture
def model(tf):
    layers = tf.keras.layers
    inner = tf.keras.Sequential([layers.Input([8]), layers.Dense(8, name="second")], name="block")
    return tf.keras.Sequential([layers.Input([5]), layers.Dense(8, name="first"), inner])


def test_layers_kernels_operations_and_memory_of_both_modes(tf, found, model):
    small, large = tf.ones([3, 5]), tf.ones([6, 5])
    findings = found(model, [small, large, large], pad=8)
    rows = {(row.mode, row.layer): row for row in findings.layers}
    paths = ("first", "block/second", NOT_IN_A_LAYER)
    assert set(rows) == {(mode, path) for mode in BOTH for path in paths}
    assert all(row.seconds > 0 for row in findings.layers)
    assert rows["XLA", "block/second"].kind == "Dense" and rows["graph", NOT_IN_A_LAYER].kind == ""
    assert [(one.mode, one.shape, one.least) for one in findings.works] == [
        ("graph", 1, False),
        ("XLA", 1, False),
    ]
    for one in findings.works:
        assert one.flops == 2 * 6 * (5 * 8 + 8 * 8) and one.kernels > 0 and one.seconds > 0
        assert one.bytes >= 4 * 6 * (5 + 8)
    plans = {(one.label, one.shape): one for one in findings.memory}
    assert set(plans) == {("XLA", 0), ("XLA", 1), (PADDED, 0)}
    assert plans["XLA", 0].results == 4 * 3 * 8 and plans[PADDED, 0].results == 4 * 8 * 8
    assert plans["XLA", 0].arguments == 4 * (3 * 5 + 5 * 8 + 8 + 8 * 8 + 8)
    assert findings.left_out == () and findings.peaks == Peaks(3.0, 5.0)


def test_a_training_step_leaves_all_variables_as_they_were(tf, found, model):
    model.compile(optimizer="adam", loss="mse")
    before = Variables()
    findings = found(model, [(tf.ones([3, 5]), tf.ones([3, 8]))], step=True)
    assert before.changed() == []
    forward = 2 * 3 * 5 * 8, 2 * 3 * 8 * 8
    assert {one.flops for one in findings.works} == {2 * sum(forward) + forward[1]}
    assert "first" in {row.layer for row in findings.layers}


def test_of_fresh_copies_the_layers_have_one_name(tf, found):
    def make():
        layers = tf.keras.layers
        return tf.keras.Sequential([layers.Input([5]), layers.Dense(2)])

    findings = found(make, [tf.ones([3, 5])], fresh=True)
    paths = {mode: {row.layer for row in findings.layers if row.mode == mode} for mode in BOTH}
    assert paths["graph"] == paths["XLA"] and len(paths["XLA"]) == 2


def test_a_function_without_layers_has_no_rows(tf, found):
    def scores(x, label, rounds=1.0, calls=2, fn=0.0):  # names that helpers have for themselves
        return tf.reduce_sum(x + label * rounds + fn) * calls

    options = {"label": tf.ones([4]), "rounds": 2.0, "calls": 3, "fn": 1.0}
    findings = found(scores, [tf.ones([4])], kwargs=options)
    assert findings.layers == () and findings.left_out == ()
    assert [one.flops for one in findings.works] == [0, 0]


def test_what_xla_refuses_has_the_work_of_the_graph_alone(tf, found):
    def text(x):
        return tf.strings.to_number(tf.strings.as_string(x @ x))

    findings = found(text, [tf.ones([4, 4])])
    [graph] = findings.works
    assert (graph.mode, graph.flops, graph.bytes) == ("graph", None, None) and graph.kernels == 3
    assert findings.memory == ()
    assert [line for line in findings.left_out if "unsupported AsString" in line] == [
        "Not known: the floating-point operations (ValueError: unsupported AsString).",
        "Not known: a call of XLA (InvalidArgumentError: unsupported AsString).",
    ]


def test_without_xla_nothing_is_asked_of_it(tf, found, monkeypatch):
    monkeypatch.setattr(room, "compiler_ir", None)
    findings = found(lambda x: x @ x, [tf.ones([4, 4])], labels=("graph",))
    [graph] = findings.works
    assert graph.flops is None and findings.left_out == (room.XLA_LEFT_OUT,)


def test_a_loop_of_unknown_length_has_no_count(tf, found):
    def grow(x):
        while tf.reduce_sum(x) < 1e6:
            x = x @ x + 1
        return x

    findings = found(grow, [tf.ones([4, 4])])
    assert [one.flops for one in findings.works] == [None, None]
    assert findings.works[1].kernels is None
    assert findings.left_out == (
        "Not known: the floating-point operations, because all are in loops or conditions that "
        "only a run decides.",
        room.IN_A_LOOP.format("XLA"),
    )


def test_with_a_signature_the_programs_are_those_of_exact_shapes(tf, found):
    findings = found(
        lambda x: x @ tf.ones([5, 2]), [tf.ones([3, 5])], signature=[tf.TensorSpec([None, 5])]
    )
    assert [one.flops for one in findings.works] == [2 * 3 * 5 * 2] * 2
    assert room.BY_SIGNATURE in findings.left_out and len(findings.memory) == 1


def test_a_saved_model_is_looked_at_as_well(tf, found, tmp_path):
    module = tf.Module()
    module.weights = tf.Variable(tf.ones([5, 2]))
    spec = [tf.TensorSpec([None, 5])]
    module.scores = tf.function(lambda x: x @ module.weights, input_signature=spec)
    tf.saved_model.save(module, tmp_path, signatures=module.scores)
    findings = found(tmp_path, [tf.ones([3, 5])])
    assert [one.flops for one in findings.works] == [2 * 3 * 5 * 2] * 2


def test_what_fails_in_every_mode_is_said_and_nothing_is_made_up(tf, found):
    def fails(x):
        raise RuntimeError("the model is broken.")

    findings = found(fails, [tf.ones([4])])
    assert findings.works == findings.layers == findings.memory == ()
    assert (
        "Not known: a call of the graph (RuntimeError: the model is broken)." in findings.left_out
    )


def test_when_there_is_no_time_left_all_that_was_not_looked_at_is_said(tf, found):
    findings = found(lambda x: x + 1, [tf.ones([4])], seconds=1e-9)
    assert findings.works == findings.memory == () and findings.peaks is None
    assert "Not looked at, because the time was up: what this machine can do." in findings.left_out
    assert "Not looked at, because the time was up: a call of XLA." in findings.left_out


def test_programs_for_which_there_was_no_time_are_counted(tf, found, monkeypatch):
    clock = iter([0.0] * 100)
    monkeypatch.setattr(room.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(room, "_look_at_xla", lambda looking, flops: bool(list(clock)) or True)
    monkeypatch.setattr(room.time, "monotonic", lambda: next(clock, 10.0))
    findings = found(lambda x: x + 1, [tf.ones([n]) for n in (1, 2, 3)], seconds=5.0)
    assert findings.left_out[-1] == room.NO_TIME_FOR.format("2 more programs")
