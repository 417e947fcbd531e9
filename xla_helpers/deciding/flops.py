"""Floating-point operations of the products of matrices and the convolutions of a program."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .loops import computations_of, turns_of

PRODUCTS = re.compile(r"MatMul|Conv|Einsum|XlaDot|^$")
"""Types of TensorFlow's operations that are such products. XLA also writes others as products,
such as the change of an image's size; no type at all stands where it is not known."""

FLOATING = re.compile(r"F\d|BF16|C\d")
"""Names of XLA's types of floating-point numbers, of which those with a C are complex."""


@dataclass(frozen=True)
class Flops:
    """Floating-point operations. least: whether there may be more, in a loop or a condition."""

    count: int
    least: bool = False


class UnknownSizesError(ValueError):
    """Arrays whose sizes only a run can tell."""


def count_flops(module) -> Flops:
    """The floating-point operations of all products of matrices and all convolutions.

    A multiplication and the addition of what it gives count as two, or as eight for complex
    numbers. Of a convolution, what would be multiplied with padding is not counted. What nothing
    needs is not counted either. Loops count as often as they turn. Where that is not known before
    the program runs, they count as nothing, and of a condition the branch counts that has
    least: then the number is the least that it can be, and there may be more.

    module: an `HloModuleProto` (xla/service/hlo.proto), as it is before XLA optimises it.
    Raises: UnknownSizesError where an array's size is only known while it runs.
    """
    return _of(module.entry_computation_id, computations_of(module))


def _of(number, computations):
    found = list(_parts(computations[number], computations))
    return Flops(sum(part.count for part in found), any(part.least for part in found))


def _parts(computation, computations) -> Iterator[Flops]:
    for instruction in _needed(computation):
        inside = [_of(number, computations) for number in _called(instruction)]
        if instruction.opcode == "while":
            yield _repeated(inside, turns_of(instruction, computation, computations))
        elif instruction.opcode == "conditional":
            yield _smallest(inside)
        elif inside:
            yield from inside
        elif _is_product(instruction):
            yield Flops(_product(instruction, computation.instructions))


def _called(instruction):
    holds_others = instruction.opcode in ("call", "while", "conditional")
    return instruction.called_computation_ids if holds_others else ()


def _needed(computation) -> list:
    """The instructions that its result needs, each once."""
    seen, ahead = set(), [computation.root]
    while ahead:
        number = ahead.pop()
        if number not in seen:
            seen.add(number)
            ahead += computation.instructions[number].operand_ids
    return [computation.instructions[number] for number in seen]


def _repeated(inside, turns):
    body, condition = inside
    if turns is None:
        return Flops(condition.count, condition.least or body.least or body.count > 0)
    count = turns * body.count + (turns + 1) * condition.count
    return Flops(count, condition.least or body.least)


def _smallest(branches):
    counts = {branch.count for branch in branches}
    return Flops(min(counts), len(counts) > 1 or any(branch.least for branch in branches))


def _is_product(instruction):
    is_product = instruction.opcode in ("dot", "convolution")
    return is_product and PRODUCTS.search(instruction.metadata.op_type) is not None


def _product(instruction, instructions):
    left, right = (instructions[number].shape for number in instruction.operand_ids)
    if any(any(shape.is_dynamic_dimension) for shape in (left, right, instruction.shape)):
        raise UnknownSizesError("the sizes of some arrays are known only while it runs")
    each = _operations_each(instruction.shape)
    if instruction.opcode == "dot":
        return each * _multiplications(instruction, left)
    return each * _multiplications_of_convolution(instruction, left, right)


def _operations_each(shape):
    """Of a multiplication and an addition, of numbers of this type."""
    from tensorflow.compiler.xla import xla_data_pb2

    name = xla_data_pb2.PrimitiveType.Name(shape.element_type)
    if not FLOATING.match(name):
        return 0
    return 8 if name.startswith("C") else 2


def _multiplications(dot, left):
    summed = dot.dot_dimension_numbers.lhs_contracting_dimensions
    return math.prod(dot.shape.dimensions) * math.prod(left.dimensions[d] for d in summed)


def _multiplications_of_convolution(convolution, left, right):
    """One for each number of a filter wherever it meets one of the input, not padding."""
    at = convolution.convolution_dimension_numbers
    features = right.dimensions[at.kernel_input_feature_dimension]
    filters = convolution.shape.dimensions[at.output_feature_dimension]
    images = left.dimensions[at.input_batch_dimension] // max(1, convolution.batch_group_count)
    lengths = zip(
        (left.dimensions[d] for d in at.input_spatial_dimensions),
        (convolution.shape.dimensions[d] for d in at.output_spatial_dimensions),
        convolution.window.dimensions,
        strict=True,
    )
    return images * features * filters * math.prod(_meetings(*each) for each in lengths)


def _meetings(length, results, window):
    """How often, along one axis, a number of the filter meets one of the input."""
    dilation = max(1, window.base_dilation)  # zeros stand between the numbers of the input
    last = (length - 1) * dilation
    places = (
        result * window.stride + tap * max(1, window.window_dilation) - window.padding_low
        for result in range(results)
        for tap in range(window.size)
    )
    return sum(0 <= place <= last and place % dilation == 0 for place in places)
