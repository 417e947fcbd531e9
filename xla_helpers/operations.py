"""The operations of a graph: checks, draws, what outlasts a call, and what XLA has no code for."""

import itertools
import re
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import UNSUPPORTED
from .layers import finder, without_jit

VANISHING = {"Assert", "CheckNumerics"}
"""Operations that TensorFlow runs as checks and that XLA replaces by nothing."""

DRAWS = frozenset(
    """
    Multinomial ParameterizedTruncatedNormal RandomCrop RandomGamma RandomIndexShuffle
    RandomPoisson RandomPoissonV2 RandomShuffle RandomStandardNormal RandomUniform
    RandomUniformInt TruncatedNormal

    AllCandidateSampler FixedUnigramCandidateSampler LearnedUnigramCandidateSampler
    LogUniformCandidateSampler SampleDistortedBoundingBox SampleDistortedBoundingBoxV2
    ThreadUnsafeUnigramCandidateSampler UniformCandidateSampler

    StatefulRandomBinomial StatefulStandardNormal StatefulStandardNormalV2
    StatefulTruncatedNormal StatefulUniform StatefulUniformInt

    StatelessMultinomial StatelessParameterizedTruncatedNormal StatelessRandomBinomial
    StatelessRandomGammaV2 StatelessRandomGammaV3 StatelessRandomNormal
    StatelessRandomNormalV2 StatelessRandomPoisson StatelessRandomUniform
    StatelessRandomUniformInt StatelessRandomUniformIntV2 StatelessRandomUniformV2
    StatelessSampleDistortedBoundingBox StatelessShuffle StatelessTruncatedNormal
    StatelessTruncatedNormalV2
    """.split()
)
"""Operations that draw what a reader asked for, without those that only prepare a seed."""

HOLDERS = frozenset(
    """
    PartitionedCall StatefulPartitionedCall While StatelessWhile
    If StatelessIf Case StatelessCase

    call while conditional
    """.split()
)
"""Types of operations, then opcodes of XLA, that only hold others: the work is theirs."""

LASTING = (
    (r"IteratorGetNext\w*", "an iterator"),
    (r"LookupTable(Insert|Remove|Import)\w*", "a lookup table"),
    (r"Queue(Enqueue|Dequeue|Close)\w*|(OrderedMap|Map)?(Stage|Unstage\w*)", "a queue"),
    (r"WriteFile|Save\w*|MergeV2Checkpoints|Write\w*Summary|DumpTensor", "a file"),
    (r"EagerPyFunc|PyFunc", "Python code"),
)
"""Operations that change what outlasts a call and is no variable, and what that is."""

MENDS = (
    (
        r"Print(V2)?|StringFormat",
        "print outside of the compiled function, from what it returns",
    ),
    (
        r"EagerPyFunc|PyFunc\w*",
        "write it with TensorFlow's operations, or call it before or after the compiled function",
    ),
    (
        r"\w*LookupTable\w*|\w*Hash(Table|Bucket)\w*|InitializeTable\w*",
        "look it up before the compiled function and pass the numbers in",
    ),
    (
        r"ReadFile|Decode\w*|Encode\w*|Parse\w+|ExtractJpegShape\w*",
        "read and decode in the data pipeline, before the compiled function",
    ),
    (
        r"_Arg|_Retval|\w*VariableOp|\w*String\w*|Unicode\w*|\w*Regex\w*|Substr|ReduceJoin",
        "turn text into numbers before the compiled function: XLA knows no text",
    ),
    (
        r"ImageProjectiveTransform\w*|CropAndResize\w*|Resize\w+|Adjust\w+|\w*BoundingBox\w*",
        "do it in the data pipeline, before the compiled function",
    ),
    (
        r"\w*Iterator\w*|\w*Dataset\w*",
        "take the elements outside of the compiled function and pass them in",
    ),
    (
        r"\w*Sparse\w*|\w*Ragged\w*|\w*CSR\w*",
        "pass in dense tensors instead, padded to one size",
    ),
    (
        r"\w*Random\w*|\w*Sampler|Multinomial|\w*Shuffle\w*",
        "draw outside of the compiled function and pass the numbers in",
    ),
    (
        r"WriteFile|Save\w*|Restore\w*|\w*Summary\w*|Queue\w*|\w*Stage\w*",
        "do it before or after the compiled function",
    ),
    (
        r"",
        "call it before or after the compiled function, or write it with other operations",
    ),
)
"""What to write instead of an operation that XLA has no code for: the first that fits."""

