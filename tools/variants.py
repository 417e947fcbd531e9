"""Which packages `.venv` holds: for the processor alone, or with CUDA for an NVIDIA device.

Standard library only. It must parse on old Pythons, as `set_up` does, which asks it.
"""

import os
import platform
import runpy

LOCKS = {"cpu": "requirements.txt", "cuda": "requirements-cuda.txt"}
HELPERS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "xla_helpers")


class UsageError(Exception):
    """Words that make no sense; the message is all that the reader gets."""


def nvidia_device():
    """What shows an NVIDIA device, or nothing: by the helpers' own file, before they are there."""
    return runpy.run_path(os.path.join(HELPERS, "devices.py"))["nvidia_device"]()


def choose_variant(asked, standing, device, system=None, machine=None):
    """The variant, "cpu" or "cuda", and why.

    asked: for ACCELERATOR, which counts most. standing: what `.venv` was when it was last
    finished; it stays that, so that machines with and without a device may share it. device: what
    shows that one is here. CUDA is of no use without a driver, so it is chosen where one made
    /dev/nvidia0 or has an `nvidia-smi` that lists a device, or hangs over it.
    """
    here = f"{system or platform.system()} on {machine or platform.machine()}"
    holds_cuda = here == "Linux on x86_64"
    if asked and asked not in LOCKS:
        raise UsageError(f"ACCELERATOR is {asked!r}: give {' or '.join(LOCKS)}, or nothing")
    if asked == "cuda" and not holds_cuda:
        raise UsageError(f"ACCELERATOR is 'cuda', and the packages for {here} hold no CUDA")
    if asked:
        return asked, "as ACCELERATOR says"
    if standing:
        return standing, "as before"
    if not device:
        return "cpu", "no NVIDIA device was found"
    if not holds_cuda:
        return "cpu", f"{in_words(device)} is here, but the packages for {here} hold no CUDA"
    if device.startswith(("/proc/", "/sys/")):
        return "cpu", f"{in_words(device)} is here, and no /dev/nvidia0"
    return "cuda", f"{in_words(device)} is here"


def in_words(device):
    """What shows a device, where a sentence speaks of the device."""
    if device.startswith("/sys/"):
        return f"an NVIDIA device on the PCI bus ({os.path.basename(device)})"
    if device == "nvidia-smi -L":
        return "a device that nvidia-smi lists"
    if device.startswith("nvidia-smi"):
        return "a device whose nvidia-smi does not answer"
    return device
