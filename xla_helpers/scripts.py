"""A function, with all that it needs, as a script that a fresh process runs."""

import inspect
import json
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path

from .tables import in_one_line
from .validation import check_passable

ANSWER = "answer.json"  # beside the script: what the function returned

CALL_FUNCTION = """{source}

if __name__ == "__main__":
    import json
    from pathlib import Path

    result = json.dumps({name}(*json.loads({args!r})))
    Path(__file__).with_name({answer!r}).write_text(result, encoding="utf-8")
"""


def write_script(
    code: Callable | str | Path, args: tuple, uses: Iterable[Callable], folder: Path
) -> tuple[Path, list[str]]:
    """A script in `folder`, and what it gets in ``sys.argv``; a `Path` is the script itself.

    That of a function writes what it returned into the file `ANSWER` beside itself.
    code, args, uses: see `run_in_process`.

    Raises: TypeError and ValueError for what cannot be run elsewhere.
    """
    if not isinstance(uses, Iterable):
        raise TypeError(f"`uses` is {type(uses).__name__}: give functions in a list")
    if uses and not callable(code):
        raise TypeError("`uses` goes with a function: text and scripts import what they need")
    if isinstance(code, Path):
        if not code.is_file():
            raise ValueError(f"`code` names {in_one_line(str(code))}, which is not a file")
        return code, _as_texts(args)
    script = folder / "script.py"
    if isinstance(code, str):
        _write_script(script, code)
        return script, _as_texts(args)
    if not inspect.isfunction(code):
        raise TypeError(f"`code` is {type(code).__name__}: give a function, source text or a Path")
    source = "\n".join([*(_source(function, "uses") for function in uses), _source(code, "code")])
    called = CALL_FUNCTION.format(
        source=source, name=code.__name__, args=_as_json(args), answer=ANSWER
    )
    _write_script(script, called)
    return script, []


def _write_script(script, text):
    script.write_text(text, encoding="utf-8", errors="surrogatepass")


def _as_texts(args):
    texts = [str(arg) for arg in args]
    for text in texts:
        check_passable("args", text)
    return texts


def _source(function, argument):
    if not inspect.isfunction(function):
        raise TypeError(f"`{argument}` holds {type(function).__name__}: give functions")
    if function.__name__ == "<lambda>":
        raise TypeError(
            f"`{argument}` is a lambda, whose source cannot travel: write it as a `def`"
        )
    try:
        return textwrap.dedent(inspect.getsource(function))
    except OSError as error:
        raise ValueError(
            f"the source of `{argument}`, {function.__name__}, is not at hand: give it as text"
        ) from error


def _as_json(args):
    try:
        return json.dumps(args)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"`args` must fit in JSON: {error}; pass numbers, strings, lists and dicts"
        ) from error
