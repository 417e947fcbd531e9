"""The operations of a graph: checks, draws, what outlasts a call, and what XLA has no code for."""

import re
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from .errors import UNSUPPORTED
from .layers import finder

VANISHING = {"Assert", "CheckNumerics"}
"""Operations that TensorFlow runs as checks and that XLA replaces by nothing."""

GUARD = re.compile(r"(/Assert)*(/AssertGuard/Assert)?$")  # what TensorFlow adds to a check's name

DRAWS = frozenset(
    """
    AllCandidateSampler FixedUnigramCandidateSampler LearnedUnigramCandidateSampler
    LogUniformCandidateSampler Multinomial ParameterizedTruncatedNormal RandomCrop RandomGamma
    RandomIndexShuffle RandomPoisson RandomPoissonV2 RandomShuffle RandomStandardNormal
    RandomUniform RandomUniformInt SampleDistortedBoundingBox SampleDistortedBoundingBoxV2
    StatefulRandomBinomial StatefulStandardNormal StatefulStandardNormalV2
    StatefulTruncatedNormal StatefulUniform StatefulUniformInt StatelessMultinomial
    StatelessParameterizedTruncatedNormal StatelessRandomBinomial StatelessRandomGammaV2
    StatelessRandomGammaV3 StatelessRandomNormal StatelessRandomNormalV2 StatelessRandomPoisson
    StatelessRandomUniform StatelessRandomUniformInt StatelessRandomUniformIntV2
    StatelessRandomUniformV2 StatelessSampleDistortedBoundingBox StatelessShuffle
    StatelessTruncatedNormal StatelessTruncatedNormalV2 ThreadUnsafeUnigramCandidateSampler
    TruncatedNormal UniformCandidateSampler
    """.split()
)
"""Operations that draw what a reader asked for, without those that only prepare a seed."""

HOLDERS = frozenset(
    """
    PartitionedCall StatefulPartitionedCall While StatelessWhile If StatelessIf Case StatelessCase
    call while conditional
    """.split()
)
"""Types of operations, then opcodes of XLA, that only hold others: the work is theirs."""

LASTING = re.compile(
    r"IteratorGetNext\w*|LookupTable(Insert|Remove|Import)\w*|EagerPyFunc|PyFunc|"
    r"Queue(Enqueue|Dequeue|Close)\w*|(OrderedMap|Map)?(Stage|Unstage\w*)|"
    r"WriteFile|Save\w*|MergeV2Checkpoints|Write\w*Summary|DumpTensor"
)
"""Operations that change what outlasts a call and is no variable: iterators, tables, files."""

MENDS = (
    (r"Print(V2)?|StringFormat", "print outside of the compiled function, from what it returns"),
    (
        r"EagerPyFunc|PyFunc\w*",
        "write it with TensorFlow's operations, or call it before or after the compiled function",
    ),
    (
        r"\w*LookupTable\w*|\w*Hash(Table|Bucket)\w*|InitializeTable\w*",
        "look it up outside of the compiled function, and pass numbers",
    ),
    (
        r"ReadFile|Decode\w*|Encode\w*|Parse\w+|ExtractJpegShape\w*|ImageProjectiveTransform\w*|"
        r"CropAndResize\w*|Resize\w+|Adjust\w+|\w*BoundingBox\w*",
        "do it in the data pipeline, before the compiled function",
    ),
    (
        r"_Arg|_Retval|\w*VariableOp|\w*String\w*|Unicode\w*|\w*Regex\w*|Substr|ReduceJoin",
        "leave text outside of the compiled function, and pass numbers: XLA knows no text",
    ),
    (
        r"\w*Iterator\w*|\w*Dataset\w*",
        "take the elements outside of the compiled function and pass them in",
    ),
    (r"\w*Sparse\w*|\w*Ragged\w*|\w*CSR\w*", "pass in dense tensors instead, padded to one size"),
    (
        r"\w*Random\w*|\w*Sampler|Multinomial|\w*Shuffle\w*",
        "draw outside of the compiled function and pass the numbers in",
    ),
    (r"", "call it before or after the compiled function, or write it with other operations"),
)
"""What to write instead of an operation that XLA has no code for: the first that fits."""

OUT_OF_THE_MODEL = (
    "while the model holds it, Keras compiles none of the model with XLA: do it in the data "
    "pipeline or before the model; if it has weights to learn, compile the parts around it yourself"
)

OF_TEXT = {
    "_Arg": "text or a table as an argument",
    "_Retval": "text as a result",
    "AssignVariableOp": "a variable of text",
    "ReadVariableOp": "a variable of text",
}
"""Operations that XLA has code for and refuses all the same, because of what they hold."""

CELL = re.compile(r"/ipykernel_\d+/|ipython-input|^<stdin>")
"""The files of code that was typed in: they are temporary, or none."""

LIBRARIES = tuple(
    f"{sysconfig.get_path(x)}/" for x in ("stdlib", "platstdlib", "purelib", "platlib")
)
HERE = f"{Path(__file__).parent}/"


class Found(NamedTuple):
    """An operation that a graph can reach: its name in the whole, and TensorFlow's own object."""

    name: str
    op: object

    @property
    def type(self) -> str:
        return self.op.type


