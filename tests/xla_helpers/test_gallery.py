"""What the helpers say of models that no notebook knows. The gallery holds the truth of each."""

import gc
import math
from functools import cache

import numpy as np
import pytest

from tests.xla_helpers.gallery import GALLERY, by_name
from xla_helpers.agreement import largest_difference
from xla_helpers.checking import check
from xla_helpers.comparing import compare, sweep
from xla_helpers.compilations import CompilationLog
from xla_helpers.programs import inspect_program
from xla_helpers.timing import measure

BRIEF = {"rounds": 2, "block": 1e-9}
QUICK = BRIEF | {"budget": 0}
REPEATED = [model for model in GALLERY if model.changes and model.agrees and not model.slow]


def variables(tf):
    """Every variable in this process that has a value, with that value."""
    everything = gc.get_objects()
    kinds = {kind for kind in set(map(type, everything)) if issubclass(kind, tf.Variable)}
    found = [thing for thing in everything if type(thing) in kinds]
    return [(v, np.array(v.numpy())) for v in found if hasattr(v.handle, "numpy")]


def moved(before):
    """The names of the variables that have another value now."""
    return [v.name for v, value in before if not np.array_equal(v.numpy(), value, equal_nan=True)]


class Seen:
    """What a check says of one of the gallery, twice, and which variables it left changed."""

    def __init__(self, model, tf):
        self.model = model
        fn, args, kwargs = model.build(tf)
        before = variables(tf)
        self.check = check(fn, *args, **kwargs)
        self.moved = moved(before)
        self.summary = self.check.summary
        if model in REPEATED:
            self.again = check(fn, *args, **kwargs).summary


@cache
def look(model, tf):
    return Seen(model, tf)


@pytest.fixture
def seen(request, tf):
    return look(request.param, tf)


@pytest.fixture(scope="module", autouse=True)
def forget():
    yield
    look.cache_clear()


def over(models):
    """A test for each of `models`, each of which is checked once for all tests."""
    names = [model.name for model in models]
    return pytest.mark.parametrize("seen", models, indirect=True, ids=names)


# What a check says of each


@over(GALLERY)
def test_a_check_has_the_modes_that_there_are(seen):
    assert list(seen.check.outcomes) == seen.model.modes


@over([model for model in GALLERY if not model.eager])
def test_what_has_no_python_is_not_called_eager(seen):
    assert "three" not in seen.summary and "eager" not in str(seen.check)


@over([model for model in GALLERY if model.agrees])
def test_modes_that_agree_are_said_to_agree(seen):
    assert seen.check.agrees, seen.summary
    assert seen.check.settled and seen.check.decidable
    assert "differs" not in str(seen.check)


@over([model for model in GALLERY if not (model.agrees or model is by_name("tiny_numbers_alone"))])
def test_what_draws_or_goes_on_is_no_reason_to_say_that_xla_differs(seen):
    assert not seen.check.agrees
    assert "XLA differs" not in seen.summary
    assert not any("differs by" in row[-1] for row in seen.check._rows())


@over([model for model in GALLERY if model.draws and not (model.same or model.refused)])
def test_other_random_numbers_are_not_decidable(seen):
    assert not seen.check.decidable
    assert "not decidable" in str(seen.check)


@over(GALLERY)
def test_what_is_drawn_is_named_by_operation_and_layer(seen):
    drawn = {(draw.operation, draw.layer) for draw in seen.check.draws}
    assert set(seen.model.draws.items()) <= drawn
    assert bool(drawn) == bool(seen.model.draws)


@over(GALLERY)
def test_what_is_refused_is_named_by_operation_and_layer(seen):
    refused = {(refusal.operation, refusal.layer) for refusal in seen.check.unsupported}
    assert set(seen.model.refused.items()) <= refused
    assert bool(refused) == bool(seen.model.refused)
    assert all(part in seen.summary for pair in seen.model.refused.items() for part in pair)
    assert all(refusal.mend for refusal in seen.check.unsupported)


@over(GALLERY)
def test_only_what_is_refused_fails(seen):
    assert list(seen.check.errors) == (["XLA"] if seen.model.refused else [])


@over(GALLERY)
def test_changed_variables_belong_to_the_outcome(seen):
    for outcome in seen.check.outcomes.values():
        if outcome.error is None:
            assert bool(outcome.state) == bool(seen.model.changes)
            for part in seen.model.changes:
                assert any(part in name for name in outcome.state), outcome.mode


@over(GALLERY)
def test_every_variable_is_as_it_was(seen):
    assert seen.moved == []


