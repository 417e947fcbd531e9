"""Programs for GPUs that are not there: `compile_for`."""

import hashlib
import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import date
from importlib import metadata
from pathlib import Path

import msgspec

from xla_helpers.calls import Call
from xla_helpers.errors import check_number
from xla_helpers.look.kernels import bytes_shown, total_bytes
from xla_helpers.look.lines import Lines, lines_shown
from xla_helpers.look.operations import operations_in
from xla_helpers.look.programs import traced_in
from xla_helpers.processes import ProcessError, run_in_process
from xla_helpers.tables import Table, format_si, pluralize

from .bounds import Bound, bound_of, least_seconds, one_by_one
from .launches import Launch, launches_in, starts_in
from .stablehlo import Module, as_compiled, stablehlo_of
from .targets import Target, target_named

COMPILER = Path(__file__).with_name("target_compiler.py")
RECORDED = Path(__file__).with_name("recorded")
# Names, with numbers; that of a `custom_call` is no number's but what is called. And weights, of
# which few are printed one by one.
VARYING = re.compile(r'(?<!custom_call )@[\w.]+|dense<("0x[0-9A-F]+"|\[[^>]*\d\.\d[^>]*\])>')
PRIVATE, CALLED = re.compile(r"func private @([\w.]+)"), re.compile(r"\bcall @([\w.]+)")
FOLDERS = re.compile(r'(?<=")/[^"]*/(?=\w+\.py")')  # in which a file of Python lies
LONGEST_TEXT = 20_000  # characters of a program that is recorded
MOST_ROWS = 20
CONTEXT = 1_000_000_000  # bytes that the driver's context and the libraries take, about

MISSING = (
    "Programs for GPUs that are not there need JAX's compiler, which is not installed here. In a "
    "clone of this project `make set-up` installs it, on Linux; other systems have no packages."
)


@dataclass(frozen=True)
class Memory:
    """What a program needs of a card's memory, in bytes.

    Attributes:
        arguments: Its arguments, variables among them.
        results: Its results, with the variables that it assigns.
        temporary: What it needs besides while it runs; libraries may ask for more.
        aliased: Results that take over the memory of arguments.
    """

    arguments: int
    results: int
    temporary: int
    aliased: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.arguments + self.results + self.temporary - self.aliased