OUT_OF_THE_MODEL = (
    "while the model holds it, Keras compiles none of the model with XLA: do it in the data "
    "pipeline or before the model; if it has weights to learn, compile the parts around it yourself"
)
WITHOUT_CUDNN = (
    "while cuDNN runs it, Keras compiles none of the model with XLA: create it with "
    "`use_cudnn=False`"
)

CELL = re.compile(r"/ipykernel_\d+/|ipython-input|^<stdin>")
"""The files of code that was typed in: they are temporary, or none."""

TEXT = {
    "_Arg": "text or a table as an argument",
    "_Retval": "text as a result",
    "AssignVariableOp": "a variable of text",
    "ReadVariableOp": "a variable of text",
}
"""Operations that XLA has code for and refuses all the same, because of what they hold."""

LIBRARIES = (
    *{f"{sysconfig.get_path(x)}/" for x in ("stdlib", "platstdlib", "purelib", "platlib")},
    f"{Path(__file__).parent}/",
)
"""Folders whose code the reader did not write; this package is one of them."""

GUARD = re.compile(r"(/Assert)*(/AssertGuard/Assert)?$")  # what TensorFlow adds to a check's name


@dataclass(frozen=True)
class Found:
    """An operation that a graph can reach: its name in the whole, and TensorFlow's own object."""

    name: str
    op: object

    @property
    def type(self) -> str:
        return self.op.type

    @property
    def line(self) -> str:
        """The reader's line that made it, such as ``model.py, line 12 in step``; "" for none.

        A notebook's cell has no file of its own: ``line 3 in step``. A graph that was loaded
        remembers no lines.
        """
        inner = itertools.takewhile(_is_below_helpers, reversed(self.op.traceback or ()))
        return next((_line(frame) for frame in inner if _is_readers(frame.filename)), "")


@dataclass(frozen=True)
class Refusal:
    """What XLA refuses in a function, or because of which Keras leaves XLA out.

    operation: its type, or the class of a layer. layer: the path of the layer in which it stands,
    or "". line: the reader's line that made it, or "". mend: what to write instead.
    """

    operation: str
    layer: str
    line: str
    mend: str

    @property
    def where(self) -> str:
        """The operation with its layer and line, without the mend."""
        return _place(self.operation, self.layer, self.line)

    def __str__(self):
        return f"{self.where}: {self.mend}"


@dataclass(frozen=True)
class Draw:
    """An operation that draws random numbers; `layer` and `line` are as in a `Refusal`."""

    operation: str
    layer: str
    line: str

    def __str__(self):
        return _place(self.operation, self.layer, self.line)


def checks_in(found: Iterable[Found]) -> tuple[str, ...]:
    """The names of the checks among operations, without what TensorFlow adds to them."""
    names = (one.name for one in found if one.type in VANISHING)
    return tuple(dict.fromkeys(GUARD.sub("", name) or name for name in names))


def draws_in(found: Iterable[Found], layers: Mapping[str, object]) -> tuple[Draw, ...]:
    """The operations that draw random numbers, each once in a layer; `layers` as of `layers_of`."""
    draws = _once([one for one in found if one.type in DRAWS], layers)
    return tuple(Draw(one.type, layer, one.line) for one, layer in draws)


def effects_in(found: Iterable[Found], layers: Mapping[str, object]) -> tuple[str, ...]:
    """What a call changes beyond its end and cannot be put back, such as a stream of numbers.

    Variables are not named, because they can be put back, nor what a graph makes for itself.
    """
    lasting = [(one, _lasting(one)) for one in found]
    words = {id(one): what for one, what in lasting if what}
    changed = _once([one for one, what in lasting if what], layers)
    return tuple(f"{words[id(one)]} ({_place(one.type, layer)})" for one, layer in changed)


