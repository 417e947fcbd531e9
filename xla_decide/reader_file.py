"""A reader's file, imported as its own project would import it."""

import importlib
import runpy
import sys
from collections.abc import Mapping
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ABOVE = 4  # folders above a file in which a name that it imports is looked for
PACKAGES = {  # well-known modules to the package that brings each
    "cv2": "opencv-python",
    "PIL": "pillow",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}


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
