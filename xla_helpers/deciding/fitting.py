"""The training step of a compiled Keras model, called as `fit` calls it."""

from dataclasses import replace

from ..targets import resolve


def model_of(fn, example):
    """The Keras model whose training step is meant; None for a step written by hand.

    What `fit` makes before the first step is made here: the variables of the optimizer and, of a
    model that has not been called, its own.
    """
    if not hasattr(fn, "train_step"):
        return None
    if not (getattr(fn, "compiled", False) or getattr(fn, "_is_compiled", False)):
        raise ValueError("`step` needs a compiled model: call its `compile` with a loss first")
    if not getattr(fn, "built", True):
        fn(example.args[0])
    build = getattr(fn.optimizer, "build", None)
    if build and not getattr(fn.optimizer, "built", False):
        build(fn.trainable_variables)
    return fn


def training(case, model):
    """The same calls as steps of `fit`: each batch is one argument."""
    signature = case.signature
    if signature and len(signature) > 1:
        signature = [tuple(signature)]
    pad = case.pad and (lambda example: _as_batch(case.pad(_as_arguments(example))))
    return replace(
        case,
        fn=case.fn if case.fresh else model.train_step,
        examples=tuple(map(_as_batch, case.examples)),
        padded=tuple(map(_as_batch, case.padded)),
        worst=tuple(map(_as_batch, case.worst)),
        others=tuple(other and _as_batch(other) for other in case.others),
        pad=pad,
        signature=signature,
        model=model,
    )


def maker_of_steps(what, example):
    """What makes a step of a fresh copy of a model; example: a call of it."""
    return lambda: model_of(resolve(what()), example).train_step


def _as_batch(example):
    """Arguments such as inputs and targets as `train_step` takes them: one tuple, or inputs."""
    args = example.args
    alone = len(args) == 1 and not isinstance(args[0], (list, tuple))
    return replace(example, args=args if alone else (args,))


def _as_arguments(example):
    batch = example.args[0]
    return replace(example, args=batch) if isinstance(batch, tuple) else example
