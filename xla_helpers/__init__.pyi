# isort: skip_file
# The public names. lazy_loader reads this file, and so do type checkers.

# Start
from .startup import describe_machine, find_checkpoint, prepare_tensorflow
from .memory import page_size

# Measure and compare
from .comparing import compare, measure
from .differences import max_difference

# Explain
from .checking import check
from .compilations import CompilationLog
from .errors import exercise, expect_error
from .startup import watch_compilations
from .operations import layers_of
from .profiles import profile
from .programs import hlo_module, inspect_program

# Run elsewhere, decide, keep
from .deciding import decide, decide_file
from .processes import run_in_process
from .results import read_results, record

# Show
from .plots import label_lines, picture, plot_graph, plot_ratios
from .tables import format_si, table

# Types of results
from .outcomes import Outcome
from .checking import Check
from .comparisons import Comparison, ComparisonError
from .decisions import Cost, Decision, Finding
from .differences import Difference
from .profiles import Evidence
from .processes import ProcessError, Run
from .profiles import Profile
from .programs import Kernel, Program
from .comparisons import Ratio
from .results import Result
from .timing import Measurement

__all__ = [
    "Check",
    "Comparison",
    "ComparisonError",
    "CompilationLog",
    "Cost",
    "Decision",
    "Difference",
    "Evidence",
    "Finding",
    "Kernel",
    "Measurement",
    "Outcome",
    "ProcessError",
    "Profile",
    "Program",
    "Ratio",
    "Result",
    "Run",
    "check",
    "compare",
    "decide",
    "decide_file",
    "describe_machine",
    "exercise",
    "expect_error",
    "find_checkpoint",
    "format_si",
    "hlo_module",
    "inspect_program",
    "label_lines",
    "layers_of",
    "max_difference",
    "measure",
    "page_size",
    "picture",
    "plot_graph",
    "plot_ratios",
    "prepare_tensorflow",
    "profile",
    "read_results",
    "record",
    "run_in_process",
    "table",
    "watch_compilations",
]
