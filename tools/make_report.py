"""Write one HTML page: what the notebooks measured here, beside published figures and other
machines.

Each place is a result file or a folder of them. Those in the first place are this machine's, and
the others may come from a class or another computer. Files that are no results are named in the
report and on stderr.
"""

import argparse
import base64
import sys
from collections import Counter
from pathlib import Path

import jinja2
import matplotlib

from xla_helpers import picture, plot_results, read_published, read_results

ROOT = Path(__file__).resolve().parents[1]
TEMPLATE = Path(__file__).with_name("report.html.j2")
NOTHING = "report: no results in {}; `make run` or `make test` records them (notebooks 1, 3 and 6)"


def main(arguments=None):
    options = parser().parse_args(arguments)
    places = options.places or [ROOT / "build" / "results"]
    absent = [place for place in places if not place.exists()]
    own, skipped = read_results(*places[:1]) if places[0].exists() else ([], {})
    others, also_skipped = read_results(*places[1:]) if places[1:] and not absent else ([], {})
    skipped |= also_skipped
    for path, reason in skipped.items():
        print(f"report: skipped {path}: {reason}", file=sys.stderr)
    if places[1:] and absent:
        print(f"report: there is no {', '.join(map(str, absent))}", file=sys.stderr)
        return 1
    if not own:
        print(NOTHING.format(places[0]), file=sys.stderr)
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
    published = read_published()
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(TEMPLATE.read_text())
    return template.render(
        machines=sorted({r.title for r in own}),
        parts=[part(result, others, published) for result in own],
        skipped={Path(path).name: reason for path, reason in skipped.items()},
    )


def part(result, others, published):
    """What the page says of one comparison."""
    same = [other for other in others if other.name == result.name]
    figures = [figures for figures in published if figures.name == result.name]
    claims = [claim for f in figures for claim in f.claims]
    return {
        "name": result.name.replace("-", " "),
        "picture": drawn(result, same, figures),
        "table": result.comparison._repr_html_(),
        "sources": [f"{f.hardware}: {f.source}" for f in figures if f.seconds],
        "verdicts": [verdict(claim, result, same) for claim in claims],
        "others": [
            {"title": r.title, "verdicts": [(c.says, c.judge(r.comparison)) for c in claims]}
            for r in same
        ],
    }


def drawn(result, same, figures):
    labels = ", ".join(result.comparison.measurements)
    shown = picture(
        plot_results(
            result,
            same,
            [f for f in figures if f.seconds],
            title=result.name.replace("-", " ").capitalize(),
        ),
        alt=f"Time per call of {labels} on this machine, with published figures where there are "
        "any, on a log scale. The table below holds the same numbers.",
    )
    return {"data": base64.b64encode(shown.png).decode(), "alt": shown.alt}


def verdict(claim, result, same):
    """One claim, judged on this machine and counted over the others."""
    elsewhere = [claim.judge(other.comparison).split(":")[0] for other in same]
    return {
        "says": claim.says,
        "hardware": claim.hardware,
        "here": claim.judge(result.comparison),
        "elsewhere": Counter(elsewhere).most_common(),
    }


if __name__ == "__main__":
    sys.exit(main())
