"""What is decided about by its name: a function that makes it, or a folder of a SavedModel."""

import difflib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from ..errors import headline
from ..reach import is_library
from ..state import fixed_streams
from ..targets import resolve

FORMS = '"package.module:make", "path/to/file.py:make" or the folder of a SavedModel'


def load(reference: str):
    """What a text names: the function that makes a model, or a loaded SavedModel.

    reference: "package.module:name", "path/file.py:name", or the folder of a SavedModel.
    Raises: ValueError when there is no such thing, or when its module cannot be imported.
    """
    if Path(reference).is_dir():
        return resolve(reference)
    place, colon, name = reference.rpartition(":")
    if not (colon and place and name):
        raise ValueError(f"{reference!r} names nothing that can be loaded: write {FORMS}")
    module = _module(place)
    if not hasattr(module, name):
        raise ValueError(f"{place} has no {name!r}: {_alternatives(module, name)}")
    found = getattr(module, name)
    if not callable(found):
        kind = type(found).__name__
        raise ValueError(f"{reference} is {kind}: name a function that makes what is decided about")
    return found


def make(reference: str) -> tuple[object, object, dict]:
    """What a reference stands for: what is decided about, its example calls, and options.

    A function is called without arguments; it returns what is decided about, or a tuple of that,
    the example calls, and perhaps a dict of options. NumPy's and Python's random numbers, of
    which Keras makes its seeds, are the same each time.

    Returns: what, batches or None, options.
    Raises: ValueError when nothing can be loaded or the function fails, TypeError when it returns
    something else.
    """
    with fixed_streams():
        found = load(reference)
        if Path(reference).is_dir():
            return found, None, {}
        return parts_of(_called(found, reference), reference)


def parts_of(made, reference: str) -> tuple[object, object, dict]:
    """What a maker returned, as what, batches or None, and options."""
    if not isinstance(made, tuple):
        made = (made,)
    if not 1 <= len(made) <= 3 or (len(made) == 3 and not isinstance(made[2], dict)):
        raise TypeError(
            f"{reference} returned {_kinds(made)}: let it return what is decided about, "
            "(what, batches) or (what, batches, options), where options is a dict"
        )
    what, batches, options = (*made, None, None)[:3]
    if not callable(what) and not hasattr(what, "signatures") and not _is_folder(what):
        raise TypeError(
            f"{reference} returned {type(what).__name__}, which cannot be called: let it return "
            "a function, a model, or (what, batches)"
        )
    return what, batches, dict(options or {})


def _is_folder(what):
    return isinstance(what, (str, Path)) and Path(what).is_dir()


def _kinds(made):
    return f"({', '.join(type(part).__name__ for part in made)})"


def _called(maker: Callable, reference):
    try:
        return maker()
    except Exception as error:  # whatever a reader's function raises
        raise ValueError(f"{reference} failed: {headline(error)}{_where(error)}") from error


def _module(place):
    try:
        return _from_file(Path(place)) if place.endswith(".py") else _by_name(place)
    except Exception as error:  # whatever a reader's module raises
        raise ValueError(f"{place} cannot be imported: {headline(error)}{_where(error)}") from error


def _by_name(name):
    """A module that stands in the working directory, or is installed."""
    _add_to_path(Path.cwd())
    return importlib.import_module(name)


def _from_file(path):
    """A file as a module, which may import its neighbours."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    _add_to_path(path.resolve().parent)
    spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


def _add_to_path(folder):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _where(error):
    """The last line of the reader's code that led to it, such as " (my_model.py, line 4)"."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({Path(error.filename).name}, line {error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _is_readers(frame.filename)]
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""


def _is_readers(file):
    return not is_library(file) and not file.startswith("<")


def _alternatives(module, name):
    """What a module defines, and what was perhaps meant."""
    names = [
        key
        for key, value in vars(module).items()
        if callable(value)
        and not key.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
    ]
    if not names:
        return "it defines no function"
    close = difflib.get_close_matches(name, names, 1)
    meant = f"; did you mean {close[0]!r}?" if close else ""
    return f"it has {', '.join(names)}{meant}"
