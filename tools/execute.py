"""Execute the notebooks: `run` into build/, with other parameters; `refresh` in place."""

import argparse
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from tools.collection import ROOT, UsageError, choose, read
from tools.memory import PeakMemory
from tools.readme import keep_cost, keep_overview
from tools.recorded import keep_results, lend_results

CELL_SECONDS = 1800  # a cell that takes longer hangs
KERNEL_ARGUMENTS = ["--log-level=ERROR"]  # a kernel's own log does not belong in the progress


def main(arguments=None, root=ROOT):
    options = parser().parse_args(arguments)
    try:
        notebooks = choose(options.notebooks, root)
        if options.command == "run":
            given = {name: parse(value) for name, value in options.parameter}
            failures = run(notebooks, root / "build", given)
        else:
            failures = refresh(notebooks)
    except UsageError as error:
        print(f"{options.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\n{options.command}: interrupted.", file=sys.stderr)
        return 130
    return report(failures, len(notebooks))


class Refused(Exception):
    """A notebook that ran, but whose outputs must not be kept."""


def parser():
    top = argparse.ArgumentParser(prog="python -m tools.execute", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    run = commands.add_parser(
        "run",
        help="execute copies into build/",
        description="Execute every notebook with papermill; the copies, with their outputs, are "
        "in build/. A failing notebook does not stop the others.",
    )
    run.add_argument(
        "-p",
        "--parameter",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "VALUE"),
        help="set a parameter in each notebook that has it; may be repeated",
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
    return top


def run(notebooks, build, given):
    """Execute copies in `build`, and return what went wrong: notebook, reason."""
    parameters = {path: parameters_of(path) for path in notebooks}
    refuse_unknown(given, parameters)
    build.mkdir(exist_ok=True)

    def run_with_parameters(path, progress):
        own = {name: value for name, value in given.items() if name in parameters[path]}
        run_one(path, build / path.name, own, progress)

    return each(notebooks, run_with_parameters)


def parameters_of(path):
    from papermill import inspect_notebook

    return list(inspect_notebook(str(path)))


def refuse_unknown(given, parameters):
    known = sorted({name for names in parameters.values() for name in names})
    for name in given:
        if name not in known:
            raise UsageError(f"no notebook has a parameter {name}; there are: {', '.join(known)}")


def parse(value):
    """`value` as papermill's own command line reads it."""
    from papermill.cli import _resolve_type

    return _resolve_type(value)


def run_one(source, copy, parameters, progress):
    import papermill

    try:
        papermill.execute_notebook(
            str(source),
            str(copy),
            parameters,
            kernel_name="python3",
            cwd=str(source.parent),
            progress_bar=progress,
            execution_timeout=CELL_SECONDS,
            extra_arguments=KERNEL_ARGUMENTS,
        )
    except papermill.PapermillExecutionError as error:
        reason = f"cell {error.exec_count}: {error.ename}: {message_of(error)}"
        raise Refused(f"{reason}\n    see {shown(copy)}") from error
    except Exception as error:
        raise Refused(f"{stopped(copy, error)}\n    see {shown(copy)}") from error


def stopped(copy, error):
    """Where and why a notebook stopped whose kernel could not say so itself."""
    reason = f"{type(error).__name__}: {first_line(error)}"
    cells = read(copy).cells if copy.exists() else []
    times = [cell.metadata.get("papermill", {}).get("start_time") for cell in cells]
    started = [index for index, moment in enumerate(times) if moment]
    return f"cell {ordinal(cells, started[-1])}: {reason}" if started else reason


def ordinal(cells, index):
    """The number that the notebook shows beside the cell at `index` when it is executed."""
    return sum(
        cell.cell_type == "code" and bool(cell.source.strip()) for cell in cells[: index + 1]
    )


def refresh(notebooks):
    """Execute in place, and return what went wrong: notebook, reason."""
    return each(notebooks, lambda path, progress: refresh_one(path))


def refresh_one(path):
    root, notebook = path.parent.parent, read(path)
    with tempfile.TemporaryDirectory() as folder, PeakMemory() as peak:
        lend_results(path, Path(folder), root)
        start = time.perf_counter()
        execute(notebook, path.parent, Path(folder))
        seconds = time.perf_counter() - start
        refuse_stderr(notebook)
        write(tidy(notebook), path)
        keep_results(path, Path(folder), root)
    keep_cost(path.name, seconds, peak.bytes, root)
    keep_overview(root)


def execute(notebook, cwd, results):
    """Run all cells in the folder `cwd`, recording comparisons in the folder `results`."""
    from nbclient import NotebookClient

    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=CELL_SECONDS,
        extra_arguments=KERNEL_ARGUMENTS,
        resources={"metadata": {"path": str(cwd)}},
        record_timing=False,
        coalesce_streams=True,
    )
    started = []
    client.on_cell_start = lambda cell, cell_index: started.append(cell_index)
    try:
        client.execute(env=os.environ | {"XLA_RESULTS": str(results)})
    except Exception as error:
        number = ordinal(notebook.cells, started[-1]) if started else 0
        name = getattr(error, "ename", type(error).__name__)
        reason = f"cell {number}: {name}: {message_of(error)}"
        raise Refused(f"{reason}; left as it was") from error


