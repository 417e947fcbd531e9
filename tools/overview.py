"""Draw what the notebooks recorded in results/ as README.png, and list it in the README.

Results of other code than that of the notebooks are deleted: nobody can make them again.
"""

import re
from pathlib import Path

from chains import hash_of

import xla_helpers as xh

ROOT = Path(__file__).resolve().parents[1]
OPENS, ENDS = "<!-- Made by `make refresh` from results/: do not edit. -->", "<!-- Until here. -->"
FIRST = ROOT / "notebooks/01_fuse_a_computation.ipynb"
WIDEST = 2.0  # the highest ratio over the lowest: what is wider was not measured


def main():
    notebooks = {hash_of(path): path for path in sorted(ROOT.glob("notebooks/*.ipynb"))}
    drop_other_code(notebooks)
    results, _ = xh.read_results(ROOT / "results")
    if not (results := list(filter(keeps_the_standard, results))):
        return print("no results to draw: the README stays as it is")
    here, *others = machines(results)
    rows = sorted(here, key=lambda row: (notebooks[row.source].name, row.name))
    ends = (end(rows, key=lambda row: row.ratio.value) for end in (min, max))
    span = " to ".join(f"{row.ratio.short} ({row.what})" for row in ends)
    alt = f"How many times faster XLA is than the graph, a row for each race: from {span}"
    (ROOT / "README.png").write_bytes(xh.picture(drawn(rows, others), alt=alt).data)
    names = "\n".join(f"{n}. {plain(group[0].title)}" for n, group in enumerate([here, *others], 1))
    made = f"""
![{plain(alt)}](README.png)

A dot is the median of six processes on machine 1, a line goes from the lowest to the highest.

{names}

<details><summary>Where each line comes from</summary>

{listed(rows, others, notebooks)}

</details>
"""
    readme = ROOT / "README.md"
    before, rest = readme.read_text(encoding="utf-8").split(OPENS)
    after = rest.split(ENDS, 1)[1]
    readme.write_text(before + OPENS + made + ENDS + after, encoding="utf-8")


def drop_other_code(notebooks):
    for path in sorted((ROOT / "results").rglob("*.json")):
        found, skipped = xh.read_results(path)
        if skipped or found[0].source not in notebooks:
            print(f"dropped, of other code: {path.relative_to(ROOT)}")
            path.unlink()


def drawn(rows, others):
    """The axes: a line for each row, and a mark for each other machine."""
    marks = {
        f"machine {number}": {row.what: row.ratio.value for row in other}
        for number, other in enumerate(others, start=2)
    }
    title = "How many times faster XLA is than the graph"
    return xh.plot_ratios({row.what: row.ratio for row in rows}, marks=marks, title=title)


def listed(rows, others, notebooks):
    """The same as a table of Markdown, a column for each machine."""
    numbered = [f"machine {number}" for number in range(1, len(others) + 2)]
    lines = [["measured", "against", *numbered, "notebook"], ["---"] * (len(others) + 4)]
    elsewhere = [{row.about: row for row in other} for other in others]
    for row in rows:
        same = [row, *(other.get(row.about) for other in elsewhere)]
        shown = [said(one) if one else "" for one in same]
        lines.append([plain(row.what), plain(row.rival), *shown, link_to(notebooks[row.source])])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def keeps_the_standard(result):
    """A rival with a name, two rows that ran what they say, and a range that says something."""
    ratio = result.ratio
    return ratio and result.as_labelled and ratio.has_interval and ratio.high < WIDEST * ratio.low


def machines(results):
    """The results of each machine, first those of the one that the notebooks' outputs name."""
    groups = {}
    for result in results:
        groups.setdefault(result.title, []).append(result)
    outputs = FIRST.read_text(encoding="utf-8")

    def shown_and_most(title):
        return title in outputs, sum(len(result.runs) for result in groups[title])

    return [groups[title] for title in sorted(groups, key=shown_and_most, reverse=True)]


def said(result):
    alone = ", one process" if len(result.runs) == 1 else ""
    return plain(f"{result.ratio}{alone}")


def link_to(path):
    return f"[{path.name[:2]}](notebooks/{path.name})"


def plain(text):
    """Text as Markdown shows it, letter by letter."""
    return re.sub(r"([\\`*_|\[\]<>])", r"\\\1", text)


if __name__ == "__main__":
    main()
