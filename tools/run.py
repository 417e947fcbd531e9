"""Execute the notebooks with papermill, one after the other: copies in build/, or in place.

A notebook that fails stops no other one; what failed is told in the end. The cells that are tagged
"run", from the set-up to the record, are a chain: with --runs 6, the chains alone are executed five
more times, in rounds over all of them, each in a fresh kernel, and every result then holds what six
processes found.
"""

import argparse
import json
import logging
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import nbformat
import papermill
import psutil
import yaml
from chains import chain_of

import xla_helpers as xh
from xla_helpers.results import path_of, write

ROOT = Path(__file__).resolve().parents[1]
# Relative to ROOT, where all of this runs: papermill reads a brace in a path as a parameter.
BUILD, REPORT = Path(os.environ.get("XLA_BUILD") or "build"), Path("tools/report.ipynb")
EVERY = [path.relative_to(ROOT) for path in sorted(ROOT.glob("notebooks/*.ipynb"))]
RESULTS = os.environ.get("XLA_RESULTS") or str(ROOT / BUILD / "results")
CLUSTER = os.environ.get("CLUSTER")  # the address of a Dask scheduler, to run it all elsewhere
PAPERMILL = {
    "kernel_name": "python3",
    "progress_bar": False,
    "execution_timeout": 1800,  # seconds; a cell that takes longer hangs
    "extra_arguments": ["--log-level=CRITICAL"],  # of the kernel
    "coalesce_streams": True,
}
COLOUR = re.compile(r"\x1b\[[\d;]*m")
FAILED_LINE = re.compile(r"^-+> *\d+ +(.+)$", re.MULTILINE)  # the arrow of IPython's tracebacks


def new_parser():
    """The parser of the words."""
    top = argparse.ArgumentParser(prog="run", description=__doc__)
    top.add_argument("notebooks", nargs="*", help="numbers or names; default: all")
    top.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    top.add_argument("--in-place", action="store_true", help="write the committed outputs")
    top.add_argument("--runs", type=int, default=1, help="processes that each result is to hold")
    top.add_argument("--only-runs", action="store_true", help="the chains alone, and no outputs")
    return top


def main(words):
    """Run what the words name, those in WORDS first. Returns: the exit code, 1 for a failure.

    Words that make no sense end it with 2, before anything runs.
    """
    top = new_parser()
    try:
        options = top.parse_args([*shlex.split(os.environ.get("WORDS", "")), *words])
    except ValueError as error:  # a quotation that does not end
        top.error(str(error))
    try:
        named = set(map(meant_by, options.notebooks))
        paths = [path for path in [*EVERY, REPORT] if path in named] or EVERY
        jobs = {path: values_for(path, options.p) for path in paths}
    except (ValueError, yaml.YAMLError) as error:
        top.error(" ".join(str(error).split()))
    if unknown := {name for name, _ in options.p} - {name for own in jobs.values() for name in own}:
        top.error(f"none of these notebooks has a parameter {', '.join(sorted(unknown))}")
    if options.p and not options.notebooks:
        jobs = {path: values for path, values in jobs.items() if values}
    if options.runs < 1:
        top.error("--runs: at least 1")
    if not CLUSTER:
        return run_all(jobs, options.in_place, options.runs, options.only_runs)
    if options.in_place:
        top.error("--in-place: outputs are those of this machine")
    import cluster  # Dask, which nobody else needs

    tasks = [
        (name, words_for(path, whole, options.p, jobs[path]))
        for path, whole, name in plan(jobs, options.runs, options.only_runs)
    ]
    return cluster.run_on(CLUSTER, tasks, os.environ.get("EVERYWHERE") == "1", BUILD, join)


def meant_by(name):
    """The notebook of this number, name or file."""
    for path in [*EVERY, REPORT]:
        if Path(name).stem == path.stem or name.zfill(2) == path.name[:2]:
            return path
    raise ValueError(f"no notebook {name}; there are {', '.join(p.stem for p in EVERY)}")


def values_for(path, given):
    """Name to value, of those parameters that the notebook has. given: pairs of words.

    Raises: ValueError for a value of another type than the notebook's cell says.
    """
    known, values = papermill.inspect_notebook(str(path)) if given else {}, {}
    for name, word in given:
        if name in known:
            kind, words = known[name]["inferred_type_name"], known[name]["help"]
            values[name] = word if kind == "str" else yaml.safe_load(word)
            if type(values[name]).__name__ != kind.partition("[")[0]:
                raise ValueError(f"{name} is {word!r}; its cell says: {kind}, {words}")
    return values


def plan(jobs, runs, only_runs):
    """What to execute, in order: the notebook, whether all of it, and what is said of it."""
    wholes = [(path, True, path.stem) for path in jobs if not only_runs]
    with_chain = [path for path in jobs if '"run"' in path.read_text(encoding="utf-8")]
    chains = [(path, False, f"{path.stem}, its races") for path in with_chain]
    return [*wholes, *chains * (runs - (not only_runs))]