def refuse_stderr(notebook):
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                raise Refused(
                    f"cell {cell.execution_count} wrote to stderr: {first_line(output.text)}; "
                    "left as it was"
                )


def tidy(notebook):
    """Drop what varies from run to run or from machine to machine, and keep the rest."""
    notebook.metadata.get("language_info", {}).pop("version", None)
    for key in ("papermill", "widgets"):
        notebook.metadata.pop(key, None)
    for cell in notebook.cells:
        for key in ("execution", "papermill"):
            cell.metadata.pop(key, None)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not is_blank(output)]
    return notebook


def is_blank(output):
    """True for what a finished progress bar leaves: carriage returns and blanks."""
    return output.output_type == "stream" and not output.text.strip()


def write(notebook, path):
    """Replace `path` at once, so that an interruption leaves the old notebook."""
    new = path.with_suffix(".new")
    nbformat.write(notebook, new)  # indent 1, sorted keys, one newline at the end
    os.replace(new, path)


def each(notebooks, action):
    """Apply `action` to every notebook with a line of progress; a failure does not stop it."""
    failures = []
    for number, path in enumerate(notebooks, start=1):
        label = f"[{number}/{len(notebooks)}] {path.stem}"
        bar = sys.stderr.isatty()
        if not bar:
            print(f"{label} ... ", end="", flush=True)
        start = time.perf_counter()
        try:
            action(path, {"desc": label, "leave": False} if bar else False)
        except Refused as refusal:
            failures.append((path, str(refusal)))
        seconds = time.perf_counter() - start
        failed = " FAILED" if failures and failures[-1][0] == path else ""
        print(f"{label if bar else ''} {seconds:.0f} s{failed}".lstrip(), flush=True)
    return failures


def report(failures, count):
    if not failures:
        return 0
    print(f"\n{len(failures)} of {count} notebooks failed:", file=sys.stderr)
    for path, reason in failures:
        print(f"  {path.stem}: {reason}", file=sys.stderr)
    return 1


def message_of(error):
    """What the error of a cell says; for an assertion without words, the line that failed."""
    message = getattr(error, "evalue", error)
    if str(message).strip():
        return first_line(message)
    traceback = getattr(error, "traceback", "")
    traceback = traceback if isinstance(traceback, str) else "\n".join(traceback)
    traceback = re.sub(r"\x1b\[[\d;]*m", "", traceback)
    failed = re.findall(r"^-+> *\d+ +(.+)$", traceback, re.MULTILINE)
    return failed[-1] if failed else first_line(message)


def first_line(text):
    lines = str(text).strip().splitlines()
    return lines[0] if lines else "no message"


def shown(path):
    return os.path.relpath(path)


if __name__ == "__main__":
    sys.exit(main())