def unsupported_in(
    found: Iterable[Found], error: Exception | None, layers: Mapping[str, object]
) -> tuple[Refusal, ...]:
    """What the error names, then what else of the graph has no kernel for XLA.

    Nothing after an error that names none, because XLA leaves out what no result needs; but a
    NotImplementedError says that XLA was not asked. Each type of operation stands once for each
    layer. The registry of kernels is full only once XLA has been asked to compile something.
    """
    named = dict.fromkeys(UNSUPPORTED.findall(str(error)))
    if not named and not isinstance(error, NotImplementedError):
        return ()
    found = [one for one in found if one.type in named or _is_refused(one.type)]
    found.sort(key=lambda one: one.type not in named)
    nowhere = [kind for kind in named if kind not in {one.type for one in found}]
    return (
        *(Refusal(TEXT.get(kind, kind), "", "", _mend(kind)) for kind in nowhere),
        *(
            Refusal(TEXT.get(one.type, one.type), layer, one.line, _mend(one.type))
            for one, layer in _once(found, layers)
        ),
    )


def refused_by_keras(fn) -> tuple[Refusal, ...]:
    """The layers because of which Keras leaves XLA out, for all of the model that holds them.

    Their `supports_jit` is false. With ``model.compile(jit_compile=True)`` Keras then warns and
    goes on without XLA, with "auto" it says nothing. Only `compile` asks: a `tf.function` around
    the model with ``jit_compile=True`` compiles it all the same, or fails.
    """
    kinds = {path: type(layer).__name__ for path, layer in without_jit(fn).items()}
    return tuple(
        Refusal(kind, path, "", WITHOUT_CUDNN if kind in ("LSTM", "GRU") else OUT_OF_THE_MODEL)
        for path, kind in kinds.items()
    )


def operations_in(graph, path: str = "") -> Iterator[Found]:
    """Every operation that a graph can reach, bodies of loops, branches and calls too.

    path: what stands before the names.
    """
    for op in graph.get_operations():
        yield Found(path + op.name, op)
        for body in called_by(op):
            yield from operations_in(body, _path_inside(path, op, body))


def called_by(op) -> Iterator:
    """The graphs of the functions that an operation calls, such as the branches of an `If`."""
    for attribute in op.op_def.attr:
        if attribute.type in ("func", "list(func)"):
            value = op.get_attr(attribute.name)
            for called in value if attribute.type == "list(func)" else [value]:
                function = op.graph._get_function(called.name)
                if function is not None:
                    yield function.graph


def _path_inside(path, op, body):
    """The body of a loop names its operations after the loop, a function does not."""
    named_after = any(inner.name.startswith(f"{op.name}/") for inner in body.get_operations())
    return path if named_after else f"{path}{op.name}/"


def _is_readers(file):
    if file.startswith("<") or "__autograph_generated_file" in file:
        return bool(CELL.search(file))
    return not is_library(file)


def is_library(file: str) -> bool:
    """Whether a file of Python belongs to an installed package, not to the reader."""
    return file.startswith(LIBRARIES)


def _is_below_helpers(frame):
    """What stands above a call of a helper made no operation."""
    return Path(frame.filename).parent != Path(__file__).parent


def _line(frame):
    where = f"line {frame.lineno}"
    if not CELL.search(frame.filename):
        where = f"{Path(frame.filename).name}, {where}"
    return where if not frame.name or frame.name.startswith("<") else f"{where} in {frame.name}"


def _place(operation, layer, line=""):
    inside = f" in {layer}" if layer else ""
    return f"{operation}{inside}{f' ({line})' if line else ''}"


def _once(found, layers):
    """The first of each type in each layer, with the layer's path or ""."""
    layer_of = finder(layers)
    first = {}
    for one in found:
        layer = layer_of(one.name) or ""
        first.setdefault((one.type, layer), (one, layer))
    return first.values()


def _lasting(found):
    """What an operation changes for good, in words; None for nothing."""
    if found.type in DRAWS and found.op.op_def.is_stateful:
        # Those that are named Stateful draw from a variable, which can be put back.
        return None if found.type.startswith("Stateful") else "a stream of random numbers"
    if found.op.inputs and found.op.inputs[0].op.type.startswith("Anonymous"):
        return None  # made by this graph, and gone with the call
    return next((what for kinds, what in LASTING if re.fullmatch(kinds, found.type)), None)


def _mend(operation):
    return next(mend for kinds, mend in MENDS if not kinds or re.fullmatch(kinds, operation))


def _is_refused(operation):
    from tensorflow.python.framework import kernels

    if operation == "Placeholder":
        return False
    registered = kernels.get_registered_kernels_for_op(operation).kernel
    return not any(re.fullmatch(r"XLA_\w+_JIT", kernel.device_type) for kernel in registered)
