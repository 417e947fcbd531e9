"""Tests, run by the Python of an environment, and what they found."""

import os
import re
import subprocess
from dataclasses import dataclass, field
from xml.etree import ElementTree

from tools.collection import ROOT
from xla_helpers.tables import Bytes
from xla_helpers.watching import PRINTED, guarded, watch

LIMIT = 2 * 3600  # seconds; all tests of the helpers take a fraction of it
COLOUR = re.compile(r"(?:\x1b|#x1B)\[[\d;]*m")
ERROR = r"^(?:E +)?([\w.]*(?:Error|Exception|Interrupt)\b.*|Cell \d+: .*differ.*)$"
ARROW = r"^-+> *\d+ +(.*)$"  # the line of a cell that failed


@dataclass(frozen=True)
class Suite:
    """passed: how many tests did. failed: name of each other one to the reason, in one line."""

    passed: int
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        """A line for each that failed: its name and the reason."""
        return [f"{name}: {reason}" for name, reason in self.failed.items()]

    def __str__(self):
        return f"{self.passed} passed" + (f", {len(self.failed)} failed" if self.failed else "")


def run_tests(python, places, log, limit=LIMIT):
    """Give `places` to pytest. log: a file for what it prints; its report stands beside it."""
    report = log.with_suffix(".xml")
    log.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    words = ["-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider"]
    words += ["--continue-on-collection-errors", "--junit-xml", report]
    ended = run([python, *words, *places], log, limit)
    found = read_report(report) if report.exists() else Suite(0)
    if not (ended or found.passed or found.failed):  # by code 1, as when tests fail
        ended = {"pytest": f"ran no test; see {log.name}"}
    return Suite(found.passed, found.failed | ended)


def run(command, log, limit):
    """Run a command to its end. Returns: why it did not end as tests do; nothing when it did."""
    environment = os.environ | {"XLA_RESULTS": str(log.parent / "results")}
    with log.open("wb") as output:
        process = subprocess.Popen(
            list(map(str, command)),
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        with guarded(process):
            how = watch(process, limit, printed=[log]).how
    if how == "output":
        return {"pytest": f"printed more than {Bytes(PRINTED)} and was stopped; see {log.name}"}
    if how != "finished":
        return {"pytest": f"did not end within {limit:.0f} s"}
    if process.returncode not in (0, 1):
        return {"pytest": f"ended with {process.returncode}; see {log.name}"}
    return {}


def read_report(path):
    """What a report in the format of JUnit says. A test that was skipped is neither."""
    try:
        cases = ElementTree.parse(path).iter("testcase")
    except ElementTree.ParseError as error:
        return Suite(0, {"pytest": f"{path.name} is no whole report: {error}"})
    passed, failed = 0, {}
    for case in cases:
        trouble = next((case.find(kind) for kind in ("failure", "error") if has(case, kind)), None)
        if trouble is not None:
            failed[name_of(case)] = reason_of(trouble)
        elif not has(case, "skipped"):
            passed += 1
    return Suite(passed, failed)


def has(case, kind):
    return case.find(kind) is not None


def name_of(case):
    return ".".join(filter(None, [case.get("classname"), case.get("name")]))


def reason_of(trouble):
    """The error that a failed test ended with, in one line; of a bare assertion, its code."""
    said = COLOUR.sub("", trouble.text or trouble.get("message") or "").strip()
    reasons = re.findall(ERROR, said, re.MULTILINE) or said.splitlines() or ["no reason given"]
    reason = " ".join(reasons[-1].split())
    if reason.rstrip(":") == "AssertionError":
        reason = ": ".join(["AssertionError", *re.findall(ARROW, said, re.MULTILINE)[-1:]])
    return reason