@dataclass(frozen=True, repr=False)
class TargetProgram(Table):
    """What XLA would run on a GPU, as compiled for it without one.

    Attributes:
        target: The GPU.
        launches: What it starts in a call, if Triton's kernels do all products.
        with_libraries: The same if libraries do all products. The card chooses, one by one.
        memory: What it needs of the card, if Triton's kernels do all products.
        memory_with_libraries: The same if libraries do all products.
        starts, starts_with_libraries: How many times the processor starts something in a call,
            outside loops and branches: what XLA records is started at once.
        one_by_one: The least time of the operations as they were traced, a kernel for each; None
            for a program that several GPUs share.
        compiler: The compiler, with its version.
        traced: How many operations the graph has as it was traced.
        traced_bytes: What these read and write, one by one; None where a shape is unknown.
        partitions: Among how many such GPUs it is split.
        hlo: The optimized HLO, with Triton's products.
        ptx: Its kernels in NVIDIA's assembly language.
        recorded: The day on which it was compiled, where that was not now; else "".
    """

    target: Target
    launches: tuple[Launch, ...]
    with_libraries: tuple[Launch, ...]
    memory: Memory
    memory_with_libraries: Memory
    starts: int
    starts_with_libraries: int
    one_by_one: Bound | None
    compiler: str
    traced: int
    traced_bytes: int | None
    partitions: int = 1
    hlo: str = ""
    ptx: str = ""
    recorded: str = ""

    @property
    def launch_range(self) -> tuple[int, int]:
        """The fewest and the most launches of a call, outside loops and branches.

        How many there are depends on what the card chooses.
        """
        counts = [sum(not x.inside for x in some) for some in (self.launches, self.with_libraries)]
        return min(counts), max(counts)

    @property
    def launches_in_words(self) -> str:
        """These, such as "2 launches" or "192 to 193 launches"."""
        launches = pluralize(self.launch_range[1], "launch").partition(" ")[2]
        return f"{_range(*self.launch_range)} {launches}"

    @property
    def start_range(self) -> tuple[int, int]:
        """The fewest and the most starts of a call, by what the card chooses."""
        starts = self.starts, self.starts_with_libraries
        return min(starts), max(starts)

    @property
    def starts_in_words(self) -> str:
        """How the launches are started, such as "in 1 to 50 starts"; "" where each is a start."""
        if self.start_range == self.launch_range:
            return ""
        starts = pluralize(self.start_range[1], "start").partition(" ")[2]
        return f"in {_range(*self.start_range)} {starts}"

    @property
    def least(self) -> Bound:
        """The least time of the launches outside loops and branches, by what the card can do."""
        every = (self.launches, self.with_libraries)
        bounds = [bound_of((x for x in some if not x.inside), self.target) for some in every]
        return min(bounds, key=lambda bound: bound.seconds)

    @property
    def least_in_words(self) -> str:
        """This, with the time of one kernel an operation beside it."""
        before = self.one_by_one
        beside = f"; one kernel an operation: {before}" if before and before.seconds else ""
        fits = self.memory_range[1] <= self.target.cache
        cached = "; all arrays fit into the card's cache" if fits else ""
        return f"{self.least}{cached}{beside}"

    @property
    def chosen(self) -> int:
        """Launches of which the card chooses how they are done."""
        return sum(one.chosen for one in self.launches)

    @property
    def inside(self) -> int:
        """Launches inside loops and branches: in each round, or of all branches together."""
        return sum(bool(one.inside) for one in self.launches)

    @property
    def memory_range(self) -> tuple[int, int]:
        """The least and the most bytes that it needs of the card, by what the card chooses."""
        totals = self.memory.total, self.memory_with_libraries.total
        return min(totals), max(totals)

    @property
    def memory_in_words(self) -> str:
        """These with a unit, such as "59 GB to 98.3 GB"."""
        least, most = (format_si(size, "B") for size in self.memory_range)
        return least if least == most else f"{least} to {most}"

    @property
    def fits(self) -> bool:
        """Whether the card has that much memory, whatever it chooses, and a gigabyte besides."""
        return self.memory_range[1] + CONTEXT <= self.target.memory

    @property
    def bytes(self) -> int | None:
        """Bytes that all launches read and write; None where some are not counted."""
        counts = [total_bytes((one.bytes_read, one.bytes_written)) for one in self.launches]
        return None if self.inside else total_bytes(counts)

    @property
    def exchanges(self) -> tuple[Launch, ...]:
        """The launches in which several GPUs exchange arrays."""
        return tuple(one for one in self.launches if one.exchanged)

    def ptx_of(self, name: str) -> str:
        """The kernel of a launch in NVIDIA's assembly language; "" where it has none of its own."""
        entry = name.replace(".", "_").replace("-", "_")
        parts = self.ptx.split(".visible .entry ")[1:]
        return next((part for part in parts if part.startswith(f"{entry}(")), "")

    def _parts(self):
        columns = ["launch", "operations", "reads", "writes", "at least", "blocks x threads"]
        columns.append("chosen")
        has_lines = any(one.lines for one in self.launches)
        columns += ["your lines"] * has_lines
        shown = self.launches[:MOST_ROWS]
        rows = [_row(x, self.target) + [lines_shown(x.lines)] * has_lines for x in shown]
        return self.title, columns, rows, *self._notes()

    @property
    def title(self) -> str:
        """The program in one line."""
        count = f"{self.launches_in_words} a call"
        if self.chosen:
            count += f" ({self.chosen:,} chosen on the card)"
        if self.starts_in_words:
            count += f", {self.starts_in_words}"
        if self.inside:
            count += f", {self.inside:,} more in rounds of loops or in branches"
        on = self.target.name if self.partitions == 1 else f"{self.partitions} x {self.target.name}"
        traced, has = pluralize(self.traced, "operation"), format_si(self.target.memory, "B")
        memory = f"{self.memory_in_words} of memory, of {has}"
        may = "may" if self.memory_range[0] + CONTEXT <= self.target.memory else "does"
        memory += ": fits" if self.fits else f": {may} not fit"
        return f"{on}: {traced} traced, {count}, {self.least}; {memory}. Compiled, not run."

    def _notes(self):
        found = f"Compiled by {self.compiler}, for {self.target.device}."
        yield f"{found} Recorded on {self.recorded}." if self.recorded else found
        if not self.fits:
            room = self.target.memory - CONTEXT
            least, most = (size / room for size in self.memory_range)
            where = " where libraries do the products" if least <= 1 else ""
            yield f"It does not fit{where}: it needs {most:.2g} times what the driver leaves."
        least = self.least_in_words
        yield f"{least[0].upper()}{least[1:]}. By bandwidth and peak: a bound, and no forecast."
        if self.chosen:
            yield "Chosen: the card tries several kernels when the program is made, and takes one."
        if len(self.launches) > MOST_ROWS:
            yield f"Left out here: {pluralize(len(self.launches) - MOST_ROWS, 'launch')}."


