"""What we rely on and nobody promised: each private name, event, log line and message by itself.

An upgrade that moves one of them turns the test red that bears its name.
"""

import inspect
import re
from types import SimpleNamespace

import numpy as np
import pytest

import xla_helpers as xh
from xla_helpers import errors, evidence, internals, logs
from xla_helpers.look import operations


@pytest.fixture
def double(tf):
    """A function, as a graph and compiled."""
    made = {jit: tf.function(lambda x: 2 * x, jit_compile=jit, autograph=False) for jit in (0, 1)}
    return SimpleNamespace(graph=made[0], xla=made[1], x=tf.ones([3]))


# Names of TensorFlow


def test_jit_compile_of_a_function(double):
    assert internals.is_compiled(double.xla) and not internals.is_compiled(double.graph)


def test_options_that_cannot_be_read_are_not_taken_for_none():
    renamed = SimpleNamespace(experimental_get_tracing_count=int, input_signature=None)
    with pytest.raises(AttributeError, match="_autograph"):
        internals.options_of(renamed)
    assert internals.options_of(len) == {}


def test_autograph_and_other_options_of_a_function(tf):
    signature = [tf.TensorSpec([None])]
    made = tf.function(abs, input_signature=signature, reduce_retracing=True, autograph=False)
    options = internals.options_of(made)
    assert tuple(options["input_signature"]) == tuple(signature)
    assert options["reduce_retracing"] is True and options["autograph"] is False
    assert "experimental_autograph_options" in options


def test_tf_method_target_is_the_stand_in_of_an_object(tf):
    class Counter:
        count = tf.function(lambda self: 1)

    counter = Counter()
    method = inspect.unwrap(counter.count.python_function)
    assert type(method.__self__).__name__ == "TfMethodTarget"
    assert internals.owner_of(method) is counter


def test_restored_function_is_what_a_saved_model_holds(tf, double, tmp_path):
    module = tf.Module()
    module.double = tf.function(lambda x: 2 * x, input_signature=[tf.TensorSpec([])])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert internals.is_loaded(loaded.double) and not internals.is_loaded(double.graph)


def test_op_def_registry(tf):
    assert internals.is_operation("AddV2") and not internals.is_operation("no such operation")


def test_registered_kernels_and_the_devices_of_xla(double):
    double.xla(double.x)  # XLA registers its own when it is used first
    devices = internals.devices_of("MatMul")
    assert "CPU" in devices and any(re.fullmatch(r"XLA_\w+_JIT", device) for device in devices)


def test_get_function_of_a_graph(tf):
    inner = tf.function(lambda x: x + 1)
    graph = tf.function(lambda x: inner(x)).get_concrete_function(tf.ones([2])).graph
    (call,) = (op for op in graph.get_operations() if "PartitionedCall" in op.type)
    assert internals.function_in(graph, call.get_attr("f").name) is not None
    assert internals.function_in(graph, "no_such_function") is None


def test_xla_must_compile_marks_a_call(tf, double):
    graph = tf.function(lambda x: double.xla(x)).get_concrete_function(double.x).graph
    assert len(operations.compiled_in(operations.operations_in(graph))) == 1


def test_modules_that_draw(tf):
    names = {name for module in internals.modules_that_draw() for name in vars(module)}
    assert {"random_standard_normal", "stateless_random_uniform_v2"} <= names
    assert {"stateful_uniform", "stateless_random_uniform"} <= names


def test_op_callbacks(tf):
    seen = []
    with internals.operations_observed(lambda kind, inputs, outputs: seen.append(kind)):
        tf.ones([2]) + 1.0
    assert "AddV2" in seen
    before = len(seen)
    tf.ones([2]) + 1.0
    assert len(seen) == before


def test_concrete_function_from_func_graph(double):
    concrete = double.graph.get_concrete_function(double.x)
    new = internals.as_new(concrete)
    assert new is not concrete and np.array_equal(new(double.x), [2, 2, 2])


def test_collected_graphs_are_handed_out(double):
    concrete = double.graph.get_concrete_function(double.x)
    graphs = internals.prepared_graphs(lambda: internals.as_new(concrete)(double.x))
    assert any(node.op == "Mul" for graph in graphs for node in graph.node)


def test_handle_data_and_what_a_handle_says_of_itself(tf):
    variable = tf.Variable([1.0], name="weights")
    assert internals.variable_type(variable.handle) == tf.float32
    assert internals.variable_type(tf.constant(1)) is None
    assert internals.fact_of(variable.handle, "name").startswith("weights")


def test_pywrap_util_port(tf):
    from tensorflow.python.util import _pywrap_util_port

    assert internals.uses_onednn() == _pywrap_util_port.IsMklEnabled()


def test_messages_of_the_profiler_and_of_hlo(tf, double):
    assert not internals.recording(b"").planes
    stages = double.xla.experimental_get_compiler_ir(double.x)
    modules = {
        "before": internals.hlo_module_of(stages("hlo_serialized")),
        "after": internals.hlo_of(stages("optimized_hlo_proto_serialized")),
    }
    for module in modules.values():
        result = module.host_program_shape.result
        assert internals.element_type(result.element_type) == "f32"


