"""Measure, compare, compile and explain: the helpers of "XLA for TensorFlow, in notebooks"."""

from .archives import BugReport, BugReportError, read_bug_report
from .bug_reports import write_bug_report
from .checking import Check, Outcome, check
from .checkpoints import find_checkpoint
from .comparing import Comparison, ComparisonError, Ratio, Sweep, compare, sweep
from .compilations import CompilationLog, compilations_in, programs_compiled
from .diagrams import plot_calls, plot_checks, plot_graph, plot_program
from .errors import CaughtError, expect_error, not_yet
from .plotting import picture, plot_comparison, plot_ratios, plot_results, plot_sweep
from .processes import ProcessError, Run, run_in_process
from .programs import Kernel, Program, inspect_program
from .replays import Replay, replay_bug_report
from .results import Claim, Published, Result, read_published, read_results, record
from .startup import describe_machine, prepare_tensorflow
from .tables import format_bytes, format_seconds
from .timing import Measurement, measure

__all__ = [
    "BugReport",
    "BugReportError",
    "CaughtError",
    "Check",
    "Claim",
    "Comparison",
    "ComparisonError",
    "CompilationLog",
    "Kernel",
    "Measurement",
    "Outcome",
    "ProcessError",
    "Program",
    "Published",
    "Ratio",
    "Replay",
    "Result",
    "Run",
    "Sweep",
    "check",
    "compare",
    "compilations_in",
    "describe_machine",
    "expect_error",
    "find_checkpoint",
    "format_bytes",
    "format_seconds",
    "inspect_program",
    "measure",
    "not_yet",
    "picture",
    "plot_calls",
    "plot_checks",
    "plot_comparison",
    "plot_graph",
    "plot_program",
    "plot_ratios",
    "plot_results",
    "plot_sweep",
    "prepare_tensorflow",
    "programs_compiled",
    "read_bug_report",
    "replay_bug_report",
    "read_published",
    "read_results",
    "record",
    "run_in_process",
    "sweep",
    "write_bug_report",
]
