"""How often a loop of an XLA program turns, where its numbers say so before it runs."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

MOST = 10_000
"""Turns after which nobody looks further."""

WHOLE = ("s8s", "u8s", "s16s", "u16s", "s32s", "u32s", "s64s", "u64s", "preds")
"""Where the protocol buffer of a constant holds whole numbers."""

PASSES_ON = {"copy", "reshape", "bitcast", "convert"}
"""Instructions that leave a single whole number as it is."""

COMPARISONS = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
}
ARITHMETIC = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "minimum": min,
    "maximum": max,
    "and": operator.and_,
    "or": operator.or_,
}


class UnknownValueError(ValueError):
    """A value of a program that only a run can tell."""


@dataclass(frozen=True)
class Computation:
    """A computation of an `HloModuleProto`. root: the number of the instruction that gives its
    result. instructions: number to instruction."""

    root: int
    instructions: dict[int, object]


def computations_of(module) -> dict[int, Computation]:
    """Number to computation."""
    return {
        computation.id: Computation(
            computation.root_id,
            {instruction.id: instruction for instruction in computation.instructions},
        )
        for computation in module.computations
    }


def turns_of(loop, computation: Computation, computations: Mapping) -> int | None:
    """How often a loop turns; None where that depends on what the program is given.

    Its condition is computed turn after turn, from constants and from what the body makes of
    them, as for a loop that counts up to the length of an array.

    loop: an instruction "while" of `computation`. computations: as of `computations_of`.
    """
    try:
        return len(_states(loop, _Values(computation, computations, ()))) - 1
    except (UnknownValueError, RecursionError):
        return None


def _states(loop, outside) -> list[Callable]:
    """The values that go round in a loop: before its first turn, and after each."""
    body, condition = (outside.computations[number] for number in loop.called_computation_ids)
    states = [_later(outside, loop.operand_ids[0])]
    while _Values(condition, outside.computations, (states[-1],)).result():
        if len(states) > MOST:
            raise UnknownValueError(f"a loop of more than {MOST:,} turns")
        states.append(_Values(body, outside.computations, (states[-1],)).result)
    return states


def _parts_after(states) -> list[Callable]:
    """The parts of the last state. Each is found turn by turn, so that no search goes deep."""

    def part(number):
        for state in states:
            value = state()[number]()
        return value

    return [partial(part, number) for number in range(len(states[0]()))]


class _Values:
    """The values in a computation, each looked for when it is asked for.

    A value is a whole number, or for a tuple a list of functions that give its parts.
    """

    def __init__(self, computation, computations, arguments: tuple[Callable, ...]):
        self._root, self._instructions = computation.root, computation.instructions
        self.computations, self._arguments = computations, arguments
        self._known = {}

    def result(self):
        return self.of(self._root)

    def of(self, number):
        if number not in self._known:
            self._known[number] = self._find(self._instructions[number])
        return self._known[number]

    def _find(self, instruction):
        kind, operands = instruction.opcode, instruction.operand_ids
        if kind == "constant":
            return _whole(instruction.literal)
        if kind == "parameter" and self._arguments:
            return self._arguments[instruction.parameter_number]()
        if kind == "tuple":
            return [_later(self, number) for number in operands]
        if kind == "get-tuple-element":
            return self.of(operands[0])[instruction.tuple_index]()
        if kind in PASSES_ON:
            return self.of(operands[0])
        if kind == "while":
            return _parts_after(_states(instruction, self))
        if kind == "call":
            return self._called(instruction)
        return self._computed(instruction)

    def _called(self, instruction):
        [called] = instruction.called_computation_ids
        arguments = tuple(_later(self, number) for number in instruction.operand_ids)
        return _Values(self.computations[called], self.computations, arguments).result()

    def _computed(self, instruction):
        kind = instruction.opcode
        known = COMPARISONS.get(instruction.comparison_direction) or ARITHMETIC.get(kind)
        if known is None:
            raise UnknownValueError(kind)
        return known(*map(self.of, instruction.operand_ids))


def _later(values, number):
    return lambda: values.of(number)


def _whole(literal):
    """The number of a constant that is a single whole number."""
    numbers = [value for name in WHOLE for value in getattr(literal, name)]
    if literal.shape.dimensions or len(numbers) != 1:
        raise UnknownValueError("a constant")
    return int(numbers[0])
