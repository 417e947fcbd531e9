"""The Keras layers that a function reaches, by path, and the layer in which an operation stands."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, reduce

from .state import named_by

NUMBER = re.compile(r"_\d+$")  # what TensorFlow adds to a name that is taken


def layers_of(fn) -> dict[str, object]:
    """Every Keras layer that `fn` can reach, by path, in the order in which models hold them.

    A path is made of names, such as ``augmentation/random_zoom``. A model that is alone at the top
    is no part of it; of several models, each is. Models are not listed, their layers are. A layer
    that holds others is listed beside them, because it may do work of its own; the cell of a
    recurrent layer is a part of that layer. Of two layers with one path the first is listed.
    Introduced in notebook 02.

    fn: a function, model, layer, or a method of one.

    >>> import keras
    >>> inner = keras.Sequential([keras.layers.Rescaling(2, name="double")], name="inner")
    >>> list(layers_of(keras.Sequential([inner, keras.layers.Flatten(name="row")])))
    ['inner/double', 'row']
    """
    found, tops = {}, _tops_of(fn)
    for top in tops:
        alone = len(tops) == 1 and _is_model(top)
        for path, layer in _inside(top, "" if alone else top.name):
            if not _is_model(layer):
                found.setdefault(path, layer)
    return found


def layer_at(name: str, layers: Mapping[str, object]) -> str | None:
    """The path of the innermost layer in which an operation of a graph stands; None outside all.

    name: the operation's, such as ``model_1/augmentation_1/random_zoom_1/Transform``.
    layers: what `layers_of` returned. Introduced in notebook 06.

    >>> import keras
    >>> layer_at("model_1/dense_1_1/MatMul", {"dense_1": keras.layers.Dense(1)})
    'dense_1'
    """
    return finder(layers)(name)


def finder(layers: Mapping[str, object]) -> Callable[[str], str | None]:
    """`layer_at` for many names: a function of the name alone."""
    twice = any(map(_opens_two_scopes, layers.values()))
    splits = [path.split("/") for path in layers]
    levels = {"/".join(parts[:end]) for parts in splits for end in range(1, len(parts) + 1)}

    @cache
    def enter(here, scope):
        """The nearest level below `here` that a scope is of; `here` for none, or for several.

        A model whose `call` is called directly opens no scope, so a level may be missing.
        """
        name = _second_of_two(scope) if twice else scope
        below = [x for x in levels if x.startswith(f"{here}/" if here else "")]
        below = [x for x in below if x.rpartition("/")[2] == name]
        depth = min((x.count("/") for x in below), default=0)
        nearest = [x for x in below if x.count("/") == depth]
        return nearest[0] if len(nearest) == 1 else here

    def find(name):
        here = reduce(enter, name.split("/")[:-1], "")
        while here and here not in layers:  # in a model, but in none of its layers
            here = here.rpartition("/")[0]
        return here or None

    return find


def _opens_two_scopes(layer):
    """Whether its Keras does so for each call: Keras 3 until 3.15. Keras 2 has no `path`."""
    if not hasattr(layer, "path"):
        return False
    import keras  # here: it takes a second, and who has such a layer has it already

    return tuple(map(int, keras.__version__.split(".")[:2])) < (3, 16)


def _second_of_two(scope):
    """The name of the layer that a scope is of; empty for the scope of anything else.

    The work is in the second, to which TensorFlow adds a number: `dense` is ``dense_1``, and
    `dense_1` is ``dense_1_1``.
    """
    return NUMBER.sub("", scope) if NUMBER.search(scope) else ""


def _tops_of(fn):
    """The layers and models that `fn` can reach and that stand in no other, each once."""
    layers = [value for value in reversed(named_by(fn)) if _is_layer(value)]
    held = {id(inner) for layer in layers for inner in layer._flatten_layers(include_self=False)}
    return [layer for layer in layers if id(layer) not in held]


def _inside(layer, path) -> Iterator[tuple[str, object]]:
    """A layer or model and those that it holds, with their paths."""
    yield path, layer
    for part in layer._flatten_layers(include_self=False, recursive=False):
        is_cell = part is getattr(layer, "cell", None)
        if _is_layer(part) and not is_cell and type(part).__name__ != "InputLayer":
            yield from _inside(part, f"{path}/{part.name}".lstrip("/"))


def _is_layer(value):
    """Of Keras 3 or 2, a metric excepted, which Keras 2 makes of a layer."""
    is_metric = hasattr(value, "update_state") and hasattr(value, "result")
    return hasattr(type(value), "_flatten_layers") and not is_metric


def _is_model(layer):
    return hasattr(layer, "train_step")
