"""A pretended NVIDIA device, and what is said of it."""

import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from xla_helpers import devices
from xla_helpers.processes import run_in_process
from xla_helpers.startup import describe_machine, machine_facts

DRIVER = "proc/driver/nvidia/gpus/a"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Makes the files of a machine; it has a driver that starts, and CUDA in TensorFlow."""
    monkeypatch.setattr(devices, "ROOT", tmp_path)
    monkeypatch.setattr(devices, "_installed", lambda name: True)
    monkeypatch.setattr(devices.ctypes, "CDLL", lambda name: SimpleNamespace(cuInit=lambda n: 0))
    monkeypatch.setattr(devices, "_built_for_cuda", lambda: True)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def make(*names):
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return tmp_path

    return make


@pytest.fixture
def denied(machine, monkeypatch):
    """A machine whose driver starts and shows no device to this process."""
    driver = SimpleNamespace(cuInit=lambda flags: devices.NO_DEVICE)
    monkeypatch.setattr(devices.ctypes, "CDLL", lambda name: driver)
    return machine


def unloadable(name):
    raise OSError(name)


def command(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


# Whether there is one


@pytest.mark.parametrize("name", ["dev/nvidia0", "dev/nvidia7", DRIVER])
def test_each_file_shows_a_device(machine, name):
    machine(name)
    assert devices.nvidia_device() == f"/{name}"


def test_other_files_show_none(machine):
    """Above all not the driver's own: every container on a host with a device sees it."""
    machine("dev/nvidiactl", "dev/nvidia-uvm", "dev/dxg", "dev/dri/card0")
    machine("proc/driver/nvidia/version")
    assert devices.nvidia_device() == ""
    assert devices.unseen_accelerator() == devices.hidden_accelerator() == ""


@pytest.mark.parametrize("place", ["bin", devices.WSL])
def test_where_no_file_says_it_the_driver_is_asked(machine, place):
    command(machine() / place / "nvidia-smi", '[ "$1" = -L ] && echo "GPU 0: pretended"')
    assert devices.nvidia_device() == "nvidia-smi -L"


def on_the_bus(folder, address, vendor, kind):
    path = folder / "sys/bus/pci/devices" / address
    path.mkdir(parents=True)
    (path / "vendor").write_text(f"{vendor}\n", encoding="utf-8")
    (path / "class").write_text(f"{kind}\n", encoding="utf-8")
    return f"/{path.relative_to(folder)}"


@pytest.mark.parametrize("kind", ["0x030000", "0x030200"])
def test_a_device_without_a_driver_is_seen_on_the_bus(machine, kind):
    on_the_bus(machine(), "0000:00:02.0", "0x8086", "0x030000")
    on_the_bus(machine(), "0000:01:00.1", "0x10de", "0x040300")
    shown = on_the_bus(machine(), "0000:01:00.0", "0x10de", kind)
    assert devices.nvidia_device() == shown


@pytest.mark.parametrize(
    ("vendor", "kind"),
    [("0x8086", "0x030000"), ("0x10de", "0x040300"), ("0x10de", "0x0c0330"), ("", "")],
)
def test_what_else_is_on_the_bus_shows_none(machine, vendor, kind):
    on_the_bus(machine(), "0000:01:00.0", vendor, kind)
    machine("sys/bus/pci/devices/0000:02:00.0/vendor", "sys/bus/pci/devices/0000:03:00.0/class")
    assert devices.nvidia_device() == ""


def test_a_command_that_hangs_is_a_sign_of_a_device(machine, monkeypatch):
    command(machine() / "bin/nvidia-smi", "exec /bin/sleep 60")
    monkeypatch.setattr(devices, "PATIENCE", 0.05)
    assert devices.nvidia_device() == devices.UNANSWERED


def test_a_driver_that_hangs_is_not_asked_again(machine, monkeypatch):
    monkeypatch.setattr(devices.subprocess, "Popen", None)
    monkeypatch.setattr(devices.ctypes, "CDLL", None)
    said = devices.hidden_accelerator(devices.UNANSWERED)
    assert said.startswith("There is an NVIDIA device whose driver hangs or is slow: nvidia-smi -L")


@pytest.mark.parametrize("text", ["echo No devices were found", "echo GPU 0; exit 9", "exec /no"])
def test_a_driver_without_devices_shows_none(machine, text):
    command(machine() / "bin/nvidia-smi", text)
    assert devices.nvidia_device() == ""


# What hides it


def test_what_was_not_found_is_not_said(machine):
    machine("dev/nvidia0")
    assert devices.hindrances() == [] and devices.hidden_accelerator() == ""


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("", "CUDA_VISIBLE_DEVICES is set and empty, which hides all"),
        ("-1", "CUDA_VISIBLE_DEVICES is '-1', which hides all"),
        ("none", "CUDA_VISIBLE_DEVICES is 'none', which hides all"),
    ],
)
def test_the_variable_that_hides_all(denied, monkeypatch, value, said):
    denied("dev/nvidia0")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    assert devices.hindrances() == [said]


