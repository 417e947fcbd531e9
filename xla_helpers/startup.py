"""What a notebook calls first: start TensorFlow quietly, name the machine, find a checkpoint."""

import atexit
import os
import platform
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from .memory import available_cores, malloc_name, page_size, pin_malloc
from .tables import counted, in_one_line

LOGGED = re.compile(
    r"BuildExecutable on service .* module proto: ([^\s[]+)"  # from XLA's service.cc
    r"|Compilation of XLA executable time: (\S+) (us|ms|s|min|h) .*\n"  # from device_compiler.h
    r"(?!.*OP_REQUIRES failed at xla_)"  # the compilation failed
)
"""The two lines of a compilation: the program's name, then the seconds that it took."""

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}  # in seconds

VECTORS = {  # flags of a processor, the widest first
    "amx_bf16": "AMX",
    "avx512_bf16": "AVX-512 with bfloat16",
    "avx512f": "AVX-512",
    "avx2": "AVX2",
    "sve": "SVE",
    "asimd": "NEON",
}

VERSIONS = "Python", "TensorFlow"  # of `machine_facts`
NUMBERS = {  # in /proc/cpuinfo, to their names in words
    "vendor_id": "",
    "cpu family": "family",
    "model": "model",
    "CPU implementer": "implementer",
    "CPU part": "part",
}

_log_path: str | None = None


def prepare_tensorflow(keras: int | None = None) -> str:
    """Send TensorFlow's C++ log to a file and make it name every compilation.

    Call it before TensorFlow is imported; a second call changes nothing. Python's own messages stay
    on ``sys.stderr``: only what C++ code writes to file descriptor 2 moves. The file is deleted
    when the process ends, and stays after a crash. Two limits of glibc's malloc are pinned at what
    it raises them to by itself, 32 MiB for mapping an array and 64 MiB for giving memory back, so
    that what a process did before does not change what a large array costs. On a GPU this process
    and its children take memory as they need it, so that they can share the device. Keras runs on
    TensorFlow from here on, whatever KERAS_BACKEND says.

    Args:
        keras: 3 for code in which `tf.keras` must be Keras 3, whatever TF_USE_LEGACY_KERAS says;
            None for any.

    Returns:
        The path of the log file.

    Raises:
        RuntimeError: When TensorFlow or Keras was imported first and has read its switches.
    """
    global _log_path
    if _log_path is not None:
        return _log_path
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
    atexit.register(os.unlink, path)
    _log_path = path
    return path


@contextmanager
def functions_run_eagerly(eagerly: bool) -> Iterator[None]:
    """In the block every `tf.function` runs eagerly or not; then as before."""
    import tensorflow as tf

    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(eagerly)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(before)


class Compilation(NamedTuple):
    """A program that XLA compiled: its name, and the seconds that it took, to three digits."""

    name: str
    seconds: float


def compilations_in(log: str) -> list[Compilation]:
    """Every compilation in a log, without the probe's.

    Neither a program that was built only to be looked at counts nor one that was found in a cache
    on disk.
    """
    built, compiled = list[str](), list[Compilation]()
    for name, number, unit in LOGGED.findall(log):
        if name:
            built.append(name)
        elif built and "xla_helpers_probe" not in (name := built.pop()):
            compiled.append(Compilation(name, float(number) * UNITS[unit]))
    return compiled


@contextmanager
def watch_compilations() -> Iterator[list[Compilation]]:
    """List what XLA compiles in a block, whoever asks for it.

    Each entry has a `name` and the `seconds` that it took, three digits as TensorFlow logs them. A
    name that comes twice is one graph compiled for two shapes.

    Yields:
        A list, filled when the block ends.

    Raises:
        RuntimeError: When compilations cannot be counted in this process; it says how to fix that.

    Example:
        >>> import tensorflow as tf
        >>> double = tf.function(lambda x: 2 * x, jit_compile=True, autograph=False)
        >>> with watch_compilations() as compiled:
        ...     first, second = double(tf.ones([3])), double(tf.ones([4]))
        >>> len(compiled)
        2
    """
    if not compilations_are_logged():
        raise RuntimeError(
            "Compilations cannot be counted here: TensorFlow's log does not name them. Restart the "
            "kernel and call xla_helpers.prepare_tensorflow() before `import tensorflow`."
        )
    compiled: list[Compilation] = []
    start = os.path.getsize(str(_log_path))
    yield compiled
    compiled += compilations_in(_logged_since(start))


