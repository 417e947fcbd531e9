"""The same model in other runtimes: what runs, what does not, and why."""

import numpy as np
import pytest

import xla_decide as xd
from xla_decide import command
from xla_decide.rivals import race
from xla_decide.rivals.asking import WorkerError, started
from xla_decide.rivals.exporting import Inputs, numbered
from xla_decide.rivals.table import Rival, Rivals
from xla_decide.rivals.worker import Job, read_arrays, write_arrays
from xla_helpers.comparisons import Comparison
from xla_helpers.differences import Difference
from xla_helpers.timing import Block, Measurement

FILE = """
import keras
import numpy as np
import tensorflow as tf

ONES = np.ones([16, 10], "float32")


def dense():
    layers = [keras.layers.Dense(10, "relu"), keras.layers.Dense(10)]
    return keras.Sequential([keras.Input([10]), *layers]), [ONES]


def gelu():
    return keras.Sequential([keras.Input([10]), keras.layers.Dense(10, "gelu")]), [ONES]


def captured():  # Keras keeps its mean and variance as constants
    layers = [keras.layers.Normalization(mean=2.0, variance=9.0), keras.layers.Dense(2)]
    return keras.Sequential([keras.Input([10]), *layers]), [ONES]


def several():
    first, second = keras.Input([10]), keras.Input([3], dtype="int32")
    looked_up = keras.layers.Flatten()(keras.layers.Embedding(9, 4)(second))
    both = keras.layers.Concatenate()([first, looked_up])
    outputs = {"z": both, "a": keras.layers.Dense(2)(both)}
    whole = np.arange(48, dtype="int32").reshape(16, 3) % 9
    return keras.Model([first, second], outputs), [[ONES, whole]]


def text():
    return tf.function(lambda words: tf.strings.length(words)), [np.array(["one", "seven"])]


def table():
    keys = tf.lookup.KeyValueTensorInitializer([1, 2], [3, 4])
    known = tf.lookup.StaticHashTable(keys, -1)

    class Known(tf.Module):
        def __init__(self):
            self.table = known

        def __call__(self, x):
            return self.table.lookup(x)

    return Known(), [np.array([1, 5], "int32")]


def until_small():
    def halve(x):
        return tf.while_loop(lambda x: tf.reduce_max(x) > 0.1, lambda x: [x / 2], [x])[0]

    return tf.function(halve), [ONES]


def step():
    model, batches = dense()
    model.compile("sgd", "mse")
    return model, [(ONES, ONES)], {"step": True}


def exporter_ends_the_process():
    import os

    tf.lite.TFLiteConverter.from_saved_model = lambda *args: os.abort()
    return dense()


def full_disk():
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    from tensorflow.python.lib.io import file_io  # so that it is there before the limit

    layer = keras.layers.Dense(400)
    model = keras.Sequential([keras.Input([400]), layer])
    plain = tf.lite.TFLiteConverter.from_saved_model

    def limited(*args):
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        return plain(*args)

    tf.lite.TFLiteConverter.from_saved_model = limited
    return model, [np.ones([2, 400], "float32")]
"""
FEW = "graph", "LiteRT", "ONNX Runtime"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "mine.py"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.fixture
def few(monkeypatch):
    """Fewer runtimes, for tests of what happens to them."""
    monkeypatch.setenv("XLA_EFFORT", "0.2")
    monkeypatch.setattr(race, "RUNTIMES", {label: race.RUNTIMES[label] for label in FEW})


def raced(file, name):
    return xd.race_rivals(f"{file}:{name}", quiet=True)


@pytest.fixture(scope="module")
def dense(file):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLA_EFFORT", "0.2")
        return raced(file, "dense")


def test_every_runtime_runs_a_small_model_and_gives_the_same(dense):
    assert [row.label for row in dense.rows] == list(race.RUNTIMES)
    missing = {} if xd.jax_environment() else {"Keras on JAX"}
    assert dense.not_raced.keys() == set(missing)
    for row in (row for row in dense.rows if row.call):
        assert row.results.startswith(("the reference", "agree")) or "bfloat16" in row.note
        assert row.memory > 20e6 and row.load > row.first > 0
        assert (row.export > 0) == (row.label in {"LiteRT", "ONNX Runtime", *OPENVINO})
    evidence = dense.comparison.evidence
    assert (evidence["graph"].programs, evidence["graph"].graphs) == (0, 1)
    assert evidence["XLA"].programs == 1 and str(evidence["LiteRT"]) == ""
    assert dense["LiteRT"].memory < dense["graph"].memory / 2  # it holds no TensorFlow
    assert dense["LiteRT"].speedup > 1 and dense.fastest not in ("graph", "XLA")
    assert dense.words == "float32[16, 10]"


OPENVINO = "OpenVINO", "OpenVINO, float32"


def test_a_file_that_no_runtime_loads_is_found_by_loading(file, few):
    found = raced(file, "gelu")
    assert "Erfc" in found["ONNX Runtime"].why and "/" not in found["ONNX Runtime"].why[:60]
    assert found["ONNX Runtime"].disk > 0 and found["LiteRT"].results.startswith("agree")


def test_constants_that_were_captured_are_in_the_file_and_are_no_inputs(file, few):
    found = raced(file, "captured")
    assert not found.not_raced
    assert all(found[label].results.startswith("agree") for label in FEW[1:])


