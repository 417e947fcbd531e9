"""What is raced: the graph and XLA of a model with the reader's options, and other candidates."""

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from xla_helpers import internals
from xla_helpers.calls import Call, by_label
from xla_helpers.first_calls import unbuilt_in
from xla_helpers.modes import MODES, functions_run_eagerly, modes_of
from xla_helpers.tables import abbreviate
from xla_helpers.variables import Snapshot


class Candidates:
    """The modes of a model, and the reader's other candidates, each ready for a batch.

    A `tf.function` that is handed in keeps its options, such as `input_signature`.
    """

    def __init__(self, fn: Any, kwargs, others: Mapping[Any, Callable] | None, step: bool):
        self.model, self.fn = fn, fn.train_step if step else fn
        self._step, self._kwargs = step, kwargs
        self._others = by_label(others or {})
        if taken := set(MODES) & self._others.keys():
            taken_names = abbreviate(taken)
            raise ValueError(f"`candidates` has {taken_names}: choose a label that is not taken")
        modes = self._new_modes()
        self.eager = modes.pop("eager")
        self.functions: dict[str, Callable] = modes | self._others

    def _new_modes(self):
        call = Call(self.fn)
        return modes_of(call.python, **internals.options_of(call.fn))

    def args_of(self, batch: Any) -> tuple:
        """The arguments of a batch: a step takes all of it as one, and so is a NamedTuple.

        Arrays have the types of the function's signature, to which it would cast them itself.
        """
        args = (batch,) if self._step else parts_of(batch)
        signature = getattr(self.fn, "input_signature", None)
        return _cast(args, tuple(signature)) if signature else args

    def calls(self, args: tuple) -> dict[str, Call]:
        """Label to call; the modes have the arguments of a `functools.partial`, too."""
        return {label: self._call(fn, args, label) for label, fn in self.functions.items()}

    def eager_call(self, args: tuple) -> Call:
        """The call that runs each operation by itself."""
        return self._call(self.eager, args, "eager")

    def new_calls(self, args: tuple) -> tuple[Call, Call]:
        """The call as a graph and compiled, of functions that nobody has called yet."""
        modes = self._new_modes()
        graph, compiled = (self._call(modes[mode], args, mode) for mode in MODES[1:])
        return graph, compiled

    def _call(self, fn, args, label):
        if label in self._others:
            return Call(fn, args, self._kwargs)
        own = Call(self.fn, args, self._kwargs)
        return Call(fn, own.args, own.kwargs)

    def build(self, args: tuple) -> str:
        """Make the weights that a Keras model lacks, by a call in eager mode.

        Those of a step are made by a trace of it, which runs nothing, and what cannot be traced is
        left to the candidates. Variables that were there before have their values again.

        Args:
            args: Of an example.

        Returns:
            The kind of model that was built; "" where there was nothing to build.
        """
        model = self.model
        if not (internals.is_layer(model) and unbuilt_in(model)):
            return ""
        snapshot, before = Snapshot(), internals.variables_in(model)
        snapshot.add(before)
        if self._step:
            with suppress(Exception):
                Call(self._new_modes()["graph"], args).concrete()
        else:
            with functions_run_eagerly(True):
                model(*args, **(self._kwargs or {}))
        snapshot.restore()
        are_new = len(internals.variables_in(model)) > len(before)
        return type(model).__name__ if are_new else ""

    def refuse(self, args: tuple) -> None:
        """Raise ValueError where the parts of a batch would become the model's `training`."""
        if self._step or len(args) < 2 or not hasattr(self.model, "train_step"):
            return
        takes = len(getattr(self.model, "inputs", None) or ())
        names = list(inspect.signature(self.model.call).parameters)
        if takes == len(args):
            raise ValueError(
                f"a batch is a tuple of {len(args)}, which are arguments, and the model takes "
                f"{takes} inputs as one: give a list of them, such as [a, b], in place of (a, b)"
            )
        if hasattr(args[1], "shape") and names[1:2] in ([], ["training"]):
            raise ValueError(
                f"a batch is a tuple of {len(args)}, perhaps (inputs, labels), and the model takes "
                "inputs alone: give [inputs for inputs, _ in batches], or step=True for a training "
                "step"
            )


def parts_of(batch: Any) -> tuple:
    """The arguments that a batch is: the parts of a tuple, or itself; a NamedTuple is one."""
    is_one = not isinstance(batch, tuple) or hasattr(batch, "_fields")
    return (batch,) if is_one else batch


def _cast(args, signature):
    """The arguments with the types of a signature; as they are where that has another form."""
    import tensorflow as tf

    def cast(value, spec):
        wanted = np.dtype(spec.dtype.as_numpy_dtype)
        can = isinstance(value, np.ndarray) and np.can_cast(value.dtype, wanted, "same_kind")
        return value.astype(wanted) if can else value

    with suppress(TypeError, ValueError, AttributeError):
        return tf.nest.map_structure(cast, args, signature)
    return args
