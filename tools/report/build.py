"""Write one HTML page: what the notebooks measured here, beside published figures and other
machines.

Each place is a result file or a folder of them. Those in the first place are this machine's, and
the others may come from a class or another computer. Files that are no results are named in the
report and on stderr. Without places, those in the variable RESULTS are taken.
"""

import argparse
import os
import shlex
import sys
from collections import Counter
from glob import glob
from pathlib import Path

from tools.collection import ROOT, UsageError, number_of, read_all, recorders
from tools.commands import carried_out
from tools.report.page import page
from xla_helpers import read_results
from xla_helpers.tables import in_one_line
from xla_helpers.writing import writable, write_file


def main(arguments=None):
    options = parser().parse_args(arguments)
    return carried_out("report", lambda: build(options.places, options.out))


def build(places, out):
    """Write the report, and name the files that it could not read."""
    here, *elsewhere = places or named_places() or [usual_place()]
    own, others, skipped = gather(here, elsewhere)
    replace_report(out, page(own, others, skipped))
    for path, reason in skipped.items():
        print(f"report: skipped {in_one_line(path)}: {in_one_line(reason)}", file=sys.stderr)
    machines = len({result.title for result in own})
    mixed = f" (which names itself in {machines} ways)" if machines > 1 else ""
    where = in_one_line(str(out))
    print(f"{len(own)} comparisons of this machine{mixed}, {len(others)} of others: {where}")


def replace_report(out, text):
    """Write the page where there is nothing, or an earlier report, and over nothing else."""
    out.parent.mkdir(parents=True, exist_ok=True)
    start = text.partition("</title>")[0].encode()
    target = writable(out)
    if target.exists() and not starts_with(target, start):
        raise UsageError(f"{out} is no earlier report; name another file, or remove it")
    write_file(target, text)


def starts_with(path, start):
    """Whether a file has this beginning, or is empty."""
    with open(path, "rb") as file:
        return file.read(len(start)) in (start, b"")


def parser():
    top = argparse.ArgumentParser(prog="python -m tools.report.build", description=__doc__)
    top.add_argument("places", nargs="*", type=Path, metavar="PLACE", help="default: build/results")
    top.add_argument(
        "--out",
        type=Path,
        default=ROOT / "build" / "report.html",
        help="file to write; an earlier report is replaced (default build/report.html)",
    )
    return top


def named_places():
    """The places in RESULTS, read as a shell reads words; nothing in it is run."""
    try:
        words = shlex.split(os.environ.get("RESULTS", ""))
    except ValueError as error:
        raise UsageError(f"RESULTS cannot be read: {error}") from error
    words = map(os.path.expanduser, words)
    return [Path(path) for word in words for path in sorted(glob(word)) or [word]]


def usual_place():
    """Where `make` has notebooks record."""
    return Path(os.environ.get("XLA_RESULTS") or ROOT / "build" / "results")


def gather(here, elsewhere):
    """This machine's results, those of others, and what was skipped: file or folder to reason."""
    absent = [str(place) for place in (here, *elsewhere) if not place.exists()]
    if absent:
        raise UsageError(f"there is no {', '.join(absent)}; {hint()}")
    own, skipped = read_results(here)
    if not own:
        reasons = "".join(f"\n  {path}: {reason}" for path, reason in skipped.items())
        raise UsageError(f"no results in {here}; {hint()}{reasons}")
    twice = [name for (name, *_), count in Counter(r.about for r in own).items() if count > 1]
    if twice:
        raise UsageError(
            f"{here} holds several results about the same, named {', '.join(twice)}: name the "
            "folder of one machine first, and then the others"
        )
    others, known = [], {result.path.resolve() for result in own}
    for place in elsewhere:
        found, left_out = read_results(place)
        skipped |= left_out if found or left_out else {str(place): "holds no result"}
        others += [r for r in found if r.path.resolve() not in known]
        known |= {result.path.resolve() for result in found}
    return own, others, skipped


def hint():
    numbers = sorted({number_of(path) for path in recorders(read_all()).values()})
    *first, last = [str(int(number)) for number in numbers]
    return (
        "`make run` or `make test` records the comparisons of notebooks "
        f"{', '.join(first)} and {last}"
    )


if __name__ == "__main__":
    sys.exit(main())
