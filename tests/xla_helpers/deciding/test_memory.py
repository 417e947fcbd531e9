"""The memory of a program of XLA, by role."""

from types import SimpleNamespace

import pytest

from xla_helpers.deciding.findings import PADDED, ProgramMemory
from xla_helpers.deciding.memory import memory_of
from xla_helpers.programs import optimised_proto

ROLES = "is_entry_computation_parameter", "maybe_live_out", "is_constant", "is_thread_local"
PARAMETER, RESULT, CONSTANT, INSIDE = ROLES


def allocation(size, *roles):
    return SimpleNamespace(size=size, **{role: role in roles for role in ROLES})


def held(*allocations):
    found = memory_of("XLA", 0, SimpleNamespace(buffer_allocations=allocations))
    return found.arguments, found.results, found.temporaries


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ((PARAMETER,), (8, 0, 0)),
        ((RESULT,), (0, 8, 0)),
        ((), (0, 0, 8)),
        ((CONSTANT,), (0, 0, 0)),
        ((INSIDE,), (0, 0, 0)),
        ((PARAMETER, RESULT), (8, 0, 0)),
        ((RESULT, CONSTANT), (0, 8, 0)),
    ],
)
def test_each_allocation_has_one_role(roles, expected):
    assert held(allocation(8, *roles)) == expected


def test_allocations_of_one_role_are_added_up():
    both = allocation(8, PARAMETER), allocation(4, PARAMETER)
    assert held(*both, allocation(2), allocation(1), allocation(16, RESULT)) == (12, 16, 3)


def test_it_is_kept_for_its_program():
    plan = SimpleNamespace(buffer_allocations=[allocation(8, RESULT)])
    assert memory_of(PADDED, 3, plan) == ProgramMemory(PADDED, 3, 0, 8, 0)


def test_a_program_of_xla(tf):
    weights = tf.Variable(tf.ones([5, 2]))

    def scores(x):
        return tf.tanh(x @ weights)

    proto = optimised_proto(tf.function(scores, jit_compile=True), tf.ones([3, 5]))
    found = memory_of("XLA", 0, proto.buffer_assignment)
    assert (found.arguments, found.results) == (4 * (3 * 5 + 5 * 2), 4 * 3 * 2)


def test_what_lies_between_two_products_is_temporary(tf):
    def twice(x):
        return (x @ x) @ x

    proto = optimised_proto(tf.function(twice, jit_compile=True), tf.ones([64, 64]))
    assert memory_of("XLA", 0, proto.buffer_assignment).temporaries >= 4 * 64 * 64
