"""What `make refresh` writes into the README, and others read there: the picture of all recorded
comparisons with a link to each, and what each notebook costs."""

import re

from tools import overview
from tools.collection import number_of, read_all, recorders
from tools.recorded import results

ROW = re.compile(
    r"^(?P<before>\| (?P<number>\d\d) \| \[(?P<title>.+?)\]\(notebooks/(?P<file>.+?)\) \|[^|]+\|)"
    r" *(?P<seconds>\d*) ?s? *\| *(?P<memory>[^|]*?) *\|",
    re.MULTILINE,
)
"""A row of the README's table of notebooks."""

START = "<!-- Made by `make refresh` from results/: do not edit. -->"
END = "<!-- Until here. -->"


def keep_cost(name, seconds, peak, root):
    """Write seconds and bytes into the notebook's row of the table."""
    readme = root / "README.md"
    if not readme.exists():
        return
    cost = f" {seconds:.0f} s | {peak / 2**30:.1f} GiB |"

    def with_cost(row):
        return row["before"] + cost if row["file"] == name else row.group()

    readme.write_text(ROW.sub(with_cost, readme.read_text()))


def costs(root):
    """Number of a notebook to its title, seconds and memory, as the table says."""
    rows = ROW.finditer((root / "README.md").read_text())
    return {
        row["number"]: {key: row[key] for key in ("title", "seconds", "memory")} for row in rows
    }


def keep_overview(root):
    """Draw README.png from the results, and write what stands below it."""
    readme = root / "README.md"
    text = readme.read_text() if readme.exists() else ""
    if START not in text:
        return
    recorded = results(root)
    if overview.rows(recorded):
        (root / "README.png").write_bytes(overview.draw(recorded).png)
        before, rest = text.split(START)
        after = rest.split(END)[1]
        readme.write_text(before + START + opening(recorded, root) + END + after)


def opening(recorded, root):
    """The README's words on its picture: what it shows, on which machine, and from where."""
    places, shown = recorders(read_all(root)), overview.rows(recorded)
    machines = " and ".join(sorted({result.title for result, _ in shown}))
    table = "\n".join(
        f"| {escaped(result.what)} | {ratio!r} | {link(places[result.name])} |"
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


def link(path):
    return f"[{number_of(path)}](notebooks/{path.name})"


def escaped(text):
    """Text as Markdown shows it, letter by letter."""
    return re.sub(r"([\\`*_|\[\]<>])", r"\\\1", text)