# Names of Keras


def test_flatten_layers_and_values_of_variables(tf):
    import keras

    model = keras.Sequential([keras.Input([2]), keras.layers.Dense(3)])
    assert internals.is_layer(model) and not internals.is_layer(len)
    assert [type(x).__name__ for x in internals.layers_in(model)][-1] == "Dense"
    assert all(isinstance(x, tf.Variable) for x in internals.variables_in(model))
    assert len(internals.variables_in(model)) == 2


def test_supports_jit_is_an_attribute_of_layers(tf):
    import keras

    assert keras.layers.Dense(1).supports_jit is True


def test_the_body_of_a_vectorized_map_has_a_scope_of_its_own(tf):
    seen = []
    tf.vectorized_map(lambda x: seen.append(internals.is_vectorizing()) or x, tf.ones([2]))
    assert True in seen and not internals.is_vectorizing()


def test_keras_names_the_convolution_that_it_compiles(tf):
    """Without it a processor has no grouped convolution."""
    grouped, pictures = tf.keras.layers.Conv2D(4, 3, groups=2), tf.ones([1, 8, 8, 4])
    grouped(pictures)
    assert xh.check(grouped, (pictures,)).compiled == (internals.GROUPED_CONVOLUTION,)


# Events of the profiler


@pytest.mark.parametrize("mode", ["eager", "graph", "XLA"])
def test_events_tell_eager_graph_and_xla_apart(tf, double, mode):
    call = {"eager": lambda x: 2 * x, "graph": double.graph, "XLA": double.xla}[mode]
    call(double.x)
    with evidence.observe() as seen:
        call(double.x)
    assert seen[0].mode == mode
    if mode == "XLA":
        assert seen[0].programs == 1


def test_the_event_of_a_random_operation_names_it(tf):
    draw = tf.function(lambda: tf.random.normal([2000]))
    draw()
    with evidence.observe() as seen:
        draw()
    assert seen[0].random_ops == ("RandomStandardNormal",)


# Lines of the log


def test_the_log_names_a_program_and_its_seconds(tf, keep_log):
    fn = tf.function(lambda x: x - 7, jit_compile=True, autograph=False)
    with xh.watch_compilations() as compiled:
        fn(tf.ones([5]))
    assert len(compiled) == 1 and 0 < compiled[0].seconds < 60


def test_the_log_says_what_failed_to_compile(tf, keep_log):
    with xh.watch_compilations() as compiled, pytest.raises(tf.errors.OpError):
        tf.function(tf.strings.length, jit_compile=True)(tf.constant("text"))
    assert compiled == []
    assert logs.compilations_are_logged()


# Messages


def message_of(call, kinds=Exception):
    with pytest.raises(kinds) as caught:
        call()
    return str(caught.value)


def test_the_message_about_what_xla_refuses_names_operation_and_node(tf):
    fn = tf.function(tf.strings.as_string, jit_compile=True)
    message = message_of(lambda: fn(tf.ones([3])))
    assert [kind for kind, _, _ in errors.UNSUPPORTED.findall(message)] == ["AsString"]


def test_the_message_about_deleted_variables(tf, tmp_path):
    module = tf.Module()
    module.weight = tf.Variable(2.0)
    scaled = [tf.TensorSpec([])]
    module.scale = tf.function(lambda x: module.weight * x, input_signature=scaled)
    tf.saved_model.save(module, str(tmp_path))
    alone = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    message = message_of(lambda: alone.graph.variables and alone(tf.constant(1.0)), AssertionError)
    assert "variables which have been deleted" in message


def test_an_error_of_tracing_stands_below_the_words_in_user_code(tf):
    @tf.function
    def wrong(x):
        raise ValueError("this is wrong")

    with pytest.raises(ValueError) as caught:
        wrong(1)
    assert str(caught.value).startswith("in user code:")
    assert errors.headline(caught.value) == "ValueError: this is wrong"


def test_an_error_in_a_graph_stands_above_the_name_of_its_node(tf):
    import keras

    class Look(keras.layers.Layer):
        def call(self, x):
            return tf.gather(tf.ones([2]), tf.cast(x, tf.int32))

    model = keras.Sequential([keras.Input([1]), Look()])
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.function(model)(tf.constant([[5.0]]))
    assert str(caught.value).startswith("Graph execution error:")
    assert "[[{{node" in str(caught.value)
    assert "is not in [0, 2)" in errors.headline(caught.value)


def test_keras_puts_a_line_above_an_error(tf):
    import keras

    model = keras.Sequential([keras.Input([2]), keras.layers.Dense(3)])
    with pytest.raises(ValueError) as caught:
        model(tf.ones([1, 5]))
    assert str(caught.value).startswith("Exception encountered when calling ")
    assert "incompatible" in errors.headline(caught.value)
