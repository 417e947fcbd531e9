"""Which Python is used, and what is said where none will do."""

import sys

import pytest

from tools.pythons import SetUpError, choose_python


def fake_python(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_a_supported_python_is_used_as_it_is():
    for version in [(3, 11), (3, 12), (3, 13)]:
        assert choose_python(explicit=True, version=version) == sys.executable


@pytest.mark.parametrize("version", [(3, 6), (3, 10), (3, 14)])
def test_an_unsupported_python_gets_one_sentence(version):
    with pytest.raises(SetUpError, match=r"need Python 3\.11 to 3\.13; install one") as info:
        choose_python(explicit=True, version=version, search=lambda name: sys.executable)
    assert f"this is Python {version[0]}.{version[1]}" in str(info.value)
    assert "\n" not in str(info.value)


def test_another_python_on_the_path_is_found_unless_one_was_named(tmp_path):
    broken = fake_python(tmp_path / "python3.13", "exit 127")  # as a version manager's shim may be
    works = fake_python(tmp_path / "python3.12", "echo 3.12")
    found = {"python3.13": broken, "python3.12": works}
    assert choose_python(explicit=False, version=(3, 9), search=found.get) == works
    with pytest.raises(SetUpError):
        choose_python(explicit=True, version=(3, 9), search=found.get)
