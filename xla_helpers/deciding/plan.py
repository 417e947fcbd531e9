"""What is decided about: the example calls, and the functions that are called with them.

Example calls and their file are in `batches`, what a text names is in `references`.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from ..agreement import TOLERANCE
from ..errors import headline
from ..layers import layers_of
from ..subjects import subject_of
from ..tables import counted
from ..targets import holds_no_python, name_of, plain_callable, resolve
from ..validation import check_tolerance
from .batches import Calls, Example, calls_of, words_of, worst_of
from .findings import PADDED, Plan, Shape
from .fitting import maker_of_steps, model_of, training
from .padding import padded_call, padding_of

OPTIONS = "kwargs signature step worst calls pad fresh tolerance floor".split()
"""What a maker may return beside `what` and `batches`, by name."""


@dataclass(frozen=True)
class Order:
    """What a part is asked to do.

    part: its name. label, labels: of the candidates that it is about. shapes: the numbers of the
    shapes, the most frequent one first. seconds: that it should keep within. folder: where its
    results go. inside: the path of the layer that is compiled alone, or "". tolerance: a relative
    difference that is allowed where that of the case is smaller.
    """

    part: str
    label: str = ""
    labels: tuple[str, ...] = ()
    shapes: tuple[int, ...] = ()
    seconds: float = 0.0
    folder: str = ""
    inside: str = ""
    tolerance: float = 0.0


@dataclass(frozen=True)
class Case:
    """What is decided about, ready to be called.

    fn: what is called; with `fresh`, a function without arguments that makes a new copy of it.
    examples: one call for each of `plan.shapes`. padded: one for each of `plan.padded`. worst:
    hostile calls. pad: a call to the same call, padded; None without padding. signature: the
    `input_signature` of the graph and of XLA, or None. tolerance: the relative difference that is
    allowed. model: the Keras model of a training step, or None. left_out: what of the plan is not
    tested, in sentences. others: for each of `examples` another call of that shape, or None.
    """

    fn: Callable
    examples: tuple[Example, ...]
    plan: Plan
    padded: tuple[Example, ...] = ()
    worst: tuple[Example, ...] = ()
    pad: Callable[[Example], Example] | None = None
    signature: object = None
    fresh: bool = False
    tolerance: float = TOLERANCE
    model: object = None
    left_out: tuple[str, ...] = ()
    others: tuple[Example | None, ...] = ()

    def candidate(self, label: str) -> Callable:
        """A new function, never called before, for "eager", "graph", "XLA" or "XLA, padded".

        The last takes the arguments of an example call, pads them, and cuts what comes back to
        the shapes of the result without padding.
        Raises: ValueError for another label, or for a mode that there is not.
        """
        import tensorflow as tf

        if label not in self.labels:
            raise ValueError(f"there is no {label!r} here: there is {', '.join(self.labels)}")
        fn, given = self.plain(), {"input_signature": self.signature}
        if label == "eager":
            return fn
        if label == "graph":
            return tf.function(fn, **given)
        compiled = tf.function(fn, jit_compile=True, **given)
        return padded_call(compiled, tf.function(fn), self.pad) if label == PADDED else compiled

    @property
    def labels(self) -> tuple[str, ...]:
        """Those that `candidate` takes."""
        eager = () if not self.fresh and holds_no_python(self.fn) else ("eager",)
        return (*eager, "graph", "XLA", *([PADDED] if self.pad else []))

    def plain(self) -> Callable:
        """What is called, as a function that any `tf.function` may wrap; a new copy for `fresh`."""
        return plain_callable(resolve(self.fn()) if self.fresh else self.fn)


def case_of(what, batches: Iterable | Calls | None, options: Mapping | None = None) -> Case:
    """What is decided about, from what a reader gives.

    what: anything that the helpers accept. batches: example calls. options: those of `OPTIONS`;
    `calls` and `floor` are not used here.

    Raises: TypeError and ValueError for what makes no sense, with what to do instead.
    """
    import tensorflow as tf  # noqa: F401  (arrays become tensors only when it has been imported)

    options = _checked(options or {})
    try:
        return _case_of(what, batches, options)
    except (TypeError, ValueError):
        raise
    except Exception as error:  # whatever a reader's model, batches or padding raise
        raise ValueError(f"it cannot be prepared: {headline(error)}") from error


def _case_of(what, batches, options):
    step, fresh = bool(options.get("step")), bool(options.get("fresh"))
    kwargs, tolerance = options.get("kwargs"), options.get("tolerance", TOLERANCE)
    check_tolerance(tolerance)
    calls = calls_of(batches, kwargs)
    one = resolve(what() if fresh else what)
    model = model_of(one, calls.examples[0]) if step else None
    for number, example in enumerate(calls.examples):
        _check_arguments(one, example, number, model)
    padding = padding_of(options.get("pad"), calls.examples, calls.counts)
    worst = worst_of(options.get("worst", ()), kwargs)
    case = Case(
        fn=maker_of_steps(what, calls.examples[0]) if fresh and model else what if fresh else one,
        examples=calls.examples,
        plan=_plan(calls, padding, step),
        padded=padding.examples,
        worst=worst,
        pad=padding.pad,
        signature=options.get("signature"),
        fresh=fresh,
        tolerance=tolerance,
        left_out=(*calls.left_out, *padding.left_out),
        others=calls.others,
    )
    case = case if model is None else training(case, model)
    return replace(case, plan=described(case, one))


def described(case: Case, fn: Callable | None = None) -> Plan:
    """The plan with what is called in words.

    fn: by default that of the case. A model that has not been called has no variables yet, so
    this says more after the first call.
    """
    fn = fn or case.model or (case.plain() if case.fresh else case.fn)
    layers, numbers = len(layers_of(fn)), subject_of([fn], case.examples[0].args).variables
    words = [name_of(fn)]
    words += [counted(layers, "layer")] if layers else []
    words += [f"{counted(numbers, 'number')} in variables"] if numbers else []
    return replace(case.plan, subject=", ".join(words))


def _plan(calls, padding, step):
    numbers = padding.numbers or [None] * len(calls.examples)
    shapes = (
        Shape(words_of(example), count, number)
        for example, count, number in zip(calls.examples, calls.counts, numbers, strict=True)
    )
    return Plan("", tuple(shapes), padding.shapes, padding.words, step)


def _checked(options):
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise TypeError(f"there is no option {unknown[0]!r}: there is {', '.join(OPTIONS)}")
    signature = options.get("signature")
    if not isinstance(signature, (list, tuple, type(None))):
        kind = type(signature).__name__
        raise TypeError(f"`signature` is {kind}: give a list, such as [tf.TensorSpec([None, 3])]")
    return options


# Arguments


def _check_arguments(fn, example, number, model):
    """Refuse arguments that do not fit, before anything runs."""
    if model is not None:  # a batch, of which Keras says itself what is wrong
        return
    is_layer = hasattr(fn, "call") and hasattr(fn, "add_weight")
    try:
        bound = inspect.signature(fn.call if is_layer else plain_callable(fn)).bind
    except (TypeError, ValueError):  # what tells no signature
        return
    try:
        given = bound(*example.args, **example.kwargs).arguments
    except TypeError as error:
        raise TypeError(
            f"example call {number} does not fit {name_of(fn)}: {error}. A tuple holds the "
            "positional arguments of one call, anything else is its only argument"
        ) from error
    by_name = "training" in example.kwargs
    if is_layer and not by_name and hasattr(given.get("training"), "dtype"):
        raise TypeError(
            f"example call {number} gives an array to {name_of(fn)} as `training`: give the "
            "inputs alone, or `step=True` for a training step"
        )
