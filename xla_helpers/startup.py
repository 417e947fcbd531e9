"""What every notebook calls first: start TensorFlow quietly, name the machine."""

import atexit
import os
import platform
import sys
import tempfile
from collections import Counter
from pathlib import Path

from .devices import HIDDEN_HERE, driver_version, without_gpu
from .tables import in_one_line

LOG_SWITCH = ("TF_CPP_VMODULE", "service=1,device_compiler=1")
"""Makes TensorFlow log the name and the seconds of each XLA compilation. Read once, at import."""

CPUS = Path("/sys/devices/system/cpu")  # where Linux lists processors and their caches

_log_path = None


def prepare_tensorflow(keras: int | None = None) -> str:
    """Send TensorFlow's C++ log to a file and make it name every compilation.

    Call it before TensorFlow is imported. Python's own messages stay on ``sys.stderr``;
    only what C++ code writes to file descriptor 2 moves. The file goes when the process ends
    well, and stays after a crash. Calling it again changes nothing. On a GPU this process, and
    those that it starts, take memory as they need it, so that they can share the device.
    keras: 3 for code in which `tf.keras` has to be Keras 3; None for any.
    Introduced in notebook 01.

    Returns: the path of the log file.
    Raises: RuntimeError when TensorFlow was imported first, because it no longer reads the switch,
    and when a variable of the environment asks for another Keras.
    """
    global _log_path
    if _log_path is not None:
        return _log_path
    if "tensorflow" in sys.modules:
        raise RuntimeError(
            "prepare_tensorflow() came too late: TensorFlow is already imported and has read its "
            "switches. Restart the kernel and call it before `import tensorflow`."
        )
    _check_keras(keras)
    os.environ["KERAS_BACKEND"] = "tensorflow"  # whatever keras.json says
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    name, value = LOG_SWITCH
    os.environ[name] = ",".join(filter(None, [os.environ.get(name), value]))
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "0"
    log, path = tempfile.mkstemp(prefix="tensorflow-", suffix=".log")
    _keep_python_stderr()
    os.dup2(log, 2)
    os.close(log)
    atexit.register(os.unlink, path)
    _log_path = path
    return path


def _check_keras(keras):
    backend = os.environ.get("KERAS_BACKEND") or "tensorflow"
    if backend != "tensorflow":
        raise RuntimeError(
            f"KERAS_BACKEND is {backend!r} in the environment, and Keras must run on TensorFlow "
            "here: unset it, and restart the kernel."
        )
    legacy = os.environ.get("TF_USE_LEGACY_KERAS")
    if keras == 3 and legacy in ("true", "True", "1"):  # what TensorFlow takes for yes
        raise RuntimeError(
            f"TF_USE_LEGACY_KERAS is {legacy!r} in the environment, which makes tf.keras the older "
            "Keras 2, and Keras 3 is needed here: unset it, and restart the kernel."
        )


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

    cores = usable_cores()
    facts = {
        "processor": _processor(),
        "cores": f"{cores} core{'s' if cores > 1 else ''}",
        **_last_level_cache(),
        "accelerators": _accelerators(tf),
        "Python": f"Python {platform.python_version()}",
        "TensorFlow": f"TensorFlow {tf.__version__}",
    }
    return {name: in_one_line(fact) for name, fact in facts.items()}


def _accelerators(tf):
    """The GPUs that this process uses, by name, or what keeps it from using any."""
    if not tf.config.list_physical_devices("GPU"):
        return without_gpu()
    gpus = tf.config.get_visible_devices("GPU")
    details = map(tf.config.experimental.get_device_details, gpus)
    names = [known.get("device_name", "GPU") for known in details]
    if not names:
        return HIDDEN_HERE
    driver = driver_version()
    return ", ".join(names) + (f" with driver {driver}" if driver else "")


def _keep_python_stderr() -> None:
    """In a script ``sys.stderr`` is file descriptor 2 itself: give it a descriptor of its own."""
    try:
        is_descriptor_2 = sys.stderr.fileno() == 2
    except (AttributeError, OSError, ValueError):
        return
    if is_descriptor_2:
        same = {"encoding": sys.stderr.encoding, "errors": sys.stderr.errors}
        sys.stderr = os.fdopen(os.dup(2), "w", buffering=1, **same)


def usable_cores() -> int:
    """How many cores this process may use."""
    return len(_usable()) or os.cpu_count()


def _usable() -> set[int]:
    """The numbers of the cores that this process may use; none where the system does not say."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()


def _last_level_cache() -> dict[str, str]:
    """The caches of the last level as Linux lists them, such as ``L3 cache 2 x 32 MiB``."""
    caches = _last_level_caches()
    if not caches:
        return {}
    level, sizes = caches
    many = Counter(f"{size / 2**20:.4g} MiB" for size in sizes)
    said = [f"{count} x {size}" if count > 1 else size for size, count in many.items()]
    return {"cache": f"L{level} cache {' + '.join(said)}"}


def cache_bytes() -> int | None:
    """The bytes of all caches of the last level, together; None where the system does not say.

    A large processor has several of them, each shared by some of its cores; those count whose
    cores this process may use. Arrays that are much larger than all of them together come from
    memory. Linux says it.
    """
    caches = _last_level_caches()
    return sum(caches[1]) if caches else None


def _last_level_caches():
    """The last level and the sizes in bytes of its caches, each once; None where nothing says."""
    found = {}
    for cache in (path for n in sorted(_usable()) for path in CPUS.glob(f"cpu{n}/cache/index*")):
        try:
            level, shared_by = int(_told(cache / "level")), _told(cache / "shared_cpu_list")
            kilobytes = int(_told(cache / "size").removesuffix("K"))
        except (OSError, ValueError):  # not all systems tell all of it
            continue
        found.setdefault(level, {})[shared_by] = 1024 * kilobytes
    return (max(found), sorted(found[max(found)].values())) if found else None


def _told(path):
    return path.read_text(encoding="utf-8").strip()


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            models = [
                line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")
            ]
    except OSError:
        models = []
    return models[0] if models else platform.processor() or platform.machine()
