"""Names of what is decided about. No TensorFlow is started."""

import sys

import pytest

from xla_helpers.deciding.references import load, make, parts_of

SOURCE = """
import numpy as np
from neighbour_of_it import LENGTH

VALUE = 3

def make():
    return len, [np.random.normal(size=LENGTH)]

def alone():
    return len

def with_options():
    return len, [[1]], {"calls": 5}

def fails():
    return [][1]

def gives_a_number():
    return 3

def gives_too_much():
    return len, [], {}, 1

def gives_other_options():
    return len, [], [1]
"""


@pytest.fixture
def models(tmp_path, monkeypatch):
    """A folder with a file of models, in which the process works."""
    (tmp_path / "models_of_a_test.py").write_text(SOURCE)
    (tmp_path / "neighbour_of_it.py").write_text("LENGTH = 2\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in ("models_of_a_test", "neighbour_of_it", "broken_of_a_test"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("place", ["models_of_a_test", "models_of_a_test.py"])
def test_a_module_or_a_file(models, place):
    what, batches, options = make(f"{place}:make")
    assert what is len and batches[0].shape == (2,) and options == {}
    assert make(f"{place}:alone") == (len, None, {})
    assert make(f"{place}:with_options") == (len, [[1]], {"calls": 5})


def test_a_file_elsewhere_finds_its_neighbours(models, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert make(f"{models / 'models_of_a_test.py'}:alone")[0] is len


def test_random_numbers_are_the_same_each_time(models):
    first, again = (make("models_of_a_test:make")[1][0].tolist() for _ in range(2))
    assert first == again


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("models_of_a_test:mak", r"has no 'mak': it has make, .*; did you mean 'make'\?"),
        ("models_of_a_test:VALUE", "models_of_a_test:VALUE is int: name a function"),
        ("models_of_a_test", 'names nothing that can be loaded: write "package.module:make"'),
        ("models_of_a_test:", "names nothing that can be loaded"),
        ("models_of_a_tes:make", "models_of_a_tes cannot be imported: ModuleNotFoundError: No mod"),
        ("other.py:make", "other.py cannot be imported: FileNotFoundError: there is no file other"),
        (
            "models_of_a_test:fails",
            r"models_of_a_test:fails failed: IndexError: list index out of range "
            r"\(models_of_a_test.py, line 17\)",
        ),
    ],
)
def test_what_cannot_be_loaded(models, reference, said):
    with pytest.raises(ValueError, match=said):
        make(reference)


def test_a_file_that_cannot_be_read(models):
    (models / "broken_of_a_test.py").write_text("x = 1\ndef make(:\n")
    for place in ("broken_of_a_test", "broken_of_a_test.py"):
        said = r"SyntaxError: .* \(broken_of_a_test.py, line 2\)"
        with pytest.raises(ValueError, match=said):
            load(f"{place}:make")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gives_a_number", "returned int, which cannot be called"),
        ("gives_too_much", r"returned \(builtin_function_or_method, list, dict, int\): let it"),
        ("gives_other_options", "returned .*, where options is a dict"),
    ],
)
def test_what_a_maker_must_not_return(models, name, said):
    with pytest.raises(TypeError, match=said):
        make(f"models_of_a_test:{name}")


def test_a_folder_without_a_saved_model(tf, tmp_path):
    with pytest.raises(ValueError, match="is no folder of a SavedModel"):
        load(str(tmp_path))
    assert parts_of(tmp_path, "x") == (tmp_path, None, {})


def test_a_saved_model(tf, tmp_path):
    module = tf.Module()
    module.double = tf.function(lambda x: 2 * x, input_signature=[tf.TensorSpec([None])])
    tf.saved_model.save(module, str(tmp_path), signatures=module.double)
    what, batches, options = make(str(tmp_path))
    assert what(tf.constant([1.0]))["output_0"].numpy().tolist() == [2]
    assert batches is None and options == {}
