"""The children of tests, kernels too, get a temporary folder with a space in its name, and it goes.

nbval kills a kernel when its notebook ends, so what TensorFlow would remove at exit stays there.
"""

import os
import tempfile


def pytest_configure(config):
    if hasattr(config, "workerinput"):  # a process of xdist has it from the first one
        return
    folder = tempfile.TemporaryDirectory(prefix="two words ", ignore_cleanup_errors=True)
    config.add_cleanup(folder.cleanup)
    os.environ["TMPDIR"] = folder.name
