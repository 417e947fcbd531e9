"""The files of a decision: findings, page and races, written anew after each part."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from ..results import FOLDER, Result, read_results, results_folder
from ..writing import write_file
from .findings import Findings, read, write
from .page import write_page

RACES = "decide-*.json"  # what the part that races writes


class Files:
    """What a decision leaves in its folder.

    records: the folder of the races, below it.
    """

    def __init__(self, folder: Path):
        self._folder, self._begun = folder, False
        self.records = folder / "results"

    def write(self, findings: Findings) -> Mapping[int, Result]:
        """Write findings and page, each complete or not at all.

        The first time the folder is made; races of an earlier decision go, because they would
        count as runs of this one. Returns: number of a shape to the `Result` of its races so far.
        """
        if not self._begun:
            self.check()
            self.records.mkdir(parents=True, exist_ok=True)
            for path in self.records.glob(RACES):
                path.unlink()
            self._begun = True
        races = self._races(findings)
        write(findings, self._folder / "findings.json")
        write_page(findings, races, self._folder)
        return races

    def check(self) -> None:
        """Refuse a folder whose files are not those of an earlier decision.

        Raises: ValueError.
        """
        if self.records.resolve() == results_folder().resolve():
            raise ValueError(f"{self.records} holds the results for `make report`: give another")
        empty = not self._folder.is_dir() or not any(self._folder.iterdir())
        if not (empty or _is_of_a_decision(self._folder)):
            raise ValueError(
                f"{self._folder} holds other files: give a folder that is new or empty"
            )

    def keep_for_report(self, name: str) -> None:
        """Copy the races, as results of this name, to where `XLA_RESULTS` says, if it is set."""
        if not os.environ.get(FOLDER):
            return
        results_folder().mkdir(parents=True, exist_ok=True)
        for path in self.records.glob(RACES):
            content = json.loads(path.read_text(encoding="utf-8")) | {"name": name}
            mark = path.name.removesuffix(".json").rpartition(".")[2]
            text = json.dumps(content, indent=1) + "\n"
            write_file(results_folder() / f"{name}.{mark}.json", text)

    def _races(self, findings):
        races = {}
        for raced in (one for one in findings.raced if one.file):
            results, _ = read_results(self.records / raced.file)
            if results:
                races[raced.shape] = results[0]
        return races


def _is_of_a_decision(folder):
    try:
        read(folder / "findings.json")
    except (OSError, ValueError):
        return False
    return True