@pytest.mark.parametrize("value", ["0", "1,0", "0,-1", "GPU-8932f937", "MIG-GPU-1"])
def test_a_variable_that_names_a_device_is_said_where_the_driver_shows_none(
    denied, monkeypatch, value
):
    denied("dev/nvidia0")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    said = f"the driver shows no device with CUDA_VISIBLE_DEVICES={value!r}"
    assert devices.hindrances() == [said]


def test_where_the_driver_starts_files_and_variables_hide_nothing(machine, monkeypatch):
    """A scheduler leaves one device of several to a job, and closes the files of the others."""
    machine("dev/nvidia0", "dev/nvidia1")
    monkeypatch.setattr(devices.os, "access", lambda path, mode: path.name == "nvidia1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "none")
    assert devices.hindrances() == []


def test_a_container_that_was_not_given_the_device(denied):
    denied(DRIVER)
    (said,) = devices.hindrances()
    assert "no /dev/nvidia0 (a container must be started with the device)" in said


def test_a_driver_that_is_not_loaded_is_named(denied):
    shown = on_the_bus(denied(), "0000:01:00.0", "0x10de", "0x030200")
    assert devices.hindrances() == ["NVIDIA's driver is not loaded"]
    assert f"TensorFlow does not see ({shown}): NVIDIA's driver" in devices.hidden_accelerator()
    denied("sys/module/nvidia")
    (said,) = devices.hindrances()
    assert said.startswith("there is a driver and no /dev/nvidia0")


def test_a_device_that_this_user_may_not_open(denied, monkeypatch):
    denied("dev/nvidia0")
    monkeypatch.setattr(devices.os, "access", lambda path, mode: False)
    assert devices.hindrances() == ["this user may not open /dev/nvidia0"]


def test_a_driver_without_its_library(machine, monkeypatch):
    machine("dev/nvidia0")
    monkeypatch.setattr(devices.ctypes, "CDLL", unloadable)
    assert devices.hindrances() == ["the driver's library libcuda.so.1 cannot be loaded"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [(devices.NO_DEVICE, "the driver shows no device"), (803, "(cuInit answers 803; ")],
)
def test_a_driver_that_does_not_start_is_quoted(machine, monkeypatch, answer, words):
    machine("dev/nvidia0")
    driver = SimpleNamespace(cuInit=lambda flags: answer)
    monkeypatch.setattr(devices.ctypes, "CDLL", lambda name: driver)
    (said,) = devices.hindrances()
    assert words in said


def test_packages_that_are_missing_are_named_with_what_installs_them(machine, monkeypatch):
    machine("dev/nvidia0")
    monkeypatch.setattr(devices, "_installed", lambda name: "cudnn" not in name)
    monkeypatch.setattr(devices, "_loads_cuda", lambda missing: False)
    (said,) = devices.hindrances()
    assert said.startswith("1 of the CUDA packages of TensorFlow is not installed, nvidia-cudnn-cu")
    assert (
        "`make set-up ACCELERATOR=cuda`" in said and 'pip install "tensorflow[and-cuda]==' in said
    )


def test_cuda_of_the_system_will_do(machine, monkeypatch):
    machine("dev/nvidia0")
    loaded = []
    driver = SimpleNamespace(cuInit=lambda flags: 0)
    monkeypatch.setattr(devices, "_installed", lambda name: False)
    monkeypatch.setattr(devices.ctypes, "CDLL", lambda name: loaded.append(name) or driver)
    assert devices.hindrances() == []
    assert loaded[-2:-1] == ["libcudnn.so.9"]
    assert re.fullmatch(r"libcudart\.so\.\d+", loaded[-1])


def test_packages_that_tensorflow_opens_later_hide_nothing(machine, monkeypatch):
    machine("dev/nvidia0")
    monkeypatch.setattr(devices, "_installed", lambda name: "nvcc" not in name)
    assert devices.hindrances() == []


def test_a_tensorflow_without_cuda(machine, monkeypatch, tmp_path):
    machine("dev/nvidia0", "tensorflow/__init__.py", "tensorflow/python/platform/build_info.py")
    monkeypatch.undo()
    origin = SimpleNamespace(origin=str(tmp_path / "tensorflow/__init__.py"))
    monkeypatch.setattr(devices, "find_spec", lambda name: origin)
    info = tmp_path / "tensorflow/python/platform/build_info.py"
    for built in [True, False]:
        info.write_text(f"build_info = dict([('is_cuda_build', {built})])", encoding="utf-8")
        assert devices._built_for_cuda() is built
    assert "has no CUDA in it" in devices._without_cuda()


def test_this_tensorflow_says_the_same_of_itself(tf):
    assert devices._built_for_cuda() == tf.test.is_built_with_cuda()
    if tf.test.is_built_with_cuda():
        assert any("cudnn" in name for name in devices._cuda_packages())


def test_libdevice_is_looked_for_where_cuda_is(denied, monkeypatch, tmp_path):
    machine = denied
    machine("dev/nvidia0")
    places = SimpleNamespace(submodule_search_locations=[str(tmp_path / "nvidia")])
    monkeypatch.setattr(devices, "find_spec", lambda name: places)
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    assert "Besides, libdevice, which XLA needs" in devices.hidden_accelerator()
    machine(f"nvidia/cuda_nvcc/{devices.LIBDEVICE}")
    assert devices.hidden_accelerator() == (
        "There is an NVIDIA device that TensorFlow does not see (/dev/nvidia0): "
        "CUDA_VISIBLE_DEVICES is '-1', which hides all."
    )


# Who says it


def pretended(tf, monkeypatch, gpus, visible=()):
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind=None: gpus)
    monkeypatch.setattr(tf.config, "get_visible_devices", lambda kind=None: list(visible))
    named = {"get_device_details": lambda gpu: {"device_name": gpu}}
    monkeypatch.setattr(tf.config, "experimental", SimpleNamespace(**named))


