"""Read by each Python process that a test starts: an import of TensorFlow for two seconds less.

The garbage collector leaves out what the import makes: that stays until the process ends, and the
collector would go over it while it grows, with each full collection, and at the end. And TensorFlow
ends its import with that of Keras, and does without it where that fails; a process that never uses
Keras saves its time, and 50 MB. So it is with h5py and SciPy, for which an old copy of Keras asks
that TensorFlow still imports. What readers see comes from `make refresh`, which does without.
"""

import importlib.util
import os
import sys
from functools import partial


class _Finder:
    """Finds TensorFlow as Python does, once, with a cheaper import."""

    def find_spec(self, name, path=None, target=None):
        """Called by Python before it looks for a module."""
        if name != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("tensorflow")
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = partial(_run_lightly, spec.loader.exec_module)
        return spec


class _Later:
    """Finds no Keras while TensorFlow is imported."""

    def __init__(self):
        is_legacy = "TF_USE_LEGACY_KERAS" in os.environ  # tf_keras keeps what it finds at first
        self.names = {"keras.src"} | (set() if is_legacy else {"h5py", "scipy"})

    def find_spec(self, name, path=None, target=None):
        """Called by Python before it looks for a module."""
        if name in self.names:
            raise ImportError(f"{name} is imported when it is used")


def _run_lightly(run, module):
    import gc

    gc.disable()
    sys.meta_path.insert(0, later := _Later())
    try:
        run(module)
    finally:
        sys.meta_path.remove(later)
        gc.freeze()  # what is there now is garbage for nobody
        gc.enable()


sys.meta_path.insert(0, _Finder())
