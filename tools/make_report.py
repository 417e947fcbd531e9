"""Write one HTML page: what the notebooks measured here, beside published figures and other
machines.

Each place is a result file or a folder of them. Those in the first place are this machine's, and
the others may come from a class or another computer. Files that are no results are named in the
report and on stderr.
"""

import argparse
import base64
import re
import sys
from collections import Counter
from pathlib import Path

import matplotlib
import nbformat

from pages import render
from xla_helpers import picture, plot_results, read_published, read_results

ROOT = Path(__file__).resolve().parents[1]
NOTHING = "report: no results in {}; `make run` or `make test` records them (notebooks 1, 3 and 6)"


def main(arguments=None):
    options = parser().parse_args(arguments)
    here, *elsewhere = options.places or [ROOT / "build" / "results"]
    absent = [str(place) for place in (here, *elsewhere) if not place.exists()]
    if elsewhere and absent:
        print(f"report: there is no {', '.join(absent)}", file=sys.stderr)
        return 1
    own, skipped = read_results(here) if not absent else ([], {})
    others, also_skipped = read_results(*elsewhere) if elsewhere else ([], {})
    skipped |= also_skipped
    for path, reason in skipped.items():
        print(f"report: skipped {path}: {reason}", file=sys.stderr)
    if not own:
        print(NOTHING.format(here), file=sys.stderr)
        return 1
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(page(own, others, skipped), encoding="utf-8")
    print(f"{len(own)} comparisons of this machine, {len(others)} of others: {options.out}")
    return 0


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
    return render(
        "report.html.j2",
        title="XLA on this machine",
        parts=[part(result, others) for result in own],
        skipped={Path(path).name: reason for path, reason in skipped.items()},
    )


def part(result, others):
    """What the page says of one comparison."""
    same = [other for other in others if other.name == result.name]
    figures = read_published(result.name)
    claims = [claim for f in figures for claim in f.claims]
    judged = [[claim.judge(other.comparison) for other in same] for claim in claims]
    return {
        "name": result.name.replace("-", " "),
        "notebook": recorder(result.name),
        "machine": result.title,
        "picture": drawn(result, same, [f for f in figures if f.seconds]),
        "table": result.comparison._repr_html_(),
        "sources": [f"{f.hardware}: {f.source}" for f in figures if f.seconds],
        "verdicts": [
            verdict(claim, result, elsewhere)
            for claim, elsewhere in zip(claims, judged, strict=True)
        ],
        "others": [
            {
                "title": other.title,
                "verdicts": [(c.says, words[i]) for c, words in zip(claims, judged, strict=True)],
            }
            for i, other in enumerate(same)
        ],
    }


def recorder(name):
    """Number and title of the notebook that records comparisons of this name, or None."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        if any(re.search(rf'record\(\s*"{name}"', cell.source) for cell in cells):
            return f"{path.name[:2]}, {cells[0].source.splitlines()[0].removeprefix('# ')},"
    return None


def drawn(result, same, figures):
    labels = ", ".join(result.comparison.measurements)
    shown = picture(
        plot_results(
            result,
            same,
            figures,
            title=f"Time per call here{' and elsewhere' if same or figures else ''}",
        ),
        alt=f"Time per call of {labels} on this machine, with published figures where there are "
        "any, on a log scale. The table below holds the same numbers.",
    )
    return {"data": base64.b64encode(shown.png).decode(), "alt": shown.alt}


def verdict(claim, result, elsewhere):
    """One claim, judged on this machine, and its verdicts elsewhere counted."""
    return {
        "says": claim.says,
        "hardware": claim.hardware,
        "here": claim.judge(result.comparison),
        "elsewhere": Counter(words.split(":")[0] for words in elsewhere).most_common(),
    }


if __name__ == "__main__":
    sys.exit(main())
