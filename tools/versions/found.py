"""What was found with a combination of versions, as data: for the table, and for an issue."""

import json
import platform
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

import cattrs
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.collection import ROOT, UsageError
from tools.suites import Suite
from xla_helpers.schemas import read_file
from xla_helpers.writing import write_file

FILE = "found.json"
LARGEST = 10_000_000  # bytes of such a file that is still read


@dataclass(frozen=True)
class Found:
    """One combination, tried.

    packages: name to version of all that was installed. moved: name to the versions of the lock
    and of this environment, where they differ. missing: why nothing could be tried. exists: False
    when TensorFlow has no release for this Python. seconds: of everything, installing too.
    """

    name: str
    python: str
    supported: bool
    system: str = platform.system()
    packages: dict[str, str] = field(default_factory=dict)
    moved: dict[str, tuple[str, str]] = field(default_factory=dict)
    helpers: Suite = Suite(0)
    notebooks: Suite = Suite(0)
    missing: str = ""
    exists: bool = True
    seconds: float = 0.0

    @property
    def failed(self):
        """Whether something ran and failed, or should have run and could not."""
        could_not = self.missing and self.exists
        return bool(could_not or self.helpers.failed or self.notebooks.failed)


def moved(packages, python, root=ROOT):
    """Name to locked version and found version, where they differ. python: such as 3.12."""
    pins = locked(python, root)
    return {
        name: (pins.get(name, ""), version)
        for name, version in sorted(packages.items())
        if pins.get(name) != version
    }


def locked(python, root=ROOT):
    """Name to version as the lock has them for a Python, on the system where this runs."""
    machine = {"python_version": python, "python_full_version": f"{python}.0"}
    text = (root / "requirements.txt").read_text(encoding="utf-8")
    pins = [Requirement(line) for line in re.findall(r"(?m)^\w.*?(?= \\$|$)", text)]
    return {
        canonicalize_name(pin.name): str(pin.specifier).removeprefix("==")
        for pin in pins
        if pin.marker is None or pin.marker.evaluate(machine)
    }


def keep(found, folder):
    write_file(Path(folder) / FILE, json.dumps(asdict(found), indent=1, sort_keys=True) + "\n")


def kept(folder):
    """All that is kept below a folder, by name and system.

    Raises: UsageError, which names a file that holds something else.
    """
    all_found = map(load, Path(folder).rglob(FILE))
    return sorted(all_found, key=lambda found: (found.name, found.system))


def load(path):
    try:
        return converter().structure(json.loads(read_file(path, LARGEST)), Found)
    except OSError:
        raise
    except Exception as error:  # cattrs has many, and a group for several of them
        raise UsageError(f"{path} is not what make test-versions keeps") from error


def converter():
    """From JSON to dataclasses, where nothing takes the place of a text, a count or an answer."""
    made = cattrs.Converter(forbid_extra_keys=True)
    for kind in (str, int, bool):
        made.register_structure_hook(kind, same)
    return made


def same(value, kind):
    if type(value) is not kind:
        raise TypeError(f"{value!r:.100} is no {kind.__name__}")
    return value
