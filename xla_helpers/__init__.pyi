# isort: skip_file
# The public names. lazy_loader reads this file, and so do type checkers.

# Start
from .startup import prepare_tensorflow
from .machine import describe_machine
from .memory import page_size
from .teaching import find_checkpoint

# Measure and compare
from .comparing import compare, measure
from .claims import claim
from .differences import max_difference

# Explain
from .look.checking import check
from .look.compilations import CompilationLog
from .logs import watch_compilations
from .look.layers import layers_of
from .look.libraries import onednn_calls
from .look.profiles import profile
from .look.programs import hlo_module, inspect_program

# Run elsewhere, keep
from .processes import run_in_process
from .results import read_results, record

# Show
from .plots import label_lines, picture, plot_graph, plot_ratios
from .tables import format_si, table

# Teach
from .teaching import exercise, expect_error

# Types of results
from .comparisons import Comparison, ComparisonError
from .processes import ProcessError
from .ratios import Ratio

__all__ = [
    "Comparison",
    "ComparisonError",
    "CompilationLog",
    "ProcessError",
    "Ratio",
    "check",
    "claim",
    "compare",
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
    "onednn_calls",
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
