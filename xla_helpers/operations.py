"""The operations of a graph, and the Keras layers in which they stand."""

import inspect
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from .errors import UNSUPPORTED

KNOWN = tomllib.loads((Path(__file__).parent / "data/operations.toml").read_text("utf-8"))
NOT_KERNELS, HOLDERS, DROPPED = (
    frozenset(KNOWN[kind].split()) for kind in ("not_kernels", "holders", "dropped")
)
GUARD = re.compile(r"(/Assert)*(/AssertGuard/Assert)?$")  # what TensorFlow adds to a check's name

RANDOM = re.compile(
    r"(?!.*(Dataset|GetAlg|GetKeyCounter|FullInt))\w*(Random|Multinomial|CandidateSampler|TruncatedNormal"
    r"|StandardNormal|StatefulUniform|SampleDistorted|StatelessShuffle)\w*"
)
"""Operations that draw random numbers, without those that only prepare a seed."""

LIBRARY = re.compile(r"/lib(64)?/python3(\.\d+)?/")  # where Python and its packages are installed
NUMBER = re.compile(r"_\d+$")  # what TensorFlow adds to a name that is taken


class Operation(NamedTuple):
    """An operation that a graph can reach: its name in the whole, its type, TensorFlow's object."""

    name: str
    type: str
    op: Any


@dataclass(frozen=True)
class Place:
    """An operation that XLA refuses, as its reader knows it.

    Attributes:
        operation: Its type, with that of its elements where XLA knows others, such as "Cumsum of
            int8"; or in words what an argument or a result holds.
        layer: The path of the layer in which it stands, or "".
        line: The reader's line that made it, such as ``model.py, line 12 in step``, or "".
        fix: What to write instead.
    """

    operation: str
    layer: str = ""
    line: str = ""
    fix: str = ""

    def __str__(self):
        inside = f" in {self.layer}" if self.layer else ""
        return f"{self.operation}{inside}{f' ({self.line})' if self.line else ''}"


def see(row: str) -> str:
    """Words that lead to a row of the manual."""
    return f"What it means, and what to do: docs/messages.md#{row}"


def operations_in(graph, path: str = "") -> Iterator[Operation]:
    """Each operation that a graph can reach, in bodies of loops, branches and functions too."""
    for op in graph.get_operations():
        yield Operation(path + op.name, op.type, op)
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


def dropped_checks_in(found: Iterable[Operation]) -> tuple[str, ...]:
    """The names of the checks among operations, without what TensorFlow adds to them."""
    names = (one.name for one in found if one.type in DROPPED)
    return tuple(dict.fromkeys(GUARD.sub("", name) or name for name in names))


def unsupported_in(found, error, layers) -> tuple[Place, ...]:
    """The operations that an error names, then all others of the graph without a kernel for XLA.

    None after an error that names none, because XLA leaves out what no result needs. The registry
    of kernels is full only once XLA has compiled something.
    """
    named = {(kind, node): elements for kind, node, elements in UNSUPPORTED.findall(str(error))}
    places: dict = {}  # of the first operation of each type in each layer
    for one in found if named else ():
        same = [x for x in named if x[0] == one.type and f"/{one.name}".endswith(f"/{x[1]}")]
        if same or _has_no_kernel(one.type):
            elements = "".join(named[x].lower() for x in same)
            kind = f"{one.type} of {elements}" if elements else one.type
            where = kind, layer_at(one.name, layers) or ""
            places.setdefault(where, Place(*where, _line_of(one.op)))
    known = {kind.partition(" ")[0] for kind, _ in places}
    nowhere = sorted({kind for kind, _ in named} - known)
    return tuple(map(_with_fix, [*map(Place, nowhere), *places.values()]))


def compiled_in(found: Iterable[Operation]) -> tuple[str, ...]:
    """The names of the functions of a graph that are compiled with ``jit_compile=True``."""
    calls = [one.op for one in found if "_XlaMustCompile" in one.op.node_def.attr]
    names = (op.get_attr("f").name for op in calls if op.get_attr("_XlaMustCompile"))
    return tuple(dict.fromkeys(re.sub(r"^__inference_|_\d+$", "", name) for name in names))


