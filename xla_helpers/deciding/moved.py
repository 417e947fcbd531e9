"""How many kernels run in a call, and the bytes that they read and write."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ..operations import HOLDERS
from ..programs import (
    CONTROL_FLOW,
    HANDLES,
    INSTRUCTIONS,
    NOT_KERNELS,
    Kernel,
    Program,
    arrays_in,
)
from .loops import computations_of

TAKES = {"Gather", "GatherV2", "GatherNd", "ResourceGather", "ResourceGatherNd"}
TAKES |= {"Slice", "StridedSlice", "slice", "dynamic-slice", "gather"}
"""Operations of TensorFlow, then of XLA, that read no more of their first array than they write."""

ADDS = {"AssignAddVariableOp", "AssignSubVariableOp"}
"""Operations that also read a variable, and write it."""

HANDS_OVER = {"AssignVariableOp"}
"""Operations that make an array the variable's value, and move nothing."""

PUTS = "dynamic-update-slice"
"""An instruction that writes a part of an array, in its place."""


@dataclass(frozen=True)
class Moved:
    """kernels: how many run in a call. bytes: that they read and write. None where not known."""

    kernels: int | None
    bytes: int | None


def moved_by_graph(program: Program) -> Moved:
    """For a graph: what its kernels move, each as often as it ran.

    Other than in `Program.bytes`, what takes a part of an array reads that part alone, and a
    variable that is added to is read and written.
    """
    runs = [kernel.runs for kernel in program.kernels]
    if None in runs:
        return Moved(None, None)
    counts = [_by_kernel(kernel) for kernel in program.kernels]
    if None in counts:
        return Moved(sum(runs), None)
    return Moved(sum(runs), sum(map(math.prod, zip(runs, counts, strict=True))))


def _by_kernel(kernel: Kernel):
    """Bytes each time that it runs; None where they are not known."""
    [kind, *_] = kernel.operations
    if kind in HANDS_OVER:
        return 0
    read, written = kernel.bytes_read, kernel.bytes_written
    if read is None or written is None:
        return None
    if kind in ADDS:
        return 3 * read
    if kind in TAKES:
        first = kernel.reads[0]
        taken = written if first.dtype in HANDLES else min(first.bytes, written)
        return read - first.bytes + taken + written
    hidden = any(array.dtype in HANDLES for array in (*kernel.reads, *kernel.writes))
    return None if hidden else read + written


def moved_by_xla(module) -> Moved:
    """For a program of XLA: what its kernels move, when none is in a loop or a condition.

    A kernel reads each array once. Where all that it does with one is to take a part of it, it
    reads that part; where its result is an array of which it replaces a part, it writes that part.

    module: an `HloModuleProto` (xla/service/hlo.proto), optimised.
    """
    kinds = {inner.opcode for outer in module.computations for inner in outer.instructions}
    if kinds & CONTROL_FLOW:
        return Moved(None, None)
    counts = list(_counts(module.entry_computation_id, computations_of(module)))
    return Moved(len(counts), sum(counts))


def _counts(number, computations) -> Iterator[int]:
    """Bytes of each kernel."""
    instructions = computations[number].instructions
    for instruction in instructions.values():
        if instruction.opcode in HOLDERS:
            for called in instruction.called_computation_ids:
                yield from _counts(called, computations)
        elif instruction.opcode == "fusion":
            yield _by_fusion(computations[instruction.called_computation_ids[0]])
        elif instruction.opcode not in NOT_KERNELS:
            yield _by_instruction(instruction, instructions)


def _by_instruction(instruction, instructions):
    read = {}  # what is read twice is read once
    for number, count in _read(instruction, instructions):
        read[number] = max(count, read.get(number, 0))
    return sum(read.values()) + _written(instruction, instructions)


def _by_fusion(computation):
    """What is read of its parameters, and what its result writes."""
    instructions, read = computation.instructions, Counter()
    for instruction in instructions.values():
        if instruction.opcode not in INSTRUCTIONS:
            for number, count in _read(instruction, instructions):
                read[_source(instructions[number], instructions)] += count
    parameters = {n: i.shape for n, i in instructions.items() if i.opcode == "parameter"}
    taken = sum(min(read[number], _bytes(shape)) for number, shape in parameters.items())
    return taken + _written_by_fusion(computation.root, instructions)


def _source(instruction, instructions) -> int:
    """The number of what stands behind other names for the same array."""
    while instruction.opcode == "bitcast":
        instruction = instructions[instruction.operand_ids[0]]
    return instruction.id


def _read(instruction, instructions) -> list[tuple[int, int]]:
    """The number of each operand, and the bytes that are read of it."""
    counts = [_bytes(instructions[number].shape) for number in instruction.operand_ids]
    if instruction.opcode in TAKES:
        counts[0] = min(counts[0], _bytes(instruction.shape))
    if instruction.opcode == PUTS:
        counts[0] = 0
    return list(zip(instruction.operand_ids, counts, strict=True))


def _written(instruction, instructions) -> int:
    replaces = instruction.opcode == PUTS
    part = instructions[instruction.operand_ids[1]] if replaces else instruction
    return _bytes(part.shape)


def _written_by_fusion(number, instructions) -> int:
    """A part is put in its place where the array was there before; else all of it is written."""
    root = instructions[_source(instructions[number], instructions)]
    if root.opcode == "tuple":
        return sum(_written_by_fusion(part, instructions) for part in root.operand_ids)
    if root.opcode == PUTS:
        array = instructions[_source(instructions[root.operand_ids[0]], instructions)]
        if array.opcode == "parameter":
            return _written(root, instructions)
    return _bytes(root.shape)


def _bytes(shape):
    return sum(array.bytes for array in arrays_in(shape))
