"""GPUs for which XLA can compile although they are not there: what it must know of each."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from xla_helpers.tables import Table, format_si

KNOWN = Path(__file__).with_name("targets.toml")

DESCRIPTION = """gpu_device_info {{
  threads_per_block_limit: 1024
  threads_per_warp: 32
  threads_per_core_limit: {threads}
  core_count: {multiprocessors}
  fpus_per_core: {units}
  shared_memory_per_block: 49152
  shared_memory_per_block_optin: {shared_block}
  shared_memory_per_core: {shared}
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  thread_dim_limit_x: 1024
  thread_dim_limit_y: 1024
  thread_dim_limit_z: 64
  memory_bandwidth: {bandwidth}
  device_memory_size: {memory}
  l2_cache_size: {cache}
  clock_rate_ghz: {clock}
  driver_version: "{cuda}"
  runtime_version: "{cuda}"
  cuda_compute_capability {{ major: {major} minor: {minor} feature_extension: {features} }}
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 10 }}
device_description_str: "{device}"
"""
"""A `GpuTargetConfigProto` (xla/stream_executor/device_description.proto) as text. What stands here
as a number is the same on all cards since Volta; the version is that of cuDNN."""

CUDA = "12.9.0"
"""Of the driver and of the libraries. XLA records calls of a library only if it knows them."""


@dataclass(frozen=True)
class Target:
    """A GPU to compile for.

    Attributes:
        name: Such as "H100".
        device: As its driver calls it.
        capability: Its compute capability, such as "9.0".
        multiprocessors: How many.
        memory: Bytes.
        bandwidth: Bytes of that memory each second, at most.
        source: Where the numbers stand.
        peaks: XLA's name of a type to multiplications and additions of matrix products each second,
            at most, without sparsity; "tf32" is float32 by its shorter type.
        accelerated: Whether instructions that only this card has may be used (``sm_90a``).
        cache: Bytes of the cache that all multiprocessors share.
        clock: Gigahertz.
        threads, units, shared: Of a multiprocessor: threads at once, units for arithmetic, bytes of
            memory that a block's threads share.
        shared_block: Bytes of it that a block may ask for.
    """

    name: str
    device: str
    capability: str
    multiprocessors: int
    memory: int
    bandwidth: int
    source: str
    cache: int
    clock: float
    threads: int
    units: int
    shared: int
    shared_block: int
    peaks: Mapping[str, float]
    accelerated: bool = False

    def peak(self, dtype: str) -> float | None:
        """The most operations of products of this type each second; None where it is not known."""
        if dtype == "tf32":
            return self.peaks.get("tf32", self.peaks.get("f32"))
        return self.peaks.get(dtype)

    @property
    def description(self) -> str:
        """What XLA's compiler is given in place of the card: a protocol buffer, as text."""
        major, _, minor = self.capability.partition(".")
        features = "ACCELERATED_FEATURES" if self.accelerated else "NONE"
        return DESCRIPTION.format(
            major=major, minor=minor, features=features, cuda=CUDA, **vars(self)
        )


@dataclass(frozen=True, repr=False)
class Targets(Table):
    """The GPUs for which `compile_for` compiles; it shows itself as a table.

    Attributes:
        cards: A `Target` each.
    """

    cards: tuple[Target, ...]

    def _parts(self):
        title = "GPUs for which XLA compiles here, without one."
        columns = ["target", "device", "capability", "memory", "bandwidth", "source"]
        rows = []
        for card in self.cards:
            memory, bandwidth = (format_si(x, "B") for x in (card.memory, card.bandwidth))
            about = card.name, card.device, card.capability, memory, f"{bandwidth}/s", card.source
            rows.append(about)
        return title, columns, rows


@cache
def _known() -> dict[str, Target]:
    found = tomllib.loads(KNOWN.read_text(encoding="utf-8"))
    return {name: Target(name=name, **facts) for name, facts in found.items()}


def targets() -> Targets:
    """List the GPUs for which `compile_for` compiles, with the sources of what is known of them.

    Returns:
        `Targets`, which shows itself as a table.

    Example:
        >>> [target.name for target in targets().cards]
        ['T4', 'A100', 'H100', 'H200', 'B200']
    """
    return Targets(tuple(_known().values()))


def target_named(name: str) -> Target:
    """The target of this name, in capital letters or small ones.

    Raises:
        ValueError: For a name that is not known; it lists those that are.
    """
    found = _known().get(str(name).upper())
    if found is None:
        raise ValueError(f"`target` must be one of {', '.join(_known())}, not {name!r}")
    return found
