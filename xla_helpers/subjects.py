"""What a comparison is about, told without names, addresses or values of weights."""

import ast
import functools
import hashlib
import inspect
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import FunctionType, MethodType

from .reach import is_library, python_of, reached

DIGITS = 8  # of a fingerprint
LONGEST = 200  # characters of an argument's text
MOST = 100  # arguments that are told one by one
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
PLAIN = (bool, int, float, complex, type(None))  # shown as they are; all else by type and size


@dataclass(frozen=True)
class Subject:
    """What was measured. It is the same on every machine, in every mode, with other weights.

    model: a fingerprint of the model, whatever it is called with: of the shapes and dtypes of the
    variables, or of the source where there are none. code: a fingerprint of the source.
    arguments: what it was called with, such as "float32[1, 224, 224, 3]". variables: how many
    numbers the model's variables hold.
    """

    model: str
    code: str
    arguments: tuple[str, ...]
    variables: int

    @property
    def fingerprint(self) -> str:
        """Of the model, the source around it and the arguments together."""
        return fingerprint([self.model, self.code, *self.arguments])


def subject_of(candidates: Iterable[Callable], args=(), kwargs=None) -> Subject:
    """What `candidates` are about when they are called with these arguments.

    candidates: functions, or label to function; a model is known by its variables, so they must
    have been made: call it once before. Candidates with equal variables count as one.
    """
    functions = list(candidates.values() if isinstance(candidates, Mapping) else candidates)
    kwargs = kwargs or {}
    given = [*leaves(args), *leaves(kwargs)]
    weights = [_variables([*_objects(fn), *given]) for fn in functions]
    specs = sorted({tuple(sorted(map(_spec, found))) for found in weights if found})
    sources = sorted({text for fn in functions for text in _sources(fn)})
    known = specs or [sources or sorted({_name(fn) for fn in functions}), _arrays(functions)]
    return Subject(
        fingerprint(known),
        fingerprint(sources),
        _described(args, kwargs),
        max((sum(map(_size, found)) for found in weights), default=0),
    )


def fingerprint(content) -> str:
    """Some hexadecimal digits that stand for texts and lists of them."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:DIGITS]


def leaves(value) -> Iterator:
    """What a nest of dicts, lists and tuples holds."""
    if isinstance(value, Mapping):
        value = [value[key] for key in sorted(value, key=str)]
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from leaves(part)
    else:
        yield value


# Variables and arrays


def _objects(fn):
    """What a function can reach, and itself."""
    return [fn, *reached(fn).values()]


def _variables(objects):
    """The variables that are among `objects`, or that one of them owns, each once."""
    owned = [variable for value in objects for variable in (value, *_owned(value))]
    return list({id(_inner(v)): v for v in owned if _is_variable(v)}.values())


def _owned(value):
    """The weights of a Keras layer, the variables of a module, an optimizer or a function."""
    for function in (value, getattr(value, "__dict__", {}).get("__call__")):  # of a SavedModel
        concrete = getattr(function, "concrete_functions", ())
        if isinstance(concrete, (list, tuple)):
            yield from itertools.chain.from_iterable(part.variables for part in concrete)
    for name in ("weights", "variables"):
        try:
            found = getattr(value, name, None)
        except Exception:  # such as a model that has not been called yet
            return
        if isinstance(found, (list, tuple)):
            yield from found
            return


def _is_variable(value):
    return _is_array(value) and hasattr(value, "assign")


def _inner(variable):
    """The variable of TensorFlow inside one of Keras 3."""
    inner = getattr(variable, "value", variable)
    return variable if callable(inner) else inner


def _arrays(functions):
    """The arrays that functions read from around them, which hold their weights or their data."""
    found = {id(v): v for fn in functions for v in reached(fn).values() if _is_array(v)}
    return sorted({_spec(value) for value in found.values()})


def _is_array(value):
    shape = getattr(value, "shape", None)
    is_shape = isinstance(shape, tuple) or type(shape).__name__ == "TensorShape"
    return is_shape and hasattr(value, "dtype")


def _shape(value):
    shape = value.shape
    return None if getattr(shape, "rank", 0) is None else tuple(shape)


def _size(variable):
    shape = _shape(variable)
    return 0 if shape is None or None in shape else math.prod(shape)


def _spec(value):
    dtype = getattr(value.dtype, "name", str(value.dtype)).removesuffix("_ref")
    if dtype.startswith(("str", "bytes")):  # NumPy counts the letters of the longest one
        dtype = "string"
    shape = _shape(value)
    sizes = "unknown shape" if shape is None else ", ".join(map(str, shape))
    kind = type(value).__name__.removesuffix("Tensor").lower()
    return f"{kind + ' ' if kind in ('ragged', 'sparse') else ''}{dtype}[{sizes}]"


# Arguments


def _described(args, kwargs):
    """Texts for the arguments; equal neighbours are counted, and so are those beyond `MOST`."""
    texts = [text[:LONGEST] for value in (*args, kwargs) for text in _texts(value)]
    counts = [(text, len(list(same))) for text, same in itertools.groupby(texts)]
    told = [text if count == 1 else f"{count} x {text}" for text, count in counts]
    rest = told[MOST:]
    return (*told[:MOST], *([f"{len(rest)} more, {fingerprint(rest)}"] if rest else []))


def _texts(value, name="", listed=False):
    if isinstance(value, Mapping):
        for key in sorted(value, key=str):
            yield from _texts(value[key], f"{name}.{key}" if name else str(key))
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _texts(part, name, listed=True)
    else:
        yield f"{name}: {_text(value, listed)}" if name else _text(value, listed)


def _text(value, listed):
    if _is_array(value):
        return _spec(value)
    if isinstance(value, PLAIN) and not listed:
        return repr(value)
    size = f"[{len(value)}]" if isinstance(value, (str, bytes)) else ""
    return type(value).__name__ + size


# Source


def _sources(fn) -> set[str]:
    """The source of the reader's functions that `fn` leads to, as texts that formatting spares."""
    found, seen, waiting = set(), set(), [fn]
    while waiting:
        for function in _functions(waiting.pop()):
            if function.__code__ in seen or is_library(function.__code__.co_filename):
                continue
            seen.add(function.__code__)
            for node in _parsed(function):
                found.add(_dump(node))
                waiting += _read_by(function, node)
    return found


