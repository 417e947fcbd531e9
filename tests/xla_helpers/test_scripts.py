"""What travels to a fresh process. Nothing is started here."""

from pathlib import Path

import pytest

from xla_helpers.scripts import write_script


def twice(x):
    return 2 * x


def test_a_function_travels_as_source_with_its_arguments(tmp_path):
    script, argv = write_script(twice, (4,), (), tmp_path)
    text = script.read_text(encoding="utf-8")
    assert text.startswith("def twice(x):\n    return 2 * x\n")
    assert "json.dumps(twice(*json.loads('[4]')))" in text and argv == []


def test_arguments_of_text_are_texts(tmp_path):
    script, argv = write_script("print(1)", ("a b", 3, "$(x)"), (), tmp_path)
    assert script.read_text(encoding="utf-8") == "print(1)" and argv == ["a b", "3", "$(x)"]


def test_a_script_stays_where_it_is(tmp_path):
    script = tmp_path / "mine.py"
    script.touch()
    assert write_script(script, ("x",), (), tmp_path / "other") == (script, ["x"])


def test_half_a_character_in_a_text_is_left_to_python(tmp_path):
    script, _ = write_script("print('\ud800')", (), (), tmp_path)
    assert script.read_bytes() == b"print('\xed\xa0\x80')"


@pytest.mark.parametrize("arg", ["a\0b", "\ud800"])
def test_what_no_process_can_be_given_is_refused(tmp_path, arg):
    with pytest.raises(ValueError, match="`args` holds .*, which no process can be given"):
        write_script("", (arg,), (), tmp_path)


def test_a_file_name_that_steers_a_terminal_is_said_without(tmp_path):
    with pytest.raises(ValueError) as caught:
        write_script(Path("\x1b[2Jno\nsuch.py"), (), (), tmp_path)
    assert str(caught.value) == "`code` names  [2Jno such.py, which is not a file"


@pytest.mark.parametrize(
    ("code", "uses", "message"),
    [
        ("", [twice], "`uses` goes with a function: text and scripts import what they need"),
        (twice, twice, "`uses` is function: give functions in a list"),
        (twice, ["text"], "`uses` holds str: give functions"),
        (twice, [lambda x: x], "`uses` is a lambda, whose source cannot travel"),
    ],
)
def test_what_a_function_uses_are_functions(code, uses, message, tmp_path):
    with pytest.raises(TypeError, match=message):
        write_script(code, (), uses, tmp_path)


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        (3, TypeError, "`code` is int: give a function, source text or a Path"),
        (print, TypeError, "`code` is builtin_function_or_method: give a function"),
        (lambda: 1, TypeError, "`code` is a lambda, whose source cannot travel: write it as a"),
        (Path("no/such.py"), ValueError, "`code` names no/such.py, which is not a file"),
    ],
)
def test_code_that_cannot_be_run(code, error, message, tmp_path):
    with pytest.raises(error, match=message):
        write_script(code, (), (), tmp_path)


def test_a_function_without_source(tmp_path):
    names = {}
    exec("def made(): return 1", names)
    with pytest.raises(ValueError, match="the source of `code`, made, is not at hand: give it as"):
        write_script(names["made"], (), (), tmp_path)


@pytest.mark.parametrize("arg", [object(), {1, 2}])
def test_arguments_of_a_function_must_fit_in_json(arg, tmp_path):
    with pytest.raises(TypeError, match="`args` must fit in JSON: .*; pass numbers, strings"):
        write_script(twice, (arg,), (), tmp_path)
