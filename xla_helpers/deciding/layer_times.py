"""Where the time of a call goes, by layer."""

from collections.abc import Mapping
from functools import partial
from operator import attrgetter, itemgetter

from ..layers import layers_of
from ..profiles import END, NOT_IN_A_LAYER, Profile, profile
from .findings import LayerTime

RECORDING = 1.0  # seconds that recorded calls may take, the first aside
MOST = 21  # recorded calls; a graph that ran often is no longer recorded in full


def layer_times(
    call: partial, label: str, lasts: float, paths: tuple[str, ...]
) -> tuple[LayerTime, ...]:
    """The seconds of a call in each layer, and outside of layers, the longest first.

    They are those of a recorded call; recording takes time too, most of all for short calls. With
    a GPU they are those of the processor, which starts the work.

    call: a function that ran a few times, with its arguments. label: of the candidate. lasts: its
    seconds, about. paths: what the layers are called, in their order. A fresh copy may have other
    paths, because Keras counts the layers that it names.
    """
    layers = layers_of(call.func)
    recorded = profile(call, calls=max(1, min(MOST, int(RECORDING / lasts))))
    seconds = median_call(recorded).seconds_by(layers)
    return tuple(_rows(label, layers, seconds, paths))


def median_call(recorded: Profile) -> Profile:
    """Of the recorded calls the one in the middle, by its seconds.

    Other work on the machine makes some calls much longer, which a mean over all would book on
    the layer that happened to run.
    """
    calls = [[]]
    for start in recorded.starts:
        calls[-1].append(start)
        if start[1] == END:
            calls.append([])
    found = sorted((Profile(1, tuple(call)) for call in calls if call), key=attrgetter("seconds"))
    return found[len(found) // 2]


def _rows(label, layers: Mapping, times: Mapping, paths):
    names = dict(zip(layers, paths if len(paths) == len(layers) else layers, strict=True))
    for path, seconds in sorted(times.items(), key=itemgetter(1), reverse=True):
        kind = "" if path == NOT_IN_A_LAYER else type(layers[path]).__name__
        yield LayerTime(label, names.get(path, path), kind, seconds)
