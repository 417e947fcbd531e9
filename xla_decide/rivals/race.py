"""One call of a model in several runtimes: exported, loaded, compared, then timed in turns."""

import math
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from xla_helpers.comparisons import Comparison
from xla_helpers.differences import TOLERANCE, Difference, Sensitive
from xla_helpers.evidence import Evidence
from xla_helpers.memory import available_cores
from xla_helpers.racing import Race
from xla_helpers.tables import format_si
from xla_helpers.timing import (
    BLOCK_SECONDS,
    ROUNDS,
    Block,
    Measurement,
    effort,
    rounds_by_effort,
)
from xla_helpers.variables import Snapshot

from .asking import Worker, WorkerError, started
from .exporting import EXPORTERS
from .table import Rival, Rivals
from .worker import Job, Started

MODEL = "xla_decide.on_rivals:Model"
KERAS_ON_JAX = "Keras on JAX"
QUIET_SECONDS = 0.005  # before a block: threads of the one before may still wait for work


@dataclass(frozen=True)
class Runtime:
    """What runs a model.

    Attributes:
        factory: Module and name of what loads it, in a process of its own.
        format: What it is exported to, or "".
        brings: The package that brings the runtime, and is named where it is missing.
    """

    factory: str
    format: str = ""
    brings: str = ""


SAVED_MODEL = "a SavedModel"  # from which the converters read
RUNTIMES = {
    "graph": Runtime("xla_decide.rivals.runtimes:graph", SAVED_MODEL),
    "XLA": Runtime("xla_decide.rivals.runtimes:compiled", SAVED_MODEL),
    "LiteRT": Runtime("xla_decide.rivals.runtimes:lite_rt", "LiteRT", "ai-edge-litert"),
    "ONNX Runtime": Runtime("xla_decide.rivals.runtimes:onnx_runtime", "ONNX", "onnxruntime"),
    "OpenVINO": Runtime("xla_decide.rivals.runtimes:openvino", "OpenVINO", "openvino"),
    "OpenVINO, float32": Runtime(
        "xla_decide.rivals.runtimes:openvino_float32", "OpenVINO", "openvino"
    ),
    KERAS_ON_JAX: Runtime("xla_decide.on_rivals:keras_on_jax", "", "jax"),
}


