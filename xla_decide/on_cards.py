"""What a model and its first example call would run on GPUs that are not there."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from xla_helpers.calls import Call
from xla_helpers.look.layers import layers_of
from xla_helpers.tables import abbreviate

from .candidates import Candidates
from .gpu.target_programs import TargetProgram, compile_for
from .plan import Plan
from .stream import first_of

CARDS = "T4", "A100", "H100"  # where nobody names others


def compile_example(
    fn: Any, batches: Iterable, plan: Plan, target: list[str]
) -> list[TargetProgram]:
    """Compile the first example call for each target, as `compile_for` does, without the texts.

    Args:
        fn: What is judged, as `decide` takes it.
        batches: Its example calls.
        plan: The options of the decision.
        target: Names of GPUs.

    Raises:
        ValueError: For what XLA refuses, also where Keras would choose it on a GPU alone.
    """
    candidates = Candidates(fn, plan.kwargs, None, plan.step)
    args = candidates.args_of(first_of(batches))
    candidates.refuse(args)
    candidates.build(args)
    _refuse_cudnn(candidates.fn)
    _, call = candidates.new_calls(args)
    found = compile_for(call.fn, call.args, call.kwargs, target=target)
    programs = found if isinstance(found, tuple) else (found,)
    return [replace(program, hlo="", ptx="") for program in programs]


def _refuse_cudnn(fn):
    """Raise ValueError for a layer of which Keras makes one operation of cuDNN on a GPU."""
    layers = layers_of(Call(fn).python).items()
    if by_cudnn := [path for path, layer in layers if getattr(layer, "use_cudnn", False)]:
        raise ValueError(
            f"on a GPU Keras gives {abbreviate(by_cudnn)} to cuDNN, which XLA refuses: pass "
            "use_cudnn=False, and ask again"
        )
