"""What the Python of a function reaches: small functions of this file, and libraries beside it."""

import functools
import json

import numpy as np
import pytest

from xla_helpers import plots, reach
from xla_helpers.reach import is_library, python_of, reached

HISTORY = [1.0, "two"]


def uses_a_global():
    return [len(HISTORY) for _ in range(2)]


def names(fn):
    return list(reached(fn))


def test_a_global_is_reached_by_its_name():
    """From inside of a comprehension too; what a library defines is not entered."""
    assert names(uses_a_global) == ["HISTORY", "HISTORY[0]", "HISTORY[1]"]
    assert reached(uses_a_global)["HISTORY"] is HISTORY


def test_closure_and_defaults_are_reached():
    scale, offsets = np.ones(2), {"a": 1.0}

    def compute(x, power=2, *, shift=3.0):
        return scale * x**power + shift + offsets["a"]

    found = reached(compute)
    assert found["scale"] is scale and found["offsets['a']"] == 1.0
    assert (found["power"], found["shift"]) == (2, 3.0)


def test_what_is_reached_through_other_functions_has_the_name_it_has_there():
    assert names(lambda: uses_a_global()) == names(uses_a_global)


def test_a_closure_that_is_not_filled_yet_is_no_error():
    def early():
        return late

    assert names(early) == []
    late = 1
    assert names(early) == ["late"]


class Step:
    """An object of a reader, with a helper of its own."""

    def __init__(self):
        self.weights = [np.zeros(2)]
        self.count = 0

    def __call__(self):
        return uses_a_global()

    def run(self):
        return self.weights


def test_an_object_is_reached_with_its_attributes_and_what_its_call_reaches():
    step = Step()
    whole = ["self", "self.weights", "self.weights[0]", "self.count"]
    assert names(step) == [*whole, "HISTORY", "HISTORY[0]", "HISTORY[1]"]
    assert names(step.run)[:4] == whole
    assert reached(step.run)["self"] is step


def test_partial_arguments_are_reached():
    weights = np.zeros(2)
    found = reached(functools.partial(uses_a_global, weights, mask=1.5))
    assert found["argument 1"] is weights and found["mask"] == 1.5
    assert found["HISTORY"] is HISTORY


def test_a_tf_function_reaches_what_its_python_reaches(tf):
    function = tf.function(uses_a_global, jit_compile=True)
    assert names(function) == names(uses_a_global)
    assert python_of(function) is uses_a_global
    assert python_of(len) is len


def test_a_method_that_is_a_tf_function_reaches_its_object(tf):
    class Counter(tf.Module):
        def __init__(self):
            super().__init__(name="counter")
            self.seen = []

        @tf.function
        def step(self, x):
            self.seen.append(1)
            return x

    counter = Counter()
    assert reached(counter.step)["self.seen"] is counter.seen


def test_a_variable_has_the_name_that_the_reader_gave_it(tf):
    layer = tf.keras.layers.Dense(2, name="scores")

    def score(x):
        return layer(x)

    assert reached(score)["layer"] is layer
    assert not [name for name in names(score) if name.startswith("layer.")]  # a library's own


def test_of_a_readers_subclass_only_what_the_reader_named_is_reached(tf):
    class Tower(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.first = tf.keras.layers.Dense(2)

    tower = Tower()
    assert reached(tower)["self.first"] is tower.first
    assert not [name for name in names(tower) if "._" in name]


def test_each_object_is_reached_once_even_in_a_circle():
    circle = []
    circle.append(circle)
    shared = np.zeros(2)
    both = {"one": shared, "other": shared}
    assert names(lambda: (circle, both)) == ["both", "both['one']", "circle"]


def test_a_function_that_reaches_very_much_is_not_followed_to_the_end(monkeypatch):
    monkeypatch.setattr(reach, "MOST", 50)
    many = [[i] for i in range(1000)]
    assert len(names(lambda: many)) <= 100


@pytest.mark.parametrize("module", [json, np, plots])
def test_installed_packages_and_this_one_are_libraries(module):
    assert is_library(module.__file__)


@pytest.mark.parametrize(
    "file", [__file__, "/home/reader/model.py", "<stdin>", "/tmp/ipykernel_1/2.py"]
)
def test_a_readers_file_is_none(file):
    assert not is_library(file)


def test_a_method_with_a_signature_reaches_its_object(tf):
    class Scale(tf.Module):
        def __init__(self):
            super().__init__()
            self.weight = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([])])
        def scale(self, x):
            return x * self.weight

    module = Scale()
    assert reached(module.scale)["self.weight"] is module.weight
