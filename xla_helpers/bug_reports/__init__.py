"""Bug reports on compiled programs: written, read and replayed, without the data."""

from .archive import read_bug_report
from .replay import Replay, replay_bug_report
from .report import Answer, BugReport, BugReportError, Fingerprint, Spec
from .write import write_bug_report

__all__ = [
    "Answer",
    "BugReport",
    "BugReportError",
    "Fingerprint",
    "Replay",
    "Spec",
    "read_bug_report",
    "replay_bug_report",
    "write_bug_report",
]
