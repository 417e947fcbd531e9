"""The Keras layers that a function reaches, by path, and the layer in which an operation stands."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

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
    found = {}
    for path, layer in _walk(fn):
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
    named = _named_by_second if any(map(_opens_two_scopes, layers.values())) else str
    places = _places(layers)

    @cache
    def find(name):
        here = ""
        for scope in name.split("/")[:-1]:
            here = _below(here, named(scope), places) or here
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


def _named_by_second(scope):
    """The name of the layer that a scope is of; empty for the scope of anything else.

    Of two scopes for a call the work is in the second, to which TensorFlow adds a number: `dense`
    is ``dense_1``, and `dense_1` is ``dense_1_1``. One scope for a call leaves names alone.
    """
    return NUMBER.sub("", scope) if NUMBER.search(scope) else ""


def without_jit(fn) -> dict[str, object]:
    """The layers that say that they do not support XLA, by path.

    Keras compiles nothing of a model that holds one, where `compile` decides.
    """
    return {path: layer for path, layer in _walk(fn) if not getattr(layer, "supports_jit", True)}


def _walk(fn) -> Iterator[tuple[str, object]]:
    tops = _tops_of(fn)
    for top in tops:
        alone = len(tops) == 1 and _is_model(top)
        for path, layer in _inside(top, "" if alone else top.name, ()):
            if not _is_model(layer):
                yield path, layer


def _tops_of(fn):
    """The layers and models that `fn` can reach and that stand in no other, each once."""
    layers = [value for value in reversed(named_by(fn)) if _is_layer(value)]
    held = {id(inner) for layer in layers for inner in layer._flatten_layers(include_self=False)}
    return list({id(layer): layer for layer in layers if id(layer) not in held}.values())


def _inside(layer, path, above):
    """A layer or model and those that it holds, with their paths."""
    yield path, layer
    for part in layer._flatten_layers(include_self=False, recursive=False):
        if _counts(part, layer) and not any(part is outer for outer in above):
            yield from _inside(part, f"{path}/{part.name}".lstrip("/"), (*above, layer))


def _is_layer(value):
    """Of Keras 3 or 2, a metric excepted, which Keras 2 makes of a layer."""
    is_metric = hasattr(value, "update_state") and hasattr(value, "result")
    return hasattr(type(value), "_flatten_layers") and not is_metric


def _is_model(layer):
    return hasattr(layer, "train_step")


def _counts(part, layer):
    is_cell = part is getattr(layer, "cell", None)
    return _is_layer(part) and not is_cell and type(part).__name__ != "InputLayer"


def _places(layers):
    """Name to the paths that end in it, of layers and of the models around them."""
    places = {}
    for path in layers:
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            places.setdefault(parts[end - 1], {})["/".join(parts[:end])] = None
    return places


def _below(here, name, places):
    """The nearest place below `here` of that name; None when there is none, or there are several.

    A model whose `call` is called directly opens no scope, so a level may be missing.
    """
    below = [p for p in places.get(name, ()) if p.startswith(f"{here}/" if here else "")]
    depth = min((path.count("/") for path in below), default=0)
    nearest = [path for path in below if path.count("/") == depth]
    return nearest[0] if len(nearest) == 1 else None
