"""How much memory the processes of a notebook hold."""

import os
import threading

from xla_helpers.watching import family, resident

EVERY = 0.2  # seconds between two looks at the memory


class PeakMemory:
    """The most bytes that the processes below this one held together, while the block ran.

    Memory that they share counts more than once.
    """

    def __enter__(self):
        self.bytes, self._done = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._done.set()
        self._thread.join()

    def _watch(self):
        while not self._done.wait(EVERY):
            below = family(os.getpid())[1:]
            self.bytes = max(self.bytes, sum(map(resident, below)))
