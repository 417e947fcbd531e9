"""The text of an issue: which lesson failed with which versions, and which pins had moved there.

Nothing is printed when nothing failed.
"""

import argparse
import sys

from tools.collection import UsageError
from tools.commands import carried_out
from tools.versions.found import kept
from tools.versions.table import of
from xla_helpers.tables import in_one_line

MOST = 20  # lines on what failed in one combination


def main(arguments=None):
    made = argparse.ArgumentParser(prog="python -m tools.versions.issue", description=__doc__)
    made.add_argument("folder", help="holds what `make test-versions` kept, here or elsewhere")
    folder = made.parse_args(arguments).folder
    return carried_out("issue", lambda: write(folder))


def write(folder):
    all_found = kept(folder)
    if not all_found:
        raise UsageError(f"{folder} holds nothing that make test-versions kept")
    if failed := [found for found in all_found if found.failed]:
        print(text(failed, len(all_found)))


def text(failed, count):
    """Markdown on those that failed, of `count` that were tried."""
    opening = f"\n{len(failed)} of {count} combinations failed."
    return "\n\n".join([opening, *map(part, failed)])


def part(found):
    """What failed in one combination, and what differs from the lock there."""
    promise = "" if found.supported else ", which nobody promises yet"
    heading = f"## {code(found.name)} on {code(found.system)}{promise}"
    return "\n\n".join([heading, *filter(None, [wrong(found), pins(found)])])


def wrong(found):
    """What failed, a line each; a page of an issue has an end."""
    lines = [f"- {code(line)}" for line in of(found)]
    return "\n".join(lines[:MOST] + [f"- and {len(lines) - MOST} more"] * (len(lines) > MOST))


def pins(found):
    """A table of the pins that moved."""
    if found.missing:
        return ""
    if not found.moved:
        return "No pin had moved."
    rows = [[name, old or "none", new] for name, (old, new) in found.moved.items()]
    lines = [f"| {' | '.join(map(cell, row))} |" for row in rows]
    return "\n".join(["| package | lock | here |", "|---|---|---|", *lines])


def cell(text):
    """A text as code in a table, whose columns are told apart by such signs."""
    return code(text.replace("|", "¦"))


def code(line):
    """A line as code, whatever stands in it: no mark-up, and nobody is called by name."""
    return f"`` {in_one_line(line).replace('`', chr(39))} ``"


if __name__ == "__main__":
    sys.exit(main())
