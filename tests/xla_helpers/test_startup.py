import os
import re
import sys

import pytest

from xla_helpers import startup
from xla_helpers.processes import run_in_process
from xla_helpers.startup import describe_machine, machine_facts, prepare_tensorflow


def prepare_twice():
    import os
    import sys

    from xla_helpers import prepare_tensorflow

    path = prepare_tensorflow()
    print("Python speaks", file=sys.stderr)
    os.write(2, b"C++ speaks\n")
    with open(path) as log:
        text = log.read()
    return {
        "same": path == prepare_tensorflow(),
        "log": text,
        "switches": [os.environ["TF_CPP_VMODULE"], os.environ["TF_CPP_MIN_LOG_LEVEL"]],
    }


def test_only_what_c_code_writes_goes_to_the_log():
    run = run_in_process(prepare_twice, flags={"TF_CPP_VMODULE": "", "TF_CPP_MIN_LOG_LEVEL": "3"})
    assert run.stderr == "Python speaks\n"
    assert run.value == {
        "same": True,
        "log": "C++ speaks\n",
        "switches": ["service=1,device_compiler=1", "0"],
    }


def test_switches_of_the_reader_are_kept():
    run = run_in_process(prepare_twice, flags={"TF_CPP_VMODULE": "xla_launch_util=2"})
    assert run.value["switches"][0] == "xla_launch_util=2,service=1,device_compiler=1"


def test_too_late_is_said_with_the_mend(monkeypatch):
    monkeypatch.setattr(startup, "_log_path", None)
    monkeypatch.setitem(sys.modules, "tensorflow", object())
    switches = dict(os.environ)
    with pytest.raises(RuntimeError, match="Restart the kernel and call it before `import tensor"):
        prepare_tensorflow()
    assert startup.log_path() is None
    assert dict(os.environ) == switches


def test_the_machine_in_one_line(tf):
    line = describe_machine()
    python = ".".join(map(str, sys.version_info[:3]))
    assert re.search(
        rf"\S.* · \d+ cores · .+ · Python {python} · TensorFlow {tf.__version__}$", line
    )
    assert "\n" not in line
    assert line == " · ".join(machine_facts().values())


def test_a_machine_without_proc_has_a_name_too(monkeypatch):
    def no_file(*args):
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", no_file)
    assert startup._processor()