@dataclass(frozen=True)
class Place:
    """An operation as its reader knows it.

    operation: its type. layer: the path of the layer in which it stands, or "". line: the reader's
    line that made it, such as ``model.py, line 12 in step``, or "".
    """

    operation: str
    layer: str = ""
    line: str = ""

    @property
    def where(self) -> str:
        """The operation with its layer and line, in words."""
        inside = f" in {self.layer}" if self.layer else ""
        return f"{self.operation}{inside}{f' ({self.line})' if self.line else ''}"

    def __str__(self):
        return self.where


@dataclass(frozen=True)
class Refusal(Place):
    """What XLA refuses, or the layer because of which Keras leaves XLA out.

    operation: its type, or the class of the layer. layer, line: where it stands, or "". mend: what
    to write instead.
    """

    mend: str = ""

    def __str__(self):
        return f"{self.where}: {self.mend}"


def checks_in(found: Iterable[Found]) -> tuple[str, ...]:
    """The names of the checks among operations, without what TensorFlow adds to them."""
    names = (one.name for one in found if one.type in VANISHING)
    return tuple(dict.fromkeys(GUARD.sub("", name) or name for name in names))


def draws_in(found: Iterable[Found], layers: Mapping[str, object]) -> tuple[Place, ...]:
    """The operations that draw random numbers, each once in a layer; `layers` as of `layers_of`."""
    return tuple(_places(Place, [one for one in found if one.type in DRAWS], layers))


def effects_in(found: Iterable[Found], layers: Mapping[str, object]) -> tuple[Place, ...]:
    """What may change something for good that is no variable, such as a stream of numbers."""
    return tuple(_places(Place, [one for one in found if _lasts(one)], layers))


def unsupported_in(
    found: Iterable[Found], error: Exception | None, layers: Mapping[str, object]
) -> tuple[Refusal, ...]:
    """What the error names, then what else of the graph has no kernel for XLA.

    Nothing after an error that names none, because XLA leaves out what no result needs; but a
    NotImplementedError says that XLA was not asked. The registry of kernels is full only once XLA
    has been asked to compile something.
    """
    named = UNSUPPORTED.findall(str(error))
    if not named and not isinstance(error, NotImplementedError):
        return ()
    refused = [one for one in found if one.type in named or _has_no_kernel(one.type)]
    nowhere = sorted({*named} - {one.type for one in refused})
    return (*map(_refusal, nowhere), *_places(_refusal, refused, layers))


def refused_by_keras(layers: Mapping[str, object]) -> tuple[Refusal, ...]:
    """The layers because of which `compile` of Keras leaves XLA out, for all of their model.

    A `tf.function` around the model with ``jit_compile=True`` does not ask them.
    """
    refusing = {path: x for path, x in layers.items() if not getattr(x, "supports_jit", True)}
    mend = OUT_OF_THE_MODEL
    return tuple(Refusal(type(x).__name__, path, mend=mend) for path, x in refusing.items())


def operations_in(graph, path: str = "") -> Iterator[Found]:
    """Every operation that a graph can reach, bodies of loops, branches and calls too.

    path: what stands before the names.
    """
    for op in graph.get_operations():
        yield Found(path + op.name, op)
        for body in called_by(op):
            # The body of a loop names its operations after the loop, a function does not.
            named_after = any(x.name.startswith(f"{op.name}/") for x in body.get_operations())
            yield from operations_in(body, path if named_after else f"{path}{op.name}/")


def called_by(op) -> Iterator:
    """The graphs of the functions that an operation calls, such as the branches of an `If`."""
    for attribute in op.op_def.attr:
        if attribute.type in ("func", "list(func)"):
            value = op.get_attr(attribute.name)
            for called in value if attribute.type == "list(func)" else [value]:
                function = op.graph._get_function(called.name)
                if function is not None:
                    yield function.graph


def _line_of(op):
    """The reader's line; "" where a graph was loaded, which remembers none."""
    for frame in reversed(op.traceback or ()):
        file, where = frame.filename, f"line {frame.lineno}"
        inside = f" in {frame.name}" if frame.name.isidentifier() else ""
        if file.startswith(HERE):  # what stands above a call of a helper made no operation
            break
        if CELL.search(file):
            return f"{where}{inside}"
        if not file.startswith(("<", *LIBRARIES)):
            return f"{Path(file).name}, {where}{inside}"
    return ""


def _places(make, found, layers):
    """What `make` makes of the first operation of each type in each layer."""
    layer_of, first = finder(layers), {}
    for one in found:
        first.setdefault((one.type, layer_of(one.name) or ""), one)
    return [make(*place, _line_of(one.op)) for place, one in first.items()]


def _lasts(one):
    """Those that are named Stateful draw from a variable, which can be put back."""
    if one.type in DRAWS:
        return one.op.op_def.is_stateful and not one.type.startswith("Stateful")
    made_here = one.op.inputs and one.op.inputs[0].op.type.startswith("Anonymous")
    return LASTING.fullmatch(one.type) and not made_here


def _refusal(kind, layer="", line=""):
    mend = next(mend for kinds, mend in MENDS if not kinds or re.fullmatch(kinds, kind))
    return Refusal(OF_TEXT.get(kind, kind), layer, line, mend)


def _has_no_kernel(operation):
    from tensorflow.python.framework import kernels

    registered = kernels.get_registered_kernels_for_op(operation).kernel
    known = any(re.fullmatch(r"XLA_\w+_JIT", kernel.device_type) for kernel in registered)
    return not known and operation != "Placeholder"
