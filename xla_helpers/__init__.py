"""Measure, compare, compile and explain: the helpers of "XLA for TensorFlow, in notebooks".

In this folder lies the support module: timing, comparing, plotting, and results. Beside it stand
`instruments`, which say what ran and what compiled, and `deciding`, a programme of its own.

The names are listed in `__init__.pyi`. A module is imported when a name of it is first used, so
that `import xla_helpers` costs nothing and starts neither TensorFlow nor matplotlib.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
