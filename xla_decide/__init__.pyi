# isort: skip_file
# The public names. lazy_loader reads this file, and so do type checkers.

# Decide
from .in_memory import decide
from .in_processes import compile_file, decide_file

# Compile for GPUs that are not there
from .gpu.target_programs import compile_for
from .gpu.targets import targets

# Types of results
from .costs import Cost, ProcessResult
from .gpu.launches import Launch
from .gpu.target_programs import Memory, TargetProgram
from .gpu.targets import Target, Targets
from .verdict import Decision

__all__ = [
    "Cost",
    "Decision",
    "Launch",
    "Memory",
    "ProcessResult",
    "Target",
    "TargetProgram",
    "Targets",
    "compile_file",
    "compile_for",
    "decide",
    "decide_file",
    "targets",
]