def _line_of(op):
    """The reader's line; "" where a graph was loaded, which remembers none."""
    helpers = f"{Path(__file__).parent}/"  # who called a helper made no operation
    for frame in reversed(op.traceback or ()):
        if frame.filename.startswith(helpers):
            break
        if not LIBRARY.search(frame.filename):
            file = Path(frame.filename)
            named = f"{file.name}, " if file.is_file() else ""  # a cell of a notebook is no file
            return f"{named}line {frame.lineno} in {frame.name}"
    return ""


def _with_fix(place):
    fits = (kinds for kinds in KNOWN["fixes"] if re.fullmatch(kinds, place.operation))
    name = KNOWN["names"].get(place.operation, place.operation)
    return replace(place, operation=name, fix=KNOWN["fixes"][next(fits)])


def _has_no_kernel(operation):
    from tensorflow.python.framework import kernels

    registered = kernels.get_registered_kernels_for_op(operation).kernel
    known = any(re.fullmatch(r"XLA_\w+_JIT", kernel.device_type) for kernel in registered)
    return not known and operation != "Placeholder"


def layers_of(fn: Callable) -> dict[str, Any]:
    """Find the Keras layers of a model, or of the models that a function names.

    A path is made of names, such as ``augmentation/random_zoom``; the name of a model that is alone
    at the top is left out. Models are not listed, their layers are, and so is a layer that holds
    others, which may do work of its own. Of two layers with one path the first is listed.

    Args:
        fn: A model, a layer, a method of one, or a function that reads one from its closure or from
            a global name. Lists of models, and functions that it calls, are not searched.

    Returns:
        Path to layer, in the order in which models hold them.

    Example:
        >>> import keras
        >>> inner = keras.Sequential([keras.layers.Rescaling(2, name="double")], name="inner")
        >>> list(layers_of(keras.Sequential([inner, keras.layers.Flatten(name="row")])))
        ['inner/double', 'row']
    """
    python = inspect.unwrap(fn)
    named: list[Any] = [fn, python, *(getattr(x, "__self__", None) for x in (fn, python))]
    if inspect.isfunction(python):
        read = inspect.getclosurevars(python)
        named += [*read.nonlocals.values(), *read.globals.values()]
    reached = {id(x): x for x in named if hasattr(type(x), "_flatten_layers")}
    held = {id(part) for x in reached.values() for part in x._flatten_layers(include_self=False)}
    tops = [x for x in reached.values() if id(x) not in held]
    found: dict[str, Any] = {}
    for top in tops:
        _add(found, "" if len(tops) == 1 and hasattr(top, "train_step") else top.name, top)
    return found


def _add(found, path, layer):
    """Add a layer and those that it holds, or those of a model."""
    if not hasattr(layer, "train_step"):  # no model
        found.setdefault(path, layer)
    for part in layer._flatten_layers(include_self=False, recursive=False):
        if type(part).__name__ != "InputLayer":
            _add(found, f"{path}/{part.name}".lstrip("/"), part)


def layer_at(name: str, layers: Mapping[str, Any]) -> str | None:
    """The path of the innermost layer in which an operation of this name stands; None outside all.

    Keras 3 until 3.15 opens two scopes a call, and the work is in the second, to which TensorFlow
    adds a number: `dense_1` is ``dense_1_1``.

    >>> import keras
    >>> layer_at("model_1/dense_1_1/MatMul", {"dense_1": keras.layers.Dense(1)})
    'dense_1'
    """
    scopes = name.split("/")[:-1]
    if any(map(_opens_two_scopes, layers.values())):
        scopes = [NUMBER.sub("", scope) for scope in scopes if NUMBER.search(scope)]
    inside = [path for path in layers if _in_order(path.split("/"), iter(scopes))]
    return max(inside, key=lambda path: path.count("/"), default=None)


def _in_order(parts, scopes):
    return all(part in scopes for part in parts)  # each one behind the one before


def _opens_two_scopes(layer):
    if not hasattr(layer, "path"):  # Keras 2
        return False
    import keras

    return tuple(map(int, keras.__version__.split(".")[:2])) < (3, 16)
