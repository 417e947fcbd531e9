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

    A copy of an earlier run stays when this one is interrupted or its kernel does not start.

    Raises: Refused, UsageError for what is no notebook, OSError; KeyboardInterrupt, which says
    where things are.
    """
    copy = build / source.name
    _check_place(copy, source)
    try:
        with alone(build / f".{source.stem}.lock"):
            _run_copy(with_values(read(source), values), source.parent, copy, started)
    except Taken as taken:
        raise Refused(f"another run of it is under way, process {taken}") from taken


def _results():
    """The folder of results as it is named here; a notebook runs in another folder."""
    named = os.environ.get("XLA_RESULTS")
    return {"XLA_RESULTS": os.path.abspath(named)} if named else {}


def _check_place(copy, source):
    """Refuse a link out of the folder of the copies, and one to the notebook itself."""
    target, folder = Path(os.path.realpath(copy)), os.path.realpath(copy.parent)
    if not target.is_relative_to(folder) or target == Path(os.path.realpath(source)):
        raise Refused(f"{os.path.relpath(copy)} leads to {target}, where no copy is written")


def _run_copy(notebook, folder, copy, started):
    begun = []

    def note(cell, cells):
        begun.append(cell)
        started(cell, cells)

    try:
        execute(notebook, folder, os.environ | _results(), note)
    except Refused as refusal:
        said = _written(notebook, copy) if begun else _left(notebook, copy)
        raise Refused(f"{refusal}\n    {said}") from refusal
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(_left_anyhow(notebook, copy)) from interrupt
    _written(notebook, copy)


def _written(notebook, copy):
    """Write the copy. Returns: where it is."""
    write_file(copy, nbformat.writes(notebook) + "\n")
    return f"see {os.path.relpath(copy)}"


def _left(notebook, copy):
    """Write the copy of a run that came to nothing, unless one is there. Returns: where it is."""
    if copy.exists():
        return f"{os.path.relpath(copy)} is of an earlier run"
    return _written(notebook, copy)


def _left_anyhow(notebook, copy):
    """The same, where an error may not hide that somebody pressed Ctrl-C."""
    try:
        return _left(notebook, copy)
    except OSError as error:
        return str(error)
