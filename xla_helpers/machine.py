"""The machine that a measurement was made on, in words, and nothing that names its owner."""

import platform
from contextlib import suppress
from pathlib import Path

from . import internals
from .memory import available_cores, malloc_name, page_size
from .tables import pluralize, printable

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
        "processor": printable(_name_of(processor)),
        "vectors": next((name for flag, name in VECTORS.items() if flag in flags), ""),
        "cores": pluralize(available_cores(), "core"),
        "accelerators": ", ".join(gpu.get("device_name", "GPU") for gpu in gpus) or "no GPU used",
        "oneDNN": "oneDNN" if internals.uses_onednn() else "no oneDNN",
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
    in_words = f" ({', '.join(f'{name} {text}'.strip() for name, text in numbers.items())})"
    return (brand or platform.processor() or platform.machine()) + (in_words if numbers else "")
