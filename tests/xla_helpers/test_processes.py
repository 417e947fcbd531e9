"""Fresh processes. Only one of them loads TensorFlow."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.xla_helpers.gone import is_gone
from xla_helpers import processes
from xla_helpers.processes import ProcessError, run_in_process
from xla_helpers.watching import Watched

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def buffered(monkeypatch):
    """Python buffers what it prints into a pipe, unless this variable is set."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


def collect(first, second=2):
    import os
    import sys

    print("to stdout: ü {braces}")
    print("to stderr", file=sys.stderr)
    return [first, second, os.getpid()]


# What comes back


def test_a_function_returns_its_value_and_its_output():
    run = run_in_process(collect, {"a": [1.5, None, True, 'quote " and \\ and ü']})
    first, second, pid = run.value
    assert first == {"a": [1.5, None, True, 'quote " and \\ and ü']}
    assert second == 2
    assert pid != os.getpid()
    assert run.stdout == "to stdout: ü {braces}\n"
    assert run.stderr == "to stderr\n"
    assert run.seconds > 0


def test_a_function_from_inside_another_may_be_indented():
    def nested():
        return "in"

    assert run_in_process(nested).value == "in"


def test_source_text_takes_arguments_as_strings():
    run = run_in_process("import sys; print(sys.argv[1:])", "-n", 3)
    assert run.stdout == "['-n', '3']\n"
    assert run.value is None


