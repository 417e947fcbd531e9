"""A call whose own arguments are named like options of `compare`."""

from xla_helpers.deciding.batches import Example
from xla_helpers.deciding.turns import compared

QUICK = {"block": 1e-9, "budget": 0.0}
CALL = Example((2.0,), {"rounds": 3, "tolerance": 5.0, "others": 1.0})


def power(x, *, rounds, tolerance, others):
    return x**rounds + tolerance + others


def test_they_arrive_at_the_function_and_the_options_at_compare():
    c = compared({"a": power, "b": power}, CALL, rounds=2, tolerance=0.5, **QUICK)
    assert c.failures == {}
    assert (c.tolerance, len(c["a"].samples)) == (0.5, 2)


def test_they_arrive_at_what_a_maker_made():
    made = []
    candidates = {"a": lambda: made.append("a") or power}
    assert compared(candidates, CALL, fresh=True, rounds=2, **QUICK).failures == {}
    assert made == ["a"]


def test_a_failure_is_recorded_and_not_raised():
    c = compared({"a": power}, Example((2.0,)), rounds=2, **QUICK)
    assert list(c.failures) == ["a"]