def compilations_are_logged() -> bool:
    """Whether TensorFlow's log names what XLA compiles."""
    return _log_path is not None and _probe_is_logged()


@cache
def _probe_is_logged():
    """Compile something tiny, once, and look for its line: the only proof of a read switch."""
    import tensorflow as tf

    def xla_helpers_probe(x):  # its name keeps it out of every count
        return x + 1

    start = os.path.getsize(str(_log_path))
    with functions_run_eagerly(False):
        tf.function(xla_helpers_probe, jit_compile=True, autograph=False)(tf.constant(1))
    return "Compilation of XLA executable" in _logged_since(start)


def _logged_since(start):
    """What was logged after the first `start` bytes."""
    with open(str(_log_path), "rb") as log:
        log.seek(start)
        return log.read().decode("utf-8", errors="replace")


def describe_machine() -> str:
    """Describe in one line what a measurement depends on.

    Two machines with one line may still differ, in their clock or their memory.

    Returns:
        Processor, widest vectors, cores, accelerators, whether TensorFlow uses oneDNN, who gives
        memory, and versions; nothing that names its owner.
    """
    return " · ".join(machine_facts().values())


def machine_facts() -> dict[str, str]:
    """What a measurement depends on, and nothing that names its owner: name to text."""
    import tensorflow as tf

    gpus = map(tf.config.experimental.get_device_details, tf.config.get_visible_devices("GPU"))
    processor = _first_processor()
    flags = (processor.get("flags") or processor.get("Features") or "").split()
    facts = {
        "processor": in_one_line(_name_of(processor)),
        "vectors": next((name for flag, name in VECTORS.items() if flag in flags), ""),
        "cores": counted(available_cores(), "core"),
        "accelerators": ", ".join(gpu.get("device_name", "GPU") for gpu in gpus) or "no GPU used",
        "oneDNN": "oneDNN" if _uses_onednn() else "no oneDNN",
        "memory": malloc_name() + ("" if page_size() else ", pages of unknown size"),
    }
    facts["Python"] = f"Python {platform.python_version()}"
    facts["TensorFlow"] = f"TensorFlow {tf.__version__}"
    return {name: text for name, text in facts.items() if text}


def _first_processor() -> dict[str, str]:
    """What Linux says of the first processor; {} elsewhere."""
    with suppress(OSError):
        first, _, _ = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")
        pairs = (line.partition(":")[::2] for line in first.splitlines())
        return {name.strip(): text.strip() for name, text in pairs}
    return {}


def _name_of(processor):
    """Its brand; with vendor, family and model where no number in the brand tells them."""
    brand = processor.get("model name", "")
    numbers = {name: processor[key] for key, name in NUMBERS.items() if key in processor}
    if any(map(str.isdigit, brand.partition("@")[0])):
        return brand
    told = f" ({', '.join(f'{name} {text}'.strip() for name, text in numbers.items())})"
    return (brand or platform.processor() or platform.machine()) + (told if numbers else "")


def _uses_onednn():
    with suppress(ImportError):  # it is no public name
        from tensorflow.python.util import _pywrap_util_port

        return _pywrap_util_port.IsMklEnabled()
    return False


def _keep_python_stderr():
    """In a script ``sys.stderr`` is file descriptor 2 itself: give it a descriptor of its own."""
    with suppress(AttributeError, OSError, ValueError):  # in a notebook it is no file
        if sys.stderr.fileno() == 2:
            same = {"encoding": sys.stderr.encoding, "errors": sys.stderr.errors}
            sys.stderr = os.fdopen(os.dup(2), "w", buffering=1, **same)


def find_checkpoint(name: str = "tiny-gpt2") -> Path:
    """Find the folder of a checkpoint for `from_pretrained`.

    Args:
        name: ``tiny-gpt2`` for the one in this package, a local folder, or a model on the Hugging
            Face Hub such as ``openai-community/gpt2``, downloaded unless the Hub's cache holds it.

    Returns:
        The path of the folder.

    Raises:
        Exception: What the Hub's client raises for a name that is none of these, or offline.
    """
    if name == "tiny-gpt2":  # trained on the corpus.txt beside it
        return Path(str(files(__package__))) / "data" / name
    if os.path.isdir(name):
        return Path(name)
    from huggingface_hub import snapshot_download

    # Not model.safetensors, whose names are mostly PyTorch's: TensorFlow's classes prefer it, but
    # cannot read it (huggingface/transformers#40028).
    return Path(snapshot_download(name, allow_patterns=["*.json", "*.txt", "*.model", "*.h5"]))
