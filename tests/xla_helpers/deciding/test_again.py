"""What a reader types to decide again."""

import shlex

import pytest

from xla_helpers.deciding.again import as_command, in_python

START = "python -m xla_helpers decide "


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, ""),
        ({"calls": 500, "budget": 60.0}, " --calls 500 --budget 60.0"),
        ({"pad": 8, "step": True}, " --pad 8 --step"),
        ({"pad": [16, 32]}, " --pad 16,32"),
        ({"pad": [16]}, " --pad 16,"),
        ({"step": False}, None),
        ({"batches": [1.0]}, None),
        ({"pad": len}, None),
        ({"pad": [16, "x"]}, None),
        ({"worst": []}, None),
    ],
)
def test_as_a_command(given, words):
    assert as_command("my_model:make", given) == (
        "" if words is None else f"{START}my_model:make{words}"
    )


def test_a_name_is_one_word_of_a_command():
    name = "a b/$(touch x)'.py:make"
    assert shlex.split(as_command(name, {}))[-1] == name


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({}, '"my_model:make"'),
        ({"batches": [1.0], "calls": 10_000}, '"my_model:make", batches, calls=10_000'),
        ({"step": True, "pad": (16, 32)}, '"my_model:make", step=True, pad=[16, 32]'),
        ({"pad": len, "worst": [1]}, '"my_model:make", pad=pad, worst=worst'),
        ({"tolerance": 0.001}, '"my_model:make", tolerance=0.001'),
    ],
)
def test_in_python(given, arguments):
    assert in_python("my_model:make", given).replace("'", '"') == f"xh.decide({arguments})"


def test_a_live_object_has_no_name():
    assert in_python(None, {"batches": []}) == "xh.decide(what, batches)"


def test_a_name_in_python_is_a_text():
    name = "a\"b'\n:make"
    written = in_python(name, {})
    assert eval(written, {"xh": type("xh", (), {"decide": staticmethod(str)})}) == name
