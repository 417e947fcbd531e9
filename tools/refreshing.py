"""`make refresh`: the notebooks executed in place, the only source of committed outputs."""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools.collection import read
from tools.kernels import Refused, execute, first_line
from tools.memory import PeakMemory
from tools.readme import keep_cost, keep_overview
from tools.recorded import keep_results, lend_results, results
from xla_helpers.writing import write_file


def refresh_one(path: Path, started: Callable[[int, int], None]) -> None:
    """Execute a notebook in place, and keep what it recorded and cost; or leave all as it was.

    Raises: Refused for one that fails or writes to stderr; UsageError for what is no notebook;
    OSError.
    """
    root, before, notebook = path.parent.parent, path.read_bytes(), read(path)
    results(root)  # refuses what is no result, before anything runs
    with tempfile.TemporaryDirectory() as folder, PeakMemory() as peak:
        lend_results(path, Path(folder), root)
        start = time.perf_counter()
        try:
            execute(notebook, path.parent, os.environ | {"XLA_RESULTS": folder}, started)
            refuse_stderr(notebook)
        except Refused as refusal:
            raise Refused(f"{refusal}; left as it was") from refusal
        seconds = time.perf_counter() - start
        if path.read_bytes() != before:
            raise Refused("it was changed while it ran; left as it was")
        write_file(path, nbformat.writes(tidy(notebook)) + "\n")  # indent 1, sorted keys
        keep_results(path, Path(folder), root)
    keep_cost(path.name, seconds, peak.bytes, root)
    keep_overview(root)


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
