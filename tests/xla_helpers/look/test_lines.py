"""The reader's lines beside kernels, and `%%xla`."""

import pytest

import xla_helpers as xh
from xla_helpers.look.lines import Lines

pytestmark = pytest.mark.usefixtures("tf")


def step(x, w):
    import tensorflow as tf

    with tf.GradientTape() as tape:
        tape.watch(w)
        h = tf.tanh(x @ w)
        h = tf.nn.gelu(h)
        loss = tf.reduce_mean(h**2)
    return tape.gradient(loss, w)


def numbers(program, fn):
    """The lines of each kernel, counted from the first line of the function."""
    return [[line.number - fn.__code__.co_firstlineno for line in k.lines] for k in program.kernels]


def test_each_kernel_has_its_lines_and_those_of_a_gradient_are_of_its_forward_operations(tf, jit):
    args = tf.ones([4, 8]), tf.ones([8, 8])
    compiled = xh.inspect_program(jit(step), args)
    # The gradient of the mean is named after nothing: it has the line that asked for it.
    assert numbers(compiled, step) == [[5], [5, 6, 7, 8], [5]]
    assert {line.name for kernel in compiled.kernels for line in kernel.lines} == {"test_lines.py"}
    assert "your lines" in str(compiled) and "test_lines.py" in str(compiled)
    graph = xh.inspect_program(tf.function(step), args)
    found = dict(zip((k.operations[0] for k in graph.kernels), numbers(graph, step), strict=True))
    assert found["Tanh"] == found["TanhGrad"] == [5] and [6] in found.values()


def test_names_that_nobody_made_have_no_line():
    """As Grappler gives them, also to what it makes of a gradient."""
    names = ["gradient_tape/x-0-Transpose", "x/y", "gradient_tape/dense/MatMul"]
    assert Lines([]).of(names) == ()


def test_a_loop_names_the_lines_of_its_body(tf, jit):
    def loop(x):
        for _ in tf.range(5):
            x = tf.tanh(x) * 2.0
        return x

    program = xh.inspect_program(jit(loop), (tf.ones([8]),))
    assert [2] in numbers(program, loop)


def test_what_nobody_could_look_up_has_no_line(tf, jit, tmp_path):
    names = {"tf": tf}
    exec("def made(x):\n    return tf.sin(x) + x", names)
    program = xh.inspect_program(jit(names["made"]), (tf.ones([8]),))
    assert [one.lines for one in program.kernels] == [()] and "your lines" not in str(program)

    module = tf.Module()
    module.f = tf.function(lambda x: tf.sin(x) + x, input_signature=[tf.TensorSpec([8])])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    program = xh.inspect_program(tf.function(loaded.f, jit_compile=True), (tf.ones([8]),))
    assert [kernel.lines for kernel in program.kernels] == [()]


@pytest.fixture
def shell(tf):
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.run_cell("%load_ext xla_helpers\nimport tensorflow as tf\nx = tf.ones([64, 64])")
    return shell


CELL = """%%xla
def f(x):
    y = x @ x
    y = tf.nn.relu(y)

    return tf.exp(y) + 1.0

f(x)
"""


def test_the_magic_shows_each_line_with_its_kernels(shell, capsys):
    assert shell.run_cell(CELL).success
    shown = capsys.readouterr().out
    rows = [line.split() for line in shown.splitlines() if "|" in line]
    assert rows[1][-1].startswith("matmul") and rows[2][-1] == rows[3][-1] != rows[1][-1]
    assert "3, 5" in shown and "your lines" in shown


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("a = 1", "the last line of the cell must call a function"),
        ("lambda x: x", "the last line of the cell must call a function"),
        ("tf.strings.as_string(x)", "unsupported AsString"),
        ("exec('def g(x): return tf.sin(x) + x')\ng(x)", "Of no line of this cell"),
        ("1 / 0\nf(x)", "ZeroDivisionError"),
        ("(lambda x: tf.tanh(x) * 2)(x)", "| (lambda x: tf.tanh(x) * 2)(x)"),
    ],
)
def test_what_the_magic_says_where_there_is_no_line(shell, capsys, cell, said):
    shell.run_cell(f"%%xla\n{cell}")
    found = capsys.readouterr()
    assert said in found.out + found.err


def test_a_magic_runs_no_call(shell):
    shell.run_cell("called, count = [], tf.Variable(0)")
    body = "    called.append(1)\n    count.assign_add(1)\n    return x + 1\n"
    shell.run_cell(f"%%xla\ndef g(x):\n{body}\ng(x)")
    assert shell.user_ns["called"]  # it is traced, and nothing more
    assert shell.user_ns["count"] == 0
