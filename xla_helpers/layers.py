"""The Keras layers that a function reaches, by path, and the layer in which an operation stands."""

import re
from collections.abc import Mapping
from itertools import accumulate

from .state import named_by

NUMBER = re.compile(r"_\d+$")  # what TensorFlow adds to a name that is taken


def layers_of(fn) -> dict[str, object]:
    """Every Keras layer that `fn` can reach, by path, in the order in which models hold them.

    A path is made of names, such as ``augmentation/random_zoom``. A model that is alone at the top
    is no part of it; of several models, each is. Models are not listed, their layers are. A layer
    that holds others is listed beside them, because it may do work of its own. Of two layers with
    one path the first is listed.
    Introduced in notebook 02.

    fn: a function, model, layer, or a method of one.

    >>> import keras
    >>> inner = keras.Sequential([keras.layers.Rescaling(2, name="double")], name="inner")
    >>> list(layers_of(keras.Sequential([inner, keras.layers.Flatten(name="row")])))
    ['inner/double', 'row']
    """
    reached = [x for x in reversed(named_by(fn)) if hasattr(type(x), "_flatten_layers")]
    held = {id(part) for x in reached for part in x._flatten_layers(include_self=False)}
    tops = [x for x in reached if id(x) not in held]
    found = {}
    for top in tops:
        alone = len(tops) == 1 and _is_model(top)
        _add(found, "" if alone else top.name, top)
    return found


def layer_at(name: str, layers: Mapping[str, object]) -> str | None:
    """The path of the innermost layer in which an operation of a graph stands; None outside all.

    name: the operation's, such as ``model_1/augmentation_1/random_zoom_1/Transform``.
    layers: what `layers_of` returned. Introduced in notebook 06.

    >>> import keras
    >>> layer_at("model_1/dense_1_1/MatMul", {"dense_1": keras.layers.Dense(1)})
    'dense_1'
    """
    twice = any(map(_opens_two_scopes, layers.values()))
    levels = {x for path in layers for x in accumulate(path.split("/"), "{}/{}".format)}
    here = ""
    for scope in name.split("/")[:-1]:
        here = _nearest(here, _second_of_two(scope) if twice else scope, levels)
    while here and here not in layers:  # in a model, but in none of its layers
        here = here.rpartition("/")[0]
    return here or None


def _nearest(here, name, levels):
    """The nearest level of a name below `here`; `here` for none, or for several.

    A model whose `call` is called directly opens no scope, so a level may be missing.
    """
    below = [x for x in levels if x.startswith(f"{here}/" if here else "")]
    below = [x for x in below if x.rpartition("/")[2] == name]
    depth = min((x.count("/") for x in below), default=0)
    nearest = [x for x in below if x.count("/") == depth]
    return nearest[0] if len(nearest) == 1 else here


def _opens_two_scopes(layer):
    """Whether its Keras does so for each call: Keras 3 until 3.15. Keras 2 has no `path`."""
    if not hasattr(layer, "path"):
        return False
    import keras

    return tuple(map(int, keras.__version__.split(".")[:2])) < (3, 16)


def _second_of_two(scope):
    """The name of the layer that a scope is of; empty for the scope of anything else.

    The work is in the second, to which TensorFlow adds a number: `dense` is ``dense_1``, and
    `dense_1` is ``dense_1_1``.
    """
    return NUMBER.sub("", scope) if NUMBER.search(scope) else ""


def _add(found, path, layer):
    """A layer and those that it holds, or those of a model."""
    if not _is_model(layer):
        found.setdefault(path, layer)
    for part in layer._flatten_layers(include_self=False, recursive=False):
        if type(part).__name__ != "InputLayer":
            _add(found, f"{path}/{part.name}".lstrip("/"), part)


def _is_model(layer):
    return hasattr(layer, "train_step")
