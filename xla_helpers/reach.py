"""What the Python of a function can reach: its object, its closure, the globals that it reads."""

import dis
import functools
import inspect
import sys
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType, MethodType, ModuleType

from .operations import is_library
from .state import python_of

MOST = 10_000  # objects that are looked at; a function that reaches more is not followed further

SCALARS = (int, float, complex, str, bytes, type(None))  # equal ones may be one object


def reached(fn) -> dict[str, object]:
    """What the Python of `fn` can reach without entering a library: name to object.

    A name is what the reader wrote, such as ``history`` for a global, ``self.weights`` for an
    attribute, ``layers[0]`` for an entry. Modules and functions are passed through, not listed.
    """
    found, seen = {}, {}  # `seen` keeps what it has seen alive, so that no id comes twice
    stack = [("self", python_of(fn))]
    while stack and len(seen) < MOST:
        name, value = stack.pop()
        if isinstance(value, (ModuleType, type)):
            continue
        if not isinstance(value, SCALARS):
            if id(value) in seen:
                continue
            seen[id(value)] = value
        inside = list(_inside(name, value))
        if not _is_code(value):
            found[name] = value
        stack += reversed(inside)
    return found


def _is_code(value):
    return (
        isinstance(value, (FunctionType, MethodType, functools.partial))
        or hasattr(value, "get_concrete_function")
        and not hasattr(value, "variables")
    )


def _inside(name, value) -> Iterator[tuple[str, object]]:
    value = python_of(value)
    if isinstance(value, functools.partial):
        yield name, value.func
        yield from ((f"argument {i}", part) for i, part in enumerate(value.args, 1))
        yield from value.keywords.items()
    elif isinstance(value, MethodType):
        yield "self", value.__self__
        yield name, value.__func__
    elif isinstance(value, FunctionType):
        if not is_library(value.__code__.co_filename):
            yield from _read_by(value)
    elif isinstance(value, Mapping):
        yield from ((f"{name}[{key!r}]", part) for key, part in value.items())
    elif isinstance(value, (list, tuple)):
        yield from ((f"{name}[{i}]", part) for i, part in enumerate(value))
    elif _is_readers_object(value):
        hides = any(map(_is_library_class, type(value).__mro__[:-1]))  # bookkeeping of its own
        for key, part in vars(value).items():
            if not (hides and key.startswith("_")):
                yield f"{name}.{key}", part
        for method in (getattr(type(value), called, None) for called in ("__call__", "call")):
            if isinstance(method, FunctionType):
                yield name, method


def _read_by(function):
    """What a function takes from around itself: closure, defaults, and globals by name."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not filled yet
            continue
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is not parameter.empty:
            yield name, parameter.default
    for name in _global_names(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]


def _global_names(code: CodeType):
    names = {i.argval: None for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= dict.fromkeys(_global_names(constant))
    return names


def _is_readers_object(value):
    """An instance of a class that the reader wrote, such as their subclass of a library's."""
    return hasattr(value, "__dict__") and not _is_library_class(type(value))


def _is_library_class(kind):
    file = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    return kind.__module__ == "builtins" or is_library(file)