def race(
    model: Path,
    function: str,
    options: Mapping[str, Any],
    jax_environment: Mapping[str, str] | None,
    tell: Callable[[str], None],
) -> Rivals:
    """Race one call of a model in all runtimes.

    Args:
        model: The reader's file, or what was saved.
        function: Its function, or a signature, or "".
        options: Options of `decide`, in place of the file's.
        jax_environment: Environment variables of a process with JAX; None where it is missing.
        tell: Is told what was done.

    Raises:
        ValueError: For a model that cannot be judged, and where the graph fails.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ExitStack() as stack:
        job = Job(folder, available_cores(), str(model), function, dict(options))
        rivals = _Rivals(job, jax_environment, tell, stack)
        rivals.export()
        rivals.start()
        return rivals.raced(rivals.compared())


class _Rivals:
    """All runtimes: what was exported for them, their processes, and what each has found."""

    def __init__(self, job, jax_environment, tell, stack):
        self._job, self._tell, self._stack = job, tell, stack
        self._environment = {KERAS_ON_JAX: jax_environment}
        self._rows = {label: Rival(label) for label in RUNTIMES}
        self._workers: dict[str, Worker] = {}
        self._evidence: dict[str, Evidence] = {}
        self._model: Worker
        self._about: dict[str, Any] = {}

    def _set(self, label, **what):
        self._rows[label] = replace(self._rows[label], **what)

    def _set_all(self, to, **what):
        """Of all runtimes that read a format."""
        for label in (label for label, one in RUNTIMES.items() if one.format == to):
            self._set(label, **what)

    def export(self):
        """Export the model to each format. Where that ends the process, another one goes on."""
        self._start_model()
        try:
            self._about = self._model.ask("describe")
        except WorkerError as error:
            raise ValueError(str(error)) from error
        try:
            size = self._model.ask("save")
        except WorkerError as error:
            raise ValueError(f"it could not be saved, so nothing reads it: {error}") from error
        self._set_all(SAVED_MODEL, disk=size)
        for to in EXPORTERS:
            try:
                seconds, size = self._model.ask("export", to)
            except WorkerError as error:
                self._tell(f"not exported to {to}: {error}")
                self._set_all(to, why=f"could not be exported: {error}")
                if error.ended:
                    self._start_model()
            else:
                self._tell(f"exported to {to}: {format_si(seconds, 's')}, {format_si(size, 'B')}")
                self._set_all(to, export=seconds, disk=size)

    def _start_model(self):
        """Start the process that holds the model."""
        self._model = self._stack.enter_context(started(MODEL, self._job))

    def start(self):
        """Load the model in each runtime, one after the other, and make the first call."""
        for label, runtime in RUNTIMES.items():
            if label == KERAS_ON_JAX and (why := self._why_no_keras()):
                self._set(label, why=why)
            if self._rows[label].why:
                continue
            try:
                found = self._started(label, runtime)
                said = f"first result after {format_si(found.load + found.first, 's')}"
                self._set(label, **msgspec.structs.asdict(found))
            except WorkerError as error:
                if label == "graph":
                    raise ValueError(f"the graph fails: {error}") from error
                said = _why_not(error, runtime).replace(f"{self._job.folder}/", "")
                self._set(label, why=said)
            self._tell(f"{label}: {said}")

    def _why_no_keras(self):
        """Why the model cannot be made again on JAX, or ""."""
        if not self._about["is_keras"]:
            return "what is called is no Keras model"
        is_there = self._environment[KERAS_ON_JAX] is not None
        return "" if is_there else _missing(RUNTIMES[KERAS_ON_JAX])

    def _started(self, label, runtime):
        """Start a runtime in a process of its own."""
        environment = self._environment.get(label)
        worker = self._stack.enter_context(started(runtime.factory, self._job, environment))
        found = msgspec.convert(worker.ask("start", results_of(label)), Started)
        self._evidence[label] = msgspec.convert(worker.ask("ran"), Evidence)
        self._workers[label] = worker
        return found

    def compared(self):
        """The results of all that started, held against the graph's."""
        files = {label: results_of(label) for label in self._workers if label != "graph"}
        try:
            return self._model.ask("compare", files)
        except WorkerError as error:
            return {"outcomes": {}, "sensitive": [], "inconclusive": str(error)}

    def raced(self, compared) -> Rivals:
        """Time a block of calls of each runtime in turns, and put together what was found."""
        self._tell("the race")
        lanes = {label: [worker.ask] for label, worker in self._workers.items()}
        run = Race(lanes, Snapshot(), control="graph", timer=_time_block, changing=set())
        run.calibrate(_calibrate, BLOCK_SECONDS * effort())
        for _ in range(rounds_by_effort(ROUNDS)):
            run.round()
        for label, error in run.errors.items():
            self._set(label, why=f"left the race: {error}")
        if "graph" in run.errors:
            raise ValueError(f"the graph {self._rows['graph'].why}")
        found = self._comparison(run, compared)
        rows = tuple(Rival.raced(row, found) for row in self._rows.values())
        return Rivals(rows, found, self._about["words"], self._job.threads)

    def _comparison(self, run, compared):
        def measured(label, blocks):
            return Measurement.of(label, self._rows[label].first, blocks, run.passes[label])

        outcomes = compared["outcomes"]
        return Comparison(
            measurements={label: measured(label, blocks) for label, blocks in run.blocks.items()},
            differences={label: _difference(outcomes[label]) for label in outcomes},
            failures={label: row.why for label, row in self._rows.items() if row.why},
            tolerance=compared.get("tolerance", TOLERANCE),
            evidence=self._evidence,
            control=measured("graph", run.again),
            inconclusive=compared["inconclusive"],
            sensitive=msgspec.convert(compared["sensitive"], tuple[Sensitive, ...]),
        )


def results_of(label: str) -> str:
    """The file of the results of a runtime's first call."""
    return f"results-{label}.npz"


def _why_not(error, runtime):
    """Why a runtime did not start, in words."""
    if "No module named" in str(error) and runtime.brings:
        return _missing(runtime)
    return str(error)


def _missing(runtime):
    return f"not in this environment: {runtime.brings} brings it"


def _time_block(lane, calls, clock):
    """Seconds of a call in the process of a runtime; the clock is its own."""
    time.sleep(QUIET_SECONDS)
    return Block(*lane[0]("block", calls))


def _calibrate(lane, seconds, clock):
    time.sleep(QUIET_SECONDS)
    return lane[0]("calibrate", seconds)


def _difference(outcome):
    size = math.inf if outcome["size"] is None else outcome["size"]
    return Difference(size, outcome["place"], outcome["detail"])
