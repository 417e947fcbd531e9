import pytest

from xla_helpers.modes import MODES, mode_of


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
