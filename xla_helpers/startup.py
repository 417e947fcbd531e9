"""What comes before TensorFlow's import: its log goes to a file, and its switches are set."""

import atexit
import logging
import os
import sys
import tempfile
from contextlib import suppress

from .logs import log_path, log_to
from .memory import pin_malloc


def prepare_tensorflow(keras: int | None = None) -> str:
    """Send TensorFlow's C++ log to a file and make it name every compilation.

    Call it before TensorFlow is imported; a second call changes nothing. C++ code writes to file
    descriptor 2, so that descriptor becomes the file. Python's own messages stay where they were:
    `sys.stderr` and the handlers of `logging` get a descriptor of their own. A process that you
    start inherits descriptor 2, and what it says there goes into the file: start it with
    ``stderr=sys.stderr``, or by `run_in_process`. The file is deleted when the process ends, and
    stays after a crash.

    Two limits of glibc's malloc are pinned at what it raises them to by itself, 32 MiB for mapping
    an array and 64 MiB for giving memory back, so that what a process did before does not change
    what a large array costs. On a GPU this process and its children take memory as they need it, so
    that they can share the device. Keras runs on TensorFlow from here on, whatever KERAS_BACKEND
    says.

    Args:
        keras: 3 for code in which `tf.keras` must be Keras 3, whatever TF_USE_LEGACY_KERAS says;
            None for any.

    Returns:
        The path of the log file.

    Raises:
        RuntimeError: When TensorFlow or Keras was imported first and has read its switches.
    """
    if path := log_path():
        return path
    if late := {"tensorflow", "keras"} & sys.modules.keys():
        raise RuntimeError(
            f"prepare_tensorflow() came too late: {', '.join(sorted(late))} has read its switches. "
            "Restart the kernel and call it before that import."
        )
    os.environ["KERAS_BACKEND"] = "tensorflow"  # whatever keras.json says
    if keras == 3:
        os.environ.pop("TF_USE_LEGACY_KERAS", None)  # which makes `tf.keras` the older Keras 2
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    pin_malloc()
    # The switch makes TensorFlow log the name and the seconds of each compilation.
    switches = filter(None, [os.environ.get("TF_CPP_VMODULE"), "service=1,device_compiler=1"])
    os.environ |= {"TF_CPP_VMODULE": ",".join(switches), "TF_CPP_MIN_LOG_LEVEL": "0"}
    log, path = tempfile.mkstemp(prefix="tensorflow-", suffix=".log")
    _keep_python_stderr()
    os.dup2(log, 2)
    os.close(log)
    atexit.register(_remove, path, os.getpid())
    log_to(path)
    return path


def _remove(path, owner):
    """Delete the log, in the process that made it alone: a fork of it ends, too."""
    if os.getpid() == owner:
        os.unlink(path)


def _keep_python_stderr():
    """In a script `sys.stderr` is file descriptor 2 itself: give it a descriptor of its own."""
    with suppress(AttributeError, OSError, ValueError):  # in a notebook it is no file
        before = sys.stderr
        if before.fileno() == 2:
            same = {"encoding": before.encoding, "errors": before.errors}
            sys.stderr = os.fdopen(os.dup(2), "w", buffering=1, **same)
            if sys.__stderr__ is before:
                sys.__stderr__ = sys.stderr  # type: ignore[misc]  # what `logging` may hold, too
            _move_handlers(before, sys.stderr)


def _move_handlers(before, after):
    """Let the handlers of `logging` that write to one stream write to the other."""
    for logger in (logging.root, *logging.root.manager.loggerDict.values()):
        for handler in getattr(logger, "handlers", ()):
            if getattr(handler, "stream", None) is before:
                handler.setStream(after)
