"""The versions among which helpers and notebooks are tried, read from pyproject.toml."""

import tomllib
from dataclasses import dataclass, field
from itertools import product

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tools.collection import ROOT

EXTRAS = ["notebooks", "test"]  # besides what the package itself needs


@dataclass(frozen=True)
class Combination:
    """A Python, and versions of packages.

    instead: name of a requirement to what takes its place. alone: a requirement that has to have
    an answer on this Python, else there is no such combination. near_lock: whether the pins of the
    lock are kept wherever they fit. whatever: requirements that hold whatever other packages ask
    for. supported: whether a failure is one of ours.
    """

    name: str
    python: str
    says: str
    instead: dict[str, str] = field(default_factory=dict)
    alone: str = ""
    options: tuple[str, ...] = ()
    near_lock: bool = False
    whatever: tuple[str, ...] = ()
    supported: bool = True

    def requirements(self, root=ROOT):
        """The lines of pyproject.toml, some of them replaced."""
        lines = project(root)
        return [self.instead.get(Requirement(line).name, line) for line in lines]


def combinations(root=ROOT):
    """All of them, those that are supported first."""
    return [*grid(root), *ends(root), *ahead(root)]


def grid(root=ROOT):
    """Each Python with each minor release of TensorFlow; all else as near the lock as it can be."""
    return [
        Combination(
            f"{python}-{release}",
            python,
            f"Python {python} with TensorFlow {release}, all else as in the lock where that fits",
            of_release(f"=={release}.*"),
            f"tensorflow=={release}.*",
            near_lock=True,
        )
        for python, release in product(pythons(root), releases(root))
    ]


def ends(root=ROOT):
    """The oldest and the newest versions that the ranges allow."""
    oldest, *_, newest = pythons(root)
    lowest = ("--resolution", "lowest-direct")
    return [
        Combination("oldest", oldest, "the lower ends of all ranges", options=lowest),
        Combination("newest", newest, "the newest releases that the ranges allow"),
    ]


def ahead(root=ROOT):
    """What is to come. Nobody promises that it runs."""
    newest, at_least = pythons(root)[-1], f">={releases(root)[0]}"
    coming = {"tensorflow": "tf-nightly", "tf-keras": "tf-keras-nightly"}
    before = ("--prerelease", "allow")
    return [
        Combination(
            "prerelease",
            newest,
            "release candidates of everything, and of TensorFlow beyond its range",
            of_release(at_least),
            options=before,
            whatever=(f"tensorflow{at_least}",),  # Keras 2 asks for a TensorFlow of its own age
            supported=False,
        ),
        Combination(
            "nightly", newest, "last night's TensorFlow and Keras", coming, supported=False
        ),
    ]


def of_release(specifier):
    """TensorFlow and Keras 2 of one range; they are released together."""
    return {name: f"{name}{specifier}" for name in ("tensorflow", "tf-keras")}


def project(root=ROOT):
    """What the package, the notebooks, the tests and the build ask for, as lines."""
    facts = read(root)
    extras = facts["project"]["optional-dependencies"]
    lines = [line for extra in EXTRAS for line in extras[extra]]
    return [*facts["build-system"]["requires"], *facts["project"]["dependencies"], *lines]


def pythons(root=ROOT):
    """The minor releases of Python that are supported, oldest first."""
    return minors("3", SpecifierSet(read(root)["project"]["requires-python"]))


def releases(root=ROOT):
    """The minor releases of TensorFlow in the range, oldest first."""
    asked = map(Requirement, read(root)["project"]["dependencies"])
    return minors("2", next(r.specifier for r in asked if r.name == "tensorflow"))


def minors(major, specifier):
    return [f"{major}.{minor}" for minor in range(100) if f"{major}.{minor}" in specifier]


def read(root=ROOT):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
