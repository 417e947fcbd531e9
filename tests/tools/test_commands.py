"""How commands end: the exit code, and one line."""

import errno
import os
import subprocess
import sys

import pytest

from tools.collection import ROOT, UsageError
from tools.commands import carried_out


def raises(error):
    def action():
        raise error

    return action


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (0, 0), (3, 3)])
def test_a_command_ends_with_its_own_code(capsys, returned, code):
    assert carried_out("site", lambda: returned) == code
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UsageError("no such page"), 2, "site: no such page"),
        (OSError(errno.ENOSPC, "No space left", "/a"), 1, "site: /a: No space left"),
        (OSError(errno.ENOSPC, "No space left"), 1, "site: No space left"),
        (OSError("of no number\nat all"), 1, "site: of no number at all"),
        (FileNotFoundError(errno.ENOENT, "Not there", b"/a"), 1, "site: /a: Not there"),
        (OSError(errno.ENOENT, "Not there", "a\n\x1b[31m"), 1, "site: a  [31m: Not there"),
        (UsageError("no \x1b[31m\n  b"), 2, "site: no  [31m\n  b"),
        (KeyboardInterrupt(), 130, "site: interrupted"),
    ],
)
def test_what_went_wrong_is_one_line(capsys, error, code, line):
    assert carried_out("site", raises(error)) == code
    assert capsys.readouterr() == ("", f"{line}\n")


def test_a_fault_of_the_program_is_shown_whole():
    with pytest.raises(ZeroDivisionError):
        carried_out("site", lambda: 1 / 0)


USED_WRONGLY = """
def action():
    print("a")
    raise UsageError("no such page")
"""


def run(action, **options):
    """A command that prints, as a process of its own. action: code that defines it."""
    start = "from tools.collection import UsageError\nfrom tools.commands import carried_out"
    code = f"{start}\n{action}\nraise SystemExit(carried_out('site', action))"
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PYTHONUNBUFFERED": ""},  # as it is for most: written at the end
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.mark.parametrize(
    ("action", "ends"),
    [
        ("action = lambda: print('a')", ("", 1)),
        ("action = lambda: [print('a' * 10_000) for _ in range(10)]", ("", 1)),
        (USED_WRONGLY, ("site: no such page\n", 2)),
    ],
)
def test_a_reader_that_has_gone_is_no_error_to_speak_of(action, ends):
    reader, writer = os.pipe()
    os.close(reader)
    process = run(action, stdout=writer)
    os.close(writer)
    assert (process.communicate()[1], process.returncode) == ends


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here")
def test_a_full_disk_behind_stdout_is_one_line():
    with open("/dev/full", "w", encoding="utf-8") as full:
        process = run("action = lambda: print('a')", stdout=full)
    said = process.communicate()[1]
    assert (said, process.returncode) == ("site: No space left on device\n", 1)
