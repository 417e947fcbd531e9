"""Write one HTML page: what the notebooks measured here, beside published figures and other
machines.

Each place is a result file or a folder of them. Those in the first place are this machine's, and
the others may come from a class or another computer. Files that are no results are named in the
report and on stderr.
"""

import argparse
import base64
import os
import re
import sys
from collections import Counter
from datetime import date
from pathlib import Path

import matplotlib

from lessons import read_all, title_of
from pages import render
from xla_helpers import format_seconds, picture, plot_results, read_published, read_results

ROOT = Path(__file__).resolve().parents[1]
HINT = "`make run` or `make test` records the comparisons of notebooks 1, 3, 6 and 12"


def main(arguments=None):
    options = parser().parse_args(arguments)
    here, *elsewhere = options.places or [ROOT / "build" / "results"]
    try:
        own, others, skipped = gather(here, elsewhere)
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(page(own, others, skipped), encoding="utf-8", errors="replace")
    except (UsageError, OSError) as error:
        print(f"report: {error}", file=sys.stderr)
        return 1
    for path, reason in skipped.items():
        print(f"report: skipped {path}: {reason}", file=sys.stderr)
    print(f"{len(own)} comparisons of this machine, {len(others)} of others: {options.out}")
    return 0


class UsageError(Exception):
    """Places from which no report can be made."""


def gather(here, elsewhere):
    """This machine's results, those of others, and what was skipped: file or folder to reason."""
    absent = [str(place) for place in (here, *elsewhere) if not place.exists()]
    if absent:
        raise UsageError(f"there is no {', '.join(absent)}; {HINT}")
    own, skipped = read_results(here)
    if not own:
        reasons = "".join(f"\n  {path}: {reason}" for path, reason in skipped.items())
        raise UsageError(f"no results in {here}; {HINT}{reasons}")
    twice = [name for name, count in Counter(r.name for r in own).items() if count > 1]
    if twice:
        raise UsageError(
            f"{here} holds several results named {', '.join(twice)}: name the folder of one "
            "machine first, and then the others"
        )
    others, known = [], {result.path.resolve() for result in own}
    for place in elsewhere:
        found, left_out = read_results(place)
        skipped |= left_out if found or left_out else {str(place): "holds no result"}
        others += [r for r in found if r.path.resolve() not in known]
        known |= {result.path.resolve() for result in found}
    return own, others, skipped


def parser():
    top = argparse.ArgumentParser(prog="make_report.py", description=__doc__)
    top.add_argument("places", nargs="*", type=Path, metavar="PLACE", help="default: build/results")
    top.add_argument(
        "--out",
        type=Path,
        default=ROOT / "build" / "report.html",
        help="file to write (default build/report.html)",
    )
    return top


def page(own, others, skipped):
    """The report as one self-contained HTML page."""
    matplotlib.use("Agg")
    names, notebooks = {result.name for result in own}, recorders()
    return render(
        "report.html.j2",
        title="XLA on this machine",
        day=date.today().isoformat(),
        parts=[
            part(result, [r for r in others if r.name == result.name])
            | {"notebook": notebooks.get(result.name)}
            for result in own
        ],
        only_elsewhere=Counter(r.name for r in others if r.name not in names),
        skipped={os.path.relpath(path): reason for path, reason in skipped.items()},
    )


def part(result, others):
    """What the page says of one comparison. others: results of the same name."""
    same = [other for other in others if other.what == result.what]
    figures = read_published(result.name)
    drawn = [f for f in figures if f.seconds]
    claims = [claim for f in figures for claim in f.claims]
    told = [medians(other.comparison) for other in same]
    judged = [[(claim, claim.judge(other.comparison)) for claim in claims] for other in same]
    return {
        "name": result.name.replace("-", " "),
        "result": result,
        "picture": draw(result, same, told, drawn),
        "table": result.comparison._repr_html_(),
        "published": figures,
        "verdicts": [
            verdict(claim, result, [verdicts[i][1] for verdicts in judged])
            for i, claim in enumerate(claims)
        ],
        "others": [
            {
                "result": other,
                "file": os.path.relpath(other.path),
                "medians": words,
                "verdicts": verdicts,
            }
            for other, words, verdicts in zip(same, told, judged, strict=True)
        ],
        "different": [
            (os.path.relpath(other.path), other.what) for other in others if other not in same
        ],
    }


def recorders():
    """Name of a comparison to number and title of the first notebook that records it."""
    found = {}
    for path, notebook in read_all(ROOT).items():
        for cell in notebook.cells:
            for name in re.findall(r'record\(\s*"([a-z0-9-]+)"', cell.source):
                found.setdefault(name, f"{path.name[:2]}, {title_of(notebook)}")
    return found


def medians(comparison):
    """Each candidate's median, and how it stands to the first."""
    return "; ".join(
        f"{label} {format_seconds(measured.median)}"
        + ("" if label == comparison.baseline else f", {comparison.ratio(label)!r}")
        for label, measured in comparison.measurements.items()
    )


def draw(result, same, told, figures):
    """The picture and its description. told: the medians of `same`, in words."""
    parts = [f"this machine: {medians(result.comparison)}"]
    parts += [f"another machine: {words}" for words in told]
    parts += [
        f"{f.hardware}, published: "
        + "; ".join(f"{label} {format_seconds(mean)}" for label, (mean, _) in f.seconds.items())
        for f in figures
    ]
    shown = picture(
        plot_results(
            result,
            same,
            figures,
            title=f"Time per call here{' and elsewhere' if same or figures else ''}",
        ),
        alt=f"Time per call on a log scale. {'. '.join(parts)}.",
    )
    return {"data": base64.b64encode(shown.png).decode(), "alt": shown.alt}


def verdict(claim, result, elsewhere):
    """One claim, judged on this machine, and its verdicts elsewhere counted."""
    return {
        "claim": claim,
        "here": claim.judge(result.comparison),
        "elsewhere": Counter(words.split(":")[0] for words in elsewhere).most_common(),
    }


if __name__ == "__main__":
    sys.exit(main())
