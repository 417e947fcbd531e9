# isort: skip_file
# What is exported: each name that a cell of a notebook or of a learner's copy uses, and each type
# that an exported name holds, takes, returns or raises.
# lazy_loader reads this file, and so do type checkers. Its groups are those of the reference page.

# Start
from .startup import describe_machine, prepare_tensorflow
from .checkpoints import find_checkpoint
from .digits import load_digits

# Measure and compare
from .timing import Measurement, measure
from .comparing import compare, sweep
from .comparisons import Comparison, ComparisonError, Failure, Sweep, SweepError
from .evidence import Evidence
from .subjects import Subject
from .ratios import Ratio
from .agreement import Difference, largest_difference

# Explain
from .compilations import Call, CompilationLog
from .logs import Compilation, compilations_in, watch_compilations
from .reasons import Reason
from .layers import layer_at, layers_of
from .profiles import Profile, profile
from .programs import Array, Kernel, Program, inspect_program, optimised_module
from .checking import Check, Outcome, check
from .operations import Draw, Refusal
from .errors import CaughtError, expect_error
from .exercises import not_yet

# Run elsewhere
from .processes import ProcessError, Run, run_in_process
from .reports import replay_bug_report, write_bug_report

# Decide
from .deciding import Decision, Shape, decide

# Keep and judge
from .results import Between, Result, read_results, record
from .claims import Claim, Published, Verdict, read_published

# Show
from .tables import Seconds, Table, format_bytes, format_seconds, tabulate
from . import figures
from .figures import Picture, picture
from .plots import (
    plot_comparison,
    plot_overview,
    plot_ratios,
    plot_results,
)
from .diagrams import plot_calls, plot_checks, plot_graph, plot_program

__all__ = [
    "Array",
    "Between",
    "Call",
    "CaughtError",
    "Check",
    "Claim",
    "Comparison",
    "ComparisonError",
    "Compilation",
    "CompilationLog",
    "Decision",
    "Difference",
    "Draw",
    "Evidence",
    "Failure",
    "Kernel",
    "Measurement",
    "Outcome",
    "Picture",
    "ProcessError",
    "Profile",
    "Program",
    "Published",
    "Ratio",
    "Reason",
    "Refusal",
    "Result",
    "Run",
    "Seconds",
    "Shape",
    "Subject",
    "Sweep",
    "SweepError",
    "Table",
    "Verdict",
    "check",
    "compare",
    "compilations_in",
    "decide",
    "describe_machine",
    "expect_error",
    "figures",
    "find_checkpoint",
    "format_bytes",
    "format_seconds",
    "inspect_program",
    "largest_difference",
    "layer_at",
    "layers_of",
    "load_digits",
    "measure",
    "not_yet",
    "optimised_module",
    "picture",
    "plot_calls",
    "plot_checks",
    "plot_comparison",
    "plot_graph",
    "plot_overview",
    "plot_program",
    "plot_ratios",
    "plot_results",
    "prepare_tensorflow",
    "profile",
    "read_published",
    "read_results",
    "record",
    "replay_bug_report",
    "run_in_process",
    "sweep",
    "tabulate",
    "watch_compilations",
    "write_bug_report",
]
