"""Programs for GPUs that are not there. No test needs a card, a driver or CUDA."""

import sys
from dataclasses import replace
from importlib import metadata

import numpy as np
import pytest

import xla_decide as xd
import xla_helpers as xh
from xla_decide.gpu import target_programs
from xla_decide.gpu.bounds import least_seconds
from xla_decide.gpu.launches import launches_in
from xla_decide.gpu.target_programs import Memory

SIDE = 2048
PASS = 4 * SIDE**2  # bytes of an array
ARRAYS = [np.ones([SIDE, SIDE], "float32")] * 3
PICTURES = np.ones([4, 8, 8, 16], "float32")

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="no packages")


@pytest.fixture
def line(tf):
    return lambda x, y, z: tf.reduce_sum(x + y * z)


@on_linux
def test_the_compiler_is_there_and_tensorflow_does_not_see_it():
    assert target_programs.packages_folder()
    assert "jax" not in sys.modules


@on_linux
def test_one_line_is_two_launches_and_three_passes_on_each_card(tf, line):
    for program in xd.compile_for(line, ARRAYS, target=["T4", "A100", "H100"]):
        first, second = program.launches
        assert first.operations == ("multiply", "add", "reduce")
        assert (first.bytes_read, second.operations) == (3 * PASS, ("reduce",))
        assert first.bytes_written == second.bytes_read < PASS / 100
        assert program.bytes == sum(x.bytes_read + x.bytes_written for x in program.launches)
        assert first.blocks > 100 and first.threads >= 32 and second.blocks == 1
        assert program.launch_range == (2, 2) and not first.chosen and program.fits
        assert program.memory.arguments == 3 * PASS and program.memory.temporary < PASS / 100
        assert "mul.rn.f32" in program.ptx_of(first.name)
        assert "mul.rn.f32" not in program.ptx_of(second.name) != ""


@on_linux
def test_a_line_that_needs_the_sum_first_is_one_launch_more(tf, line):
    program = xd.compile_for(lambda x, y, z: x / line(x, y, z), ARRAYS)
    assert program.launch_range == (3, 3) and program.bytes > 4.9 * PASS


@on_linux
def test_an_activation_is_inside_a_convolution_unless_something_stands_between(tf):
    import keras

    def found(*layers):
        model = keras.Sequential([keras.layers.Input(PICTURES.shape[1:]), *layers])
        program = xd.compile_for(model, (PICTURES,))
        (call,) = (one for one in program.launches if "cudnn" in one.operations[0])
        assert call.chosen and call.flops is None and call.bytes_read >= PICTURES.nbytes
        assert "tries several kernels" in str(program) and "on the card" in str(program)
        return call.operations[1:], len(program.launches)

    together, fewer = found(keras.layers.Conv2D(16, 3, activation="relu"))
    apart, more = found(
        keras.layers.Conv2D(16, 3), keras.layers.BatchNormalization(), keras.layers.ReLU()
    )
    assert (together, apart) == (("kRelu",), ()) and more > fewer


@on_linux
def test_a_training_step_has_its_variables_as_arguments_and_its_products_left_open(tf):
    import keras

    model = keras.Sequential(
        [keras.layers.Input([10]), keras.layers.Dense(20), keras.layers.Dropout(0.5)]
    )
    optimizer = keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    before = [weight.numpy() for weight in model.weights]
    program = xd.compile_for(step, (tf.ones([16, 10]), tf.ones([16, 20])))
    fewest, most = program.launch_range
    weights = 4 * 3 * (10 * 20 + 20)  # with both averages of Adam
    assert program.memory.aliased >= weights and program.memory.arguments > weights + 4 * 16 * 30
    assert 2 < fewest <= most < 40
    assert any("cublas" in one.operations[0] for one in program.with_libraries)
    after = [weight.numpy() for weight in model.weights]
    assert all((a == b).all() for a, b in zip(before, after, strict=True))  # nothing was run


@on_linux
def test_a_batch_that_is_split_is_one_exchange_and_one_that_is_not_is_none(tf):
    from tensorflow.python.compiler.xla.experimental import xla_sharding

    first, second = tf.Variable(tf.ones([32, 64])), tf.Variable(tf.ones([64, 10]))

    def step(x, split):
        x = xla_sharding.split(x, 0, 8) if split else x
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.nn.relu(x @ first) @ second) ** 2)
        for weight, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            weight.assign_sub(0.1 * gradient)
        return loss

    variables = [first, second]
    program = xd.compile_for(step, (tf.ones([64, 32]), True), partitions=8)
    (exchange,) = program.exchanges
    assert exchange.exchanged == 4 * (32 * 64 + 64 * 10 + 1)  # both gradients and the loss
    assert program.title.startswith("8 x H100: ")
    assert not xd.compile_for(step, (tf.ones([64, 32]), False)).exchanges
    with pytest.raises(ValueError, match=r"splits an argument into 8: give partitions=8"):
        xd.compile_for(step, (tf.ones([64, 32]), True))


