"""What every notebook calls first: start TensorFlow quietly, name the machine."""

import atexit
import os
import platform
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from .tables import counted, in_one_line

LOG_SWITCH = "service=1,device_compiler=1"
"""Makes TensorFlow log the name and the seconds of each XLA compilation. Read once, at import."""

_log_path = None


def prepare_tensorflow(keras: int | None = None) -> str:
    """Send TensorFlow's C++ log to a file and make it name every compilation.

    Call it before TensorFlow is imported. Python's own messages stay on ``sys.stderr``;
    only what C++ code writes to file descriptor 2 moves. The file goes when the process ends
    well, and stays after a crash. Calling it again changes nothing. On a GPU this process, and
    those that it starts, take memory as they need it, so that they can share the device.
    Keras runs on TensorFlow from here on, whatever KERAS_BACKEND said. keras: 3 for code in which
    `tf.keras` has to be Keras 3, whatever TF_USE_LEGACY_KERAS said; None for any.
    Introduced in notebook 01.

    Returns: the path of the log file.
    Raises: RuntimeError when TensorFlow or Keras was imported first: they no longer read switches.
    """
    global _log_path
    if _log_path is not None:
        return _log_path
    for name in ("tensorflow", "keras"):
        if name in sys.modules:
            raise RuntimeError(
                f"prepare_tensorflow() came too late: {name} is already imported and has read its "
                f"switches. Restart the kernel and call it before `import {name}`."
            )
    os.environ["KERAS_BACKEND"] = "tensorflow"  # whatever keras.json says
    if keras == 3:
        os.environ.pop("TF_USE_LEGACY_KERAS", None)  # which makes `tf.keras` the older Keras 2
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    given = os.environ.get("TF_CPP_VMODULE")
    os.environ["TF_CPP_VMODULE"] = f"{given},{LOG_SWITCH}" if given else LOG_SWITCH
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "0"
    log, path = tempfile.mkstemp(prefix="tensorflow-", suffix=".log")
    _keep_python_stderr()
    os.dup2(log, 2)
    os.close(log)
    atexit.register(os.unlink, path)
    _log_path = path
    return path


def log_path() -> str | None:
    """The path of TensorFlow's log file, or None when `prepare_tensorflow` was not called."""
    return _log_path


def describe_machine() -> str:
    """One line with what a measurement depends on: processor, cores, accelerators, versions.

    Introduced in notebook 01.
    """
    return " · ".join(machine_facts().values())


def machine_facts() -> dict[str, str]:
    """What a measurement depends on, and nothing that names its owner: name to text."""
    import tensorflow as tf

    affinity = getattr(os, "sched_getaffinity", lambda pid: range(os.cpu_count()))
    cores = affinity(0)  # that this process may use, where the system says it
    facts = {
        "processor": _processor(),
        "cores": counted(len(cores), "core"),
        "cache": _cache(cores),
        "accelerators": _accelerators(tf),
        "Python": f"Python {platform.python_version()}",
        "TensorFlow": f"TensorFlow {tf.__version__}",
    }
    return {name: in_one_line(fact) for name, fact in facts.items() if fact}


def _accelerators(tf):
    """The GPUs that this process uses, by name, or that it uses none of those that are there."""
    details = map(tf.config.experimental.get_device_details, tf.config.get_visible_devices("GPU"))
    if names := ", ".join(known.get("device_name", "GPU") for known in details):
        return names
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, timeout=5).stdout
    except subprocess.TimeoutExpired:
        return "GPU not known: nvidia-smi does not answer"
    except OSError:  # there is no such command
        return "no GPU"
    unused = "NVIDIA GPU that TensorFlow does not use: its log may say why"
    return unused if listed.startswith(b"GPU ") else "no GPU"


def _cache(cores):
    """The L3 caches of these cores together, such as ``L3 cache 32 MiB``; "" where not told."""
    parts = {}  # KiB, by the cores that share it
    for core in cores:
        cache = Path(f"/sys/devices/system/cpu/cpu{core}/cache/index3")
        with suppress(OSError, ValueError):
            size = (cache / "size").read_text(encoding="utf-8").strip()
            shared_by = (cache / "shared_cpu_list").read_text(encoding="utf-8")
            parts[shared_by] = int(size.removesuffix("K"))
    return f"L3 cache {sum(parts.values()) / 1024:.4g} MiB" if parts else ""


def _processor():
    with suppress(OSError):
        listed = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        if found := re.search(r"^model name\s*: (.+)$", listed, re.MULTILINE):
            return found[1]
    return platform.processor() or platform.machine()


def _keep_python_stderr():
    """In a script ``sys.stderr`` is file descriptor 2 itself: give it a descriptor of its own."""
    with suppress(AttributeError, OSError, ValueError):  # in a notebook it is no file
        if sys.stderr.fileno() == 2:
            same = {"encoding": sys.stderr.encoding, "errors": sys.stderr.errors}
            sys.stderr = os.fdopen(os.dup(2), "w", buffering=1, **same)
