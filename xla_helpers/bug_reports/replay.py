"""Run what a bug report holds in another process, and compare with what it recorded."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..processes import ProcessError, run_in_process
from ..startup import describe_machine
from ..tables import in_one_line
from .archive import STABLEHLO, read_bug_report, read_member
from .child import run_archive
from .report import Answer, BugReport, BugReportError, answer_from


@dataclass(frozen=True, repr=False)
class Replay:
    """The answer of a report's program in another process, beside the recorded one.

    report: with the recorded one. machine: where this answer was found, in one line.
    """

    report: BugReport
    machine: str
    answer: Answer

    @property
    def match(self) -> str:
        """One of "same bits", "close", "different", "same error" and "other error"."""
        return self.report.with_xla.match(self.answer)

    @property
    def same(self) -> bool:
        """True when it gave the very same bits, or failed in the same way."""
        return self.match in ("same bits", "same error")

    def __repr__(self):
        return (
            f"{in_one_line(self.report.path.name)}: {self.match}\n"
            f"  recorded:    {self.report.with_xla} · {self.report.machine}\n"
            f"  replayed:    {self.answer} · {self.machine}\n"
            f"  without XLA: {self.report.line_without_xla}"
        )


def replay_bug_report(
    path: str | Path,
    flags: Mapping[str, str] | None = None,
    timeout: float = 300,
) -> Replay:
    """Run the program of an archive in a fresh process, and compare with what it recorded.

    Nothing but the archive is needed. The program is compiled and run by XLA; no Python code is
    read from the archive, its graph is not run, and nothing is unpacked to disk. flags:
    environment variables for the process; the recorded ones, ``read_bug_report(path).flags``, are
    not set by themselves, because a flag can name files. timeout: seconds.
    Introduced in notebook 09.

    Returns: a `Replay`. Results are the same when all bits are, and "close" when the recorded
    samples agree to within `agreement.TOLERANCE`, relative to the largest.
    Raises: BugReportError when the archive cannot be read, or its program not be run;
    ProcessError when the process runs too long.
    """
    report = read_bug_report(path)
    if report.obstacle:
        raise BugReportError(_refusal(report, report.obstacle))
    read_member(report.path, STABLEHLO)  # a broken archive needs no process
    try:
        return Replay(report, *run_program(report.path, timeout, flags))
    except ProcessError as error:
        if error.timed_out:
            raise
        raise BugReportError(_refusal(report, error)) from error


def _refusal(report, why):
    return f"{in_one_line(report.path.name)} cannot be replayed: {why}"


def run_both(path: Path, timeout: float) -> tuple[Answer, Answer | None]:
    """With XLA and without: in one process, or in one each when that one crashes or hangs."""
    try:
        _, with_xla, without_xla = _run_elsewhere(path, timeout, graph=True)
    except ProcessError:
        return run_program(path, timeout)[1], run_graph(path, timeout)
    return with_xla, without_xla


def run_program(
    path: Path, timeout: float, flags: Mapping[str, str] | None = None
) -> tuple[str, Answer]:
    """The machine, and what the program gave there; a crash is an answer too."""
    try:
        return _run_elsewhere(path, timeout, flags=flags)[:2]
    except ProcessError as error:
        if not error.signal:
            raise
        return describe_machine(), Answer(error=f"The process was killed by {error.signal}.")


def run_graph(path: Path, timeout: float) -> Answer | None:
    """What the graph gave without XLA; None when it cannot be run, or not to its end."""
    try:
        return _run_elsewhere(path, timeout, program=False, graph=True)[2]
    except ProcessError:
        return None


def _run_elsewhere(path, timeout, *, program=True, graph=False, flags=None):
    """What `run_archive` gives in a fresh process that has nothing but the archive."""
    growth = {"TF_FORCE_GPU_ALLOW_GROWTH": "true"}  # this process may hold the GPU's memory
    flags = growth | dict(flags or {})
    arguments = str(path.resolve()), program, graph
    run = run_in_process(run_archive, *arguments, flags=flags, timeout=timeout)
    machine, *answers = run.value
    return machine, *map(answer_from, answers)
