"""A reader's model: a file, imported as its own project would import it, or what was saved."""

import importlib
import os
import runpy
import sys
from collections.abc import Mapping
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .saved_file import is_saved, load

ABOVE = 4  # folders above a file in which a name that it imports is looked for
PACKAGES = {  # well-known modules to the package that brings each
    "cv2": "opencv-python",
    "PIL": "pillow",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}


class Unfit(ValueError):
    """A file that cannot be judged, and why, in a sentence."""


def loaded(file: Path, name: str, options: Mapping[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Load a model, with its example calls and options.

    Args:
        file: Of Python, or of what was saved.
        name: Its function without arguments, or a signature, or "".
        options: Options of `decide` in place of the file's; of what was saved, also `batches` and
            `below`.

    Returns:
        What is called, the example calls, and the options.

    Raises:
        Unfit: For a file that does not do what it should.
        Exception: Whatever it raises.
    """
    if is_saved(file):
        own = {x: value for x, value in options.items() if x not in ("batches", "below")}
        fn, batches = load(file, name, options.get("batches"), options.get("below"))
        return fn, batches, own
    fn, batches, more = _made(str(file), name)
    return fn, batches, more | options


class _Above:
    """Finds what lies in the folders above a file, after all else was asked."""

    def __init__(self, file):
        self._folders = [str(folder) for folder in Path(file).parents[:ABOVE]]

    def find_spec(self, name, path=None, target=None):
        """Called by Python for a module that nobody else has found."""
        return PathFinder.find_spec(name, self._folders) if path is None else None


def names_in(file: str) -> Mapping[str, Any]:
    """Import a file, as a part of its package where it has one.

    What lies beside it can be imported, and what lies above it, where no package has that name.

    Args:
        file: Its path, absolute.

    Returns:
        Its names.

    Raises:
        Exception: Whatever it raises.
    """
    path = Path(file)
    sys.path.insert(0, str(path.parent))
    sys.meta_path.append(_Above(file))
    folder, parts = path.parent, [path.stem]
    while (folder / "__init__.py").is_file():
        folder, parts = folder.parent, [folder.name, *parts]
    if len(parts) == 1:
        return runpy.run_path(file)
    sys.path[0] = str(folder)
    return vars(importlib.import_module(".".join(parts)))


def why_not_found(error: ModuleNotFoundError, file: str) -> str:
    """What a file imports and nobody has, in words.

    No command to install it stands there: a package of that name may be a stranger's.
    """
    path, missing = Path(file), error.name or ""
    package = missing.partition(".")[0]
    if package == path.stem:
        return f"{path.name} has the name of a package: give it another one"
    if package and package != missing and _is_there(package):
        return f"{path.name}: {error}"
    brings = f"; the package is {PACKAGES[package]}" if package in PACKAGES else ""
    return f"{path.name} imports {package or error}, which is not in this environment{brings}"


def _is_there(package):
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def _made(file, name):
    """What the function in the file returns: the model, the example calls, and options."""
    sys.argv = [file]
    try:
        names = names_in(file)
        if name not in names:
            mine = [x for x, value in names.items() if callable(value) and x[0] != "_"]
            raise Unfit(f"there is no `{name}` in {Path(file).name}; it has {', '.join(mine)}")
        made = names[name]()
    except SystemExit as error:
        raise Unfit(
            f"{Path(file).name} ends the process itself (SystemExit: {error}), perhaps because it "
            "reads command-line arguments: it is given none"
        ) from error
    except ModuleNotFoundError as error:
        raise Unfit(why_not_found(error, file)) from error
    if not isinstance(made, (tuple, list)) or not 2 <= len(made) <= 3:
        raise Unfit(
            f"`{name}` must return (model, example calls) or (model, example calls, options), not "
            f"{_kind(made)}"
        )
    fn, batches, *more = made
    if isinstance(fn, (str, os.PathLike)):
        raise Unfit(
            f"`{name}` returns a path, {fn}, in place of a model: load it there, and keep what "
            "tf.saved_model.load returns in a global name; or ask xla-decide for the path itself"
        )
    return fn, batches, dict(*more)


def _kind(made):
    if isinstance(made, (tuple, list)):
        return f"{len(made)} things"
    return f"a {type(made).__name__}: are the example calls missing?"
