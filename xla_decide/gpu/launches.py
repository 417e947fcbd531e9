"""What a program for a GPU starts there, read from the files that its compiler wrote."""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from xla_helpers import internals
from xla_helpers.look.kernels import Kernel, bytes_of_shape
from xla_helpers.look.lines import Line
from xla_helpers.look.programs import fused_in

STEP = re.compile(
    r"^( *)(\d+): (k\w+) +\[[^]]*\] *(\S*)(?: grid: \[([\d, ]+)\])?(?: threads: \[([\d, ]+)\])?"
)
NAMES = re.compile(r'profile_annotation: "([^"]+)"\s+thunk_id: (\d+)')
SETTING = re.compile(r'"(epilogue|activation_mode)":"(\w+)"')
SUMMED = re.compile(r'"lhs_contracting_dimensions":\[([^]]*)\]')  # of a product by a library
CHOOSE = "__cublas$", "__cudnn$", "__cub$"  # libraries that hold several ways
MULTIPLY = "__cublas$", "__cudnn$conv"  # those that read each array and write the result
EXCHANGE = re.compile(r"all-reduce|all-gather|all-to-all|reduce-scatter|collective-\w+")

TEXT = "-"  # the file of the lines of the program's own text, as XLA names it
HIGHEST = 2  # of `PrecisionConfig` (xla/xla_data.proto): float32 as it is, no TF32
HOLD = {"kWhile", "kConditional"}
"""Steps that only hold others: a loop, whose rounds nobody counts, and one of several branches."""
ASYNC = {"kAsyncStart", "kAsyncDone"}
"""Steps that begin and await what stands inside of them, on a stream of its own."""
COPY = {"kCopy": "copy", "kMemzero": "fill", "kMemset32BitValue": "fill"}
"""Steps that need no kernel."""
NOT_COUNTED = frozenset(
    "gather scatter slice dynamic-slice dynamic-update-slice custom-call sort fft "
    "triangular-solve cholesky".split()
)
"""Instructions that read or write a part of an array, which would be counted whole, go over it
several times, or are done by a library."""


@dataclass(frozen=True)
class Launch(Kernel):
    """A kernel, a call of a library, or a copy, which a program starts on the GPU.

    A call of a library may start several kernels.

    Bytes are those of each array read and written once, which is the least; None for parts of
    arrays, for sorts, and for what libraries do that are not products or convolutions.

    Attributes:
        name: Its name in the optimized HLO.
        operations: What it does; of a library, what is called and what that does besides.
        bytes_read, bytes_written: Of all arrays that it reads and writes each time it starts.
        lines: The reader's lines that it came from; () where they are not known.
        kind: XLA's word for what starts it, such as "kCustomKernel" or "kConvolution".
        blocks, threads: How many blocks, and threads in each; None for libraries and copies.
        inside: The name of the loop in each of whose rounds it starts, or of the conditional whose
            branch it is part of; or "".
        chosen: Whether the card chooses how it is done: a product, a convolution or a sort.
        exchanged: Bytes that each of several devices gives to the others.
        flops: Multiplications and additions of its matrix product; None where it is none. (A
            convolution has none either: there are ways to compute it with fewer than it says.)
        dtype: XLA's name of the type of that product's numbers, such as "bf16"; "tf32" for float32
            where the shorter type may be used.
    """

    kind: str
    blocks: int | None = None
    threads: int | None = None
    inside: str = ""
    chosen: bool = False
    exchanged: int = 0
    flops: int | None = None
    dtype: str = ""


def launches_in(
    folder: Path, lines_of: Callable[[Iterable[int]], tuple[Line, ...]] = lambda numbers: ()
) -> tuple[Launch, ...]:
    """The launches of the program whose compiler wrote its files into this folder.

    Args:
        folder: Where they are.
        lines_of: Gives the reader's lines for numbers of lines of the program's text.
    """
    module = internals.hlo_module_of((folder / "module.pb").read_bytes())
    computations = {one.id: one for one in module.computations}
    known = {x.name: (x, one) for one in module.computations for x in one.instructions}
    launches = []
    for name, kind, sizes, holder in _steps_in(folder):
        found = known.get(name)
        launch = _launch(name, kind, found, computations, (*sizes, holder))
        parts = fused_in(found[0], computations) if found else ()
        places = (part.metadata for part in parts)
        numbers = [place.source_line for place in places if place.source_file == TEXT]
        launches.append(replace(launch, lines=lines_of(numbers)))
    return tuple(launches)