@on_linux
def test_what_runs_in_a_loop_or_a_branch_is_not_counted_with_the_rest(tf):
    def either(x):
        x = tf.cond(tf.reduce_sum(x) > 0, lambda: x @ x, lambda: x * 2)
        return tf.while_loop(lambda x: tf.reduce_max(x) < 1e6, lambda x: [x * 2], [x])

    program = xd.compile_for(either, (tf.ones([64, 64]),))
    inside = [one for one in program.launches if one.inside]
    assert len(inside) >= 4 and len({one.inside for one in inside}) == 2
    assert program.launch_range[1] == len(program.launches) - len(inside)
    assert f"{len(inside)} more in rounds of loops or in branches" in program.title
    assert program.bytes is None


@on_linux
def test_a_mask_of_many_bools_is_compiled(tf):
    """As every causal mask of a real length."""
    mask = np.tril(np.ones([64, 64], bool))
    found = xd.compile_for(lambda x: tf.where(mask, x, 0.0), (tf.ones([64, 64]),))
    assert found.launch_range == (1, 1)


def test_without_arguments_it_is_still_a_program_for_the_card(tf):
    program = xd.compile_for(lambda: tf.random.normal([64, 64]))
    assert program.launches and all(one.kind.startswith("k") for one in program.launches)


@on_linux
def test_the_reader_s_cuda_and_flags_change_nothing(tf, monkeypatch, tmp_path):
    (tmp_path / "ptxas").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "ptxas").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XLA_FLAGS", "--xla_no_such_flag")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setenv("JAX_PLATFORMS", "tpu")
    assert xd.compile_for(tf.exp, (tf.ones([4]),), {"name": None}).launch_range == (1, 1)


@pytest.fixture
def step(tf):
    """A training step of eight layers, whose gradients are 33.6 MB."""
    weights = [tf.Variable(tf.zeros([1024, 1024])) for _ in range(8)]

    def step(x):
        with tf.GradientTape() as tape:
            y = x
            for weight in weights:
                y = tf.tanh(y @ weight)
            loss = tf.reduce_mean(y)
        for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
            weight.assign_sub(0.1 * gradient)
        return loss

    return step


@on_linux
def test_the_least_time_is_bytes_by_bandwidth_or_products_by_their_peak(tf, line):
    specs = [tf.TensorSpec([4096, 4096])] * 3
    for program in xd.compile_for(line, specs, target=["T4", "A100", "H100"]):
        first, second = program.launches
        at_least = (first.bytes_read + first.bytes_written) / program.target.bandwidth
        assert program.least.seconds == pytest.approx(at_least)
        assert least_seconds(second, program.target) == 0  # what fits into the cache
        assert program.least.uncounted == 0 and program.one_by_one.seconds > 2.3 * at_least
        assert f"; one kernel an operation: {program.one_by_one}" in str(program)

    square = tf.ones([2048, 2048])
    for dtype, peak in (("float32", 494.7e12), ("bfloat16", 989.4e12), ("float64", 67e12)):
        program = xd.compile_for(tf.matmul, [tf.cast(square, dtype)] * 2)
        (product,) = (one for one in program.launches if one.flops)
        assert product.flops == 2 * 2048**3 and program.one_by_one.seconds >= program.least.seconds
        assert program.least.seconds == pytest.approx(product.flops / peak, rel=0.3)
    (by_library,) = (x for x in xd.compile_for(tf.matmul, [square] * 2).with_libraries if x.flops)
    assert by_library.flops == 2 * 2048**3 and by_library.dtype == "tf32"
    old = xd.compile_for(tf.matmul, [square] * 2, target="T4")
    assert old.least.seconds == pytest.approx(2 * 2048**3 / 8.1e12)
    assert old.target.peak("bf16") is None


@on_linux
def test_float32_as_it_is_has_its_own_peak(tf):
    tf.config.experimental.enable_tensor_float_32_execution(False)
    try:
        program = xd.compile_for(tf.matmul, [tf.ones([2048, 2048])] * 2)
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(True)
    (product,) = (one for one in program.launches if one.flops)
    assert product.dtype == "f32" and program.target.peak("f32") == 67e12


