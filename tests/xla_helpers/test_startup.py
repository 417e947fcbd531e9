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
    print("Python speaks \N{SNOWMAN}", file=sys.stderr)
    os.write(2, b"C++ speaks\n")
    with open(path, encoding="utf-8") as log:
        text = log.read()
    return {
        "same": path == prepare_tensorflow(),
        "log": text,
        "switches": [os.environ["TF_CPP_VMODULE"], os.environ["TF_CPP_MIN_LOG_LEVEL"]],
        "growth": os.environ["TF_FORCE_GPU_ALLOW_GROWTH"],
        "keras": os.environ["KERAS_BACKEND"],
    }


def test_only_what_c_code_writes_goes_to_the_log():
    flags = {"TF_CPP_VMODULE": "", "TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": ""}
    flags |= {"PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "0", "LC_ALL": "en_US.ISO-8859-1"}
    run = run_in_process(prepare_twice, flags=flags)
    assert run.stderr == "Python speaks \N{SNOWMAN}\n"
    assert run.value == {
        "same": True,
        "log": "C++ speaks\n",
        "switches": ["service=1,device_compiler=1", "0"],
        "growth": "true",
        "keras": "tensorflow",
    }


def test_switches_of_the_reader_are_kept():
    flags = {"TF_CPP_VMODULE": "xla_launch_util=2", "TF_FORCE_GPU_ALLOW_GROWTH": "false"}
    run = run_in_process(prepare_twice, flags=flags)
    assert run.value["switches"][0] == "xla_launch_util=2,service=1,device_compiler=1"
    assert run.value["growth"] == "false"


def test_a_variable_that_cannot_be_is_refused_before_anything_is_changed(monkeypatch):
    monkeypatch.setattr(startup, "_log_path", None)
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "1")
    switches = dict(os.environ)
    with pytest.raises(RuntimeError, match="^TF_USE_LEGACY_KERAS is '1' in the environment"):
        prepare_tensorflow(keras=3)
    assert startup.log_path() is None
    assert dict(os.environ) == switches


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
        rf"\S.* · \d+ cores? · .+ · Python {python} · TensorFlow {tf.__version__}$", line
    )
    assert "\n" not in line
    assert line == " · ".join(machine_facts().values())


def test_a_machine_without_proc_has_a_name_too(monkeypatch):
    def no_file(*args, **options):
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", no_file)
    assert startup._processor()


@pytest.fixture
def processors(tmp_path, monkeypatch):
    """Makes a folder like that in which Linux lists caches: level, who shares it, size."""
    monkeypatch.setattr(startup, "CPUS", tmp_path)
    monkeypatch.setattr(startup, "_usable", lambda: {0, 1, 2})

    def make(*caches):
        for number, (level, shared_by, size) in enumerate(caches):
            folder = tmp_path / f"cpu{number}/cache/index{level}"
            folder.mkdir(parents=True)
            for name, text in {"level": level, "shared_cpu_list": shared_by, "size": size}.items():
                (folder / name).write_text(f"{text}\n", encoding="utf-8")

    return make


@pytest.mark.parametrize(
    ("caches", "count", "text"),
    [
        ([(2, "0", "1024K"), (3, "0-1", "32768K"), (3, "0-1", "32768K")], 2**25, "L3 cache 32 MiB"),
        ([(3, "0-7", "32768K"), (3, "8-15", "32768K")], 2**26, "L3 cache 2 x 32 MiB"),
        ([(2, "0", "512K"), (2, "1", "512K"), (2, "2", "2048K")], 3 * 2**20, None),
        ([(1, "0", "48K"), (3, "0", "unknown")], 48 * 1024, "L1 cache 0.04688 MiB"),
    ],
)
def test_all_caches_of_the_last_level_count_each_once(processors, caches, count, text):
    processors(*caches)
    assert startup.cache_bytes() == count
    expected = text or "L2 cache 2 x 0.5 MiB + 2 MiB"
    assert startup._last_level_cache() == {"cache": expected}


def test_caches_of_cores_that_may_not_be_used_do_not_count(processors, monkeypatch):
    processors((3, "0-7", "32768K"), (3, "8-15", "32768K"))
    monkeypatch.setattr(startup, "_usable", lambda: {1})
    assert startup.cache_bytes() == 2**25


def test_where_nothing_lists_caches_none_are_told(processors):
    assert startup.cache_bytes() is None and startup._last_level_cache() == {}