def _functions(value):
    """The Python functions that a call of `value` begins with."""
    value = python_of(value)
    if isinstance(value, functools.partial):
        yield from _functions(value.func)
    elif isinstance(value, MethodType):
        yield from _functions(value.__func__)
    elif isinstance(value, FunctionType):
        yield value
    else:
        methods = (getattr(type(value), name, None) for name in ("__call__", "call"))
        yield from (method for method in methods if isinstance(method, FunctionType))


def _parsed(function) -> list[ast.AST]:
    """The function in its parsed file, without name, decorators and docstring.

    Empty where its source cannot be read; several where lambdas share a line.
    """
    try:
        lines, _ = inspect.findsource(function.__code__)
        tree = ast.parse("".join(lines))
    except (OSError, SyntaxError, ValueError):
        return []
    nodes = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    return [_bare(node) for node in nodes if _is_of(node, function)]


def _is_of(node, function):
    first = min(part.lineno for part in (node, *getattr(node, "decorator_list", ())))
    name = getattr(node, "name", "<lambda>")
    return (first, name) == (function.__code__.co_firstlineno, function.__code__.co_name)


def _bare(node):
    if not isinstance(node, ast.Lambda):
        node.name, node.decorator_list = "_", []
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return node


def _dump(part) -> str:
    """A part of parsed source as text, the same under every Python, which `ast.unparse` is not."""
    if isinstance(part, list):
        return f"[{', '.join(map(_dump, part))}]"
    if not isinstance(part, ast.AST):
        return repr(part)
    fields = [f"{name}={_dump(value)}" for name, value in ast.iter_fields(part) if value != []]
    return f"{type(part).__name__}({', '.join(fields)})"


def _read_by(function, node):
    """What a function takes from around itself by the names in its source."""
    names = sorted({part.id for part in ast.walk(node) if isinstance(part, ast.Name)})
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for name in names:
        if name in cells:
            with suppress(ValueError):  # not filled yet
                yield cells[name].cell_contents
        elif name in function.__globals__:
            yield function.__globals__[name]


def _name(fn):
    """What a function of a library is called."""
    fn = python_of(fn)
    if isinstance(fn, functools.partial):
        return _name(fn.func)
    named = fn if hasattr(fn, "__qualname__") else type(fn)
    return f"{getattr(named, '__module__', '')}.{named.__qualname__}"
