"""Which Python makes `.venv`: this one where it will do, else one on the PATH.

Standard library only. It must parse on old Pythons, so that they get a sentence and no traceback.
"""

import shutil
import subprocess
import sys

OLDEST, NEWEST = (3, 11), (3, 13)
THIS = sys.version_info[:2]


class SetUpError(Exception):
    """A set-up that cannot go on; the message is all that the reader gets."""


def choose_python(explicit, version=THIS, search=shutil.which):
    """The interpreter to use: this one when it is supported, else the newest on the PATH that is.

    An interpreter that was asked for by name (`explicit`) is never replaced by another.
    """
    if OLDEST <= version <= NEWEST:
        return sys.executable
    if not explicit:
        for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
            path = search(f"python3.{minor}")
            if path and version_of(path):
                return path
    raise SetUpError(
        f"this is Python {dotted(version)}, and the notebooks need Python {dotted(OLDEST)} to "
        f"{dotted(NEWEST)}; install one, or name it: make PYTHON=/path/to/python3 ..."
    )


def dotted(version):
    return "%d.%d" % version


def version_of(python):
    """The version of an interpreter, such as 3.12, or nothing when it does not run."""
    return output_of([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2], end='')"])


def output_of(command):
    """What a command prints, or nothing when it fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError:
        return ""
    return "" if done.returncode else done.stdout.decode()
