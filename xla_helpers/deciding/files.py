"""The files of a decision: findings, page and races, written anew after each part."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from ..results import FOLDER, Result, read_results, results_folder
from ..writing import write_file
from .findings import Findings, read, write
from .page import write_page

RACES = "decide-[0-9]*.json"  # what the part that races writes


class Files:
    """What a decision leaves in its folder.

    named: whether somebody named the folder. Then a live object may take the place of another of
    its name, such as itself before an edit. folder: where all of it is. records: the folder of
    the races, below it.
    """

    def __init__(self, folder: Path, named: bool = False):
        self.folder, self._named, self._begun = folder, named, False
        self.records = folder / "results"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the folder while the block runs, so that no other decision writes to it.

        It is made where it is not there, and goes when it is empty in the end. A process that
        ends, however it ends, holds nothing. Where the file system locks no folders, as NFS, the
        block runs without a lock.
        Raises: ValueError when another decision holds it.
        """
        made = [path for path in (self.folder, *self.folder.parents) if not path.exists()]
        self.folder.mkdir(parents=True, exist_ok=True)
        with _held(self.folder):
            try:
                yield
            finally:
                for path in made:
                    with suppress(OSError):  # it is not empty
                        path.rmdir()

    def write(self, findings: Findings) -> Mapping[int, Result]:
        """Write findings and page, each complete or not at all.

        The first time the folder is made; races of an earlier decision go, because they would
        count as runs of this one. Returns: number of a shape to the `Result` of its races so far.
        """
        if not self._begun:
            self.check(findings)
            self.records.mkdir(parents=True, exist_ok=True)
            for path in self._recorded():
                path.unlink()
            self._begun = True
        races = self._races(findings)
        write(findings, self.folder / "findings.json")
        write_page(findings, races, self.folder)
        return races

    def check(self, findings: Findings) -> None:
        """Refuse a folder whose files are not those of an earlier decision about the same.

        findings: what is known so far.
        Raises: ValueError.
        """
        if self.records.resolve() == results_folder().resolve():
            raise ValueError(f"{self.records} holds the results for `make report`: give another")
        if self.folder.is_dir() and any(self.folder.iterdir()):
            _check_links(self.folder)
            _check_about(self.folder, findings, self._named)

    def keep_for_report(self, name: str) -> None:
        """Copy the races, as results of this name, to where `XLA_RESULTS` says, if it is set."""
        if not os.environ.get(FOLDER):
            return
        results_folder().mkdir(parents=True, exist_ok=True)
        for path in self._recorded():
            content = json.loads(path.read_text(encoding="utf-8")) | {"name": name}
            mark = path.name.removesuffix(".json").rpartition(".")[2]
            text = json.dumps(content, indent=1) + "\n"
            write_file(results_folder() / f"{name}.{mark}.json", text)

    def _recorded(self):
        """The files of races: those that hold a result of the name that they have."""
        found = [path for path in self.records.glob(RACES) if path.is_file()]
        return [path for path in found if _names_in(path) == [path.name.partition(".")[0]]]

    def _races(self, findings):
        races = {}
        for raced in (one for one in findings.raced if one.file):
            results, _ = read_results(self.records / raced.file)
            if results:
                races[raced.shape] = results[0]
        return races


def _names_in(path):
    results, _ = read_results(path)
    return [result.name for result in results]


@contextmanager
def _held(folder):
    """A lock on the folder itself, which ends with the process."""
    held = os.open(folder, os.O_RDONLY)
    try:
        _lock(held, folder)
        yield
    finally:
        os.close(held)


def _lock(held, folder):
    import fcntl  # here: Windows has none, and the package is to be imported there

    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise ValueError(
            f"another decision is being written to {folder}: wait for its end, or give another "
            "folder"
        ) from error
    except OSError:  # no locks there, or none for what is not open for writing
        return


def _check_links(folder):
    """Refuse links, because what they lead to would be replaced."""
    links = [path for path in (*folder.glob("*"), *folder.glob("results/*")) if path.is_symlink()]
    if links:
        raise ValueError(f"{links[0]} is a link: give a folder that is new or empty")


def _check_about(folder, findings, named):
    try:
        earlier = read(folder / "findings.json")
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{folder} holds other files, or a decision of another version: give a folder that is "
            "new or empty"
        ) from error
    if not _are_alike(earlier, findings, named):
        raise ValueError(
            f"{folder} holds a decision about {_about(earlier)!r}, and this one is about "
            f"{_about(findings)!r}: give another folder"
        )


def _are_alike(earlier, findings, named):
    """By the name. A live object shares it with others, so where nobody named the folder, what it
    is has to be equal as well, once that is known, which is after the first calls."""
    if earlier.name != findings.name:
        return False
    if named or findings.isolated or not (earlier.plan and findings.plan):
        return True
    return earlier.plan.subject == findings.plan.subject


def _about(findings):
    """A text that names it, or what a live object is."""
    return findings.name if findings.isolated or not findings.plan else findings.plan.subject
