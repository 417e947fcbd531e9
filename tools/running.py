"""`make run`: copies of the notebooks in build/, executed with other parameters."""

import os
from collections.abc import Callable
from pathlib import Path

import nbformat

from tools.alone import Taken, alone
from tools.collection import UsageError, read
from tools.kernels import Refused, execute
from tools.parameters import given_to, parameters_of, with_values
from xla_helpers.writing import write_file


def given_in(notebooks: list[Path], given: list[list[str]]) -> dict[Path, dict[str, object]]:
    """What each notebook is given: name to value. given: a name and texts, as on a command line.

    Raises: UsageError, by name, for a parameter that none has, or that is out of its range.
    """
    return given_to({path: _parameters(path) for path in notebooks}, given)


def _parameters(path):
    try:
        return parameters_of(read(path))
    except (UsageError, OSError):  # running it says what is wrong with it
        return {}


def run_one(
    source: Path, build: Path, values: dict[str, object], started: Callable[[int, int], None]
) -> None:
    """Execute a copy of the notebook at `source` in the folder `build`, and write it there.

    Raises: Refused, UsageError for what is no notebook, OSError.
    """
    copy = build / source.name
    try:
        with alone(build / f".{source.stem}.lock"):
            _run_copy(with_values(read(source), values), source.parent, copy, started)
    except Taken as taken:
        raise Refused(f"another run of it is under way, process {taken}") from taken


def _results():
    """The folder of results as it is named here; a notebook runs in another folder."""
    named = os.environ.get("XLA_RESULTS")
    return {"XLA_RESULTS": os.path.abspath(named)} if named else {}


def _run_copy(notebook, folder, copy, started):
    reason = ""
    try:
        execute(notebook, folder, os.environ | _results(), started)
    except Refused as refusal:
        reason = str(refusal)
    finally:
        write_file(copy, nbformat.writes(notebook) + "\n")
    if reason:
        raise Refused(f"{reason}\n    see {os.path.relpath(copy)}")
