"""What a program for a GPU starts there, read from the files that its compiler wrote."""

import math
import re
from dataclasses import dataclass
from pathlib import Path

from xla_helpers import internals
from xla_helpers.look.kernels import Kernel, bytes_of_shape
from xla_helpers.look.operations import NOT_KERNELS

STEP = re.compile(
    r"^( *)(\d+): (k\w+) +\[[^]]*\] *(\S*)(?: grid: \[([\d, ]+)\])?(?: threads: \[([\d, ]+)\])?"
)
NAMES = re.compile(r'profile_annotation: "([^"]+)"\s+thunk_id: (\d+)')
SETTING = re.compile(r'"(epilogue|activation_mode)":"(\w+)"')
CHOOSE = "__cublas$", "__cudnn$", "__cub$"  # libraries that hold several ways
EXCHANGE = re.compile(r"all-reduce|all-gather|all-to-all|reduce-scatter|collective-\w+")

HOLD = {"kWhile", "kConditional"}
"""Steps that only hold others: a loop, whose rounds nobody counts, and one of several branches."""
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

    Bytes are those of element-wise work, reductions and copies, each array read and written once;
    None for what a library does, for parts of arrays, and for what the card chooses.

    Attributes:
        name: Its name in the optimized HLO.
        operations: What it does; of a library, what is called and what that does besides.
        bytes_read, bytes_written: Of all arrays that it reads and writes each time it starts.
        kind: XLA's word for what starts it, such as "kCustomKernel" or "kConvolution".
        blocks, threads: How many blocks, and threads in each; None for libraries and copies.
        inside: The name of the loop in each of whose rounds it starts, or of the conditional whose
            branch it is part of; or "".
        chosen: Whether the card chooses how it is done: a product, a convolution or a sort.
        exchanged: Bytes that each of several devices gives to the others.
    """

    kind: str
    blocks: int | None = None
    threads: int | None = None
    inside: str = ""
    chosen: bool = False
    exchanged: int = 0


def launches_in(folder: Path) -> tuple[Launch, ...]:
    """The launches of the program whose compiler wrote its files into this folder."""
    module = internals.hlo_module_of((folder / "module.pb").read_bytes())
    computations = {one.id: one for one in module.computations}
    known = {x.name: (x, one) for one in module.computations for x in one.instructions}
    (metadata,) = folder.glob("*thunk_metadata.txt")
    names = {int(number): name for name, number in NAMES.findall(metadata.read_text("utf-8"))}
    (sequence,) = folder.glob("*thunk_sequence.txt")
    launches: list[Launch] = []
    holders: list[tuple[int, str]] = []  # those that are open, with how far they are set in
    for line in sequence.read_text("utf-8").splitlines():
        step = STEP.match(line)
        if step is None:
            continue
        depth, number, kind, shown, blocks, threads = step.groups()
        holders = [(at, holder) for at, holder in holders if at < len(depth)]
        name = str(names.get(int(number), shown))
        if kind in HOLD:
            holders.append((len(depth), name))
            continue
        sizes = [_product(text) for text in (blocks, threads)]
        place = holders[-1][1] if holders else ""
        launches.append(_launch(name, kind, known.get(name), computations, (*sizes, place)))
    return tuple(launches)


def _launch(name, kind, found, computations, rest):
    if found is None:
        return Launch(name, (kind,), None, None, kind, *rest)
    instruction, computation = found
    if kind in COPY:
        moved = bytes_of_shape(instruction.shape) if instruction.opcode == "copy" else None
        return Launch(name, (COPY[kind],), moved, moved, kind, *rest)
    settings = instruction.backend_config.decode("utf-8", "replace")
    operations = _operations(instruction, computations, settings)
    exchange = EXCHANGE.match(instruction.opcode)
    library = instruction.custom_call_target
    chosen = "gemm" in settings or "sort" in operations or library.startswith(CHOOSE)
    read = written = None
    if not (chosen or exchange or NOT_COUNTED & set(operations)):
        shapes = {one.id: one.shape for one in computation.instructions}
        read = sum(bytes_of_shape(shapes[x]) for x in dict.fromkeys(instruction.operand_ids))
        written = bytes_of_shape(instruction.shape)
    exchanged = bytes_of_shape(instruction.shape) if exchange else 0
    return Launch(name, operations, read, written, kind, *rest, chosen, exchanged)


def _operations(instruction, computations, settings):
    """What is done: by a fusion, its instructions; by a library, what it is told to do besides."""
    if instruction.opcode == "custom-call":
        more = (
            value for _, value in SETTING.findall(settings) if value not in ("DEFAULT", "kNone")
        )
        return (instruction.custom_call_target, *more)
    if instruction.opcode != "fusion":
        return (instruction.opcode,)
    (inner,) = (computations[number] for number in instruction.called_computation_ids)
    return tuple(x.opcode for x in inner.instructions if x.opcode not in NOT_KERNELS)


def _product(text):
    return None if text is None else math.prod(map(int, text.split(",")))