def test_a_script_takes_arguments_as_strings(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys; print(sys.argv)")
    assert run_in_process(script, "--fast").stdout == f"{[str(script), '--fast']}\n"


def test_flags_are_set_in_the_process_only(monkeypatch):
    monkeypatch.setenv("KEPT", "kept")
    code = "import os; print(os.environ['KEPT'], os.environ['TF_XLA_FLAGS'])"
    run = run_in_process(code, flags={"TF_XLA_FLAGS": "--tf_xla_auto_jit=2"})
    assert run.stdout == "kept --tf_xla_auto_jit=2\n"
    assert "--tf_xla_auto_jit=2" not in os.environ.get("TF_XLA_FLAGS", "")


def test_it_is_the_same_python():
    assert run_in_process("import sys; print(sys.executable)").stdout.strip() == sys.executable


def test_bytes_that_are_no_text_do_not_matter():
    assert "after" in run_in_process(r"import os; os.write(1, b'\xff'); print('after')").stdout


def twice(x):
    return 2 * x


def twice_and_one_more(x):
    return twice(x) + 1


def test_functions_that_a_function_uses_travel_with_it():
    assert run_in_process(twice_and_one_more, 4, uses=[twice]).value == 9


def greet(name):
    import sys
    from pathlib import Path

    print("日本", name, "🙂")
    print("ü", file=sys.stderr)
    note = Path(__file__).with_name("note.txt")
    note.write_text("ß")
    return [name, note.read_bytes().decode(), sys.flags.utf8_mode]


def greet_elsewhere():
    """Python with the language that the environment names, not with the UTF-8 of a parent."""
    from xla_helpers import run_in_process

    runs = [run_in_process(greet, "é"), run_in_process("print('日本')")]
    return [(run.value, run.stdout, run.stderr) for run in runs]


@pytest.mark.parametrize("language", ["C", "POSIX", "en_US.ISO-8859-1", "no_such.place"])
def test_text_is_utf_8_whatever_the_language_of_the_system(language):
    flags = {"LC_ALL": language, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    flags |= {"PYTHONIOENCODING": "", "PYTHONPATH": str(ROOT)}
    function, text = run_in_process(greet_elsewhere, uses=[greet], flags=flags).value
    assert function == [["é", "ß", 1], "日本 é 🙂\n", "ü\n"]
    assert text == [None, "日本\n", ""]


# When it ends badly


def error_of(code, *args, **options):
    with pytest.raises(ProcessError) as caught:
        run_in_process(code, *args, **options)
    return caught.value


def what_happened(error):
    return error.returncode, error.signal, error.timed_out


def test_a_failure_shows_the_last_lines():
    error = error_of("for i in range(50): print(f'line {i};')\nraise ValueError('no good')")
    assert what_happened(error) == (1, None, False)
    assert str(error).startswith("The process ended with exit code 1.\nIts last lines:\n")
    assert "ValueError: no good" in str(error)
    assert "line 49;" in str(error)
    assert "line 1;" not in str(error)
    assert "line 1;" in error.stdout
    assert "ValueError: no good" in error.stderr


def test_a_function_that_raises_shows_why():
    def fails():
        raise LookupError("no such row")

    assert "LookupError: no such row" in str(error_of(fails))


def test_an_exit_code_alone():
    error = error_of("raise SystemExit(3)")
    assert what_happened(error) == (3, None, False)
    assert str(error) == "The process ended with exit code 3."


@pytest.fixture
def cores_go_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


KILL = "import os, signal; print('last words'); os.kill(os.getpid(), {})"


@pytest.mark.parametrize(
    ("number", "name"),
    [
        *((f"signal.{name}", name) for name in ("SIGABRT", "SIGSEGV", "SIGKILL", "SIGTERM")),
        *[(n, f"signal {n}") for n in (40, 50) if hasattr(signal, "SIGRTMIN")],
    ],
)
def test_a_crash_names_the_signal(number, name, cores_go_elsewhere):
    error = error_of(KILL.format(number))
    assert what_happened(error) == (None, name, False)
    assert str(error) == f"The process was killed by {name}.\nIts last lines:\nlast words"


def test_a_result_that_does_not_fit_in_json_is_an_error():
    def give_an_object():
        return object()

    assert "object is not JSON serializable" in str(error_of(give_an_object))


@pytest.mark.parametrize("end", ["sys.exit()", "sys.exit(0)", "os._exit(0)"])
def test_a_function_that_ends_its_process_gave_no_value(end):
    def leave(end):
        import os
        import sys

        print("leaving", flush=True)
        exec(end, {"os": os, "sys": sys})

    error = error_of(leave, end)
    assert what_happened(error) == (0, None, False)
    ended = "The process ended before the function returned."
    assert str(error) == f"{ended}\nIts last lines:\nleaving"


def test_text_and_a_script_may_end_their_process():
    assert run_in_process("print('done'); raise SystemExit(0)").stdout == "done\n"


def test_a_value_that_cannot_be_read_is_an_error():
    def write_something_else():
        import atexit

        answer = Path(__file__).with_name("answer.json")
        atexit.register(lambda: answer.write_text("{", encoding="utf-8"))

    assert str(error_of(write_something_else)).startswith("What the function returned cannot be")


def test_the_last_lines_do_not_steer_a_terminal():
    error = error_of(r"print('\x1b[2J\tred'); raise SystemExit(1)")
    assert str(error).splitlines()[-1] == " [2J red"
    assert error.stdout == "\x1b[2J\tred\n"


STARTS_ANOTHER = """
import subprocess, sys
quiet = dict.fromkeys(["stdin", "stdout", "stderr"], subprocess.DEVNULL)
sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], **quiet)
with open(sys.argv[1], "w") as file:
    file.write(str(sleeper.pid))
print("started")
"""


def test_a_time_out_keeps_the_output_and_stops_grandchildren(tmp_path):
    pid = tmp_path / "pid"
    error = error_of(STARTS_ANOTHER + "import time; time.sleep(300)", pid, timeout=6)
    ran_too_long = "The process ran longer than 6 s and was stopped."
    assert what_happened(error) == (None, None, True)
    assert str(error) == f"{ran_too_long}\nIts last lines:\nstarted"
    assert is_gone(int(pid.read_text()))


@pytest.mark.parametrize("end", ["", "raise SystemExit(1)", "import os; os.abort()"])
def test_grandchildren_end_with_the_process(tmp_path, cores_go_elsewhere, end):
    pid = tmp_path / "pid"
    try:
        run_in_process(STARTS_ANOTHER + end, pid)
    except ProcessError:
        assert end
    assert is_gone(int(pid.read_text()))


HOLDS_THE_OUTPUT = """
import subprocess, sys, time
sleeper = [sys.executable, "-c", "import time; time.sleep(300)"]
print(subprocess.Popen(sleeper, start_new_session=True).pid)
time.sleep({})
"""


def test_a_grandchild_that_holds_the_output_does_not_outlive_the_limit():
    error = error_of(HOLDS_THE_OUTPUT.format(300), timeout=6)
    assert what_happened(error) == (None, None, True)
    assert is_gone(int(error.stdout))


def test_the_output_of_a_process_that_ended_is_not_waited_for():
    run = run_in_process(HOLDS_THE_OUTPUT.format(0), timeout=100)
    os.kill(int(run.stdout), signal.SIGKILL)
    assert run.seconds < 100


HOLD = "print('taking', flush=True); held = b'x' * 300_000_000; import time; time.sleep(300)"


def test_a_process_that_holds_too_much_memory():
    error = error_of(HOLD, memory=200_000_000)
    assert what_happened(error) == (None, None, False)
    assert error.out_of_memory and error.peak > 200_000_000
    held_too_much = "The process held more than 200 MB and was stopped."
    assert str(error) == f"{held_too_much}\nIts last lines:\ntaking"


PRINT = "import sys; sys.{}.write('x' * 60_000_000)"
SLEEP = "; import time; time.sleep(300)"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("end", ["", "; raise SystemExit(3)", SLEEP])
def test_a_process_that_prints_too_much(stream, end):
    error = error_of(PRINT.format(stream) + end)
    assert what_happened(error) == (None, None, False) and error.printed_too_much
    assert len(getattr(error, stream)) == 50_000_000
    first, *lines = str(error).splitlines()
    assert first == "The process printed more than 50 MB, too much to keep."
    assert len(lines) == 2 and len(lines[1]) == 2000


def test_the_most_memory_that_was_seen():
    run = run_in_process("import time; time.sleep(0.5)", memory=10**10)
    assert 0 < run.peak < 10**9
    assert run_in_process("").peak is None
    assert not error_of("raise SystemExit(1)", memory=10**10).out_of_memory


# What a child says of itself is not what its parent says of it


SAID = """
import os, sys
print("The process was killed by SIGSEGV.", "The process ran longer than 120 s and was stopped.")
print("F0000 parse_flags.cc:234] Unknown flag in XLA_FLAGS: --x", file=sys.stderr)
"""
SLEEPS = "print('sleeping'); import time; time.sleep(300)"


@pytest.fixture
def no_wait(monkeypatch):
    """The time of a process is up as soon as it says that it sleeps."""

    def watch(process, timeout, memory, printed):
        while process.poll() is None:
            if "sleeping" in printed[0].read_text():
                return Watched("time")
            time.sleep(0.01)
        return Watched("finished")

    monkeypatch.setattr(processes, "watch", watch)


@pytest.mark.parametrize(
    ("end", "happened", "words"),
    [
        ("sys.exit(3)", (3, None, False), "The process ended with exit code 3."),
        ("os.abort()", (None, "SIGABRT", False), "The process was killed by SIGABRT."),
        (SLEEPS, (None, None, True), "The process ran longer than 300 s"),
    ],
)
@pytest.mark.parametrize("flags", [{}, {"XLA_FLAGS": "--y", "TF_XLA_FLAGS": "--x"}])
def test_a_child_cannot_forge_what_happened(
    end, happened, words, flags, cores_go_elsewhere, no_wait
):
    error = error_of(SAID + end, flags=flags)
    assert what_happened(error) == happened
    first, *lines = str(error).splitlines()
    assert first.startswith(words) and "flag" not in first
    assert lines[0] == "Its last lines:" and "killed by SIGSEGV" in lines[1]


def test_a_child_that_ends_well_may_print_anything():
    assert "SIGSEGV" in run_in_process(SAID).stdout


UNKNOWN = "import os, sys; print({!r}, file=sys.stderr, flush=True); "
LINE = "F0000 parse_flags.cc:234] Unknown flag{} in XLA_FLAGS: {}"


@pytest.mark.parametrize(("plural", "unknown"), [("", "--typo"), ("s", "--typo --oops")])
@pytest.mark.parametrize("end", ["sys.exit(1)", "os.abort()"])
def test_unknown_flags_are_explained(plural, unknown, end, cores_go_elsewhere):
    code = UNKNOWN.format(LINE.format(plural, unknown)) + end
    error = error_of(code, flags={"XLA_FLAGS": f"--good {unknown}"})
    hint = (
        f" XLA_FLAGS in `flags` holds {unknown!r}, "
        "which is unknown here: XLA_FLAGS=--help lists all."
    )
    assert str(error).splitlines()[0].endswith(f".{hint}")


@pytest.mark.parametrize("unknown", ["", "--other", "--typo --other"])
def test_a_flag_that_was_not_given_is_not_explained(unknown):
    code = UNKNOWN.format(LINE.format("", unknown)) + "sys.exit(1)"
    error = error_of(code, flags={"XLA_FLAGS": "--typo"})
    assert str(error).splitlines()[0] == "The process ended with exit code 1."


def test_an_unknown_flag_of_tensorflow_is_explained():
    def compile_something():
        import tensorflow as tf

        tf.function(lambda x: x + 1, jit_compile=True)(1)

    error = error_of(compile_something, flags={"TF_XLA_FLAGS": "--tf_xla_auto_jot=2"})
    assert "TF_XLA_FLAGS in `flags` holds '--tf_xla_auto_jot=2', which is unknown" in str(error)


# Arguments that make no sense


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), None, True, "5"])
def test_the_time_limit_must_be_positive(timeout):
    with pytest.raises(ValueError, match=f"`timeout` is {timeout!r}: give a number above zero"):
        run_in_process("", timeout=timeout)


@pytest.mark.parametrize("memory", [0, -1, float("inf"), "5"])
def test_the_memory_limit_must_be_positive(memory):
    with pytest.raises(ValueError, match=f"`memory` is {memory!r}: give a number above zero"):
        run_in_process("", memory=memory)


@pytest.mark.parametrize(
    ("flags", "error", "message"),
    [
        ("--tf_xla_auto_jit=2", TypeError, "`flags` is '--tf_xla_auto_jit=2': write"),
        ({"A": 1}, TypeError, r"`flags\['A'\]` is 1: names and values of flags are strings"),
        ({1: "A"}, TypeError, r"`flags\[1\]` is 'A': names and values of flags are strings"),
        ({"A": "a\0b"}, ValueError, r"`flags\['A'\]` holds 'a\\x00b', which no process can be"),
        ({"A": "\ud800"}, ValueError, r"`flags\['A'\]` holds '\\ud800', which no process can be"),
        ([], TypeError, r"`flags` is \[\]: write"),
        ({"--flag": "1"}, ValueError, "`flags` names '--flag', which is no environment variable"),
    ],
)
def test_flags_that_make_no_sense(flags, error, message):
    with pytest.raises(error, match=message):
        run_in_process("", flags=flags)
