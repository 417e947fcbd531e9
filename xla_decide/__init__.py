"""Decide whether XLA pays for a model, and compile for GPUs that are not there.

What one takes home from "XLA for TensorFlow, in notebooks". It stands on `xla_helpers`, which
lessons use, and which imports nothing from here. `gpu` holds the programs for cards that are not
there.

The names are listed in `__init__.pyi`, and a module is imported when a name of it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