def _range(fewest, most):
    return f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"


def _row(one, target):
    size = f"{one.blocks:,} x {one.threads:,}" if one.blocks and one.threads else ""
    counts = [
        "not counted" if count is None else bytes_shown(count)
        for count in (one.bytes_read, one.bytes_written)
    ]
    seconds = least_seconds(one, target)
    least = "not counted" if seconds is None else format_si(seconds, "s") if seconds else ""
    chosen = "on the card" if one.chosen else ""
    return [one.name, " + ".join(one.operations), *counts, least, size, chosen]


def compile_for(
    fn: Callable, args=(), kwargs=None, *, target="H100", partitions: int = 1, timeout=300.0
) -> TargetProgram | tuple[TargetProgram, ...]:
    """Compile ``fn(*args, **kwargs)`` for a GPU that is not there, and list what it would start.

    XLA's compiler for GPUs needs neither a card nor a driver, only a description of the card. Here
    it is JAX's, in a process of its own; the program comes from TensorFlow, as StableHLO, with all
    variables as arguments. Nothing is run, so there are no times. What a card chooses by trying,
    the kernels of products, convolutions and sorts, is marked as chosen.

    Args:
        fn: A function, a `tf.function`, or what `tf.saved_model.load` returned; it is compiled
            whether or not it has ``jit_compile=True``.
        args: Its positional arguments, a tuple; for a tensor, a `tf.TensorSpec` is enough.
        kwargs: Its keyword arguments.
        target: The name of a GPU that `targets` lists, or several names.
        partitions: How many such GPUs share the call, which says how by `xla_sharding.split`.
        timeout: Seconds after which the compiler is stopped.

    Returns:
        A `TargetProgram`, or, for several names, one for each. Sizes are in bytes.

    Raises:
        ImportError: Where the compiler is not installed and this program was not recorded.
        ProcessError: When the compiler fails, or runs too long.
        ValueError: For what XLA refuses, and for a target that is not known.

    Example:
        >>> import tensorflow as tf
        >>> compile_for(lambda x: tf.tanh(x) + x, (tf.ones([1024]),)).launch_range
        (1, 1)
    """
    check_number("partitions", partitions, whole=True)
    check_number("timeout", timeout)
    names = [target] if isinstance(target, str) else list(target)
    found = _compile(Call(fn, args, kwargs), list(map(target_named, names)), partitions, timeout)
    return found[0] if isinstance(target, str) else tuple(found)


def _compile(call, wanted, partitions, timeout):
    call = as_compiled(call)
    module = stablehlo_of(call)
    split = max((math.prod(one.parts) for one in module.arguments), default=1)
    if split > partitions:
        raise ValueError(f"{call.name} splits an argument into {split}: give partitions={split}")
    paths = [RECORDED / f"{_digest(module, one, partitions)}.json" for one in wanted]
    packages = packages_folder()
    if packages is None:
        return [_read(path) for path in paths]
    every = list(operations_in(call.concrete().graph))
    traced, lines = traced_in(every), Lines(every)
    counts = total_bytes(x for one in traced for x in (one.bytes_read, one.bytes_written))
    shared = {"compiler": compiler_in(packages), "traced": len(traced), "traced_bytes": counts}
    found = []
    options = {"partitions": partitions, "timeout": timeout}
    for parts in _compiled(module, wanted, lines, packages, **options):
        alone = one_by_one(traced, parts["with_libraries"], parts["target"])
        before = alone if partitions == 1 else None
        found.append(TargetProgram(**parts, **shared, one_by_one=before, partitions=partitions))
    if folder := os.environ.get("XLA_RECORD"):
        for path, program in zip(paths, found, strict=True):
            _write(Path(folder, path.name), program)
    return found


