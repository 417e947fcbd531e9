"""Run helpers and notebooks among other versions of Python, TensorFlow and their companions.

Each combination gets an environment in build/versions. It takes a network, about 25 GB of disk,
and for each combination up to twice as long as `make test`; --fast takes a few minutes for each.
"""

import argparse
import sys
import time
import traceback
from contextlib import contextmanager
from functools import partial

from tools import environments
from tools.colab import KINDS
from tools.collection import ROOT, UsageError, choose
from tools.commands import carried_out
from tools.environments import NoSolution, NotMade
from tools.suites import Suite, run_tests
from tools.versions.combinations import combinations
from tools.versions.found import Found, keep, moved
from tools.versions.table import keep_table, of, table
from xla_helpers.errors import headline
from xla_helpers.tables import in_one_line

FOLDER = ROOT / "build" / "versions"
FAST = "programs compilations executed recordings evidence layers plots ratios results"
"""Tests of what leans on TensorFlow's insides, on Keras, on Matplotlib, on SciPy, on files."""


def main(arguments=None):
    options = parser().parse_args(arguments)
    return carried_out("versions", partial(list_all if options.list else try_out, options))


def parser():
    made = argparse.ArgumentParser(prog="python -m tools.versions", description=__doc__)
    made.add_argument("names", nargs="*", metavar="NAME", help="combinations; default: all")
    made.add_argument("--list", action="store_true", help="say which combinations there are")
    made.add_argument(
        "--fast", action="store_true", help="a few test files, and one notebook of each kind"
    )
    return made


def list_all(options):
    for one in chosen(options.names):
        print(f"{one.name:12}{one.says}")


def try_out(options):
    """Try the chosen ones, print the table, and keep it in the README when it is whole.

    What was tried is shown, however the rest ends.
    """
    wanted, all_found = chosen(options.names), []
    try:
        for one in wanted:
            all_found.append(try_one(one, options.fast))
    finally:
        if all_found:
            print("", table(all_found), "", sep="\n", flush=True)
    if len(wanted) == len(combinations()):
        keep_table(all_found, part(options.fast))
    wrong = [found for found in all_found if found.failed]
    for found in wrong:
        for line in of(found):
            print(in_one_line(f"versions: {found.name}: {line}"), file=sys.stderr)
    return int(any(found.supported for found in wrong))


def chosen(names):
    """Combinations by name, in order; all when none is named."""
    known = {one.name: one for one in combinations()}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no combination {name}; there are: {', '.join(known)}")
    return [one for one in known.values() if not names or one.name in names]


def try_one(one, fast):
    """What is found with a combination. What stops it is kept, as the reason that it is missing."""
    start, folder = time.perf_counter(), FOLDER / one.name
    folder.mkdir(parents=True, exist_ok=True)
    facts = {"name": one.name, "python": one.python, "supported": one.supported}
    try:
        make(one, folder / "environment")
        facts |= tried(one, folder, fast)
    except NotMade as error:
        print(in_one_line(f"versions: {one.name}: {error}"), flush=True)
        facts |= {"missing": str(error), "exists": not isinstance(error, NoRelease)}
    except (OSError, UsageError):  # what the next one would meet too, such as a full disk
        raise
    except Exception as error:  # a fault, and the hours of the others must not be lost with it
        traceback.print_exc()
        facts |= {"missing": headline(error)}
    found = Found(**facts, seconds=time.perf_counter() - start)
    keep(found, folder)
    return found


class NoRelease(NotMade):
    """TensorFlow has no release for this Python."""


def make(one, folder):
    """An environment with the versions of a combination, and with this project."""
    with progress(one, "environment") as done:
        environments.make(folder, one.python)
        if one.alone:
            check_release(one, folder)
        near = (ROOT / "requirements.txt").read_text(encoding="utf-8") if one.near_lock else ""
        wanted = {"near": near, "whatever": one.whatever}
        pins = environments.resolve(folder, one.requirements(), *one.options, **wanted)
        environments.install(folder, "--no-deps", "--requirement", pins)
        environments.install_project(folder)
        done("made")


def check_release(one, folder):
    """Ask whether this TensorFlow exists for this Python, before anything stands in its way."""
    try:
        environments.resolve(folder, [one.alone], "--no-deps")
    except NoSolution as error:
        raise NoRelease(str(error)) from error


def tried(one, folder, fast):
    """What is installed, and what the tests say of it."""
    packages = environments.packages(folder / "environment")
    python = environments.inside(folder / "environment")
    return {
        "packages": packages,
        "moved": moved(packages, one.python),
        "helpers": helpers(one, python, folder, fast),
        "notebooks": notebooks(one, python, folder, fast),
    }


def helpers(one, python, folder, fast):
    tests = ROOT / "tests" / "xla_helpers"
    places = [tests / f"test_{name}.py" for name in FAST.split()] if fast else [tests]
    with progress(one, "helpers") as done:
        found = run_tests(python, places, folder / "helpers.log")
        done(found)
    return found


def notebooks(one, python, folder, fast):
    """One after the other. A notebook has passed when all its cells have."""
    passed, failed = 0, {}
    for path in choose(KINDS if fast else []):
        with progress(one, path.stem) as done:
            found = run_tests(python, [path], folder / f"{path.stem}.log")
            done("FAILED" if found.failed else "passed")
        passed += not found.failed
        for cell, why in list(found.failed.items())[:1]:
            failed[f"{path.stem}, {cell.removeprefix(f'notebooks.{path.name}.')}"] = why
    return Suite(passed, failed)


@contextmanager
def progress(one, what):
    """A line that says what is done, then how it ended and after how many seconds."""
    print(f"versions: {one.name}: {what} ... ", end="", flush=True)
    start = time.perf_counter()
    yield lambda ended: print(f"{ended}, {time.perf_counter() - start:.0f} s", flush=True)


def part(fast):
    """What was run, in a sentence."""
    if not fast:
        return "All tests of the helpers and all notebooks."
    return f"A part: tests of {', '.join(FAST.split())}; notebooks {', '.join(KINDS)}."


if __name__ == "__main__":
    sys.exit(main())