def test_several_inputs_and_outputs_keep_their_order(file, few):
    found = raced(file, "several")
    assert not found.not_raced
    assert all(found[label].results.startswith("agree") for label in FEW[1:])


@pytest.mark.parametrize("name, why", [("text", "StringLength"), ("table", "LookupTable")])
def test_what_no_converter_takes_is_a_row_with_its_reason(file, few, name, why):
    found = raced(file, name)
    assert all(found.not_raced.values()) and why in str(found.not_raced) and found["graph"].call


def test_a_loop_until_small_runs_where_a_converter_takes_it(file, few):
    found = raced(file, "until_small")
    for label in FEW[1:]:
        assert found[label].why or found[label].results.startswith("agree")


def test_a_training_step_is_refused_in_a_sentence(file):
    with pytest.raises(ValueError, match="no exporter takes a training step"):
        raced(file, "step")


def test_an_exporter_that_ends_its_process_is_a_row_and_the_others_stand(file, few):
    found = raced(file, "exporter_ends_the_process")
    assert "SIGABRT" in found["LiteRT"].why
    assert found["ONNX Runtime"].results.startswith("agree")


def test_a_full_disk_is_a_row_and_the_others_stand(file, few):
    found = raced(file, "full_disk")
    assert "could not be exported" in found["LiteRT"].why and found["graph"].call


def test_a_runtime_that_is_missing_says_what_brings_it(file, few, monkeypatch, tmp_path):
    absent = "raise ModuleNotFoundError(\"No module named 'onnxruntime'\")"
    (tmp_path / "onnxruntime.py").write_text(absent, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    found = raced(file, "dense")
    assert found["ONNX Runtime"].why == "not in this environment: onnxruntime brings it"
    assert found["LiteRT"].call


def test_a_runtime_that_ends_its_process_is_a_row(file, few, monkeypatch, tmp_path):
    (tmp_path / "onnxruntime.py").write_text("import os\nos.abort()", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    assert "SIGABRT" in raced(file, "dense")["ONNX Runtime"].why


# What needs no process


def found_of(differences, **seconds):
    measured = {x: Measurement.of(x, 0.1, [Block(y, None)] * 9, 1) for x, y in seconds.items()}
    return Comparison(measured, differences)


def test_a_row_that_differs_is_raced_and_never_the_fastest():
    differences = {"graph": Difference(), "A": Difference(6e-3), "B": Difference(1e-7)}
    found = found_of(differences, graph=3.0, A=1.0, B=2.0)
    rows = [Rival.raced(Rival(label), found) for label in (*differences, "C")]
    rivals = Rivals(tuple(rows), found, "float32[2]", 2)
    assert rivals.fastest == "B" and rivals["A"].results == "differ, 0.006"
    assert rivals["A"].speedup == 3 and rivals["C"].call is None
    assert "agree, 1e-07" in str(rivals) and "2 threads each" in str(rivals)


def test_arrays_keep_type_order_and_bits(tmp_path):
    import ml_dtypes

    arrays = [np.arange(3), np.ones(2, ml_dtypes.bfloat16), np.array(["a", "é"], object), True]
    arrays[2] = np.array([b"a", b"bc"], object)
    write_arrays(tmp_path / "some.npz", arrays * 4)
    again = read_arrays(tmp_path / "some.npz")
    assert len(again) == 16 and again[1].dtype == arrays[1].dtype
    assert again[5].tolist() == [1, 1] and again[2].tolist() == [b"a", b"bc"]


def test_arguments_that_are_no_arrays_stay_as_they_are():
    import keras

    inputs = Inputs((np.ones(2), "mean"), {"mask": None, "scale": 2.0}, keras.tree)
    assert len(inputs.arrays) == 1
    args, kwargs = inputs.packed([np.zeros(3)])
    assert args[0].shape == (3,) and args[1] == "mean" and kwargs == {"mask": None, "scale": 2.0}
    assert sorted(numbered("output", n) for n in (2, 10)) == ["output_002", "output_010"]


def job(folder):
    return Job(str(folder), 1, "", "", {})


def test_a_process_answers_whatever_is_printed_in_it(tmp_path, monkeypatch):
    source = """
import os
class Thing:
    def __init__(self, job): print("noise"); os.system("echo more")
    def add(self, a, b): print("noise"); return a + b
    def end(self): os._exit(3)
"""
    (tmp_path / "thing.py").write_text(source, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    with started("thing:Thing", job(tmp_path)) as worker:
        assert worker.ask("add", 1, 2) == 3
        with pytest.raises(WorkerError, match="TypeError") as raised:
            worker.ask("add", 1)
        assert not raised.value.ended and worker.ask("add", 2, 2) == 4
        with pytest.raises(WorkerError, match="exit code 3") as raised:
            worker.ask("end")
        assert raised.value.ended


def test_the_command_shows_rivals_on_its_page_and_in_its_json(dense, monkeypatch):
    monkeypatch.setattr(command, "race_rivals", lambda model, **options: dense)
    found, why = command.raced_with("mine.py:make", {"runs": 6, "tolerance": 0.1})
    assert found is dense and not why
    assert any(line.startswith("LiteRT: ") for line in command._rival_lines(found, why))
