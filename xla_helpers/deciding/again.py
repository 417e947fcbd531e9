"""How to do a decision again: as a command, and in Python."""

import shlex
from collections.abc import Mapping
from numbers import Integral, Real

COMMAND = "python -m xla_helpers decide"
SWITCHES = ("step",)  # what is given to the command by its name alone
WITH_VALUES = ("calls", "budget", "tolerance", "floor", "pad")


def as_command(reference: str, given: Mapping[str, object]) -> str:
    """The command that decides the same; "" when something was given that no command can hold.

    given: the arguments of `decide` beside the first, by name.
    """
    words = [_words(name, value) for name, value in given.items()]
    if None in words:
        return ""
    return " ".join([COMMAND, shlex.quote(reference), *words])


def in_python(reference: str | None, given: Mapping[str, object]) -> str:
    """The call that decides the same. What cannot be written down stands there by its name.

    reference: None for a live object, which is called `what`.
    """
    first = "what" if reference is None else _quoted(reference)
    rest = [
        "batches" if name == "batches" else f"{name}={_written(name, value)}"
        for name, value in given.items()
    ]
    return f"xh.decide({', '.join([first, *rest])})"


def _words(name, value):
    """As words of a command; None where there are none."""
    if name in SWITCHES:
        return f"--{name}" if value else None
    if name not in WITH_VALUES:
        return None
    if name == "pad" and _is_list(value):
        value = ",".join(map(str, value)) + ("," if len(value) == 1 else "")
    return f"--{name} {value}" if isinstance(value, (str, Real)) else None


def _written(name, value):
    if value is None or isinstance(value, (bool, Real)):
        return f"{value:_}" if isinstance(value, Integral) and value > 9999 else repr(value)
    return repr(list(value)) if name == "pad" and _is_list(value) else name


def _quoted(text):
    """As Python writes it, with the quotes of this project where nothing speaks against them."""
    return repr(text) if set(text) & set("'\"\\") else f'"{repr(text)[1:-1]}"'


def _is_list(value):
    return isinstance(value, (list, tuple)) and all(isinstance(one, Integral) for one in value)
