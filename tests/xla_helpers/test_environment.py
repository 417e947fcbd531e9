"""Variables of the environment that TensorFlow cannot take, refused by their names."""

import os

import pytest

from xla_helpers import environment
from xla_helpers.environment import check_environment
from xla_helpers.processes import ProcessError


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    for name in (*environment.FLAGS, environment.TRIED, "KERAS_BACKEND", "TF_USE_LEGACY_KERAS"):
        monkeypatch.setenv(name, "")


class Calls(list):
    """What a process was given; `ends` is the error with which it ends."""

    ends = None


@pytest.fixture
def tried(monkeypatch):
    """Stands in for the process in which flags are tried."""
    calls = Calls()

    def pretend(code, flags, timeout):
        calls.append(flags)
        if calls.ends:
            raise calls.ends

    monkeypatch.setattr(environment, "run_in_process", pretend)
    return calls


@pytest.mark.parametrize("backend", ["jax", "torch", "numpy", "no such"])
def test_another_backend_of_keras_is_refused(monkeypatch, backend):
    monkeypatch.setenv("KERAS_BACKEND", backend)
    with pytest.raises(RuntimeError, match=f"^KERAS_BACKEND is '{backend}' in the environment"):
        check_environment()


@pytest.mark.parametrize("value", ["1", "True", "true"])
def test_the_older_keras_is_refused_where_keras_3_is_needed(monkeypatch, value):
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", value)
    check_environment()
    with pytest.raises(RuntimeError, match=f"^TF_USE_LEGACY_KERAS is '{value}' in the environment"):
        check_environment(keras=3)


def test_what_changes_nothing_is_let_through(monkeypatch, tried):
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "0")
    monkeypatch.setenv("KERAS_BACKEND", "tensorflow")
    check_environment(keras=3)
    assert tried == [] and not os.environ[environment.TRIED]


def test_flags_are_tried_once_and_not_in_the_processes_that_are_started(monkeypatch, tried):
    monkeypatch.setenv("XLA_FLAGS", "--one")
    check_environment()
    check_environment()
    assert tried == [{"XLA_FLAGS": "--one", "CUDA_VISIBLE_DEVICES": "-1"}]
    monkeypatch.setenv("TF_XLA_FLAGS", "--two")
    check_environment()
    assert len(tried) == 2


def test_where_the_trial_takes_too_long_nothing_is_known(monkeypatch, tried):
    monkeypatch.setenv("XLA_FLAGS", "--one")
    tried.ends = ProcessError("too long", "", "", timed_out=True)
    check_environment()


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (
            "F0000 00:00:1.2 7 parse_flags.cc:234] Unknown flags in XLA_FLAGS: --one  --two\nmore",
            "TensorFlow does not take XLA_FLAGS: Unknown flags in XLA_FLAGS: --one --two",
        ),
        (
            'F0000 parse.cc:1] Could not open file "one" to read flags for "XLA_FLAGS". (We)',
            'TensorFlow does not take XLA_FLAGS: Could not open file "one" to read flags for '
            '"XLA_FLAGS". (We)',
        ),
        (
            "F0000 parse.cc:1] Check failed: Flags::Parse",
            "TensorFlow does not start with these variables of the environment: "
            "XLA_FLAGS='one', TF_XLA_FLAGS='two'.",
        ),
    ],
)
def test_a_refusal_names_the_variable(monkeypatch, tried, log, said):
    monkeypatch.setenv("XLA_FLAGS", "one")
    monkeypatch.setenv("TF_XLA_FLAGS", "two")
    tried.ends = ProcessError("failed", "", log, returncode=1)
    with pytest.raises(RuntimeError) as caught:
        check_environment()
    assert str(caught.value) == said
    assert not os.environ[environment.TRIED]


def test_tensorflow_itself_refuses_a_flag(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--no_such_flag")
    with pytest.raises(RuntimeError) as caught:
        check_environment()
    said = "TensorFlow does not take XLA_FLAGS: Unknown flag in XLA_FLAGS: --no_such_flag"
    assert str(caught.value) == said


def test_the_trial_leaves_nothing_where_a_flag_says(monkeypatch, tmp_path):
    monkeypatch.setenv("XLA_FLAGS", f"--xla_dump_to='{tmp_path}/dumps of mine'")
    switches = f"--tf_xla_persistent_cache_directory='{tmp_path}/cache' --tf_xla_clustering_debug"
    monkeypatch.setenv("TF_XLA_FLAGS", switches)
    check_environment()
    assert list(tmp_path.iterdir()) == []
