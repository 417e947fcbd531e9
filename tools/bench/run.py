"""Ask the helpers what is known beforehand, on a quiet machine and with every core loaded.

A function is raced against itself, also by a clock that drifts; slowdowns are planted; medians
are set beside those of timeit, pyperf and pytest-benchmark. It takes about half an hour, writes
its tables into the README, and fails when a mark is missed. Let nothing else run meanwhile.
"""

import argparse
import statistics
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial

from tqdm import tqdm

import xla_helpers as xh
from tools.bench import medians, races
from tools.bench.load import every_core_loaded
from tools.collection import ROOT
from tools.commands import DONE, FAILED, carried_out
from tools.readme import keep_bench

CLAIMED = 0.05  # share of races in which a difference may be claimed where there is none
RELIABLE = 0.95  # share of races in which a slowdown is found, to be found reliably
APART = 0.03  # how far a median may lie from another tool's
PASSES = 9  # of all tools over all functions
CONDITIONS = {"quiet": nullcontext, "every core loaded": every_core_loaded}


@dataclass(frozen=True)
class Question:
    """A race that is run many times: how often does it claim a difference, and how often may it?"""

    asked: str
    race: Callable[[int], bool]
    times: int
    most: float = 1.0

    def count(self, share):
        return at_least_one(self.times * share)


QUESTIONS = [
    Question("a function against itself, called different", races.against_itself, 300, CLAIMED),
    Question("the same by a clock that drifts", races.with_a_clock_that_drifts, 100, CLAIMED),
    *(
        Question(f"a slowdown of {slowdown:.0%}, found", partial(races.planted, slowdown), 40)
        for slowdown in races.PLANTED
    ),
]


@dataclass(frozen=True)
class Row:
    """A line of the table: what was asked, what came out in each condition, and the mark.

    missed: where the mark was missed.
    """

    asked: str
    found: list[str]
    mark: str = ""
    missed: list[str] = field(default_factory=list)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tools.bench.run", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"{' or '.join(PARTS)}; all when none is named")
    parser.add_argument(
        "--share", type=float, default=1.0, help="of the races, for a quick look; keeps no table"
    )
    options = parser.parse_args(arguments)
    if set(options.parts) - set(PARTS):
        parser.error(f"the parts are {' and '.join(PARTS)}")
    return carried_out("bench", lambda: run_parts(options.parts or PARTS, options.share))


def run_parts(parts, share):
    xh.prepare_tensorflow()
    return FAILED if any([run_part(part, share) for part in parts]) else DONE


def run_part(part, share):
    """Print a table, keep it, name the marks that were missed, and return whether any was."""
    rows_of, columns = PARTS[part]
    rows = list(rows_of(share))
    table = as_markdown(rows, columns)
    print(table)
    if share == 1.0:
        keep_bench(part, table, ROOT)
    for row in rows:
        for where in row.missed:
            print(f"bench: {row.asked}, {where}: the mark is {row.mark}", file=sys.stderr)
    return any(row.missed for row in rows)


def race_rows(share=1.0):
    """A row for each question, and one for the smallest slowdown that is found reliably."""
    counted = {where: answers(where, share) for where in CONDITIONS}
    for i, question in enumerate(QUESTIONS):
        found = {where: counts[i] for where, counts in counted.items()}
        allowed = question.most * question.count(share)
        yield Row(
            question.asked,
            [f"{hits} of {question.count(share)}" for hits in found.values()],
            f"at most {question.most:.0%}" if question.most < 1 else "",
            [where for where, hits in found.items() if hits > allowed],
        )
    shares = [
        [hits / q.count(share) for q, hits in zip(QUESTIONS, counts, strict=True)]
        for counts in counted.values()
    ]
    planted = [found[-len(races.PLANTED) :] for found in shares]
    yield Row("the smallest slowdown that is found reliably", list(map(smallest, planted)))


def answers(where, share):
    """To each question, how many of its races claimed a difference."""
    with CONDITIONS[where]():
        return [
            sum(map(q.race, tqdm(range(q.count(share)), f"{where}: {q.asked}"))) for q in QUESTIONS
        ]


def at_least_one(number):
    return max(1, round(number))


def smallest(shares):
    """Of the planted slowdowns, the smallest that was found reliably, as were all larger ones."""
    found = None
    for slowdown, share in sorted(zip(races.PLANTED, shares, strict=True), reverse=True):
        if share < RELIABLE:
            break
        found = slowdown
    return f"{found:.0%}" if found else "none of these"


def median_rows(share=1.0):
    """A row for each other tool: the farthest that a median of ours lies from its own."""
    passes = tqdm(range(at_least_one(PASSES * share)), "medians beside other tools")
    found = [medians.one_pass() for _ in passes]
    for tool in medians.OTHERS:
        distance = max(apart(found, tool, name) for name in medians.FUNCTIONS)
        missed = ["farthest"] if distance > APART else []
        yield Row(tool, [f"{distance:.1%}"], f"at most {APART:.0%}", missed)


def apart(passes, tool, name):
    """How far a tool is from ours for a function: the median over passes of each pass's ratio."""
    return abs(statistics.median(one[medians.OURS][name] / one[tool][name] for one in passes) - 1)


def as_markdown(rows, columns):
    lines = [f"| {' | '.join([row.asked, *row.found, row.mark])} |" for row in rows]
    head = [f"| {' | '.join(columns)} | mark |", "|---" * (len(columns) + 1) + "|"]
    return "\n".join([*head, *lines, "", f"*Measured on {xh.describe_machine()}.*"])


PARTS = {
    "races": (race_rows, ["", *CONDITIONS]),
    "medians": (median_rows, ["medians beside those of", "farthest of five functions"]),
}
"""Part to what makes its rows, and the columns of its table."""


if __name__ == "__main__":
    sys.exit(main())
