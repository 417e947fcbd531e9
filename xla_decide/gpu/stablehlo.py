"""A function in StableHLO, the language in which programs travel between compilers."""

import math
import re
from dataclasses import dataclass

import numpy as np

from xla_helpers.calls import Call
from xla_helpers.errors import UNSUPPORTED, headline
from xla_helpers.look.operations import unsupported_in

MAIN = re.compile(r"func\.func (?:public )?@main\((.*)\) -> (.*) \{$", re.MULTILINE)
TENSOR = re.compile(r"tensor<((?:\d+x)*)(\w+(?:<\w+>)?)(,[^>]*)?>")
SPLIT = re.compile(r'mhlo\.sharding = "\{devices=\[([\d,]+)\]')
DONATED = re.compile(r"parameter_number = (\d+)")
COPY = re.compile(r"mhlo\.copy (%\w+) :")  # of an assignment: other XLAs do not know it
# Bools in hexadecimal digits, of which one release writes a bit each and another one a byte.
BOOLS = re.compile(r'dense<"0x([0-9A-Fa-f]+)">(?= : tensor<((?:\d+x)+)i1>)')
NAMED = re.compile(r'(?m)^(#loc\d*) = loc\("([^"]*)"\)$')  # the name of an operation
FUSED = re.compile(r"(?m)^(#loc\d*) = loc\(fused\[(#loc\d*), ")  # that, and a line of Python
PLACES = re.compile(r"(?m)^#loc.*\n| loc\((?:[^()]|\([^()]*\))*\)")  # lines of Python, by machine


@dataclass(frozen=True)
class Array:
    """An argument or a result of a program.

    Attributes:
        shape: Its shape.
        dtype: StableHLO's name of its type, such as "f32".
        parts: Into how many parts each dimension is split among devices; () where it is not.
    """

    shape: tuple[int, ...]
    dtype: str
    parts: tuple[int, ...] = ()


@dataclass(frozen=True)
class Module:
    """A program in StableHLO.

    Attributes:
        text: The program.
        arguments: What it takes: those of the function, then the variables that it uses.
        results: What it gives: those of the function, then the variables that it assigns.
        donated: The indices of the arguments whose memory results may take over.
        names: For each line of the text the name of the operation that it came from, or "".
    """

    text: str
    arguments: tuple[Array, ...]
    results: tuple[Array, ...]
    donated: tuple[int, ...]
    names: tuple[str, ...] = ()


def as_compiled(call: Call) -> Call:
    """The call of a function that has ``jit_compile=True``, with tensors and all defaults."""
    return _of_specs_alone(call.with_tensors()).as_compiled().with_defaults()


def _of_specs_alone(call):
    """The call with every `tf.TensorSpec` as an argument of its own, and all else in its function.

    TensorFlow gives the program of a call that has tensors alone, or specs alone.
    """
    import tensorflow as tf

    given = call.args, call.kwargs
    leaves = tf.nest.flatten(given)
    specs = [leaf for leaf in leaves if isinstance(leaf, tf.TensorSpec)]
    if not specs:
        return call

    def of_specs(*tensors):
        left = iter(tensors)
        filled = [next(left) if isinstance(x, tf.TensorSpec) else x for x in leaves]
        args, kwargs = tf.nest.pack_sequence_as(given, filled)
        return call.python(*args, **kwargs)

    of_specs.__name__ = call.name.strip("<>")  # AutoGraph looks for the source of a "<lambda>"
    return Call(of_specs, specs)


def stablehlo_of(call: Call) -> Module:
    """The program of a call in StableHLO, with variables as arguments; nothing is run.

    Text comes from TensorFlow for its own processor: it is the same for a GPU, for which it can be
    had only without variables.

    Args:
        call: What `as_compiled` gives.

    Raises:
        ValueError: For what XLA refuses, and for shapes that are known only while it runs.
    """
    try:
        stages = call.fn.experimental_get_compiler_ir(*call.args, **call.kwargs)
        text = stages(stage="stablehlo", platform_name="CPU")
    except Exception as error:
        if isinstance(error, TypeError) and not UNSUPPORTED.search(str(error)):
            raise
        refused = [f"{one}: {one.fix}" for one in unsupported_in([], error, {})]
        why = "; ".join(refused) or headline(error).partition(": ")[2]
        raise ValueError(f"XLA does not take `{call.name}`: {why}") from error
    names = _names_in(text)
    text = PLACES.sub("", COPY.sub(r"stablehlo.convert \1 :", text))
    text = BOOLS.sub(_spelled_out, text)
    found = MAIN.search(text)
    if found is None or "tensor<?" in text:
        raise ValueError(f"`{call.name}` has shapes that are known only while it runs")
    arguments = map(_array, re.split(r", (?=%arg\d)", found[1]) if found[1] else ())
    results = (_array(one[0]) for one in TENSOR.finditer(found[2]))
    donated = map(int, DONATED.findall(text))
    return Module(text, tuple(arguments), tuple(results), tuple(donated), names)


def _names_in(text):
    """For each line of a program without its places, the name of its operation."""
    named = dict(NAMED.findall(text))
    named |= {place: named.get(first, "") for place, first in FUSED.findall(text)}
    lines = (line for line in text.splitlines() if not line.startswith("#loc"))
    found = (re.search(r" loc\((#loc\d*)\)$", line) for line in lines)
    return tuple(named.get(one[1], "") if one else "" for one in found)


def _spelled_out(found):
    """A constant of bools as nested lists, which each release reads."""
    data = np.frombuffer(bytes.fromhex(found[1]), np.uint8)
    shape = tuple(map(int, found[2].split("x")[:-1]))
    count = math.prod(shape)
    bools = data if len(data) == count else np.unpackbits(data, bitorder="little")[:count]
    return f"dense<{bools.astype(bool).reshape(shape).tolist()}>".lower()


def _array(text):
    dimensions, dtype, _ = TENSOR.search(text).groups()
    split = SPLIT.search(text)
    shape = tuple(map(int, dimensions.split("x")[:-1]))
    return Array(shape, dtype, tuple(map(int, split[1].split(","))) if split else ())
