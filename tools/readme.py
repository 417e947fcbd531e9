"""What `make refresh` writes into the README, and others read there: the picture of all recorded
comparisons with a link to each, and what each notebook costs. And the table of `make bench`."""

import re
from operator import attrgetter

from tools import overview
from tools.collection import UsageError, number_of, read_all, recorders
from tools.recorded import results
from xla_helpers.writing import write_file, write_files

ROW = re.compile(
    r"^(?P<before>\| (?P<number>\d\d) \| \[(?P<title>.+?)\]\(notebooks/(?P<file>.+?)\) \|[^|]+\|)"
    r" *(?P<seconds>\d*) ?s? *\| *(?P<memory>[^|]*?) *\|",
    re.MULTILINE,
)
"""A row of the README's table of notebooks."""

START = "<!-- Made by `make refresh` from results/: do not edit. -->"
EXAMPLE = "<!-- Made by `make refresh` from the comparison of notebook 01: do not edit. -->"
BENCH = "<!-- Made by `make bench`, its part {}: do not edit. -->"
END = "<!-- Until here. -->"


def keep_cost(name, seconds, peak, root):
    """Write seconds and bytes into the notebook's row of the table."""
    readme = root / "README.md"
    if not readme.exists():
        return
    cost = f" {seconds:.0f} s | {peak / 2**30:.1f} GiB |"

    def with_cost(row):
        return row["before"] + cost if row["file"] == name else row.group()

    write_file(readme, ROW.sub(with_cost, text_of(readme)))


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


def keep_overview(root):
    """Draw README.png from the results, and write what stands below it."""
    readme = root / "README.md"
    text = text_of(readme) if readme.exists() else ""
    if START not in text:
        return
    recorded = results(root)
    if overview.rows(recorded):
        text = between(text, START, opening(recorded, root))
        if EXAMPLE in text and (shown := example(recorded)):
            text = between(text, EXAMPLE, shown)
        write_files({root / "README.png": overview.draw(recorded).png, readme: text})


def keep_bench(part, table, root):
    """Write a table of `make bench`. part: "races" or "medians"."""
    readme = root / "README.md"
    text = text_of(readme)
    write_file(readme, between(text, BENCH.format(part), f"\n{table}\n"))


def between(text, start, new):
    """The text with `new` from the line `start` to the end mark that follows it."""
    before, _, rest = text.partition(start)
    if start in rest or END not in rest:
        raise UsageError(f"README.md must hold once, and below it {END}: {start}")
    return before + start + new + END + rest.split(END, 1)[1]


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
