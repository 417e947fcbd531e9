"""Draw what the notebooks recorded in results/ as README.png, and list it in the README."""

import re
from pathlib import Path

import xla_helpers as xh

ROOT = Path(__file__).resolve().parents[1]
PART = re.compile(r"(<!-- Made by `make refresh`.*? -->).*?(<!-- Until here. -->)", re.DOTALL)


def main():
    results, skipped = xh.read_results(ROOT / "results")
    assert not skipped, skipped
    rows = [(result, result.xla_against_graph) for result in results]
    rows = [row for row in rows if row[1]]
    rows.sort(key=lambda row: row[1].value)
    ends = " to ".join(f"{ratio!r} ({result.what})" for result, ratio in (rows[0], rows[-1]))
    alt = f"How many times faster XLA is than the graph, with intervals: from {ends}"
    picture = xh.picture(xh.plot_overview([result for result, _ in rows]), alt=alt)
    (ROOT / "README.png").write_bytes(picture.data)
    table = "\n".join(f"| {plain(x.what)} | {ratio!r} | {link_to(x)} |" for x, ratio in rows)
    made = f"""
![{plain(alt)}](README.png)

*Measured on {plain(" and ".join(sorted({result.title for result, _ in rows})))}.*

<details><summary>Where each line comes from</summary>

| measured | XLA, against the graph | notebook |
|---|---|---|
{table}

</details>
"""
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    readme.write_text(PART.sub(lambda part: part[1] + made + part[2], text), encoding="utf-8")


def link_to(result):
    name = notebook_of(result).name
    return f"[{name[:2]}](notebooks/{name})"


def notebook_of(result):
    """The one notebook that recorded a result: it gives its name, or its beginning up to a dash."""

    def records(path):
        for name in re.findall(r'record\(f?\\"([a-z-]+)', path.read_text(encoding="utf-8")):
            begins = name.endswith("-") and result.name.startswith(name)
            if result.name == name or begins:
                return True

    (path,) = filter(records, ROOT.glob("notebooks/*.ipynb"))
    return path


def plain(text):
    """Text as Markdown shows it, letter by letter."""
    return re.sub(r"([\\`*_|\[\]<>])", r"\\\1", text)


if __name__ == "__main__":
    main()