@over(GALLERY)
def test_what_cannot_be_put_back_is_named(seen):
    kept = " ".join(seen.check.not_put_back)
    assert bool(kept) == bool(seen.model.kept)
    assert all(part in kept for part in seen.model.kept)


@over(REPEATED)
def test_a_second_check_says_the_same(seen):
    assert seen.again == seen.summary


@over([model for model in GALLERY if model.agrees and "wrapper" not in model.name])
def test_each_mode_ran_what_it_is_called(seen):
    assert [o.evidence.mode for o in seen.check.outcomes.values()] == seen.model.modes


# What the other helpers do with each


def eager_and_compiled(tf, model):
    """The same call in two modes, as a reader writes them."""
    fn, args, kwargs = model.build(tf)
    candidates = {"eager": fn, "graph": tf.function(fn), "XLA": tf.function(fn, jit_compile=True)}
    return candidates, args, kwargs


@pytest.mark.parametrize(
    "model", [model for model in REPEATED if model.eager], ids=lambda model: model.name
)
def test_a_comparison_finds_them_equal_and_puts_them_back(tf, model):
    candidates, args, kwargs = eager_and_compiled(tf, model)
    before = variables(tf)
    comparison = compare(candidates, *args, **QUICK, **kwargs)
    assert comparison.failures == {}
    assert moved(before) == []
    ran = [comparison.evidence[mode].mode for mode in candidates]
    assert ran == (["XLA"] * 3 if "compiled" in model.name else list(candidates))


def test_what_is_drawn_is_not_compared(tf):
    candidates, args, kwargs = eager_and_compiled(tf, by_name("dropout_in_training"))
    comparison = compare(candidates, *args, **QUICK, **kwargs)
    assert comparison.failures == {}
    assert "not compared" in str(comparison)


def test_candidates_may_have_variables_of_their_own(tf):
    """Two copies of one step: each changes its own, and neither is the other's failure."""
    (graph, args, _), (compiled, _, _) = (
        by_name("a_step_of_descent_by_hand").build(tf) for _ in range(2)
    )
    candidates = {"graph": tf.function(graph), "XLA": tf.function(compiled, jit_compile=True)}
    assert compare(candidates, *args, strict=False, **QUICK).failures == {}


def test_a_saved_model_is_put_back_though_only_its_folder_was_given(tf):
    folder, args, _ = by_name("a_saved_model_by_its_folder").build(tf)
    candidates = {"folder": folder, "loaded": tf.saved_model.load(folder)}
    comparison = compare(candidates, *args, strict=False, **QUICK)
    assert comparison.failures == {} and "not compared" not in str(comparison)


def test_a_graph_that_trembles_hides_no_failure(tf):
    """Its last digit differs from call to call, as on many threads; the other is twice as large."""
    calls = []

    def trembling(x):
        calls.append(1)
        return x * (1 + 1e-6 * (len(calls) % 2))

    candidates = {"once": trembling, "twice": lambda x: 2 * x}
    assert list(compare(candidates, 1.0, strict=False, **QUICK).failures) == ["twice"]


def test_another_change_of_a_variable_is_another_result(tf):
    """Both return nothing, and one forgets a step."""
    total = tf.Variable(0.0, name="total")
    candidates = {"once": lambda: total.assign_add(1.0) and None, "twice": lambda: None}
    comparison = compare(candidates, strict=False, **QUICK)
    assert "total" in str(comparison.failures["twice"])
    assert total.numpy() == 0


def test_sizes_do_not_add_up_in_a_variable(tf):
    total = tf.Variable(0.0, name="total")

    def add(x):
        total.assign_add(tf.reduce_sum(x))
        return total.read_value()

    candidates = {"graph": tf.function(add), "XLA": tf.function(add, jit_compile=True)}
    found = sweep(lambda size: (candidates, [tf.ones([size])]), [2, 3], **QUICK)
    assert found.failures == {} and total.numpy() == 0


@pytest.mark.parametrize(
    "name", ["nothing_but_a_side_effect", "a_step_of_descent_by_hand", "a_network_with_a_memory"]
)
def test_measuring_leaves_the_variables_alone(tf, name):
    fn, args, kwargs = by_name(name).build(tf)
    before = variables(tf)
    measure(fn, *args, **BRIEF, **kwargs)
    inspect_program(fn, *args, **kwargs)
    assert moved(before) == []


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("two_inputs_by_name", "eager"),
        ("a_mask_by_keyword", "eager"),
        ("a_method_that_is_compiled", "XLA"),
        ("a_concrete_function", "graph"),
        ("a_saved_model_by_its_folder", "graph"),
        ("a_saved_model_by_its_signature", "graph"),
    ],
)
def test_a_program_is_that_of_the_mode_that_runs(tf, name, mode):
    fn, args, kwargs = by_name(name).build(tf)
    assert inspect_program(fn, *args, **kwargs).mode == mode


