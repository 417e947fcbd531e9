"""The report as a page: what each comparison shows, and what others say of it."""

import base64
import os
from collections import Counter
from datetime import date
from pathlib import Path

from tools import overview
from tools.collection import number_of, read_all, recorders, title_of
from xla_helpers import format_seconds, picture, plot_results, read_published
from xla_helpers.modes import mode_of
from xla_helpers.pages import render

RIVALS = ("graph", "eager")  # with which a table compares, in this order


def page(own, others, skipped):
    """The report as one self-contained HTML page.

    own: this machine's results. others: results of other machines. skipped: file to reason.
    """
    names, known, places = {r.name for r in own}, {r.about for r in own}, notebooks()
    strangers = [r for r in others if r.about not in known]
    return render(
        "report.html.j2",
        Path(__file__).parent,
        title="XLA on this machine",
        day=date.today().isoformat(),
        machines=Counter(r.title for r in own),
        overview=summary(own),
        parts=[
            part(
                result,
                [r for r in others if r.about == result.about],
                [r for r in strangers if r.name == result.name],
                places.get(result.name),
            )
            for result in own
        ],
        only_elsewhere=Counter(r.name for r in strangers if r.name not in names),
        skipped={os.path.relpath(path): reason for path, reason in skipped.items()},
    )


def notebooks():
    """Name of a comparison to number and title of the notebook that records it."""
    collection = read_all()
    return {
        name: f"{number_of(path)}, {title_of(collection[path])}"
        for name, path in recorders(collection).items()
    }


def summary(results):
    """What opens the page: the picture of all comparisons, and the way to each."""
    rows = overview.rows(results)
    return {"picture": embedded(overview.draw(results)), "rows": rows} if rows else None


def part(result, same, different, notebook):
    """What the page says of one comparison.

    same: results of others about the same. different: those that have only the name in common.
    """
    figures = read_published(result.name)
    claims = [claim for f in figures for claim in f.claims]
    figures = [f for f in figures if f.is_about(result.comparison)]
    return {
        "id": result.path.stem,
        "words": result.name.replace("-", " "),
        "subject": subject_in_words(result),
        "result": result,
        "notebook": notebook,
        "picture": draw(result, same, [f for f in figures if f.seconds]),
        "table": result.comparison.against(*rivals(result.comparison))._repr_html_(),
        "between": between_runs(result),
        "published": figures,
        "verdicts": [verdict(claim, result, same) for claim in claims],
        "others": [elsewhere(other, claims) for other in same],
        "different": [(file_of(r), f"{r.what}, {subject_in_words(r)}") for r in different],
    }


def subject_in_words(result):
    """What was measured, as the file knows it and not as somebody put it."""
    subject = result.comparison.subject
    if subject is None:
        return "subject unknown"
    given = ", ".join(subject.arguments) or "no arguments"
    return f"subject {subject.fingerprint}: {subject.variables:,} numbers in variables, {given}"


def rivals(comparison):
    """With which rows a table compares: the first graph and the first eager one, else the first."""
    first = {mode_of(label): label for label in reversed(comparison.measurements)}
    return [first[mode] for mode in RIVALS if mode in first] or [comparison.baseline]


def between_runs(result):
    """For each row, how far its ratio to the first rival lies apart in several runs."""
    rival = rivals(result.comparison)[0]
    found = {label: result.between_runs(label, rival) for label in result.comparison.measurements}
    return [f"{x} against {rival}: {apart!r}" for x, apart in found.items() if apart and x != rival]


def verdict(claim, result, others):
    """One claim, judged on this machine, and the verdicts elsewhere counted."""
    kinds = Counter(claim.judge(other).kind for other in others)
    return {
        "claim": claim,
        "here": claim.judge(result),
        "elsewhere": kinds.most_common(),
    }


def elsewhere(result, claims):
    """What the page says of another machine's result."""
    return {
        "result": result,
        "file": file_of(result),
        "medians": medians(result.comparison),
        "between": between_runs(result),
        "verdicts": [claim.judge(result) for claim in claims],
    }


def file_of(result):
    return os.path.relpath(result.path)


def medians(comparison):
    """Each candidate's median, and how it stands to the first rival."""
    rival = rivals(comparison)[0]
    return "; ".join(
        f"{label} {format_seconds(measured.median)}"
        + ("" if label == rival else f", {comparison.ratio(label, rival).against(rival)}")
        for label, measured in comparison.measurements.items()
    )


def draw(result, others, published):
    """The picture of one comparison, with its description in words."""
    told = [f"this machine: {medians(result.comparison)}"]
    told += [f"another machine: {medians(other.comparison)}" for other in others]
    told += [f"{f.hardware}, published: {means(f.seconds)}" for f in published]
    title = f"Time per call here{' and elsewhere' if others or published else ''}"
    axes = plot_results(result, others, published, title=title)
    return embedded(picture(axes, alt=f"Time per call on a log scale. {'. '.join(told)}."))


def means(seconds):
    return "; ".join(f"{label} {format_seconds(mean)}" for label, (mean, _) in seconds.items())


def embedded(shown):
    """A picture as a page holds it."""
    return {"data": base64.b64encode(shown.png).decode(), "alt": shown.alt}
