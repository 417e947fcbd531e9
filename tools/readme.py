"""What `make refresh` writes into the README, and others read there: the picture of all recorded
comparisons with a link to each, and what each notebook costs. And the table of `make bench`."""

import re
from operator import attrgetter

from tools import overview
from tools.collection import UsageError, number_of, read_all, recorders
from xla_helpers.writing import write_file

ROW = re.compile(
    r"^(?P<before>\| (?P<number>\d\d) \| \[(?P<title>.+?)\]\(notebooks/(?P<file>.+?)\) \|[^|]+\|)"
    r" *(?P<seconds>\d*) ?s? *\| *(?P<memory>[^|]*?) *\|",
    re.MULTILINE,
)
"""A row of the README's table of notebooks."""

MADE = "<!-- Made by "
START = f"{MADE}`make refresh` from results/: do not edit. -->"
EXAMPLE = f"{MADE}`make refresh` from the comparison of notebook 01: do not edit. -->"
BENCH = f"{MADE}`make bench`, its part {{}}: do not edit. -->"
END = "<!-- Until here. -->"


def check(root):
    """Raises: UsageError for a README in which there is no room for what `refreshed` says."""
    readme = root / "README.md"
    text = text_of(readme) if readme.exists() else ""
    for start in (START, EXAMPLE):
        if start in text:
            between(text, start, "")


def refreshed(name, seconds, peak, recorded, root):
    """What README.md and README.png hold when a notebook was refreshed: file to content.

    name: of the notebook's file. seconds, peak: what it took, in seconds and bytes. recorded: what
    results/ then holds. Nothing is written. Raises: UsageError, as `check` does.
    """
    readme = root / "README.md"
    if not readme.exists():
        return {}
    text = with_cost(text_of(readme), name, seconds, peak)
    if START not in text or not overview.rows(recorded):
        return {readme: text}
    text = with_overview(text, recorded, root)
    return {root / "README.png": overview.draw(recorded).png, readme: text}


def with_cost(text, name, seconds, peak):
    """The text with seconds and bytes in the notebook's row of the table."""
    cost = f" {seconds:.0f} s | {peak / 2**30:.1f} GiB |"

    def row_with_cost(row):
        return row["before"] + cost if row["file"] == name else row.group()

    return ROW.sub(row_with_cost, text)


def with_overview(text, recorded, root):
    """The text with the words on the picture, and with the example of a measurement."""
    text = between(text, START, opening(recorded, root))
    if EXAMPLE in text and (shown := example(recorded)):
        text = between(text, EXAMPLE, shown)
    return text


def text_of(readme):
    """The README's text. Raises: UsageError, in one line, where it is in no UTF-8."""
    try:
        return readme.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{readme} is not in UTF-8") from error


def costs(root):
    """Number of a notebook to its title, seconds and memory, as the table says."""
    rows = ROW.finditer(text_of(root / "README.md"))
    return {
        row["number"]: {key: row[key] for key in ("title", "seconds", "memory")} for row in rows
    }


def keep_bench(part, table, root):
    """Write a table of `make bench`. part: "races" or "medians"."""
    readme = root / "README.md"
    text = text_of(readme)
    write_file(readme, between(text, BENCH.format(part), f"\n{table}\n"))


def between(text, start, new):
    """The text with `new` from the line `start` to the end mark that follows it."""
    before, _, rest = text.partition(start)
    old, end, after = rest.partition(END)
    if start in rest or not end or MADE in old:
        raise UsageError(f"README.md must hold once, and below it {END}: {start}")
    return before + start + new + END + after


def opening(recorded, root):
    """The README's words on its picture: what it shows, on which machine, and from where."""
    places, shown = recorders(read_all(root)), overview.rows(recorded)
    machines = " and ".join(sorted({result.title for result, _ in shown}))
    table = "\n".join(
        f"| {escaped(result.what)} | {in_words(result, ratio)} | {link(places[result.name])} |"
        for result, ratio in shown
    )
    return f"""
![{escaped(overview.describe(recorded))}](README.png)

*Measured on {escaped(machines)}.*

<details><summary>Where each line comes from</summary>

| measured | XLA, against the graph | notebook |
|---|---|---|
{table}

</details>
"""


def example(recorded):
    """How to read a measurement: the newest first comparison of the first notebook; "" for none."""
    found = [result for result in recorded if result.name == "fused-sum"]
    newest = max(found, key=attrgetter("day"), default=None)
    return f"\n```\n{newest.comparison}\n```\n" if newest else ""


def in_words(result, ratio):
    """The ratio of the last run, and how far the runs lie apart where there were several."""
    between = result.xla_between_runs
    return f"{ratio!r}; {between!r}" if between else repr(ratio)


def link(path):
    return f"[{number_of(path)}](notebooks/{path.name})"


def escaped(text):
    """Text as Markdown shows it, letter by letter."""
    return re.sub(r"([\\`*_|\[\]<>])", r"\\\1", text)
