"""Hand notebooks to the machines of a Dask cluster, and bring back what they made.

On each machine `make worker CLUSTER=tcp://host:8786` runs in a clone of this project. It offers one
place to measure, so two measurements never share a machine. Dask moves the task of a worker that
dies to another one.
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from distributed import Client, get_worker

PLACE = {"place": 1}  # of each worker, and what each task takes
SAME = ("tensorflow", "keras", "numpy", "distributed")
LINE = "import xla_helpers as xh; xh.prepare_tensorflow(); print(xh.describe_machine())"


def identity():
    """On a machine: its line, and what must be the same on all of them."""
    line = subprocess.run([sys.executable, "-c", LINE], capture_output=True, text=True, check=True)
    return line.stdout.strip(), versions()


def versions():
    """What must be the same on all machines, by name."""
    parts = [Path().glob(part) for part in ("notebooks/*.*", "tools/*.*", "xla_*/**/*.*")]
    every = (path for part in parts for path in part if path.is_file())
    files = sorted(path for path in every if path.parent.name != "__pycache__")
    code = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]
    return {name: version(name) for name in SAME} | {"this project": code}


def execute(words):
    """On a worker: run.py with these words. Returns: worker, exit code, errors, files."""
    with tempfile.TemporaryDirectory() as place:
        own = {"XLA_BUILD": place, "XLA_RESULTS": f"{place}/results", "CLUSTER": "", "WORDS": ""}
        command = [sys.executable, "tools/run.py", *words]
        done = subprocess.run(command, env=os.environ | own, capture_output=True, text=True)
        made = [path for path in Path(place).rglob("*") if path.suffix in (".ipynb", ".json")]
        files = {str(path.relative_to(place)): path.read_text("utf-8") for path in made}
    return get_worker().address, done.returncode, done.stderr, files


def run_on(address, tasks, everywhere, build, join):
    """Run each task on one machine, or on all of them, and keep what comes back.

    tasks: for each, its name and the words of run.py. join: is given a folder of results. What was
    done before Ctrl-C is kept. Returns: the exit code. Raises: ValueError for other versions.
    """
    with Client(address, timeout=20) as client:
        machines = client.run(identity)
        if not machines:
            raise ValueError(f"{address} has no workers: `make worker CLUSTER={address}` on each")
        refuse_others(machines)
        places = [[worker] for worker in machines] if everywhere else [list(machines)]
        given = {"resources": PLACE, "pure": False}
        futures = {
            client.submit(execute, words, workers=place, **given): (name, place)
            for place in places
            for name, words in tasks
        }
        waiting, failures, left = set(futures), 0, set()
        while waiting:
            left = set(machines) - set(client.nthreads())
            for future in waiting:
                if left.issuperset(futures[future][1]):  # nobody else may do it
                    future.cancel()
            for future in [future for future in waiting if future.done()]:
                waiting.remove(future)
                said = f"[{len(futures) - len(waiting)}/{len(futures)}] {futures[future][0]}"
                failures += report(future, said, machines, build, join)
            time.sleep(1)
        for worker in left:
            print(f"lost: {worker}, {machines[worker][0]}", file=sys.stderr)
    return 1 if failures else 0


def report(future, said, machines, build, join):
    """Say how a task ended, and keep what it made. Returns: whether it failed."""
    code, errors, files, line = 1, "its machine has left\n", {}, "no machine"
    if future.status == "finished":
        where, code, errors, files = future.result()  # made again, if its holder has died
        line = machines[where][0]
    elif future.status == "error":
        errors = f"{future.exception()}\n"
    print(f"{said}: {'FAILED' if code else 'done'} on {line}\n{errors}", end="", flush=True)
    keep(files, build / re.sub(r"\W+", "-", line.lower()), join)
    return bool(code)


def refuse_others(machines):
    """Raise ValueError, and name them, where machines differ in what must be the same."""
    here = versions()
    for worker, (line, there) in machines.items():
        other = [
            f"{name} {there[name]}, here {here[name]}" for name in here if there[name] != here[name]
        ]
        if other:
            raise ValueError(f"{worker}, {line}, has {'; '.join(other)}")


def keep(files, folder, join):
    """Write executed notebooks into the machine's folder, and add what was recorded to the rest."""
    with tempfile.TemporaryDirectory() as place:
        for name, text in files.items():
            path = (folder if name.endswith(".ipynb") else Path(place)) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        join(place)