@on_linux
def test_what_nobody_counts_has_no_least_time(tf):
    large = tf.ones([1 << 24])
    program = xd.compile_for(lambda x: tf.sort(x) + 1.0, (large,))
    assert program.least.uncounted >= 1 and "not counted)" in program.title
    small = xd.compile_for(lambda x: tf.tanh(x) + x, (tf.ones([1024]),))
    assert small.least.seconds == 0
    assert "No least time; all arrays fit into the card's cache" in str(small)


@on_linux
def test_launches_that_are_recorded_are_started_at_once(tf, step, line):
    program = xd.compile_for(step, (tf.TensorSpec([4096, 1024]),))
    assert min(program.launch_range) > 40
    assert program.starts == program.starts_with_libraries == 1
    assert ", in 1 start, " in program.title
    assert xd.compile_for(line, ARRAYS).starts_in_words == ""  # two are too few


@on_linux
def test_an_exchange_that_is_begun_and_awaited_is_one(tf, step):
    from tensorflow.python.compiler.xla.experimental import xla_sharding

    def split_step(x):
        return step(xla_sharding.split(x, 0, 8))

    program = xd.compile_for(split_step, (tf.TensorSpec([4096, 1024]),), partitions=8)
    assert len(program.exchanges) == 2  # as they are joined up to some 30 MB
    assert sum(one.exchanged for one in program.exchanges) == 4 * (8 * 1024**2 + 1)
    assert not any(one.kind.startswith("kAsync") for one in program.launches)


@on_linux
def test_a_program_that_is_too_large_is_compiled_and_said_to_be(tf):
    program = xd.compile_for(
        lambda x, y: x * y, (tf.ones([100_000, 1]), tf.ones([1, 100_000])), target="T4"
    )
    assert not program.fits and "does not fit: it needs 2.7 times" in str(program)
    assert program.title.endswith("of 15.8 GB: does not fit. Compiled, not run.")


@on_linux
def test_what_is_computed_again_to_save_memory_depends_on_who_does_the_products(tf, step):
    program = xd.compile_for(step, (tf.TensorSpec([2_400_000, 1024]),))
    least, most = program.memory_range
    assert least < program.target.memory < most and not program.fits
    assert any(".remat" in launch.name for launch in program.launches)
    assert not any(".remat" in launch.name for launch in program.with_libraries)
    assert "59 GB to 98.3 GB of memory, of 84.9 GB: may not fit. Comp" in program.title
    assert "does not fit where libraries do the products" in str(program)


@on_linux
def test_a_compiler_that_takes_too_long_is_stopped(tf):
    with pytest.raises(xh.ProcessError, match=r"longer than 0.2 s and was stopped") as caught:
        xd.compile_for(tf.exp, (tf.ones([4]),), {"name": None}, timeout=0.2)
    assert caught.value.timed_out


CALLS = """
func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = call @{}(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @{}(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @{}(%1) : (tensor<4xf32>) -> tensor<4xf32>
}}
func.func private @{}(%arg0: tensor<4xf32>) -> tensor<4xf32> {{ stablehlo.sine }}
func.func private @{}(%arg0: tensor<4xf32>) -> tensor<4xf32> {{ stablehlo.tanh }}
"""


@pytest.mark.parametrize(
    ("names", "is_same"),
    [
        (("f_1", "g_2", "Qr", "f_1", "g_2"), True),
        (("f_7", "g_8", "Qr", "f_7", "g_8"), True),  # the numbers of another trace
        (("f_1", "g_2", "TopK", "f_1", "g_2"), False),
        (("g_2", "f_1", "Qr", "f_1", "g_2"), False),
    ],
)
def test_a_record_is_of_the_same_calls_in_the_same_order(names, is_same):
    first = "f_1", "g_2", "Qr", "f_1", "g_2"
    modules = (target_programs.Module(CALLS.format(*x), (), (), ()) for x in (first, names))
    target = target_programs.target_named("H100")
    one, other = (target_programs._digest(module, target, 1) for module in modules)
    assert (one == other) == is_same


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("[0.0309201721, -1.5e-05]", "[1.25, 7.0e+02]", True),
        ('"0x00AB"', '"0xFF01"', True),
        ("[[0, 1], [2, 3]]", "[[1, 0], [3, 2]]", False),  # which pad, or permute
        ("2.0e+00", "3.0e+00", False),  # one number for all is no weight
    ],
)
def test_a_record_is_of_any_weights_many_or_few(first, second, is_same):
    text = "stablehlo.constant dense<{}> : tensor<2xf32>"
    modules = (target_programs.Module(text.format(x), (), (), ()) for x in (first, second))
    target = target_programs.target_named("H100")
    one, other = (target_programs._digest(module, target, 1) for module in modules)
    assert (one == other) == is_same


