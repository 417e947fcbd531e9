import pytest

from xla_helpers.modes import MODES, functions_run_eagerly, mode_of, run_functions_eagerly


@pytest.mark.parametrize(
    ("mode", "labels"),
    [
        ("eager", ["eager", "eager, float64"]),
        ("graph", ["graph", "graph on two devices", "plain", "False", "None"]),
        ("XLA", ["XLA", "XLA, mended", "XLA,mended", " XLA", "True"]),
        (None, ["", " ", ",", "xla", "XLAs", "call 1", "with XLA", "jit_compile=True"]),
    ],
)
def test_a_label_begins_with_its_mode(mode, labels):
    assert {mode_of(label) for label in labels} == {mode}


def test_a_mode_is_its_own_label():
    assert tuple(map(mode_of, MODES)) == MODES == ("eager", "graph", "XLA")


@pytest.mark.parametrize("before", [True, False])
def test_functions_run_as_the_caller_has_set_it_after_the_block(tf, before):
    tf.config.run_functions_eagerly(before)
    try:
        with pytest.raises(LookupError), run_functions_eagerly(not before):
            assert functions_run_eagerly() is not before
            raise LookupError
        assert functions_run_eagerly() is before
    finally:
        tf.config.run_functions_eagerly(False)
