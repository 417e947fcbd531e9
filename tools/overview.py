"""Draw what the notebooks recorded in results/, for the README and docs/results.md.

Results of other code than that of the notebooks are deleted: nobody can make them again.
"""

import json
import re
from pathlib import Path

import dial
import lens
from chains import hash_of
from races import LOOKS, counted, drawn, in_order, machines, number, shared, times

import xla_helpers as xh

ROOT = Path(__file__).resolve().parents[1]
OPENS, ENDS = "<!-- Made by `make refresh` from results/: do not edit. -->", "<!-- Until here. -->"
TEXTS, IMAGE = ["shipped-writer", "generate", "keras-hub"], "five-modes-efficientnetv2-s"
COUNTS = {1: "one machine", 2: "two machines", 3: "three machines", 4: "four machines"}
COUNTS |= {5: "five machines", 6: "six machines"}
FACE = ["shipped-writer", "many-steps", "generate-real-size", "keras-predict", "your-machine"]
FACE += [IMAGE, "depthwise-layer"]  # of the first screen


def main():
    notebooks = {hash_of(path): path for path in sorted(ROOT.glob("notebooks/*.ipynb"))}
    drop_other_code(notebooks)
    if not (groups := machines(ROOT / "results")):
        return print("no results to draw: the README stays as it is")
    races = in_order(groups)
    first = [race for race in races if race.name in FACE]
    alt = "XLA against the graph. " + " ".join(f"{race.row}: {race.words}." for race in first)
    machines_said = COUNTS.get(len(groups), f"{len(groups)} machines")
    title = f"jit_compile=True against the plain graph, on {machines_said}"
    promise = sentence(races, machines_said)
    face = pictures("races", first, title, alt)
    (ROOT / "docs/site/share.png").write_bytes(shared(first, title))
    every = pictures("all-races", races, "All races", alt_of_all(races), grouped=True)
    write_parts("README.md", [f"\n{promise}\n\n{face}\n", f"\n{every}\n"])
    lines = [f"{n}. {plain(group[0].title)}" for n, group in enumerate(groups, 1)]
    (ROOT / "docs/dial.svg").write_text(dial.drawn(groups[0]), encoding="utf-8")
    passes = json.loads((ROOT / "docs/passes.json").read_text(encoding="utf-8"))
    (ROOT / "docs/passes.svg").write_text(lens.drawn(passes), encoding="utf-8")
    table = listed(races, groups, notebooks)
    write_parts("docs/results.md", ["\n" + "\n".join(lines) + f"\n\n{table}\n"])


def drop_other_code(notebooks):
    for path in sorted((ROOT / "results").rglob("*.json")):
        found, skipped = xh.read_results(path)
        if skipped or found[0].source not in notebooks:
            print(f"dropped, of other code: {path.relative_to(ROOT)}")
            path.unlink()


def sentence(races, machines_said):
    """What came out, for somebody who reads one sentence."""
    texts = [ratio for race in races if race.name in TEXTS for ratio in race.ratios]
    image = [1 / ratio for race in races if race.name == IMAGE for ratio in race.ratios]
    faster, slower = (f"{min(x):.1f} to {max(x):.1f} times" for x in (texts, image))
    return (
        f"**On {machines_said}, without a GPU, it made text generation {faster} faster, an image "
        f"model {slower} slower, and kept silent about an index out of range. These notebooks show "
        "what it does to your model, and why.**"
    )


def alt_of_all(races):
    """For who cannot see it: how many races each group has."""
    counts = counted(races).items()
    return ". ".join(f"{group}: {count} races" for group, count in counts) + "."


def pictures(name, races, title, alt, *, grouped=False):
    """Draw races for a light page and a dark one. Returns: the lines that show them."""
    for look in LOOKS:
        picture = drawn(races, title, look, grouped=grouped)
        (ROOT / f"docs/{name}-{look}.svg").write_text(picture, encoding="utf-8")
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="docs/{name}-dark.svg">\n'
        f'<img alt="{alt}" src="docs/{name}-light.svg"></picture>'
    )


def listed(races, groups, notebooks):
    """The same as a table of Markdown, a column for each machine."""
    numbered = [f"machine {number}" for number in range(1, len(groups) + 1)]
    lines = [["notebook", "measured", "against", *numbered], ["---"] * (len(groups) + 3)]
    where = {result.title: number for number, (result, *_) in enumerate(groups)}
    for race in races:
        cells = [""] * len(groups)
        for result in race.results:
            cells[where[result.title]] = said(result)
        one = race.results[0]
        lines.append([link_to(notebooks[one.source]), plain(one.what), plain(one.rival), *cells])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def said(result):
    """A ratio with its interval, in bold where the interval excludes 1."""
    ratio = result.ratio
    ends = (ratio.low, ratio.high) if ratio.value >= 1 else (1 / ratio.high, 1 / ratio.low)
    words = times(ratio.value)
    alone = ", one process" if len(result.runs) == 1 else ""
    bold = f"**{words}**" if ratio.significant else words
    return f"{bold} " + plain(f"[{number(ends[0])}, {number(ends[1])}]{alone}")


def link_to(path):
    return f"[{path.name[:2]}](../notebooks/{path.name})"


def plain(text):
    """Text as Markdown shows it, letter by letter."""
    return re.sub(r"([\\`*_|\[\]<>])", r"\\\1", text)


def write_parts(name, parts):
    """Put each part between its two marks."""
    path = ROOT / name
    before, *rest = path.read_text(encoding="utf-8").split(OPENS)
    afters = [part.split(ENDS, 1)[1] for part in rest]
    made = [OPENS + part + ENDS + after for part, after in zip(parts, afters, strict=True)]
    path.write_text(before + "".join(made), encoding="utf-8")


if __name__ == "__main__":
    main()