def words_for(path, whole, given, known):
    """The words with which run.py executes this on another machine."""
    own = [word for name, value in given if name in known for word in ("-p", name, value)]
    return [path.stem, *own, *([] if whole else ["--only-runs"])]


def run_all(jobs, in_place, runs, only_runs):
    """Run each notebook with its values, then the chains, and say in the end which ones failed."""
    BUILD.mkdir(exist_ok=True)
    failures, tasks = [], plan(jobs, runs, only_runs)
    for number, (path, whole, name) in enumerate(tasks, start=1):
        target = None if not whole else path if in_place else BUILD / path.name
        busy = psutil.cpu_percent(interval=0.5) / 100
        task = f"[{number}/{len(tasks)}] {name}"
        print(f"{task} (others use {busy:.0%} of the processors) ... ", end="", flush=True)
        start = time.perf_counter()
        failure = run(path, jobs[path], target, busy)
        print(f"{time.perf_counter() - start:.0f} s{' FAILED' if failure else ''}", flush=True)
        failures += [f"  {path.stem}, {failure}"] if failure else []
    if failures:
        print(f"{len(failures)} of {len(tasks)} failed:", *failures, sep="\n", file=sys.stderr)
    return 1 if failures else 0


def run(path, values, target, busy):
    """Execute a notebook, its outputs into `target`, or its chain alone where there is none.

    A copy shows where its run failed; in place, and after Ctrl-C, what was there stays. What it
    recorded joins the results of earlier processes. Returns: why it failed, or nothing.
    """
    beside, recorded = BUILD / f".{path.stem}.{os.getpid()}.ipynb", tempfile.TemporaryDirectory()
    try:
        if target is None:
            nbformat.write(chain_of(path), beside)
        if path != REPORT:
            os.environ["XLA_RESULTS"] = recorded.name
        os.environ["XLA_CLAIMS"] = claims = str(Path(recorded.name, "claims.jsonl"))
        failure = execute(path if target else beside, beside, values, path.parent)
        if target == path:
            failure = failure or undecided(claims)
        if target and (target != path or not failure):
            put(beside, target)
        if not failure:
            keep_results(recorded.name, busy)
        return failure
    except Exception as error:  # a kernel that died, a file that is no notebook, a full disk
        if target not in (None, path) and beside.exists():  # what was done until then
            put(beside, target)
        return f"{type(error).__name__}: {error}".splitlines()[0]
    finally:
        os.environ["XLA_RESULTS"] = RESULTS
        os.environ.pop("XLA_CLAIMS", None)
        recorded.cleanup()
        beside.unlink(missing_ok=True)


def execute(source, made, values, folder):
    """Execute a notebook in a folder, into a file. Returns: the cell that failed, or ""."""
    try:
        done = papermill.execute_notebook(source, made, values, cwd=folder, **PAPERMILL)
    except papermill.PapermillExecutionError as error:
        return f"cell {error.exec_count}: {error.ename}: {message_of(error)}"
    nbformat.write(tidy(done), made)
    return ""


def undecided(notes):
    """Which claims about time were left open: what is published must be decided; "" for none."""
    path = Path(notes)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    texts = [note["text"] for note in map(json.loads, lines) if note["outcome"] == "undecided"]
    return "undecided: " + "; ".join(texts) if texts else ""


def put(made, target):
    """Replace a file at once, and whole, even by one that is on another file system."""
    beside = target.with_name(made.name)
    try:
        if beside != made:
            shutil.copyfile(made, beside)
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def keep_results(recorded, busy):
    """Add what one process of a notebook recorded to the results of the same races."""
    for result in xh.read_results(recorded)[0]:
        runs = tuple(replace(one, load=busy) for one in result.runs)
        write(replace(result, runs=runs), recorded)
    join(recorded)


def join(recorded):
    """Add the results in a folder to those of earlier processes."""
    for result in xh.read_results(recorded)[0]:
        earlier, _ = xh.read_results(path_of(result, RESULTS))
        write(result.with_runs(earlier[0]) if earlier else result, RESULTS)


def message_of(error):
    """What an error says, in one line; of an assertion without words, the line that failed."""
    lines = FAILED_LINE.findall(COLOUR.sub("", "\n".join(error.traceback)))
    return (COLOUR.sub("", error.evalue).strip() or lines[-1]).splitlines()[0]


def tidy(notebook):
    """Drop what differs from run to run or from machine to machine, and papermill's own marks."""
    notebook.metadata.language_info.pop("version", None)
    for part in (notebook, *notebook.cells):
        for key in ("papermill", "execution", "widgets"):
            part.metadata.pop(key, None)
        if not part.metadata.get("tags"):
            part.metadata.pop("tags", None)
    for cell in notebook.cells:
        if cell.cell_type == "code":  # a finished progress bar leaves blanks
            cell.outputs = [out for out in cell.outputs if out.get("text", "x").strip()]
    return notebook


if __name__ == "__main__":
    logging.disable()  # what papermill and its libraries log, a line of ours says
    os.chdir(ROOT)
    os.environ["XLA_RESULTS"] = RESULTS  # for the report, which reads them
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except (OSError, ValueError) as error:
        sys.exit(f"run: {error}")
