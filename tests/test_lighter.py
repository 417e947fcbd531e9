"""What each process of a test reads at its start: TensorFlow as it is, imported more cheaply."""

import xla_helpers as xh


def test_the_collector_leaves_out_what_the_import_makes():
    code = """
import gc
import tensorflow as tf
assert tf.__spec__.name == "tensorflow" and tf.constant(1) == 1
print(gc.isenabled(), gc.get_freeze_count() > 100_000)
"""
    assert xh.run_in_process(code).stdout == "True True\n"


def test_keras_is_imported_when_it_is_used(tf, tmp_path):
    """By `tf.keras` or its own name, and in time to read a model that somebody saved."""
    model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(tf.ones([4, 2]), tf.ones([4, 1]), verbose=0)
    model.save(tmp_path / "model.keras")
    tf.saved_model.save(model, str(tmp_path / "saved"))
    code = """
import sys
import tensorflow as tf
before = bool({"keras", "h5py", "scipy"} & sys.modules.keys())
loaded = tf.saved_model.load(sys.argv[1] + "/saved").signatures["serving_default"]
(found,) = loaded(tf.ones([1, 2])).values()
between = "keras" in sys.modules
model = tf.keras.models.load_model(sys.argv[1] + "/model.keras")
assert (model(tf.ones([1, 2])) == found).numpy().all()
import keras
assert type(model.optimizer) is keras.optimizers.Adam
print(before, between, any("Later" in str(one) for one in sys.meta_path))
"""
    assert xh.run_in_process(code, (str(tmp_path),)).stdout == "False False False\n"