def _steps_in(folder):
    """Name, kind, blocks and threads, and what holds it, of each step that starts something."""
    (metadata,) = folder.glob("*thunk_metadata.txt")
    names = {int(number): name for name, number in NAMES.findall(metadata.read_text("utf-8"))}
    (sequence,) = folder.glob("*thunk_sequence.txt")
    holders: list[tuple[int, str]] = []  # those that are open, with how far they are set in
    for step in filter(None, map(STEP.match, sequence.read_text("utf-8").splitlines())):
        depth, number, kind, shown, blocks, threads = step.groups()
        holders = [(at, holder) for at, holder in holders if at < len(depth)]
        name = str(names.get(int(number), shown))
        if kind in HOLD:
            holders.append((len(depth), name))
        elif kind not in ASYNC:
            sizes = [_product(text) for text in (blocks, threads)]
            yield name, kind, sizes, holders[-1][1] if holders else ""


def starts_in(folder: Path) -> int:
    """How many times the processor starts something, outside loops and branches.

    XLA records launches that follow each other (CUDA graphs, which it calls command buffers), and
    starts all of them at once.
    """
    recorded = list(folder.glob("*thunk_sequence_after_thunk_passes.txt"))  # where a pass did so
    (sequence,) = recorded or folder.glob("*thunk_sequence.txt")
    steps = map(STEP.match, sequence.read_text("utf-8").splitlines())
    outermost = (step[3] for step in steps if step and not step[1])
    return sum(kind not in HOLD and kind != "kAsyncDone" for kind in outermost)


def _launch(name, kind, found, computations, rest):
    if found is None:
        return Launch(name, (kind,), None, None, kind, *rest)
    instruction, computation = found
    if kind in COPY:
        moved = bytes_of_shape(instruction.shape) if instruction.opcode == "copy" else None
        return Launch(name, (COPY[kind],), moved, moved, kind, *rest)
    settings = instruction.backend_config.decode("utf-8", "replace")
    operations = _operations(instruction, computations, settings)
    shapes = {one.id: one.shape for one in computation.instructions}
    operands = [shapes[number] for number in dict.fromkeys(instruction.operand_ids)]
    if EXCHANGE.match(instruction.opcode):
        given = sum(map(bytes_of_shape, operands))
        return Launch(name, operations, None, None, kind, *rest, exchanged=given)
    library = instruction.custom_call_target
    chosen = "gemm" in settings or "sort" in operations or library.startswith(CHOOSE)
    read = written = None
    if library.startswith(MULTIPLY):  # which writes its result, and has room to work in
        read, written = sum(map(bytes_of_shape, operands)), bytes_of_shape(_result(instruction))
    elif not (library or NOT_COUNTED & set(operations)):
        read, written = sum(map(bytes_of_shape, operands)), bytes_of_shape(instruction.shape)
    product = _product_in(instruction, computation, computations, settings)
    return Launch(name, operations, read, written, kind, *rest, chosen, 0, *product)


def _result(instruction):
    """The shape of what a library computes: the first of its results."""
    return next(iter(instruction.shape.tuple_shapes), instruction.shape)


def _product_in(instruction, computation, computations, settings):
    """The arithmetic of a product, and the type of its numbers; None and "" where it is none."""
    by_library = SUMMED.search(settings)
    parts = fused_in(instruction, computations)
    dots = [instruction] if by_library else [part for part in parts if part.opcode == "dot"]
    if len(dots) != 1:
        return None, ""
    (dot,) = dots
    if instruction.opcode == "fusion":
        (computation,) = (computations[number] for number in instruction.called_computation_ids)
    left = next(one.shape for one in computation.instructions if one.id == dot.operand_ids[0])
    if by_library:
        summed = [int(number) for number in re.findall(r"\d+", by_library[1])]
    else:
        summed = list(dot.dot_dimension_numbers.lhs_contracting_dimensions)
    terms = math.prod(left.dimensions[place] for place in summed)
    is_exact = "HIGHEST" in settings or HIGHEST in dot.precision_config.operand_precision
    dtype = internals.element_type(left.element_type)
    dtype = "tf32" if dtype == "f32" and not is_exact else dtype
    return 2 * math.prod(_result(dot).dimensions) * terms, dtype


def _operations(instruction, computations, settings):
    """What is done: by a fusion, its instructions; by a library, what it is told to do besides."""
    if instruction.opcode == "custom-call":
        more = (
            value for _, value in SETTING.findall(settings) if value not in ("DEFAULT", "kNone")
        )
        return (instruction.custom_call_target, *more)
    return tuple(part.opcode for part in fused_in(instruction, computations))


def _product(text):
    return None if text is None else math.prod(map(int, text.split(",")))
