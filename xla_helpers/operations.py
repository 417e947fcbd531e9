"""The operations of a graph: checks, draws, and what XLA has no code for."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from .errors import UNSUPPORTED
from .layers import layer_at

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

MENDS = {
    r"Print(V2)?|StringFormat": "print outside of the compiled function, from what it returns",
    r"EagerPyFunc|PyFunc\w*": (
        "write it with TensorFlow's operations, or call it before or after the compiled function"
    ),
    r"\w*LookupTable\w*|\w*Hash(Table|Bucket)\w*": (
        "look it up outside of the compiled function, and pass numbers"
    ),
    r"ReadFile|(Decode|Encode|Parse|Resize|CropAndResize|Adjust|ImageProjectiveTransform)\w*": (
        "do it in the data pipeline, before the compiled function"
    ),
    r"_Arg|_Retval|\w*VariableOp|\w*String\w*|Unicode\w*|\w*Regex\w*|Substr|ReduceJoin": (
        "leave text outside of the compiled function, and pass numbers: XLA knows no text"
    ),
    r"\w+": "call it before or after the compiled function, or write it with other operations",
}
"""What to write instead of an operation that XLA has no code for: the first that fits."""

OUT_OF_THE_MODEL = (
    "while the model holds it, Keras compiles none of the model with XLA: do it in the data "
    "pipeline or before the model; if it has weights to learn, compile the parts around it yourself"
)

OF_TEXT = {"_Arg": "text or a table as an argument", "_Retval": "text as a result"}
"""Operations that XLA has code for and refuses all the same, because of what they hold."""

LIBRARY = re.compile(r"/lib(64)?/python3(\.\d+)?/")  # where Python and its packages are installed
HERE = f"{Path(__file__).parent}/"


class Found(NamedTuple):
    """An operation that a graph can reach: its name in the whole, its type, TensorFlow's object."""

    name: str
    type: str
    op: object


@dataclass(frozen=True)
class Place:
    """An operation as its reader knows it, or a layer because of which Keras leaves XLA out.

    operation: its type, or the class of the layer. layer: the path of the layer in which it stands,
    or "". line: the reader's line that made it, such as ``model.py, line 12 in step``, or "".
    mend: what to write instead of what is refused; else "".
    """

    operation: str
    layer: str = ""
    line: str = ""
    mend: str = ""

    @property
    def where(self) -> str:
        """The operation with its layer and line, in words."""
        inside = f" in {self.layer}" if self.layer else ""
        return f"{self.operation}{inside}{f' ({self.line})' if self.line else ''}"

    def __str__(self):
        return f"{self.where}: {self.mend}" if self.mend else self.where


def checks_in(found: Iterable[Found]) -> tuple[str, ...]:
    """The names of the checks among operations, without what TensorFlow adds to them."""
    names = (one.name for one in found if one.type in VANISHING)
    return tuple(dict.fromkeys(GUARD.sub("", name) or name for name in names))


def draws_in(found: Iterable[Found], layers: Mapping[str, object]) -> tuple[Place, ...]:
    """The operations that draw random numbers, each once in a layer; `layers` as of `layers_of`."""
    return _places([one for one in found if one.type in DRAWS], layers)


def unsupported_in(
    found: Iterable[Found], error: Exception | None, layers: Mapping[str, object]
) -> tuple[Place, ...]:
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
    return tuple(map(_mended, (*map(Place, nowhere), *_places(refused, layers))))


def refused_by_keras(layers: Mapping[str, object]) -> tuple[Place, ...]:
    """The layers because of which `compile` of Keras leaves XLA out, for all of their model.

    A `tf.function` around the model with ``jit_compile=True`` does not ask them.
    """
    return tuple(
        Place(type(layer).__name__, path, mend=OUT_OF_THE_MODEL)
        for path, layer in layers.items()
        if not getattr(layer, "supports_jit", True)
    )


def operations_in(graph, path: str = "") -> Iterator[Found]:
    """Every operation that a graph can reach, bodies of loops, branches and calls too.

    path: what stands before the names.
    """
    for op in graph.get_operations():
        yield Found(path + op.name, op.type, op)
        for body in _called_by(op):
            # The body of a loop names its operations after the loop, a function does not.
            named_after = any(x.name.startswith(f"{op.name}/") for x in body.get_operations())
            yield from operations_in(body, path if named_after else f"{path}{op.name}/")


def _called_by(op):
    """The graphs of the functions that an operation calls, such as the branches of an `If`."""
    for attribute in op.op_def.attr:
        if attribute.type in ("func", "list(func)"):
            value = op.get_attr(attribute.name)
            for called in value if attribute.type == "list(func)" else [value]:
                function = op.graph._get_function(called.name)
                if function is not None:
                    yield function.graph


def _places(found, layers):
    """The first operation of each type in each layer."""
    first = {}
    for one in found:
        first.setdefault((one.type, layer_at(one.name, layers) or ""), one)
    return tuple(Place(*place, _line_of(one.op)) for place, one in first.items())


def _line_of(op):
    """The reader's line; "" where a graph was loaded, which remembers none."""
    for frame in reversed(op.traceback or ()):
        if frame.filename.startswith(HERE):  # who called a helper made no operation
            break
        if not LIBRARY.search(frame.filename):
            file = Path(frame.filename)
            named = f"{file.name}, " if file.is_file() else ""  # a cell of a notebook is no file
            return f"{named}line {frame.lineno} in {frame.name}"
    return ""


def _mended(place):
    kind = place.operation
    mend = next(mend for kinds, mend in MENDS.items() if re.fullmatch(kinds, kind))
    return replace(place, operation=OF_TEXT.get(kind, kind), mend=mend)


def _has_no_kernel(operation):
    from tensorflow.python.framework import kernels

    registered = kernels.get_registered_kernels_for_op(operation).kernel
    known = any(re.fullmatch(r"XLA_\w+_JIT", kernel.device_type) for kernel in registered)
    return not known and operation != "Placeholder"
