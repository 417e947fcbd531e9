"""Fresh processes: what travels in and out, and how their ends are told."""

import os

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

    first = {"a": [1.5, None, True, 'quote " and \\ and ü']}
    run = xh.run_in_process(collect, (first,))
    assert run.value[:2] == [first, 2]
    assert run.value[2] != os.getpid() and run.seconds > 0
    assert (run.stdout, run.stderr) == ("to stdout: 日本 {braces}\n", "to stderr\n")


def test_functions_that_a_function_uses_travel_with_it():
    assert xh.run_in_process(twice_and_one_more, (4,), uses=[twice]).value == 9


def test_text_takes_arguments_as_strings():
    code = "import sys; print(sys.argv[1:])"
    assert xh.run_in_process(code, ("-n", 3)).stdout == "['-n', '3']\n"


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


def leaves():
    import os

    os._exit(0)


@pytest.mark.parametrize(
    ("code", "signal", "timed_out", "out", "err"),
    [
        (r"print('\x1b[2Jred'); raise ValueError('no good')", None, False, "red", "no good"),
        ("import os; os.abort()", "SIGABRT", False, "", ""),
        ("import os; os.kill(os.getpid(), 40)", "signal 40", False, "", ""),
        ("import time; print('begun'); time.sleep(300)", None, True, "begun", ""),
        (leaves, None, False, "", ""),
    ],
)
def test_a_bad_end_keeps_what_was_printed(code, signal, timed_out, out, err, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where a dump of its memory may go
    with pytest.raises(xh.ProcessError) as caught:
        xh.run_in_process(code, timeout=5 if timed_out else 60)
    error, message = caught.value, str(caught.value)
    assert (error.signal, error.timed_out) == (signal, timed_out)
    assert out in error.stdout and err in error.stderr
    assert out in message and err in message and "\x1b" not in message


STAYS = "import subprocess; subprocess.Popen(['sleep', '600']{}); print('done')"


def starts_another():
    import subprocess

    return subprocess.Popen(["sleep", "600"]).pid > 0


@pytest.mark.parametrize(
    "code", [STAYS.format(""), STAYS.format(", start_new_session=True"), starts_another]
)
def test_a_process_has_ended_though_one_that_it_started_goes_on(code):
    """And holds what it prints into."""
    run = xh.run_in_process(code, timeout=60)  # by far enough, and an error beyond
    assert run.value or run.stdout == "done\n"


def test_what_no_json_holds_does_not_travel():
    with pytest.raises(TypeError, match="not JSON serializable"):
        xh.run_in_process(twice, ({1, 2},))


@pytest.mark.parametrize("wrong", [{"timeout": 0}, {"timeout": float("inf")}, {"args": 4}])
def test_arguments_that_make_no_sense(wrong):
    with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
        xh.run_in_process("", **wrong)


def decorated(function):
    return function


@decorated
def with_a_decorator():
    return 1


@pytest.mark.parametrize("function", [lambda: 1, with_a_decorator, len])
def test_a_function_whose_source_cannot_travel_is_told_before_a_process_starts(function):
    with pytest.raises(TypeError, match="`def`"):
        xh.run_in_process(function)


def test_a_function_in_a_function_may_hold_a_text_that_begins_at_the_left():
    def nested():
        return """
at the left"""

    assert xh.run_in_process(nested).value == "\nat the left"
