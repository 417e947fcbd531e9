"""What runs in the fresh process: an order comes in as a file, what is found goes out as one."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import cattrs
import psutil

from ..agreement import TOLERANCE
from ..errors import headline
from ..startup import machine_facts, prepare_tensorflow
from ..validation import check_count, check_positive
from .agreements import results
from .batches import read_calls
from .calls import first_calls
from .findings import End, Findings, Plan, merged, write
from .inside import inside
from .plan import Case, Order, case_of
from .races import race
from .references import make
from .work import work

CALLS = 10_000
"""How many calls a process makes in its life, where nobody says it."""

FLOOR = 1.05
"""How many times faster XLA must be to be worth it, where nobody says it."""

GRAPH_CALLS = "first calls, graph"
RESULTS = "results"
PARTS = {
    "first calls": first_calls,
    "results": results,
    "inside": inside,
    "race": race,
    "work": work,
}
"""What does a part, by how its name begins."""


@dataclass(frozen=True)
class Task:
    """What a fresh process is told.

    reference: what is decided about. calls: the file of example calls and options that were given
    beside it. order: what to do, within its seconds from the start of the process. found: the file
    to write findings to. plan: what an earlier process found to be called, or None.
    """

    reference: str
    calls: str
    order: Order
    found: str
    plan: Plan | None = None


class NotCallable(ValueError):
    """What is to be decided about fails in every mode."""


class Report:
    """Keeps what a part reports; called with `Findings`.

    keep: takes all that is known, each time that something is reported.
    """

    def __init__(self, keep: Callable[[Findings], None] = lambda findings: None):
        self.findings, self._keep = Findings(), keep

    def __call__(self, more: Findings) -> None:
        self.findings = merged(self.findings, more)
        self._keep(self.findings)


def main(file: str) -> None:
    """Do what the `Task` in a file says. What was found before an error or the end stays."""
    prepare_tensorflow()
    task = cattrs.structure(json.loads(Path(file).read_text(encoding="utf-8")), Task)
    report = Report(lambda findings: write(findings, Path(task.found)))
    try:
        case, known = loaded(task)
    except (TypeError, ValueError) as error:
        report(failed(task.order, " ".join(str(error).split())))
        return
    except SystemExit as error:
        report(failed(task.order, f"{task.reference} failed: {headline(error)}"))
        return
    report(known)
    carried_out(case, replace(task.order, seconds=_left(task.order.seconds)), report)


def loaded(task: Task) -> tuple[Case, Findings]:
    """What is decided about, and what is known of it before anything is called.

    Raises: TypeError and ValueError when it cannot be made, or is another one than before.
    """
    what, batches, options = make(task.reference)
    calls, given = read_calls(Path(task.calls))
    case, known = prepared(what, batches if calls is None else calls, {**options, **given})
    if task.plan and task.plan.shapes != case.plan.shapes:
        raise ValueError(
            f"{task.reference} gave other example calls than the first time: let it give the same "
            "ones each time, since every part asks for them"
        )
    return case, known


def prepared(what, batches, options: dict) -> tuple[Case, Findings]:
    """What is decided about, and what is known of it before anything is called.

    what, batches: as in `decide`. options: those of it that were given, by name.
    Raises: TypeError and ValueError for what makes no sense.
    """
    calls, floor = options.get("calls", CALLS), options.get("floor", FLOOR)
    check_count("calls", calls)
    check_positive("floor", floor)
    case = case_of(what, batches, options)
    known = Findings(
        calls=int(calls),
        floor=float(floor),
        tolerance=float(options.get("tolerance", TOLERANCE)),
        machine=machine_facts(),
        plan=case.plan,
        left_out=case.left_out,
    )
    return case, known


def carried_out(case: Case, order: Order, report: Report) -> None:
    """Do one part; an error is reported as the end of it."""
    if not order.shapes:
        order = replace(order, shapes=case.plan.most_frequent())
    try:
        perform(case, order, report)
    except NotCallable as error:
        report(failed(order, str(error)))
    except (Exception, SystemExit) as error:  # whatever a reader's model raises
        report(failed(order, headline(error)))


def perform(case: Case, order: Order, report: Report) -> None:
    """Do one part.

    Raises: NotCallable when it fails as a graph and eagerly, whatever the shape; and whatever a
    model raises elsewhere.
    """
    if order.part == RESULTS:
        _call_eagerly(case, order, report)
    next(part for name, part in PARTS.items() if order.part.startswith(name))(case, order, report)
    if order.part == GRAPH_CALLS:
        _check_calls(case, order, report)


def _call_eagerly(case, order, report):
    """How long eager mode takes, before it is checked or timed: once, with the first shape."""
    if "eager" in case.labels:
        first_calls(case, replace(order, label="eager", shapes=order.shapes[:1]), report)


def _check_calls(case, order, report):
    """Refuse what fails in every way, because then there is nothing to decide."""
    errors = [call.error for call in report.findings.first_of("graph").calls]
    if errors and all(errors):
        eagerly = Report()
        _call_eagerly(case, order, eagerly)
        found = eagerly.findings.first_of("eager")
        error = found.calls[0].error if found else errors[0]
        if error:
            raise NotCallable(f"it cannot be called: {error}")


def _left(seconds):
    """What is left of the seconds that a process has, since it was started."""
    return max(1.0, seconds - (time.time() - psutil.Process().create_time()))


def failed(order: Order, said: str) -> Findings:
    """That a part ended with an error."""
    return Findings(ends=(End(order.part, "failed", said),))
