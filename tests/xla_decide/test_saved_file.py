"""Saved models, asked with example calls that are made up from what they take."""

import numpy as np
import pytest

import xla_decide as xd
from xla_decide.saved_file import MADE_UP, is_saved, load

pytestmark = pytest.mark.usefixtures("tf")


def two_inputs(keras):
    x, y = keras.Input([3], name="x"), keras.Input([4], dtype="int32", name="y")
    embedded = keras.layers.Embedding(7, 3)(y)
    return keras.Model({"x": x, "y": y}, keras.layers.Dense(2)(x + embedded[:, 0]))


def test_a_keras_file_and_its_export_are_asked_alike(tf, tmp_path):
    model = two_inputs(tf.keras)
    model.save(tmp_path / "m.keras")
    model.export(tmp_path / "exported", verbose=False)
    shapes = {"x": (8, 3), "y": (8, 4)}
    for name in ("m.keras", "exported"):
        fn, [(given,), *rest] = load(tmp_path / name, "", [8, 1], 7)
        assert {key: value.shape for key, value in given.items()} == shapes and len(rest) == 1
        assert given["y"].max() < 7 and given["y"].dtype == np.int32
        np.testing.assert_allclose(fn(given), model(given), rtol=1e-5)


def test_whole_numbers_need_a_limit_and_text_a_file(tf, tmp_path):
    two_inputs(tf.keras).save(tmp_path / "m.keras")
    with pytest.raises(ValueError, match="y takes whole numbers: say below which"):
        load(tmp_path / "m.keras", "", [1], None)
    length = tf.function(tf.strings.length, input_signature=[tf.TensorSpec([None], tf.string)])
    module = tf.Module()
    tf.saved_model.save(module, str(tmp_path / "text"), {"length": length})
    with pytest.raises(ValueError, match="takes text: write a file"):
        load(tmp_path / "text", "", [1], None)


def test_one_of_several_signatures_is_named(tf, tmp_path):
    spec = tf.TensorSpec([None, 2], tf.float32, name="x")
    signatures = {
        name: tf.function(lambda x, factor=factor: {"y": factor * x}, input_signature=[spec])
        for name, factor in {"double": 2.0, "triple": 3.0}.items()
    }
    tf.saved_model.save(tf.Module(), str(tmp_path / "both"), signatures)
    with pytest.raises(ValueError, match="both:NAME: double, triple"):
        load(tmp_path / "both", "", None, None)
    fn, examples = load(tmp_path / "both", "triple", None, None)
    assert [x["x"].shape for (x,) in examples] == [(1, 2), (8, 2), (32, 2)]
    np.testing.assert_allclose(fn(examples[0][0])["y"], 3.0 * examples[0][0]["x"])


def test_a_length_that_is_not_known_needs_a_file(tf, tmp_path):
    any_length = tf.keras.Sequential([tf.keras.Input([None, 3]), tf.keras.layers.Dense(1)])
    any_length.save(tmp_path / "m.keras")
    with pytest.raises(ValueError, match=r"\(None, None, 3\): write a file"):
        load(tmp_path / "m.keras", "", [1], None)


def test_what_is_no_saved_model(tmp_path):
    (tmp_path / "mine.py").touch()
    assert not any(is_saved(tmp_path / name) for name in ("mine.py", "none.keras", "."))


@pytest.mark.parametrize("name", ["m.keras", "exported"])
def test_a_saved_model_is_decided_about(tf, tmp_path, name):
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(2)])
    model.save(tmp_path / "m.keras") if name == "m.keras" else model.export(
        tmp_path / name, verbose=False
    )
    found = xd.decide_file(str(tmp_path / name), runs=1, budget=0.2, batches=[2, 5])
    assert "XLA" in found.gains and found.warnings[0] == MADE_UP
    assert found.findings[0].shapes.keys() == {"float32[2, 3]", "float32[5, 3]"}
