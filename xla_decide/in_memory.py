"""Does XLA pay for a model, with its shapes, on this machine? Asked in this process."""

from collections.abc import Iterable
from typing import Any

from xla_helpers.differences import TOLERANCE

from .decision import Decision
from .plan import Plan
from .process_words import result_of
from .study import examine


def decide(
    fn: Any, batches: Iterable, *, kwargs=None, candidates=None, invalid_inputs=(), step=False,
    calls=10_000, tolerance=TOLERANCE, min_speedup=1.05, budget=10.0, repeats=None
) -> Decision:  # fmt: skip
    """Race a model as a graph and compiled over a stream of example calls, and choose.

    The graph is what XLA is compared with, in results and in time; eager mode is asked last. A race
    goes over a fair sample of the examples in their order, again and again. Results that draw
    random numbers are not compared here: `decide_file` gives both the same numbers, in a process of
    its own. The interval is that of this process alone, and where XLA ends the process, it ends
    yours: `decide_file` measures in several others. Traces and compilations are counted in
    TensorFlow's log, which `prepare_tensorflow` must have switched on.

    Args:
        fn: A model or a function, as for `check`. A `tf.function` keeps its options.
        batches: A list of example calls, or a `tf.data.Dataset` or `keras.utils.PyDataset` of them,
            of which the first 10,000 count, as they come in life.
        kwargs: Keyword arguments of every call.
        candidates: More to race, label to function. A label that begins with a mode, as "XLA,
            padded" does, says what must run.
        invalid_inputs: Inputs that should fail, in the form of `batches`.
        step: Whether `fn` is a compiled Keras model of which a training step is meant; an example
            is then what `fit` takes of a batch: inputs, labels, and perhaps weights.
        calls: How many calls there will be.
        tolerance: The relative difference of results that is allowed.
        min_speedup: How many times faster than the graph all calls together must be, first calls
            included.
        budget: Seconds: half for calling the examples, half for the race.
        repeats: True where the calls to come are the examples, again and again; False where new
            shapes keep coming; None works out both where it matters.

    Forms of an example:
        x                      one argument: model(x)
        (x, y)                 several arguments: model(x, y)
        [x, y]                 several inputs as one argument, as Keras takes them: model([x, y])
        {"a": x, "b": y}       a dict of inputs as one argument
        (x, labels)            with step=True: a batch of a training step
        (x, labels, weights)   with step=True: with sample weights
        ()                     no argument: model()
        (model, optimizer, x)  objects among the arguments, which are handed on as they are
        lambda x: f(a=x["a"])  as the model: arguments by name, with a dict as the call

    Returns:
        A `Decision`.

    Raises:
        TypeError, ValueError: For arguments that make no sense, and where the graph fails.
        AttributeError: For a step of something other than a Keras model.
        RuntimeError: When compilations cannot be counted in this process.
    """
    plan = Plan(
        kwargs=kwargs, candidates=candidates, invalid_inputs=invalid_inputs, step=step,
        calls=calls, tolerance=tolerance, min_speedup=min_speedup, budget=budget, repeats=repeats
    )  # fmt: skip
    study = examine(fn, batches, plan)
    return Decision(
        findings=(result_of(study),),
        calls=calls,
        min_speedup=min_speedup,
        repeats=repeats,
        checks=study.checks,
        invalid_inputs=tuple(study.invalid_inputs),
        passes=study.passes,
    )
