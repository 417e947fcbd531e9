"""What XLA's plan of a program holds in memory, by role."""

from .findings import ProgramMemory


def memory_of(label: str, shape: int, assignment) -> ProgramMemory:
    """What a plan of memory holds, by role.

    assignment: a `BufferAssignmentProto` (xla/service/hlo.proto). What is an argument and is
    written over by a result counts as an argument. Constants, and numbers inside of kernels, are
    left out.
    """
    sizes = dict.fromkeys(("arguments", "results", "temporaries", "small"), 0)
    for allocation in assignment.buffer_allocations:
        sizes[_role(allocation)] += allocation.size
    return ProgramMemory(label, shape, sizes["arguments"], sizes["results"], sizes["temporaries"])


def _role(allocation):
    if allocation.is_entry_computation_parameter:
        return "arguments"
    if allocation.maybe_live_out:
        return "results"
    small = allocation.is_constant or allocation.is_thread_local
    return "small" if small else "temporaries"
