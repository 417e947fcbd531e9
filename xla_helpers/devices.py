"""NVIDIA devices that TensorFlow does not see: whether there is one, and what hides it."""

import ctypes
import os
import platform
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution, requires, version
from importlib.util import find_spec
from pathlib import Path

NO_GPU = "no GPU"
UNSEEN = "NVIDIA device that TensorFlow does not see"
HIDDEN = "NVIDIA device, hidden by CUDA_VISIBLE_DEVICES"
HIDDEN_HERE = "GPU, hidden by set_visible_devices"
"""Each stands for the accelerators in the line that names a machine."""

ROOT = Path("/")  # below which the files stand that tell
NODES, LISTED = "dev/nvidia[0-9]*", "proc/driver/nvidia/gpus/*"
BUS, MAKER, DISPLAY = "sys/bus/pci/devices/*", "0x10de", "0x03"  # NVIDIA; display or 3D controller
VERSION = "proc/driver/nvidia/version"
LOADED = "sys/module/nvidia"  # is there while the driver is
WSL = "usr/lib/wsl/lib"  # where Windows puts the driver's files
NO_DEVICE = 100  # the driver's answer when CUDA_VISIBLE_DEVICES hides all
LIBDEVICE = "nvvm/libdevice/libdevice.10.bc"
OPENED = re.compile("cublas|cuda-runtime|cudnn|cufft|cusolver|cusparse|nvjitlink")
"""What TensorFlow opens before it lists a device, and what these need; others come later."""

PATIENCE = 5  # seconds for the driver's command
ASKED = "nvidia-smi -L"
UNANSWERED = f"{ASKED} without an answer within {PATIENCE} s"


def nvidia_device() -> str:
    """What shows that this machine has an NVIDIA device, such as ``/dev/nvidia0``; "" for nothing.

    Linux says it by files of the driver, Windows below Linux by the driver's own command, and the
    PCI bus where no driver is loaded. A command that hangs is a sign of a device, too.
    """
    return _first(ROOT.glob(NODES)) or _listed() or _first(ROOT.glob(LISTED)) or _first(_on_bus())


def _first(paths):
    found = sorted(paths)
    return f"/{found[0].relative_to(ROOT).as_posix()}" if found else ""


def _on_bus():
    """The folders of NVIDIA's devices on the PCI bus; a card has one for its sound besides."""
    return [
        path
        for path in ROOT.glob(BUS)
        if _told(path / "vendor") == MAKER and _told(path / "class").startswith(DISPLAY)
    ]


def _told(path):
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""


def driver_version() -> str:
    """The version of NVIDIA's driver, such as ``550.54.15``; "" where Linux does not say."""
    found = re.search(r"Kernel Module.*?\s(\d+(\.\d+)+)\b", _told(ROOT / VERSION))
    return found[1] if found else ""


def without_gpu() -> str:
    """What the line that names a machine says where TensorFlow lists no GPU."""
    if not nvidia_device():
        return NO_GPU
    return HIDDEN if _hidden_by_variable() else UNSEEN


def unseen_accelerator() -> str:
    """One sentence when an NVIDIA device exists and TensorFlow sees none, with the likely causes.

    TensorFlow is imported only where a device exists. What was not looked at is not said.
    Returns: the sentence, or "" when there is no device or TensorFlow sees one.
    """
    device = nvidia_device()
    if not device:
        return ""
    import tensorflow as tf

    if tf.config.list_physical_devices("GPU"):
        return ""
    return _sentence(device, hindrances())


def hidden_accelerator(device: str | None = None) -> str:
    """The same sentence where files and variables suffice for it, without TensorFlow.

    device: what `nvidia_device` returned; None: it is asked. A driver whose command hangs is not
    asked for more, and the sentence says so.
    Returns: "" also where only TensorFlow itself could tell.
    """
    device = nvidia_device() if device is None else device
    if device == UNANSWERED:
        return f"There is an NVIDIA device whose driver hangs or is slow: {device}."
    found = hindrances() if device else []
    return _sentence(device, found) if found else ""


def hindrances() -> list[str]:
    """What keeps TensorFlow from a device, as far as it shows without it, most likely first.

    Where the driver starts it has a device for this process, whatever files and variables say.
    """
    answer = _driver()
    causes = [] if answer == 0 else [_hidden_by_variable(), _closed(), _silent(answer)]
    return [found for found in (*causes, _without_cuda()) if found]


def _driver():
    """What the driver answers; None where its library cannot be loaded."""
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0)
    except (OSError, AttributeError):
        return None


