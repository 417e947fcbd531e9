"""A notebook in a fresh kernel, and in one line why it stopped."""

import os
import re
import signal
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from nbformat import NotebookNode

from xla_helpers.environment import FLAGS

CELL_SECONDS = 1800  # a cell that takes longer hangs
KERNEL_ARGUMENTS = ["--log-level=ERROR"]  # a kernel's own log does not belong in the progress
READ = 4_000  # bytes at the end of what a kernel printed; the last line says why it did not start
COLOUR = re.compile(r"\x1b\[[\d;]*m")


class Refused(Exception):
    """A notebook that did not run well, or whose outputs must not be kept, and why."""


def execute(
    notebook: NotebookNode,
    folder: Path,
    environment: Mapping[str, str],
    started: Callable[[int, int], None] = lambda cell, cells: None,
) -> None:
    """Run all cells of a notebook in a folder; their outputs land in the notebook.

    environment: the kernel's variables. started: is called with the number of a cell, as the
    notebook shows it, and the number of the last one, before the cell runs.

    Raises: Refused, with the number of the cell at which it stopped.
    """
    client, process = _client(notebook, folder), None
    with tempfile.TemporaryFile() as said:
        try:
            with client.setup_kernel(env=dict(environment), stdout=said, stderr=said):
                process = client.km.provisioner.process
                _run_cells(client, started)
        except Exception as error:
            cell = client.code_cells_executed
            reason = _reason(error, process, end_of(said), environment)
            raise Refused(f"cell {cell}: {reason}" if cell else reason) from error


def _client(notebook, folder):
    from nbclient import NotebookClient

    return NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=CELL_SECONDS,
        extra_arguments=[*KERNEL_ARGUMENTS],
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        coalesce_streams=True,
    )


def _run_cells(client, started):
    """As the client's own `execute`, which takes Ctrl-C for a kernel that died."""
    cells = client.nb.cells
    last = sum(is_executed(cell) for cell in cells)
    for index, cell in enumerate(cells):
        if is_executed(cell):
            started(client.code_cells_executed + 1, last)
        client.execute_cell(cell, index, execution_count=client.code_cells_executed + 1)
    answer = client.wait_for_reply(client.kc.kernel_info())
    client.nb.metadata["language_info"] = answer["content"]["language_info"]


def is_executed(cell: NotebookNode) -> bool:
    """Whether a notebook gives this cell a number when it runs."""
    return cell.cell_type == "code" and bool(cell.source.strip())


def end_of(file: BinaryIO) -> str:
    """The last of what was written into a file, however much it is."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - READ))
    return file.read().decode(errors="replace")


def _reason(error, process, said, environment):
    name = getattr(error, "ename", type(error).__name__)
    reason = f"{name}: {message_of(error)}"
    if not isinstance(error, RuntimeError):  # a kernel that died, or did not start
        return reason
    ended = _ended(process) if process else _last_line(said)
    return "; ".join(filter(None, [reason, ended, _flags(environment)]))


def _ended(process):
    """How a process ended whose kernel could not say so itself."""
    code = process.poll()
    if code is None or code >= 0:
        return "" if code is None else f"exit code {code}"
    name = signal.strsignal(-code) or f"signal {-code}"
    return f"{name}, as when memory runs out" if -code == signal.SIGKILL else name


def _last_line(text):
    return text.strip().rpartition("\n")[2]


def _flags(environment):
    """The variables that end a process when one word in them is wrong."""
    return "; ".join(f"{name} is {environment[name]!r}" for name in FLAGS if environment.get(name))


def message_of(error: BaseException) -> str:
    """What the error of a cell says; for an assertion without words, the line that failed."""
    message = getattr(error, "evalue", error)
    if str(message).strip():
        return first_line(message)
    traceback = getattr(error, "traceback", "")
    traceback = traceback if isinstance(traceback, str) else "\n".join(traceback)
    failed = re.findall(r"^-+> *\d+ +(.+)$", COLOUR.sub("", traceback), re.MULTILINE)
    return failed[-1] if failed else first_line(message)


def first_line(text: object) -> str:
    """The first line of a message that is not blank, without colours."""
    lines = COLOUR.sub("", str(text)).strip().splitlines()
    return lines[0] if lines else "no message"
