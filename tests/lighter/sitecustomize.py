"""Read by each Python process that a notebook or page under test starts: a cheaper TensorFlow.

By two seconds of a processor, as after `prepare_tensorflow`, which many of them do not call. What
readers see comes from `make refresh`, which knows nothing of this.
"""

import sys


class _Finder:
    def find_spec(self, name, path=None, target=None):
        """Called by Python before it looks for a module."""
        if name != "tensorflow":
            return None
        sys.meta_path.remove(self)
        from xla_helpers import startup  # only now: most processes import no TensorFlow

        return startup.lighter_spec()


sys.meta_path.insert(0, _Finder())
