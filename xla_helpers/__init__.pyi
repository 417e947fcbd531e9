# isort: skip_file
# What is exported: each name that a cell of a notebook uses, and what a failed comparison raises.
# lazy_loader reads this file, and so do type checkers. Its groups are those of the reference page.

# Start
from .startup import describe_machine, prepare_tensorflow
from .data import find_checkpoint, load_digits

# Measure and compare
from .timing import Measurement, measure
from .comparing import compare
from .comparisons import Comparison, ComparisonError
from .agreement import largest_difference

# Explain
from .compilations import CompilationLog
from .logs import compilations_in, watch_compilations
from .layers import layer_at, layers_of
from .profiles import profile
from .programs import inspect_program, optimised_module
from .checking import check
from .errors import expect_error, not_yet

# Run elsewhere
from .processes import ProcessError, run_in_process
from .reports import replay_bug_report, write_bug_report

# Decide
from .deciding import decide, model_from

# Keep and judge
from .results import Claim, read_published, read_results, record

# Show
from .tables import Seconds, format_bytes, format_seconds, tabulate
from .plots import (
    guide,
    label_lines,
    picture,
    plot_checks,
    plot_graph,
    plot_overview,
    plot_ratios,
    plot_results,
    seconds_axis,
)

__all__ = [
    "Claim",
    "Comparison",
    "ComparisonError",
    "CompilationLog",
    "Measurement",
    "ProcessError",
    "Seconds",
    "check",
    "compare",
    "compilations_in",
    "decide",
    "describe_machine",
    "expect_error",
    "find_checkpoint",
    "format_bytes",
    "format_seconds",
    "guide",
    "inspect_program",
    "label_lines",
    "largest_difference",
    "layer_at",
    "layers_of",
    "load_digits",
    "measure",
    "model_from",
    "not_yet",
    "optimised_module",
    "picture",
    "plot_checks",
    "plot_graph",
    "plot_overview",
    "plot_ratios",
    "plot_results",
    "prepare_tensorflow",
    "profile",
    "read_published",
    "read_results",
    "record",
    "replay_bug_report",
    "run_in_process",
    "seconds_axis",
    "tabulate",
    "watch_compilations",
    "write_bug_report",
]
