"""`make refresh`: the notebooks executed in place, the only source of committed outputs."""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools.collection import UsageError, read
from tools.kernels import Refused, execute, first_line
from tools.memory import PeakMemory
from tools.readme import check, refreshed
from tools.recorded import changes, lend_results, results
from xla_helpers.writing import write_files


def refresh_one(path: Path, started: Callable[[int, int], None]) -> None:
    """Execute a notebook in place, and keep what it recorded and cost; or leave all as it was.

    Raises: Refused for one that fails or writes to stderr; UsageError for what is no notebook;
    OSError.
    """
    root, before, notebook = path.parent.parent, path.read_bytes(), read(path)
    results(root)  # refuses what is no result, before anything runs
    check(root)
    with tempfile.TemporaryDirectory() as fresh:
        lend_results(path, Path(fresh), root)
        try:
            seconds, peak = _run(notebook, path.parent, fresh, started)
            if path.read_bytes() != before:
                raise Refused("it was changed while it ran")
            changed = changes(path, Path(fresh), root)
            said = refreshed(path.name, seconds, peak, changed.results, root)
        except (Refused, UsageError) as refusal:
            raise Refused(f"{refusal}; left as it was") from refusal
    text = nbformat.writes(tidy(notebook)) + "\n"  # indent 1, sorted keys
    _write({path: text, **changed.contents, **said}, changed.outdated)


def _run(notebook, folder, fresh, started):
    """Execute a notebook, which records in the folder `fresh`. Returns: its seconds and bytes."""
    with PeakMemory() as peak:
        start = time.perf_counter()
        execute(notebook, folder, os.environ | {"XLA_RESULTS": fresh}, started)
        seconds = time.perf_counter() - start
    refuse_stderr(notebook)
    return seconds, peak.bytes


def _write(contents, outdated):
    """Write all of it, and then remove what is outdated."""
    for folder in {file.parent for file in contents}:
        folder.mkdir(exist_ok=True)
    write_files(contents)
    for old in outdated:
        old.unlink(missing_ok=True)


def refuse_stderr(notebook: NotebookNode) -> None:
    """Raises: Refused when a cell wrote to stderr, with its number."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                wrote = first_line(output.text)
                raise Refused(f"cell {cell.execution_count} wrote to stderr: {wrote}")


def tidy(notebook: NotebookNode) -> NotebookNode:
    """Drop what varies from run to run or from machine to machine, and keep the rest."""
    notebook.metadata.get("language_info", {}).pop("version", None)
    for key in ("papermill", "widgets"):
        notebook.metadata.pop(key, None)
    for cell in notebook.cells:
        for key in ("execution", "papermill"):
            cell.metadata.pop(key, None)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not _is_blank(output)]
    return notebook


def _is_blank(output):
    """True for what a finished progress bar leaves: carriage returns and blanks."""
    return output.output_type == "stream" and not output.text.strip()
