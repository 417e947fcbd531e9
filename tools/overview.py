"""Draw what the notebooks recorded in results/, for the README and docs/results.md.

Nothing is deleted, because nobody has all of these machines: what is left out is named.
"""

import json
import re
from pathlib import Path

import dial
import lens
from chains import chains, changed, home_of
from races import counted, drawn, in_order, machines, shared

from xla_helpers.ratios import digits, times_in_words
from xla_helpers.tables import pluralize

ROOT = Path(__file__).resolve().parents[1]
OPENS, ENDS = "<!-- Made by `make refresh` from results/: do not edit. -->", "<!-- Until here. -->"
LARGE, MENDED = "generate-real-size", "generate-fixed"  # GPT-2 small
TOYS, IMAGE = ["shipped-writer", "generate", "keras-hub"], "five-modes-efficientnetv2-s"
KINDS = {  # of pictures, each with the pages it is for: a browser takes the first that fits
    "-tall-dark": "(max-width: 40em) and (prefers-color-scheme: dark)",
    "-tall-light": "(max-width: 40em)",
    "-dark": "(prefers-color-scheme: dark)",
    "-light": "",
}
COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven"}
FACE = ["shipped-writer", "many-steps", LARGE, MENDED, "keras-predict"]
FACE += [IMAGE, "depthwise-layer"]  # of the first screen


def main(root=ROOT):
    found = chains(root)
    groups, left = machines(root, found)
    for line in [*(f"left out: {words}" for words in left), *changed(found, root).values()]:
        print(line)
    if not groups:
        return print("no results to draw: README, pages and pictures stay as they are")
    races = in_order(groups)
    first = [race for race in races if race.name in FACE] or races
    alt = "XLA against the graph. " + " ".join(f"{race.row}: {race.words}." for race in first)
    machines_said = count_in_words(groups)
    title = f"jit_compile=True against the plain graph, on {machines_said}"
    promise = sentence(races, machines_said)
    face = pictures(root / "docs/races", first, title, alt)
    (root / "docs/site/share.png").write_bytes(shared(first, title))
    every = pictures(root / "docs/all-races", races, "All races", alt_of_all(races), grouped=True)
    write_parts(root / "README.md", [f"\n{promise}\n\n{face}\n", f"\n{every}\n"])
    (root / "docs/dial.svg").write_text(dial.drawn(groups[0]), encoding="utf-8")
    passes = json.loads((root / "docs/passes.json").read_text(encoding="utf-8"))
    (root / "docs/passes.svg").write_text(lens.drawn(passes), encoding="utf-8")
    lines = [f"{n}. {plain(group[0].title)}" for n, group in enumerate(groups, 1)]
    parts = ["\n".join(lines), listed(races, groups, found)]
    parts += [plain(f"Recorded, and not shown: {'; '.join(left)}.")] if left else []
    write_parts(root / "docs/results.md", ["\n" + "\n\n".join(parts) + "\n"])


def count_in_words(groups):
    """How many machines there are; one that was measured in two ways is one."""
    processors = len({results[0].machine.get("processor") for results in groups})
    machines, set_ups = (COUNTS.get(number, str(number)) for number in (processors, len(groups)))
    words = "one machine" if processors == 1 else f"{machines} machines"
    return words if processors == len(groups) else f"{words} in {set_ups} set-ups"


def sentence(races, machines_said):
    """What came out, for somebody who reads one sentence."""

    def found(*names):
        ratios = [ratio for race in races if race.name in names for ratio in race.ratios]
        return ratios and change(ratios)

    parts = {
        "GPT-2 small write {}": found(LARGE),
        "{} once its graph is mended": found(MENDED),
        "a toy of it {}": found(*TOYS),
        "an image model {}": found(IMAGE),
    }
    made = [words.format(how) for words, how in parts.items() if how]
    happened = [f"it made {', '.join(made)}, and", "kept"] if made else ["it kept"]
    return (
        f"**On {machines_said}, without a GPU, {' '.join(happened)} silent about an index out of "
        "range. These notebooks show what it does to your model, and why.**"
    )


def change(ratios):
    """From the lowest to the highest ratio, such as ``3.0 to 6.4 times faster``."""
    low, high = min(ratios), max(ratios)
    if low < 1 < high:
        return f"{1 / low:.1f} times slower to {high:.1f} times faster"
    low, high, way = (low, high, "faster") if low >= 1 else (1 / high, 1 / low, "slower")
    return f"{low:.1f} to {high:.1f} times {way}"


def alt_of_all(races):
    """For who cannot see it: how many races each group has."""
    counts = counted(races).items()
    return ". ".join(f"{group}: {pluralize(count, 'race')}" for group, count in counts) + "."


def pictures(path, races, title, alt, *, grouped=False):
    """Draw races for each kind of page. Returns: the lines that show them."""
    for kind in KINDS:
        options = {"look": kind.split("-")[-1], "grouped": grouped, "tall": "-tall" in kind}
        picture = drawn(races, title, **options)
        path.with_name(f"{path.name}{kind}.svg").write_text(picture, encoding="utf-8")
    shown = {kind: f"docs/{path.name}{kind}.svg" for kind in KINDS}
    sources = [
        f'<source media="{media}" srcset="{shown[kind]}">' for kind, media in KINDS.items() if media
    ]
    image = f'<img alt="{alt}" src="{shown["-light"]}">'
    return "<picture>" + "\n".join([*sources, image]) + "</picture>"


def listed(races, groups, found):
    """The same as a table of Markdown, a column for each machine."""
    numbered = [f"machine {number}" for number in range(1, len(groups) + 1)]
    lines = [["notebook", "measured", "against", *numbered], ["---"] * (len(groups) + 3)]
    where = {result.title: number for number, (result, *_) in enumerate(groups)}
    for race in races:
        cells = [""] * len(groups)
        for result in race.results:
            cells[where[result.title]] = said(result)
        one, (notebook, _) = race.results[0], home_of(race.name, found)
        lines.append([link_to(notebook), plain(one.what), plain(one.rival), *cells])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def said(result):
    """A ratio with its interval, in bold where the interval excludes 1."""
    ratio = result.ratio
    words = times_in_words(ratio.value)
    low, high = map(digits, ratio.ends)
    alone = ", one process" if len(result.runs) == 1 else ""
    bold = f"**{words}**" if ratio.significant else words
    return f"{bold} " + plain(f"[{low}, {high}]{alone}")


def link_to(notebook):
    return f"[{notebook[:2]}](../notebooks/{notebook}.ipynb)"


def plain(text):
    """Text as Markdown shows it, letter by letter."""
    return re.sub(r"([\\`*_|\[\]<>])", r"\\\1", text)


def write_parts(path, parts, opens=OPENS):
    """Put each part between its two marks."""
    before, *rest = path.read_text(encoding="utf-8").split(opens)
    afters = [part.split(ENDS, 1)[1] for part in rest]
    made = [opens + part + ENDS + after for part, after in zip(parts, afters, strict=True)]
    path.write_text(before + "".join(made), encoding="utf-8")


if __name__ == "__main__":
    main()
