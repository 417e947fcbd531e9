"""Candidates on an example call, whose own arguments may be named like options of `compare`."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial

from ..comparing import compare
from ..comparisons import Comparison
from .batches import Example


def compared(
    candidates: Mapping[str, Callable], example: Example, *, fresh: bool = False, **options
) -> Comparison:
    """`compare` for an example call, in which a failure is recorded and not raised.

    fresh, options: as in `compare`.
    """
    names = example.kwargs.keys() & inspect.signature(compare).parameters.keys()
    own = {name: example.kwargs[name] for name in names}
    others = {name: value for name, value in example.kwargs.items() if name not in names}
    if own:
        candidates = {label: _bound(fn, own, fresh) for label, fn in candidates.items()}
    return compare(candidates, *example.args, strict=False, fresh=fresh, **options, **others)


def _bound(fn, own, fresh):
    return (lambda: partial(fn(), **own)) if fresh else partial(fn, **own)
