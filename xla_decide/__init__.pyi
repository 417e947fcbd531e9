# isort: skip_file
# The public names. lazy_loader reads this file, and so do type checkers.

# Decide
from .in_memory import decide
from .in_processes import compile_file, decide_file, jax_environment, race_rivals

# Compile for GPUs that are not there
from .gpu.target_programs import compile_for
from .gpu.targets import targets

# Types of results
from .decision import Decision
from .rivals.table import Rival, Rivals

__all__ = [
    "Decision",
    "Rival",
    "Rivals",
    "compile_file",
    "compile_for",
    "decide",
    "decide_file",
    "jax_environment",
    "race_rivals",
    "targets",
]
