"""Which packages are chosen, and why."""

import re

import pytest

from tools.collection import ROOT
from tools.variants import LOCKS, UsageError, choose_variant, nvidia_device
from xla_helpers import devices

DEVICE = "/dev/nvidia0"
LINUX, ARM, MAC = ("Linux", "x86_64"), ("Linux", "aarch64"), ("Darwin", "arm64")


@pytest.mark.parametrize(
    ("asked", "standing", "device", "machine", "variant", "why"),
    [
        ("", "", "", LINUX, "cpu", "no NVIDIA device was found"),
        ("", "", DEVICE, LINUX, "cuda", "/dev/nvidia0 is here"),
        ("", "", "/proc/x", LINUX, "cpu", "/proc/x is here, and no /dev/nvidia0"),
        ("", "", devices.ASKED, LINUX, "cuda", "a device that nvidia-smi lists is here"),
        (
            *("", "", devices.UNANSWERED, LINUX, "cuda"),
            "a device whose nvidia-smi does not answer is here",
        ),
        (
            *("", "", "/sys/bus/pci/devices/0000:01:00.0", LINUX, "cpu"),
            "an NVIDIA device on the PCI bus (0000:01:00.0) is here, and no /dev/nvidia0",
        ),
        ("", "cpu", DEVICE, LINUX, "cpu", "as before"),
        ("", "cuda", "", LINUX, "cuda", "as before"),
        ("cpu", "cuda", DEVICE, LINUX, "cpu", "as ACCELERATOR says"),
        ("cuda", "cpu", "", LINUX, "cuda", "as ACCELERATOR says"),
        ("", "", "", MAC, "cpu", "no NVIDIA device was found"),
        (
            *("", "", DEVICE, ARM, "cpu"),
            "/dev/nvidia0 is here, but the packages for Linux on aarch64 hold no CUDA",
        ),
    ],
)
def test_the_choice_and_its_reason(asked, standing, device, machine, variant, why):
    assert choose_variant(asked, standing, device, *machine) == (variant, why)


@pytest.mark.parametrize("asked", ["gpu", "CUDA", " cpu", "cpu cuda"])
def test_another_word_is_refused_by_name(asked):
    with pytest.raises(UsageError, match="^ACCELERATOR is .*: give cpu or cuda, or nothing$"):
        choose_variant(asked, "", "", *LINUX)


@pytest.mark.parametrize("machine", [ARM, MAC])
def test_cuda_is_refused_where_no_package_holds_it(machine):
    with pytest.raises(UsageError, match=f"the packages for {' on '.join(machine)} hold no CUDA"):
        choose_variant("cuda", "", DEVICE, *machine)


def test_devices_are_looked_for_as_the_helpers_do():
    assert nvidia_device() == devices.nvidia_device()


# The locks


def pins(variant):
    """The pins of a lock, name and version to the systems that they are for."""
    text = (ROOT / LOCKS[variant]).read_text(encoding="utf-8")
    return dict(re.findall(r"(?m)^(\w\S+)(.*) \\$", text))


def test_both_locks_hold_the_same_pins_and_cuda_those_of_nvidia_besides():
    cpu, cuda = pins("cpu"), pins("cuda")
    assert cpu.keys() <= cuda.keys(), "run make lock"
    more = {pin: cuda[pin] for pin in cuda.keys() - cpu.keys()}
    assert all(pin.startswith("nvidia-") for pin in more)
    assert {name.split("==")[0] for name in more} >= set(devices._cuda_packages())
    assert set(more.values()) == {" ; platform_machine == 'x86_64' and sys_platform == 'linux'"}


def test_the_lock_of_cuda_holds_nothing_but_pins_with_their_hashes():
    text = (ROOT / LOCKS["cuda"]).read_text(encoding="utf-8")
    assert "://" not in text
    assert set(re.findall(r"--[\w-]+", text)) == {"--hash"}
    hashed = re.findall(r"(?m)^\w.* \\\n    --hash=sha256:[0-9a-f]{64}(?!\S)", text)
    assert len(hashed) == len(re.findall(r"(?m)^\w", text))