def test_a_device_that_tensorflow_does_not_see(machine, monkeypatch, tf):
    machine("dev/nvidia0")
    pretended(tf, monkeypatch, [])
    start = f"There is an {devices.UNSEEN} (/dev/nvidia0): "
    assert devices.unseen_accelerator().startswith(f"{start}no cause was found, and TensorFlow's")
    monkeypatch.setattr(devices, "hindrances", lambda: ["it sleeps", "it is far"])
    assert devices.unseen_accelerator().startswith(f"{start}it sleeps; it is far")
    assert "\n" not in devices.unseen_accelerator()


def test_a_device_that_tensorflow_sees_is_no_news(machine, monkeypatch, tf):
    machine("dev/nvidia0")
    pretended(tf, monkeypatch, ["a GPU"])
    monkeypatch.setattr(devices, "hindrances", lambda: ["a guess"])
    assert devices.unseen_accelerator() == ""


def test_the_line_of_the_machine_says_it(machine, monkeypatch, tf):
    pretended(tf, monkeypatch, [])
    assert machine_facts()["accelerators"] == "no GPU"
    machine("dev/nvidia0")
    assert machine_facts()["accelerators"] == devices.UNSEEN
    assert f" · {devices.UNSEEN} · Python" in describe_machine()


@pytest.mark.parametrize("value", ["", "-1"])
def test_the_line_of_the_machine_says_what_hides_it_on_purpose(machine, monkeypatch, tf, value):
    pretended(tf, monkeypatch, [])
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    assert machine_facts()["accelerators"] == "no GPU"
    machine("dev/nvidia0")
    assert machine_facts()["accelerators"] == devices.HIDDEN
    assert devices.unseen_accelerator().startswith(f"There is an {devices.UNSEEN} (")


def test_the_line_of_the_machine_names_what_this_process_uses(machine, monkeypatch, tf):
    machine("dev/nvidia0")
    for visible, said in [(["A", "B"], "A, B"), (["B"], "B")]:
        pretended(tf, monkeypatch, ["A", "B"], visible)
        assert machine_facts()["accelerators"] == said
    pretended(tf, monkeypatch, ["A", "B"], [])
    assert machine_facts()["accelerators"] == devices.HIDDEN_HERE


@pytest.mark.parametrize(
    ("said", "driver"),
    [
        (
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23",
            "550.54.15",
        ),
        (
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  560.35.03  Release",
            "560.35.03",
        ),
        ("NVRM version: something else 1.2", ""),
    ],
)
def test_the_line_of_the_machine_names_the_driver(machine, monkeypatch, tf, said, driver):
    pretended(tf, monkeypatch, ["A"], ["A"])
    assert devices.driver_version() == ""
    (machine(devices.VERSION) / devices.VERSION).write_text(f"{said}\nGCC version: gcc 13.2.0\n")
    assert devices.driver_version() == driver
    assert machine_facts()["accelerators"] == (f"A with driver {driver}" if driver else "A")


def test_without_a_device_tensorflow_is_not_imported():
    code = """
import sys
from pathlib import Path
from xla_helpers import devices

devices.ROOT = Path("/no/such/folder")
assert devices.unseen_accelerator() == "" and devices.hindrances()
assert "tensorflow" not in sys.modules
"""
    run_in_process(code, flags={"PATH": "", "CUDA_VISIBLE_DEVICES": "-1"})


def test_as_a_command_it_says_what_hides_the_device(denied, monkeypatch, capsys):
    machine = denied
    assert devices.main() == 0 and capsys.readouterr().err == ""
    machine("dev/nvidia0")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    assert devices.main() == 0
    assert capsys.readouterr().err.startswith(f"There is an {devices.UNSEEN} (/dev/nvidia0): ")
    assert devices.main(devices.UNANSWERED) == 0
    assert "hangs or is slow" in capsys.readouterr().err


def test_it_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "xla_helpers.devices"], capture_output=True)
    assert (done.returncode, done.stdout) == (0, b"")
