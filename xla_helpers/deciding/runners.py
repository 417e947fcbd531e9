"""Who does a part: a fresh process with limits, or this one."""

import json
import os
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import cattrs

from ..processes import ProcessError, run_in_process
from ..tables import cut, format_bytes, in_one_line
from .batches import calls_of, write_calls
from .calls import first_call
from .child import GRAPH_CALLS, Report, Task, carried_out, prepared
from .findings import End, Findings, Plan, read
from .plan import Case, Order

CODE = """\
import sys

if __name__ == "__main__":  # what a reader's model starts may import this, too
    from xla_helpers.deciding.child import main

    main(sys.argv[1])
"""

LAST_WORDS = 160  # characters of what a process said in the end


class Processes:
    """Does each part in a fresh process, with limits of time and of memory.

    reference: what is decided about, as text. batches, options: what was given beside it. folder:
    for the files by which the processes are told, and tell. memory: bytes that each may hold.
    """

    isolated = True

    def __init__(
        self,
        reference: str,
        batches: Iterable | None,
        options: Mapping,
        folder: Path,
        memory: int,
    ):
        self._reference, self._folder, self._memory = reference, folder, memory
        calls = None if batches is None else calls_of(batches, options.get("kwargs"))
        write_calls(folder / "calls.npz", calls, options)

    def run(self, order: Order, limit: float, plan: Plan | None) -> Findings:
        """What a part found, with how it ended. limit: seconds, after which it is killed. plan:
        what an earlier part found to be called, if any did."""
        found, told = self._folder / "found.json", self._folder / "task.json"
        found.unlink(missing_ok=True)
        task = Task(self._reference, str(self._folder / "calls.npz"), order, str(found), plan)
        told.write_text(json.dumps(cattrs.unstructure(task)), encoding="utf-8")
        begin = time.perf_counter()
        how, said, peak = self._run(told, limit)
        seconds = time.perf_counter() - begin
        known = read(found) if found.exists() else Findings()
        own = known.ends[-1] if known.ends and how == "finished" else End(order.part, how, said)
        own = replace(own, said=in_one_line(own.said))  # the words are those of a model
        return replace(known, ends=(replace(own, seconds=seconds, peak=peak, limit=limit),))

    def _run(self, told, limit):
        """How the process ended, what there is to say of it, and the most bytes that it held."""
        options = {"timeout": limit, "memory": self._memory, "flags": self._flags()}
        try:
            return "finished", "", run_in_process(CODE, str(told), **options).peak
        except ProcessError as error:
            return *_ending(error, self._memory), error.peak

    def _flags(self):
        """Modules are found as they are here; what is left in temporary files goes in the end."""
        return {
            "PYTHONPATH": os.pathsep.join(entry or os.getcwd() for entry in sys.path),
            "PYTHONSAFEPATH": "1",
            "TMPDIR": str(self._folder),
        }


@dataclass
class Here:
    """Does each part in this process, without limits.

    case: what is decided about. known: what is known of it before anything is called.
    """

    case: Case
    known: Findings
    isolated = False

    def run(self, order: Order, limit: float, plan: Plan | None = None) -> Findings:
        """What a part found, with how it ended; it has no limit but what the order says.

        Whatever comes first in a process pays for more than itself, so before the first calls of
        the graph, which are the first of all, another copy of it is called and forgotten.
        """
        report, begin = Report(), time.perf_counter()
        if order.part == GRAPH_CALLS:
            first_call(self.case.candidate("graph"), self.case.examples[0], 0)
        report(self.known)
        carried_out(self.case, order, report)
        ends = report.findings.ends or (End(order.part, "finished"),)
        seconds = time.perf_counter() - begin
        return replace(report.findings, ends=(replace(ends[-1], seconds=seconds),))


def here(what, batches: Iterable, options: Mapping) -> Here:
    """For a live object, which cannot travel to another process.

    Raises: TypeError and ValueError for what makes no sense.
    """
    return Here(*prepared(what, batches, dict(options)))


def _ending(error, memory):
    """How a process ended that passed a limit, crashed or failed, and what it said in the end."""
    if error.timed_out:
        return "time", ""
    if error.out_of_memory:
        return "memory", f"it held more than {format_bytes(memory)}"
    if error.printed_too_much:
        return "failed", "it printed too much to keep"
    lines = (error.stderr or error.stdout).strip().splitlines()
    said = f": {cut(lines[-1], LAST_WORDS)}" if lines else ""
    if error.signal:
        return "killed", f"killed by {error.signal}{said}"
    return "failed", f"exit code {error.returncode}{said}"
