"""Fresh processes: what travels in and out, and how their ends are told."""

import os
import signal
import time

import pytest

import xla_helpers as xh


def twice(x):
    return 2 * x


def twice_and_one_more(x):
    return twice(x) + 1


def test_a_function_returns_its_value_and_its_output():
    def collect(first, second=2):
        import os
        import sys

        print("to stdout: 日本 {braces}")
        print("to stderr", file=sys.stderr)
        return [first, second, os.getpid()]

    run = xh.run_in_process(collect, {"a": [1.5, None, True, 'quote " and \\ and ü']})
    assert run.value[:2] == [{"a": [1.5, None, True, 'quote " and \\ and ü']}, 2]
    assert run.value[2] != os.getpid() and run.seconds > 0
    assert (run.stdout, run.stderr) == ("to stdout: 日本 {braces}\n", "to stderr\n")


def test_functions_that_a_function_uses_travel_with_it():
    assert xh.run_in_process(twice_and_one_more, 4, uses=[twice]).value == 9


def test_text_takes_arguments_as_strings():
    code = "import sys; print(sys.argv[1:])"
    assert xh.run_in_process(code, "-n", 3).stdout == "['-n', '3']\n"


def test_flags_are_set_in_the_process_only(monkeypatch):
    monkeypatch.setenv("KEPT", "kept")
    code = "import os; print(os.environ['KEPT'], os.environ['OTHER_FLAGS'])"
    assert xh.run_in_process(code, flags={"OTHER_FLAGS": "--one"}).stdout == "kept --one\n"
    assert "OTHER_FLAGS" not in os.environ


@pytest.mark.parametrize("language", ["C", "en_US.ISO-8859-1"])
def test_text_is_utf_8_whatever_the_language_of_the_system(language, monkeypatch):
    for name, value in {"LC_ALL": language, "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}.items():
        monkeypatch.setenv(name, value)
    assert xh.run_in_process("print('日本 🙂')").stdout == "日本 🙂\n"


# When it ends badly


def error_of(code, *args, **options):
    with pytest.raises(xh.ProcessError) as caught:
        xh.run_in_process(code, *args, **options)
    return caught.value


def what_happened(error):
    return error.signal, error.timed_out


def test_a_failure_shows_the_last_lines():
    error = error_of("for i in range(50): print(f'line {i};')\nraise ValueError('no good')")
    assert what_happened(error) == (None, False)
    assert str(error).startswith("The process ended with exit code 1.\nIts last lines:\n")
    assert "ValueError: no good" in str(error) and "line 1;" not in str(error)
    assert "line 1;" in error.stdout and "ValueError: no good" in error.stderr


def test_the_last_lines_do_not_steer_a_terminal():
    error = error_of(r"print('\x1b[2J\tred'); raise SystemExit(1)")
    assert str(error).splitlines()[-1] == " [2J red"


@pytest.mark.parametrize("name", ["SIGABRT", "SIGSEGV", "SIGKILL"])
def test_a_crash_names_the_signal(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where a dump of its memory may go
    error = error_of(f"import os, signal; os.kill(os.getpid(), signal.{name})")
    assert what_happened(error) == (name, False)
    assert str(error) == f"The process was killed by {name}."


def test_a_function_that_ends_its_process_gave_no_value():
    def leave():
        import os

        os._exit(0)

    error = error_of(leave)
    assert what_happened(error) == (None, False)
    assert str(error) == "The process ended before the function returned."


def test_a_time_out_keeps_the_output_and_stops_grandchildren(tmp_path):
    code = """
import subprocess, sys, time
sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
print(sleeper.pid)
time.sleep(300)
"""
    error = error_of(code, timeout=6)
    assert what_happened(error) == (None, True)
    assert str(error).startswith("The process ran longer than 6 s and was stopped.")
    assert is_gone(int(error.stdout))


def is_gone(pid):
    """True when the process ends within ten seconds; a zombie has ended."""
    for _ in range(1000):
        try:
            os.kill(pid, 0)
            with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    return False


def test_what_no_json_holds_does_not_travel():
    with pytest.raises(TypeError, match="not JSON serializable"):
        xh.run_in_process(twice, {1, 2})


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), None])
def test_the_time_limit_must_be_positive(timeout):
    with pytest.raises(ValueError, match="`timeout` is"):
        xh.run_in_process("", timeout=timeout)
