# isort: skip_file
# The public names. lazy_loader reads this file, and so do type checkers.

# Start
from .startup import prepare_tensorflow
from .instruments.machine import describe_machine
from .memory import page_size
from .teaching import find_checkpoint

# Measure and compare
from .comparing import compare, measure
from .claims import claim
from .differences import max_difference

# Explain
from .instruments.checking import check
from .instruments.compilations import CompilationLog
from .instruments.logs import watch_compilations
from .instruments.layers import layers_of
from .instruments.profiles import profile
from .instruments.programs import hlo_module, inspect_program
from .instruments.target_programs import compile_for
from .instruments.targets import targets

# Run elsewhere, decide, keep
from .deciding.in_memory import decide
from .deciding.processes import compile_file, decide_file
from .instruments.processes import run_in_process
from .results import read_results, record

# Show
from .plots import label_lines, picture, plot_graph, plot_ratios
from .tables import format_si, table

# Teach
from .teaching import exercise, expect_error

# Types of results
from .comparisons import Comparison, ComparisonError
from .deciding.costs import Cost, ProcessResult
from .deciding.verdict import Decision
from .differences import Difference
from .instruments.outcomes import FirstCall
from .instruments.checking import Check
from .instruments.evidence import Evidence
from .instruments.processes import ProcessError, Run
from .instruments.profiles import Profile
from .instruments.kernels import Kernel
from .instruments.programs import Program
from .instruments.launches import Launch
from .instruments.target_programs import Memory, TargetProgram
from .instruments.targets import Target, Targets
from .ratios import Ratio
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
    "FirstCall",
    "Kernel",
    "Launch",
    "Measurement",
    "Memory",
    "ProcessError",
    "ProcessResult",
    "Profile",
    "Program",
    "Ratio",
    "Result",
    "Run",
    "Target",
    "TargetProgram",
    "Targets",
    "check",
    "claim",
    "compare",
    "compile_file",
    "compile_for",
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
    "targets",
    "watch_compilations",
]