def test_a_wrapper_of_a_compiled_function_is_not_called_eager(tf):
    fn, args, kwargs = by_name("a_wrapper_of_a_compiled_function").build(tf)
    with pytest.raises(TypeError, match="Python that calls 3 graph.* inspect the tf.function"):
        inspect_program(fn, *args, **kwargs)


def test_a_compiled_function_that_was_told_to_run_eagerly_runs_eagerly(tf):
    fn, args, kwargs = by_name("a_method_that_is_compiled").build(tf)
    tf.config.run_functions_eagerly(True)
    try:
        assert inspect_program(fn, *args, **kwargs).mode == "eager"
    finally:
        tf.config.run_functions_eagerly(False)


def test_a_log_counts_what_a_wrapper_compiles(tf, keep_log):
    keep_log()
    fn, args, kwargs = by_name("a_wrapper_of_a_compiled_function").build(tf)
    log = CompilationLog()
    for _ in range(2):
        log.call(fn, *map(tf.constant, args), **kwargs)
    assert [call.compilations for call in log.calls] == [1, 0]
    assert [call.traces for call in log.calls] == [1, 0]


def test_a_log_takes_a_model_and_its_methods(tf, keep_log):
    keep_log()
    network, args, _ = by_name("batch_normalisation_in_training").build(tf)
    network.compile(jit_compile=True)
    before = variables(tf)
    log = CompilationLog()
    log.call(network.predict, *args, verbose=0)
    log.call(network, *args, training=True)
    assert log.calls[0].compilations >= 1 and log.calls[1].compilations == 0
    assert moved(before) == []


# What a check is for


def test_an_update_that_xla_loses_is_named(tf):
    weights = tf.Variable([1.0, 2.0], name="weights")

    def step(x):
        if tf.executing_eagerly():
            weights.assign_add(x)
        return x

    found = check(step, np.float32([1, 1]))
    assert not found.agrees and found.settled
    assert "weights" in found.summary
    assert weights.numpy().tolist() == [1, 2]


def test_tiny_numbers_alone_differ(tf):
    fn, args, _ = by_name("tiny_numbers_alone").build(tf)
    found = check(fn, *args)
    assert list(found.differing) == ["graph", "XLA"]
    assert math.isclose(found["XLA"].difference.size, 1.0, rel_tol=1e-3)


def test_a_large_number_hides_no_small_one():
    """Such as the -1e9 of a mask beside a loss."""
    one, other = ({"loss": np.float32(loss), "mask": np.float32([-1e9])} for loss in (0.5, 3.0))
    assert largest_difference(one, other).place == "result['loss']"


def test_a_maker_begins_each_mode_anew(tf):
    """A counter in Python, which nobody can put back, is a new one for each mode."""

    def make():
        seen = []

        def count(x):
            seen.append(1)
            return x + len(seen)

        return count

    assert check(make, np.float32(1), fresh=True).agrees
    step = by_name("an_optimiser_made_on_the_first_call")
    _, args, kwargs = step.build(tf)

    def another():
        tf.keras.utils.set_random_seed(1)
        return step.build(tf)[0]

    assert check(another, *args, fresh=True, **kwargs).agrees


def test_a_result_that_depends_on_a_counter_in_python_is_not_decidable(tf):
    seen = []

    def count(x):
        seen.append(1)
        return x + len(seen)

    found = check(count, np.float32(1))
    assert not found.decidable and not found.agrees and found.differing == {}
    assert any("seen" in text for text in found.not_put_back)


def test_a_graph_that_differs_from_itself_says_nothing_of_xla(tf):
    def unsettled(x):
        return x + tf.numpy_function(
            lambda: np.float32(len(calls.append(1) or calls)), [], "float32"
        )

    calls = []
    found = check(unsettled, np.float32(1))
    assert not found.settled and not found.agrees
    assert "XLA differs" not in found.summary


def test_words_of_another_length_are_checked_as_well(tf):
    fn, _, _ = by_name("words_of_varying_length").build(tf)
    assert check(fn, np.int32([[1, 2, 0]])).agrees
    assert check(fn, np.int32([[1, 2, 0, 0, 0, 0, 0]] * 3)).agrees
