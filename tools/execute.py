"""Execute the notebooks: `run` into build/, with other parameters; `refresh` in place."""

import argparse
import shlex
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tools.alone import Taken, alone
from tools.collection import ROOT, UsageError, choose
from tools.commands import carried_out, of_file
from tools.kernels import Refused
from tools.recorded import others
from tools.refreshing import refresh_one
from tools.running import given_in, run_one
from xla_helpers.devices import unseen_accelerator
from xla_helpers.tables import in_one_line


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """The command line. Returns: the exit code, 1 when a notebook failed."""
    options = parser().parse_args(words(sys.argv[1:] if arguments is None else arguments))
    action = {"run": run, "refresh": refresh}[options.command]
    return carried_out(options.command, lambda: action(options, root))


def words(arguments):
    """A single text, as make gives it, is read as a shell reads words; nothing in it is run."""
    if len(arguments) != 1:
        return arguments
    try:
        return shlex.split(arguments[0])
    except ValueError as error:
        parser().error(f"{arguments[0]!r} cannot be read: {error}")


def parser():
    top = argparse.ArgumentParser(prog="python -m tools.execute", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    run = commands.add_parser(
        "run",
        help="execute copies into build/",
        description="Execute every notebook; the copies, with their outputs, are in build/. A "
        "failing notebook does not stop the others.",
    )
    refresh = commands.add_parser(
        "refresh",
        help="execute in place, the only source of committed outputs",
        description="Execute every notebook in place. One that fails, or that writes to stderr, "
        "is left as it was.",
    )
    for command in (run, refresh):
        command.add_argument(
            "notebooks",
            nargs="*",
            metavar="NOTEBOOK",
            help="a number, a name or a file, such as 2 or 02_compile_a_keras_model; default: all",
        )
    run.add_argument(
        "-p",
        "--parameter",
        nargs="+",
        action="append",
        default=[],
        metavar=("NAME", "VALUE"),
        help="set a parameter in each notebook that has it, and run no other unless it is named; "
        "may be repeated",
    )
    run.add_argument(
        "--without-gpu",
        action="store_true",
        help="go on when there is a GPU that TensorFlow does not see",
    )
    return top


def run(options, root: Path) -> int:
    """Execute copies in build/. Returns: the exit code.

    Raises: UsageError, before anything runs, for words that make no sense.
    """
    values = given_in(choose(options.notebooks, root), options.parameter)
    if options.parameter and not options.notebooks:
        values = {path: own for path, own in values.items() if own}
    unseen = unseen_accelerator()
    if unseen:
        print(f"run: {unseen}", file=sys.stderr)
        if not options.without_gpu:
            print("run: to go on without it, add --without-gpu to PARAMS", file=sys.stderr)
            return 1
    build = root / "build"
    build.mkdir(exist_ok=True)
    return each(list(values), lambda path, started: run_one(path, build, values[path], started))


def refresh(options, root: Path) -> int:
    """Execute in place. Returns: the exit code. Another refresh must not write the same README."""
    notebooks = choose(options.notebooks, root)
    unseen = unseen_accelerator()
    if unseen:
        print(f"refresh: {unseen}", file=sys.stderr)
    (root / "build").mkdir(exist_ok=True)
    try:
        with alone(root / "build" / ".refresh.lock"):
            code = each(notebooks, refresh_one)
            say_others(root)
            return code
    except Taken as taken:
        print(f"refresh: another one is under way, process {taken}", file=sys.stderr)
        return 1


def say_others(root: Path) -> None:
    """Say on stderr what stays in results/ because it is not what a refresh wrote."""
    found = ", ".join(others(root))
    if found:
        line = f"refresh: these stay in results/, as no refresh wrote them: {found}"
        print(in_one_line(line), file=sys.stderr)


def each(notebooks: list[Path], action: Callable) -> int:
    """Apply `action` to every notebook with a line of progress; a failure does not stop it.

    action: takes a notebook and what shows its cells. Returns: the exit code.
    """
    failures = {}
    try:
        for number, path in enumerate(notebooks, start=1):
            label = f"[{number}/{len(notebooks)}] {in_one_line(path.stem)}"
            start = time.perf_counter()
            reason = reason_against(action, path, progress(label))
            if reason:
                failures[path] = reason
            end(label, time.perf_counter() - start, reason)
    except KeyboardInterrupt as interrupt:
        print(flush=True)
        for said in interrupt.args:
            print(in_one_line(said), file=sys.stderr)
        raise
    finally:
        report(failures, len(notebooks))
    return 1 if failures else 0


def reason_against(action, path, started):
    """Why a notebook failed; "" for one that did not."""
    try:
        action(path, started)
    except (Refused, UsageError) as refusal:
        return str(refusal)
    except OSError as error:
        return of_file(error)
    return ""


def progress(label):
    """Begin a line of progress. Returns: what shows the cell that runs, on a terminal."""
    if sys.stdout.isatty():
        return partial(show_cell, label)
    print(f"{label} ... ", end="", flush=True)
    return lambda cell, cells: None


def show_cell(label, cell, cells):
    print(f"\r{label}: cell {cell} of {cells}\x1b[K", end="", flush=True)


def end(label, seconds, failed):
    begin, rest = (f"\r{label} ", "\x1b[K") if sys.stdout.isatty() else ("", "")
    print(f"{begin}{seconds:.0f} s{' FAILED' if failed else ''}{rest}", flush=True)


def report(failures: dict[Path, str], count: int) -> None:
    """Say on stderr which notebooks failed, and why."""
    if not failures:
        return
    print(f"\n{len(failures)} of {count} notebooks failed:", file=sys.stderr)
    for path, reason in failures.items():
        lines = f"  {path.stem}: {reason}".split("\n")
        print(*map(in_one_line, lines), sep="\n", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
