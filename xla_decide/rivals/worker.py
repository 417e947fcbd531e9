"""The side of a process that is asked: lines of JSON come in, and each is answered by one.

It imports as little as it can, because the memory of a runtime is measured in it.
"""

import importlib
import os
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from xla_helpers.errors import headline
from xla_helpers.evidence import observe
from xla_helpers.memory import peak_memory
from xla_helpers.timing import calibrate, time_block

INPUTS = "inputs.npz"  # of the call that all runtimes make
SAVED = "saved_model"  # what converters read, and TensorFlow


class Job(msgspec.Struct, frozen=True):
    """What a process is about.

    Attributes:
        folder: Where the files lie that were exported, and the inputs.
        threads: How many threads a runtime may use.
        model: Path of the reader's file, or of what was saved.
        function: The name of its function, or of a signature, or "".
        options: Options of the decision, in place of the file's.
    """

    folder: str
    threads: int
    model: str
    function: str
    options: dict[str, Any]

    def path(self, name: str) -> Path:
        """Of a file in the folder."""
        return Path(self.folder, name)


class Loaded(NamedTuple):
    """A model in a runtime.

    Attributes:
        call: Makes the call, from NumPy arrays to NumPy arrays.
        note: What the runtime says of itself, such as the type in which it computes, or "".
    """

    call: Callable[[], Sequence[np.ndarray]]
    note: str = ""


class Started(msgspec.Struct, frozen=True):
    """How a model began in a runtime.

    Attributes:
        load: Seconds to import the runtime and to load the model.
        first: Seconds of the first call.
        memory: Bytes that the process held at most until then.
        note: What the runtime says of itself.
    """

    load: float
    first: float
    memory: int
    note: str


class Runner:
    """A model in a runtime, of which calls are timed."""

    def __init__(self, load: Callable[[Job], Loaded], job: Job):
        self._load, self._job = load, job
        self._lane: list[Callable] = []

    def start(self, results: str) -> Started:
        """Load the model, make the first call, and write its results into a file."""
        begin = time.perf_counter()
        call, note = self._load(self._job)
        loaded = time.perf_counter()
        returned = call()
        end = time.perf_counter()
        memory = peak_memory()
        write_arrays(self._job.path(results), returned)
        self._lane = [call]
        return Started(loaded - begin, end - loaded, memory, note)

    def ran(self) -> Any:
        """What a call runs, as TensorFlow's profiler records it."""
        with observe() as seen:
            self._lane[0]()
        return seen[0]

    def calibrate(self, block: float) -> int:
        """How many calls last so many seconds."""
        return calibrate(self._lane, block)

    def block(self, calls: int) -> Any:
        """Seconds of a call, and its page faults, of a block of calls."""
        return time_block(self._lane, calls)


def runner(load: Callable[[Job], Loaded]) -> Callable[[Job], Runner]:
    """What makes a `Runner` of a job, for a function that loads a model in a runtime."""
    return lambda job: Runner(load, job)


def write_arrays(path: Path, arrays: Sequence[Any]) -> None:
    """Write arrays in their order; text as bytes of one length, since no file holds objects."""
    shown = [np.asarray(array) for array in arrays]
    shown = [one.astype("S") if one.dtype == object else one for one in shown]
    named = {f"{number} {one.dtype}": one for number, one in enumerate(shown)}
    np.savez(path, **{name: _as_known(one) for name, one in named.items()})


def read_arrays(path: Path) -> list[np.ndarray]:
    """Read arrays in their order."""
    with np.load(path, allow_pickle=False) as file:
        return [_as_named(file[name], name.partition(" ")[2]) for name in file.files]


def _as_known(array):
    """The same bits in a type that NumPy knows, which bfloat16 is none of."""
    return array if array.dtype.kind != "V" else array.view(f"u{array.dtype.itemsize}")


def _as_named(array, name):
    if str(array.dtype) == name or array.dtype.kind == "S":
        return array
    import ml_dtypes

    return array.view(getattr(ml_dtypes, name))


def serve(factory: str, job: str) -> None:
    """Answer what is asked of an object, until nothing more comes.

    What the object's code prints goes to standard error, so that the answers stay alone.

    Args:
        factory: Module and name of what makes the object from a `Job`, such as ``a.b:c``.
        job: The `Job`, as JSON.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    module, _, name = factory.partition(":")
    given = msgspec.json.decode(job, type=Job)
    made = None
    for line in sys.stdin.buffer:
        try:
            made = made or getattr(importlib.import_module(module), name)(given)
            method, *words = msgspec.json.decode(line)
            answer = {"answer": getattr(made, method)(*words)}
        except (Exception, SystemExit) as error:  # whatever a reader's code, or a runtime, raises
            traceback.print_exc()
            answer = {"error": headline(error, 1000)}
        answers.write(msgspec.json.encode(answer) + b"\n")
        answers.flush()