def test_where_the_compiler_is_missing_it_is_said_or_what_was_recorded_is_shown(
    tf, monkeypatch, tmp_path, line
):
    monkeypatch.setattr(target_programs, "RECORDED", tmp_path)
    monkeypatch.setenv("XLA_RECORD", str(tmp_path))
    if sys.platform == "linux":
        found = xd.compile_for(line, ARRAYS)
        assert not found.recorded
    monkeypatch.setattr(target_programs, "packages_folder", lambda: None)
    if sys.platform == "linux":
        again = xd.compile_for(line, ARRAYS)
        without = [replace(one, lines=()) for one in found.launches]  # whose files have folders
        assert [replace(one, lines=()) for one in again.launches] == without
        assert again.launches[0].lines and again.memory == found.memory
        assert f"Recorded on {again.recorded}." in str(again)
    assert not any("/tmp" in path.read_text("utf-8") for path in tmp_path.glob("*.json"))
    with pytest.raises(ImportError, match="`make set-up` installs it"):
        xd.compile_for(line, [tf.ones([3, 3])] * 3)


def test_a_program_for_several_gpus_is_recorded_apart(tf, monkeypatch, tmp_path, line):
    def compiled(module, wanted, lines, packages, partitions, timeout):
        memory = Memory(partitions, 0, 0, 0)
        parts = {"launches": (), "with_libraries": (), "memory": memory, "starts": 0}
        parts["starts_with_libraries"] = 0
        return [parts | {"target": one, "memory_with_libraries": memory} for one in wanted]

    monkeypatch.setattr(target_programs, "_compiled", compiled)
    monkeypatch.setattr(target_programs, "compiler_in", lambda packages: "XLA")
    monkeypatch.setattr(target_programs, "packages_folder", lambda: tmp_path)
    monkeypatch.setattr(target_programs, "RECORDED", tmp_path)
    monkeypatch.setenv("XLA_RECORD", str(tmp_path))
    for number in (1, 2):
        xd.compile_for(line, ARRAYS, partitions=number)
    monkeypatch.setattr(target_programs, "packages_folder", lambda: None)
    found = [xd.compile_for(line, ARRAYS, partitions=number) for number in (1, 2)]
    assert [(x.partitions, x.memory.arguments) for x in found] == [(1, 1), (2, 2)]


def test_an_array_that_a_launch_takes_twice_is_read_once(tf, jit, tmp_path):
    module = xh.hlo_module(jit(lambda x: x * x), (tf.ones([256]),), optimized=False)
    every = [one for part in module.computations for one in part.instructions]
    (product,) = (one for one in every if one.opcode == "multiply")
    assert len(product.operand_ids) == 2
    (tmp_path / "module.pb").write_bytes(module.SerializeToString())
    named = f'profile_annotation: "{product.name}" thunk_id: 1'
    (tmp_path / "thunk_metadata.txt").write_text(named)
    (tmp_path / "thunk_sequence.txt").write_text("001: kKernel [] grid: [1] threads: [256]")
    (launch,) = launches_in(tmp_path)
    assert (launch.bytes_read, launch.bytes_written) == (4 * 256, 4 * 256)


@on_linux
def test_each_launch_names_the_reader_s_lines(tf):
    """Those of a gradient are the lines of its forward operations."""

    def step(x, w):
        with tf.GradientTape() as tape:
            tape.watch(w)
            h = tf.tanh(x @ w)
            loss = tf.reduce_mean(h**2)
        return tape.gradient(loss, w)

    first = step.__code__.co_firstlineno
    program = xd.compile_for(step, (tf.ones([4, 8]), tf.ones([8, 8])))
    numbers = [{line.number - first for line in one.lines} for one in program.launches]
    assert numbers == [{3}, {3, 4}, {3}]
    assert "test_target_programs.py" in str(program) and "your lines" in str(program)


@on_linux
def test_what_was_recorded_is_of_the_compiler_that_is_installed():
    paths = list(target_programs.RECORDED.glob("*.json"))
    folder = [str(target_programs.packages_folder())]
    (jax,) = (one.version for one in metadata.distributions(path=folder) if one.name == "jax")
    assert {target_programs._read(path).compiler for path in paths} == {f"XLA in JAX {jax}"}


@pytest.mark.parametrize("options", [{"partitions": 0}, {"timeout": 0}, {"target": "H3000"}])
def test_options_that_make_no_sense_are_named(tf, options, line):
    (name,) = options
    with pytest.raises(ValueError, match=name):
        xd.compile_for(line, ARRAYS, **options)
