"""A function for each of the gallery, by its name: ``path/to/makers.py:a_subclassed_model``.

It makes the model, its call as the only example call, and its keyword arguments as an option.
"""

import sys
from functools import partial
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[3])
if ROOT not in sys.path:
    sys.path.append(ROOT)

from tests.xla_helpers.gallery import GALLERY, Model  # noqa: E402  (found by what stands above)


def made(model: Model):
    """What `decide` takes from a function: a callable, its example calls, options."""
    import tensorflow as tf

    fn, args, kwargs = model.build(tf)
    return fn, [args], {"kwargs": kwargs}


globals().update({model.name: partial(made, model) for model in GALLERY})
