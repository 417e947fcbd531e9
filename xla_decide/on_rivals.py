"""A model and its first example call, as other runtimes need them: exported, compared, called."""

import math
import time
from functools import cached_property
from pathlib import Path
from typing import Any

from xla_helpers import internals
from xla_helpers.calls import Call
from xla_helpers.equality import judge
from xla_helpers.first_calls import call_each
from xla_helpers.startup import prepare_tensorflow

from .candidates import Candidates, parts_of
from .plan import Plan
from .reader_file import loaded
from .rivals.exporting import Inputs, export, flat_function, numbered, save, saved_function
from .rivals.worker import INPUTS, Job, Loaded, read_arrays, runner, write_arrays
from .stream import first_of, words_of

WEIGHTS = "weights.npz"  # of a Keras model, for Keras on another backend


class Model:
    """A reader's model in a process with TensorFlow.

    A second process may take over from one that has ended, and uses what the first one saved.
    """

    def __init__(self, job: Job):
        prepare_tensorflow()
        import tensorflow as tf

        self._job = job
        fn, batches, options = loaded(Path(job.model), job.function, job.options)
        self._plan = Plan.of(options)
        if self._plan.step:
            raise ValueError("no exporter takes a training step")
        candidates = Candidates(fn, self._plan.kwargs, None, False)
        self._args = candidates.args_of(first_of(batches))
        candidates.refuse(self._args)
        candidates.build(self._args)
        self._model, self._call = candidates.model, candidates.calls(self._args)["graph"]
        self._inputs = Inputs(self._call.args, self._call.kwargs, tf.nest)

    def describe(self) -> dict[str, Any]:
        """The arguments in words, and whether it is a Keras model; writes inputs and weights."""
        write_arrays(self._job.path(INPUTS), self._inputs.arrays)
        is_keras = internals.is_layer(self._model)
        if is_keras:
            write_arrays(self._job.path(WEIGHTS), self._model.get_weights())
        return {"words": words_of(self._args), "is_keras": is_keras}

    @cached_property
    def _flat(self):
        """The call as a function of arrays: what was saved, if it was, with the same weights."""
        return saved_function(self._job) or flat_function(self._call, self._inputs)

    def save(self) -> int:
        """Write it as a SavedModel, which converters read. Returns: bytes on disk."""
        return save(self._flat, self._model, self._job)

    def export(self, to: str) -> tuple[float, int]:
        """Export it to a format. Returns: seconds, and bytes on disk."""
        start = time.perf_counter()
        size = export(to, self._flat, self._job)
        return time.perf_counter() - start, size

    def compare(self, results: dict[str, str]) -> dict[str, Any]:
        """Hold what others returned against the graph, as `compare` does.

        Args:
            results: Label to the name of a file of arrays.

        Returns:
            Label to its difference: the size, None where it is infinite, place and words; what
            rounding moves; the tolerance; and why nothing can be said, or "".
        """
        inputs = tuple(read_arrays(self._job.path(INPUTS)))
        calls = {"graph": Call(self._flat, inputs)}
        for label, file in results.items():
            named = enumerate(read_arrays(self._job.path(file)))
            outputs = {numbered("output", place): array for place, array in named}
            calls[label] = Call(lambda *arrays, outputs=outputs: outputs, inputs)
        judged = judge(call_each(calls, self._plan.tolerance))
        return {
            "outcomes": {
                label: {
                    "size": one.difference.size if math.isfinite(one.difference.size) else None,
                    "place": one.difference.place,
                    "detail": one.difference.detail,
                }
                for label, one in judged.outcomes.items()
                if one.difference
            },
            "sensitive": judged.sensitive,
            "inconclusive": judged.inconclusive,
            "tolerance": judged.tolerance,
        }


@runner
def keras_on_jax(job: Job) -> Loaded:
    """The same Keras model on JAX, under `jax.jit`, with the weights of TensorFlow's."""
    import jax
    import keras
    import numpy as np

    model, batches, options = loaded(Path(job.model), job.function, job.options)
    kwargs = Plan.of(options).kwargs or {}
    inputs = Inputs(parts_of(first_of(batches)), dict(kwargs), keras.tree)
    arrays = read_arrays(job.path(INPUTS))
    if not model.built:
        args, kwargs = inputs.packed(arrays)
        model(*args, **kwargs)
    model.set_weights(read_arrays(job.path(WEIGHTS)))
    weights = [
        [one.value for one in group]
        for group in (model.trainable_variables, model.non_trainable_variables)
    ]

    @jax.jit
    def stateless(weights, arrays):
        args, kwargs = inputs.packed(arrays)
        return keras.tree.flatten(model.stateless_call(*weights, *args, **kwargs)[0])

    def call():
        return [np.asarray(one) for one in stateless(weights, arrays)]

    return Loaded(call, jax.__version__)
