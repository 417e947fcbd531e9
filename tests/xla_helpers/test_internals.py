"""Private names of TensorFlow: an upgrade that moves one is told by that name."""

from types import SimpleNamespace

import pytest

from xla_helpers import internals


def test_options_that_cannot_be_read_are_not_taken_for_none():
    renamed = SimpleNamespace(experimental_get_tracing_count=int, input_signature=None)
    with pytest.raises(AttributeError, match="_autograph"):
        internals.options_of(renamed)
    assert internals.options_of(len) == {}


def test_the_options_of_a_function_are_read(tf):
    signature = [tf.TensorSpec([None])]
    made = tf.function(abs, input_signature=signature, reduce_retracing=True, autograph=False)
    options = internals.options_of(made)
    assert tuple(options["input_signature"]) == tuple(signature)
    assert options["reduce_retracing"] is True and options["autograph"] is False
