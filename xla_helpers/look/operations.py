"""The operations of a graph: which XLA refuses or drops, and which are compiled already."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from .. import internals
from ..errors import UNSUPPORTED
from .layers import layer_at
from .lines import line_of

PACKAGE = Path(__file__).parents[1]
KNOWN = tomllib.loads((PACKAGE / "data/operations.toml").read_text("utf-8"))
NOT_KERNELS, HOLDERS, DROPPED = (
    frozenset(KNOWN[kind].split()) for kind in ("not_kernels", "holders", "dropped")
)
GUARD = re.compile(r"(/Assert)*(/AssertGuard/Assert)?$")  # what TensorFlow adds to a check's name


class Operation(NamedTuple):
    """An operation that a graph can reach: its name in the whole, its type, TensorFlow's object."""

    name: str
    type: str
    op: Any


@dataclass(frozen=True)
class UnsupportedOp:
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
                function = internals.function_in(op.graph, called.name)
                if function is not None:
                    yield function.graph


def dropped_checks_in(found: Iterable[Operation]) -> tuple[str, ...]:
    """The names of the checks among operations, without what TensorFlow adds to them."""
    names = (one.name for one in found if one.type in DROPPED)
    return tuple(dict.fromkeys(GUARD.sub("", name) or name for name in names))


def unsupported_in(operations, error, layers) -> tuple[UnsupportedOp, ...]:
    """The operations that an error names, then all others of the graph without a kernel for XLA.

    None after an error that names none, because XLA leaves out what no result needs. The registry
    of kernels is full only once XLA has compiled something.
    """
    named = {(kind, node): elements for kind, node, elements in UNSUPPORTED.findall(str(error))}
    if not named:
        return ()
    places: dict = {}  # of the first operation of each type in each layer
    for operation in operations:
        kind, path = operation.type, f"/{operation.name}"
        keys = [key for key in named if key[0] == kind and path.endswith(f"/{key[1]}")]
        if keys or _has_no_kernel(kind):
            elements = "".join(named[key].lower() for key in keys)
            where = f"{kind} of {elements}" if elements else kind, layer_at(path[1:], layers) or ""
            places.setdefault(where, UnsupportedOp(*where, str(line_of(operation.op) or "")))
    known = {kind.partition(" ")[0] for kind, _ in places}
    nowhere = sorted({kind for kind, _ in named} - known)
    return tuple(map(_with_fix, [*map(UnsupportedOp, nowhere), *places.values()]))


def compiled_in(found: Iterable[Operation]) -> tuple[str, ...]:
    """The names of the functions of a graph that are compiled with ``jit_compile=True``."""
    calls = [one.op for one in found if "_XlaMustCompile" in one.op.node_def.attr]
    names = (op.get_attr("f").name for op in calls if op.get_attr("_XlaMustCompile"))
    return tuple(dict.fromkeys(re.sub(r"^__inference_|_\d+$", "", name) for name in names))


def _with_fix(place):
    fits = (kinds for kinds in KNOWN["fixes"] if re.fullmatch(kinds, place.operation))
    name = KNOWN["names"].get(place.operation, place.operation)
    return replace(place, operation=name, fix=KNOWN["fixes"][next(fits)])


def _has_no_kernel(operation):
    known = any(re.fullmatch(r"XLA_\w+_JIT", device) for device in internals.devices_of(operation))
    return not known and operation != "Placeholder"
