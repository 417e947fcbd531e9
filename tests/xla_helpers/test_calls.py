"""Arguments that a function changes in place: it is noticed, said, and undone."""

import numpy as np
import pytest

import xla_helpers as xh

QUICK = {"rounds": 2, "budget": 0, "block": 1e-9, "strict": False}
UNSORTED = [3.0, 1.0, 2.0]


def sorts(array):
    array.sort()
    return array


def pops(batch):
    batch.pop("label")
    return batch["features"].sum()


CHANGES = {  # what changes an argument, the argument, its place
    "array": (sorts, np.array(UNSORTED), "args[0]"),
    "view": (lambda a: sorts(a[::2]), np.array([3.0, 1.0, 2.0, 4.0]), "args[0]"),
    "number": (lambda a: a.fill(2.0), np.array(1.0), "args[0]"),
    "nest": (lambda nest: sorts(nest["x"][0]), {"x": (np.array(UNSORTED),)}, "args[0]['x'][0]"),
    "list": (sorts, list(UNSORTED), "args[0]"),
    "dictionary": (pops, {"label": 1.0, "features": np.ones(2)}, "args[0]"),
}


@pytest.mark.parametrize("change, given, place", CHANGES.values(), ids=CHANGES)
def test_a_candidate_that_changes_its_arguments_fails_and_they_are_as_before(change, given, place):
    before, seen = repr(given), []
    modes = {"in place": change, "rival": lambda x: seen.append(repr(x))}
    found = xh.compare(modes, (given,), **QUICK)
    assert list(found.measurements) == ["rival"] and set(seen) == {before} == {repr(given)}
    assert f"changes {place} in place" in found.failures["in place"]
    assert f"changes {place} in place" in str(found)
    with pytest.raises(ValueError, match="in place: let it work on a copy"):
        xh.measure(change, (given,), rounds=1)
    assert repr(given) == before


def test_arguments_are_as_before_though_the_candidate_raises():
    array = np.array(UNSORTED)

    def fails(array):
        array.sort()
        raise ArithmeticError("too large")

    found = xh.compare({"fails": fails, "sum": np.sum}, (array,), **QUICK)
    assert found.failures == {"fails": "ArithmeticError: too large"}
    assert array.tolist() == UNSORTED


def test_what_is_given_by_name_has_it_in_its_place():
    found = xh.compare({"in place": lambda a: a.sort()}, (), {"a": np.array(UNSORTED)}, **QUICK)
    assert "changes kwargs['a'] in place" in found.failures["in place"]


def test_arguments_that_nobody_changes_are_no_failure(tf):
    read_only, nan = np.broadcast_to(1.0, [4]), np.full(3, np.nan)
    given = [read_only, nan, tf.ones([2]), {"text": "a", "none": None}, np.array(["a", 1], object)]
    found = xh.compare({"first": lambda *args: 1.0, "second": lambda *args: 1.0}, given, **QUICK)
    assert found.failures == {} and xh.check(lambda x: x + 1.0, (np.ones(2),)).agrees


@pytest.mark.parametrize("helper", [xh.check, xh.measure])
def test_keys_that_have_no_order_are_told(tf, helper):
    def total(d):
        return d[1] + d["a"]

    with pytest.raises(TypeError, match="several types"):
        helper(total if helper is xh.check else tf.function(total), ({1: tf.ones([]), "a": 1.0},))


def test_advice_about_a_saved_model_is_given_for_one_alone(tf, tmp_path):
    with pytest.raises(TypeError, match=r"3 cannot be called\.$"):
        xh.measure(3)
    tf.saved_model.save(tf.Module(), str(tmp_path / "saved"))
    with pytest.raises(TypeError, match="saved_model"):
        xh.measure(tf.saved_model.load(str(tmp_path / "saved")))


def test_an_object_may_keep_a_tensor_of_its_last_call(tf):
    """Each mode is traced from what the object held before."""

    class Smoother(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.scale, self.last, self.built = tf.keras.layers.Rescaling(2.0), None, True

        def call(self, x):
            self.last = self.scale(x) if self.last is None else self.scale(x) + self.last
            return self.last

    class Holder:
        def __init__(self):
            self.layer = Smoother()

        def __call__(self, x):
            self.kept = getattr(self, "kept", 0.0) + x
            return self.kept

    for fn, right in ((Smoother(), 2.0), (Holder(), 1.0)):
        found = xh.check(fn, (tf.ones([2]),))
        assert found.agrees and found["XLA"].result.tolist() == [right] * 2
