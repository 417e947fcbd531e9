"""A bug report as one archive: its files, what they say, and how two outcomes compare."""

import json
import math
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FORMAT = 1  # raised when an older reader would misread an archive
TOLERANCE = 1e-4  # largest relative difference of results from two machines that count as close
LARGEST = 2**30  # bytes that a file in an archive may unpack to

DETAILS, GRAPH, STABLEHLO = "report.json", "graph.pbtxt", "stablehlo.mlir"
CONTENTS = {
    DETAILS: "versions, machine, flags, dtypes and shapes, the outcomes with XLA and without",
    GRAPH: "the graph that TensorFlow traced, before XLA saw it",
    STABLEHLO: "the program as XLA was given it; a replay compiles and runs this file",
    "hlo_before.txt": "the same as HLO; run_hlo_module, built from XLA's sources, takes this file",
    "hlo_after.txt": "the optimised HLO",
    "hlo_after.pb": "the optimised HLO with its buffer assignment, an HloProto",
    "clusters/": "graphs of auto-clustering, each node marked with its cluster",
}

README = """A bug report on a program compiled by XLA, written by xla_helpers.write_bug_report.

{contents}

Replay it in a fresh process:

    python -c "import xla_helpers as xh; print(xh.replay_bug_report('{archive}'))"

The inputs of a replay are made from a fixed seed. No argument and no variable is in here, only
their dtypes and shapes. Constants and Python values are part of the program and are in here.
"""

DTYPES = {
    "PRED": "bool",
    "S8": "int8",
    "S16": "int16",
    "S32": "int32",
    "S64": "int64",
    "U8": "uint8",
    "U16": "uint16",
    "U32": "uint32",
    "U64": "uint64",
    "BF16": "bfloat16",
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
    "C64": "complex64",
    "C128": "complex128",
}
"""XLA's element types that a report can hold, as TensorFlow names them."""


class BugReportError(ValueError):
    """A file is no bug report, or one that cannot be read or replayed here."""


@dataclass(frozen=True, repr=False)
class BugReport:
    """What `report.json` of an archive says. `details` is its content, `path` the archive."""

    path: Path
    details: Mapping

    @property
    def inputs(self) -> list[np.ndarray]:
        """The arrays that every replay uses: from the recorded dtypes and shapes, and a seed.

        Floating-point numbers lie from 0 to 1, whole numbers from 0 to 7.
        """
        return [
            draw(seed, spec["dtype"], tuple(spec["shape"]))
            for seed, spec in enumerate(self.details["inputs"])
        ]

    @property
    def without_xla(self) -> str:
        """What the graph gave on the same inputs without XLA, and how that compares."""
        without, outcome = self.details.get("without_xla"), self.details["outcome"]
        if without is None:
            return "not recorded"
        if "error" in without or "error" in outcome:
            return outcome_text(without)
        count = len(without["results"])  # XLA's go on with the new values of variables
        recorded = {"results": outcome["results"][:count]}
        return f"{verdict(recorded, without)}, {outcome_text(without)}"

    def __repr__(self):
        details = self.details
        inputs = ", ".join(map(spec_text, details["inputs"])) or "no inputs"
        return (
            f"{self.path.name}: {details['function']}({inputs})\n"
            f"  with XLA:    {details['error'] or outcome_text(details['outcome'])}\n"
            f"  without XLA: {self.without_xla}"
        )


def read_bug_report(path: str | Path) -> BugReport:
    """The report in the archive at `path`. Introduced in notebook 09.

    Raises: BugReportError when it is none, or one of a newer format.
    """
    path = Path(path)
    try:
        details = json.loads(read_member(path, DETAILS))
        version = details["format"]
        if version > FORMAT:
            raise BugReportError(
                f"{path.name} has format {version}, and this version reads up to {FORMAT}: "
                "take a newer xla_helpers"
            )
        report = BugReport(path, details)
        for spec in details["inputs"] + details["outputs"]:
            if spec["dtype"] not in DTYPES.values() or min([0, *spec["shape"]]) < 0:
                raise TypeError(spec_text(spec))
        repr(report)  # touches all that is shown
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise BugReportError(f"{path.name} is damaged: {DETAILS}: {error!r}") from error
    return report


def write_archive(path, details, members):
    members = {DETAILS: json.dumps(details, indent=1)} | members
    lines = [f"{name:<16}{what}" for name, what in CONTENTS.items() if _is_there(name, members)]
    readme = README.format(contents="\n".join(lines), archive=path.name)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in ({"README.txt": readme} | members).items():
            archive.writestr(name, content)


def _is_there(name, members):
    return any(member.startswith(name) for member in members)


def read_member(path, name):
    """A file of the archive, as text: read by its name, and never unpacked to disk."""
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(name).file_size > LARGEST:
                raise BugReportError(f"{path.name}: {name} is larger than {LARGEST} bytes")
            return archive.read(name).decode()
    except KeyError as error:
        raise BugReportError(f"{path.name} is no bug report: it holds no {name}") from error
    except (zipfile.BadZipFile, UnicodeDecodeError) as error:
        raise BugReportError(f"{path.name} is no bug report: {error}") from error


def draw(seed, dtype, shape):
    """The bits come from NumPy's PCG64, whose stream never changes."""
    import tensorflow as tf

    dtype = tf.as_dtype(dtype).as_numpy_dtype
    bits = np.random.PCG64(seed).random_raw(2 * math.prod(shape))
    if np.dtype(dtype).kind in "biu":
        numbers = bits[::2] >> (63 if np.dtype(dtype).kind == "b" else 61)
    else:
        numbers = (bits >> 11) * 2.0**-53
        numbers = numbers[::2] + (1j * numbers[1::2] if np.dtype(dtype).kind == "c" else 0)
    return numbers.reshape(shape).astype(dtype)


def spec_text(spec):
    return f"{spec['dtype']}{spec['shape']}"


def outcome_text(outcome):
    if "error" in outcome:
        return outcome["error"]
    digests = [result["sha256"][:8] for result in outcome["results"]]
    return f"results {', '.join(digests)}" if digests else "no results"


def verdict(recorded, outcome):
    if "error" in recorded or "error" in outcome:
        return "same error" if recorded == outcome else "other error"
    pairs = list(zip(recorded["results"], outcome["results"], strict=True))
    if all(then["sha256"] == now["sha256"] for then, now in pairs):
        return "same bits"
    return "close" if all(_is_close(then, now) for then, now in pairs) else "different"


def _is_close(then, now):
    then, now = (np.array([part["real"], part["imaginary"]]) for part in (then, now))
    largest = np.max(np.abs(then[np.isfinite(then)]), initial=0)
    return np.allclose(now, then, rtol=0, atol=TOLERANCE * largest, equal_nan=True)
