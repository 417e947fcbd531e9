"""Measure, compare and explain: the helpers of "XLA for TensorFlow, in notebooks".

What a lesson needs: time, compare, plot, tabulate, record, teach, count compilations. One storey
up, `look` says what a program holds, what ran in it, and what XLA refuses.

The names are listed in `__init__.pyi`. A module is imported when a name of it is first used, so
that `import xla_helpers` costs nothing and starts neither TensorFlow nor matplotlib.
"""

import lazy_loader


def load_ipython_extension(shell):
    """Called by `%load_ext xla_helpers`: makes the magic `%%xla` known."""
    from .look.magic import register

    register(shell)


__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