def _listed():
    """What the driver's command shows, if anything; it stands for systems without the files."""
    command = shutil.which("nvidia-smi", path=f"{os.environ.get('PATH', '')}:{ROOT / WSL}")
    if command is None:
        return ""
    try:
        asked = subprocess.Popen([command, "-L"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return ""
    try:
        said, _ = asked.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        asked.kill()  # and no more waiting: a driver that hangs does not even end
        return UNANSWERED
    return ASKED if asked.returncode == 0 and said.startswith(b"GPU ") else ""


def _sentence(device, causes):
    said = "; ".join(causes) or "no cause was found, and TensorFlow's own log may say it"
    besides = _without_libdevice() if causes else ""
    ending = f". Besides, {besides}" if besides else ""
    return f"There is an {UNSEEN} ({device}): {said}{ending}."


def _hidden_by_variable():
    """The first name that is of no device hides the rest, and all when it comes first."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is None:
        return ""
    if re.match(r"\s*(\d|GPU-|MIG-)", named):
        return ""
    return f"CUDA_VISIBLE_DEVICES is {repr(named) if named else 'set and empty'}, which hides all"


def _closed():
    """A container sees the driver of its host, and devices only when it was given them."""
    files = sorted(ROOT.glob(NODES))
    if not files and (any(ROOT.glob(LISTED)) or (ROOT / LOADED).exists()):
        return "there is a driver and no /dev/nvidia0 (a container must be started with the device)"
    if not files and _on_bus():
        return "NVIDIA's driver is not loaded"
    closed = [path.name for path in files if not os.access(path, os.R_OK | os.W_OK)]
    return f"this user may not open /dev/{closed[0]}" if closed else ""


def _silent(answer):
    if answer is None:
        return "the driver's library libcuda.so.1 cannot be loaded"
    if answer != NO_DEVICE:
        return f"the driver does not start (cuInit answers {answer}; `nvidia-smi` may say more)"
    if _hidden_by_variable() or _closed():
        return ""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    return "the driver shows no device" + (f" with CUDA_VISIBLE_DEVICES={named!r}" if named else "")


def _without_cuda():
    if not _built_for_cuda():
        return f"the installed TensorFlow for {sys.platform} {platform.machine()} has no CUDA in it"
    missing = [name for name in _cuda_packages() if not _installed(name)]
    if not missing or _loads_cuda(missing):
        return ""
    return (
        f"{len(missing)} of the CUDA packages of TensorFlow {'is' if len(missing) == 1 else 'are'} "
        f"not installed, {missing[0]} for one "
        "(`make set-up ACCELERATOR=cuda` installs them here, and elsewhere "
        f'`pip install "tensorflow[and-cuda]=={version("tensorflow")}"`)'
    )


def _built_for_cuda():
    """Whether TensorFlow says so in the file that it was built with; True where none is found."""
    try:
        folder = Path(find_spec("tensorflow").origin).parent
        text = (folder / "python/platform/build_info.py").read_text(encoding="utf-8")
    except (AttributeError, OSError, TypeError, ValueError):
        return True
    return "'is_cuda_build', False" not in text


def _cuda_packages():
    """The packages that ``tensorflow[and-cuda]`` asks for, as the installed TensorFlow says."""
    try:
        lines = requires("tensorflow") or []
    except PackageNotFoundError:
        return []
    wanted = [line for line in lines if "and-cuda" in line and OPENED.search(line)]
    return [re.match(r"[\w.-]+", line)[0] for line in wanted]


def _installed(name):
    try:
        return bool(distribution(name))
    except PackageNotFoundError:
        return False


def _loads_cuda(missing):
    """Whether the system has cuDNN, and CUDA's library of the release in the packages' names."""
    release = next((found[1] for name in missing if (found := re.search(r"-cu(\d+)$", name))), "")
    wanted = ["libcudnn.so.9"] * any("cudnn" in name for name in missing)
    try:
        return all(ctypes.CDLL(name) for name in [*wanted, f"libcudart.so.{release}"])
    except OSError:
        return False


def _without_libdevice():
    """XLA compiles for the device with a file of CUDA, which TensorFlow needs not to see it."""
    spec = find_spec("nvidia")
    places = spec.submodule_search_locations if spec else []
    usual = [ROOT / "usr/local/cuda", Path(sys.prefix)]  # the second: of conda
    folders = [*usual, *(path for name in places for path in Path(name).glob("*"))]
    if any((folder / LIBDEVICE).is_file() for folder in folders):
        return ""
    if "--xla_gpu_cuda_data_dir" in os.environ.get("XLA_FLAGS", ""):
        return ""
    return "libdevice, which XLA needs to compile for it, is in no CUDA package nor /usr/local/cuda"


def main(device: str | None = None) -> int:
    """Say on stderr what hides a device, if anything does. device: as `hidden_accelerator`."""
    said = hidden_accelerator(device)
    if said:
        print(said, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