def packages_folder() -> Path | None:
    """Where JAX's compiler for GPUs is installed, with NVIDIA's assembler; None: nowhere."""
    folders = Path(sys.prefix, "targets"), *map(Path, sys.path)
    needed = "jax_plugins/xla_cuda12", "nvidia/cuda_nvcc/bin/ptxas"
    fits = (folder for folder in folders if all((folder / one).exists() for one in needed))
    return next(fits, None)


def _compiled(module, wanted, lines, packages, **options):
    def lines_of(numbers):
        return lines.of(module.names[number - 1] for number in numbers)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        folder = Path(place)
        run_compiler(folder, module, wanted, packages, **options)
        return [_parts_in(folder / one.name, one, lines_of) for one in wanted]


def run_compiler(
    folder: Path, module: Module, wanted, packages: Path, *, partitions=1, flags="", timeout=300.0
) -> None:
    """Let JAX's compiler write what it makes of a module, into a folder for each target.

    Args:
        folder: Where to, an empty folder.
        module: The program.
        wanted: The targets.
        packages: Where the compiler is installed (`packages_folder`).
        partitions: How many GPUs share the program.
        flags: More of ``XLA_FLAGS``.
        timeout: Seconds after which the compiler is stopped.
    """
    job = {name: part for name, part in asdict(module).items() if name not in ("text", "names")}
    job |= {"partitions": partitions, "targets": {x.name: x.description for x in wanted}}
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    (folder / "program.mlir").write_text(module.text, encoding="utf-8")
    environment = {
        "CUDA_VISIBLE_DEVICES": "-1",  # a card that is there is no other card
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": os.pathsep.join([str(packages), os.environ.get("PYTHONPATH", "")]),
        # Else XLA takes the assembler that it finds first, of another release perhaps.
        "XLA_FLAGS": f"--xla_gpu_cuda_data_dir={packages}/nvidia/cuda_nvcc {flags}".strip(),
    }
    code = COMPILER.read_text(encoding="utf-8")
    try:
        run_in_process(code, (str(folder),), flags=environment, timeout=timeout)
    except ProcessError as error:
        lines = [x for x in error.stderr.splitlines() if "error: " in x.lower()]
        if error.signal or error.timed_out or not lines:
            raise
        raise ValueError(f"XLA's compiler for GPUs: {lines[-1].strip()}") from error


def compiler_in(packages: Path) -> str:
    """The compiler in a folder, with its version."""
    (jax,) = (x.version for x in metadata.distributions(path=[str(packages)]) if x.name == "jax")
    return f"XLA in JAX {jax}"


def _parts_in(folder, target, lines_of):
    """What the compiler wrote about a target, as fields of a `TargetProgram`."""
    triton, libraries = folder / "triton", folder / "libraries"
    libraries = libraries if libraries.exists() else triton  # there is nothing to choose
    memory, other = (
        Memory(**json.loads((one / "memory.json").read_text("utf-8")))
        for one in (triton, libraries)
    )
    return {
        "target": target,
        "launches": launches_in(triton, lines_of),
        "with_libraries": launches_in(libraries, lines_of),
        "memory": memory,
        "memory_with_libraries": other,
        "starts": starts_in(triton),
        "starts_with_libraries": starts_in(libraries),
        "hlo": (triton / "module.txt").read_text("utf-8"),
        "ptx": "".join(path.read_text("utf-8") for path in sorted(triton.glob("*.ptx"))),
    }


def _digest(module: Module, target: Target, partitions: int) -> str:
    """A name for a program on a target, the same on every machine."""
    places = {name: place for place, name in enumerate(PRIVATE.findall(module.text))}
    text = CALLED.sub(lambda call: f"call {places.get(call[1], '')}", module.text)
    text = VARYING.sub("", text)
    whole = f"{target.name} {partitions} {text}"
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def _read(path):
    try:
        return msgspec.json.decode(path.read_bytes(), type=TargetProgram)
    except FileNotFoundError:
        raise ImportError(MISSING) from None


def _write(path, program):
    """Record a program, without its longest texts and without paths of the machine."""
    texts = {"hlo": FOLDERS.sub("", program.hlo), "ptx": program.ptx}
    kept = {name: text if len(text) <= LONGEST_TEXT else "" for name, text in texts.items()}
    for name in ("launches", "with_libraries"):
        kept[name] = tuple(map(_by_name, getattr(program, name)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.encode(replace(program, recorded=f"{date.today()}", **kept)))


def _by_name(launch):
    return replace(launch, lines=tuple(x._replace(file=x.name) for x in launch.lines))
