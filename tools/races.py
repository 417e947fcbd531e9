"""Recorded races of several machines: in which XLA pays, in which it loses, and a picture."""

import io
import statistics
import textwrap
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import matplotlib.pyplot as plt
from chains import home_of

from xla_helpers.ratios import digits, times_in_words
from xla_helpers.results import Result, read_results
from xla_helpers.tables import pluralize

WIDEST = 2.0  # the highest ratio over the lowest: what is wider was not measured
SHORT = {  # the name of a record to the row of a picture
    "shipped-writer": "Text from a SavedModel, tiny GPT-2",
    "generate": "Text by Transformers, tiny GPT-2",
    "keras-hub": "Text by KerasHub, tiny GPT-2",
    "keras-hub-real-size": "GPT-2 small by KerasHub",
    "many-steps": "64 training steps in one call",
    "generate-real-size": "GPT-2 small, the graph as it is",
    "generate-fixed": "GPT-2 small, the graph mended",
    "dense-model": "Small Dense model",
    "gradient-step": "Gradient of eight layers",
    "shifted-model": "EfficientNetV2-S, layers rewritten",
    "your-machine": "One line, 1024 x 1024 numbers",
    "fused-sum": "One line, 4096 x 4096 numbers",
    "keras-predict": "Keras predict",
    "training-step": "Training step, 32 small images",
    "attention": "Attention",
    "shifted-layer": "One depthwise layer, rewritten",
    "five-modes-efficientnetv2-s": "EfficientNetV2-S, one image",
    "depthwise-layer": "One depthwise layer",
    "rivals-dense": "Small Dense model, in LiteRT",
    "rivals-cnn": "Three convolutions, in LiteRT",
    "rivals-encoder": "Encoder of two layers, in LiteRT",
}
PAYS, LOSES = "XLA pays on each machine that ran it", "XLA loses on each machine that ran it"
UNCLEAR = "It depends on the machine, or no difference is seen"
OTHERS = "Not XLA: another runtime against the graph"
GROUPS = PAYS, UNCLEAR, LOSES, OTHERS
KEY = "a dot for each set-up, that of the pages ringed; a band from lowest to highest"
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "xla", "font.size": 11}  # of an SVG
SMALL = {"font.size": 10}  # of a tall picture, which a phone shows at about its own size
FONTS = "'DejaVu Sans', Verdana, Arial, sans-serif"  # the first that a reader has
LOOKS = {  # of a page: the colours of text, of lines, and of each group
    "light": ("#1F2328", "#D0D7DE", ["#2B7A66", "#656D76", "#BC4C00", "#0550AE"]),
    "dark": ("#E6EDF3", "#3D444D", ["#5CC2A6", "#9DA7B3", "#FF9A62", "#79C0FF"]),
}


@dataclass(frozen=True)
class Race:
    """What machines found for one race, the first machine's result first.

    machines: how many there are in all, of which some may not have run it.
    """

    results: tuple[Result, ...]
    machines: int = 1

    @property
    def name(self) -> str:
        return self.results[0].name

    @property
    def short(self) -> str:
        return SHORT.get(self.name, self.results[0].what)

    @property
    def row(self) -> str:
        is_alone = len(self.results) == 1 < self.machines
        return f"{self.short} (one machine)" if is_alone else self.short

    @cached_property  # which is asked for a dozen times, and reckons with each round
    def ratios(self) -> list[float]:
        return [result.ratio.value for result in self.results]

    @property
    def group(self) -> str:
        """XLA pays, or loses, where each machine says so beyond its interval."""
        if not self.results[0].label.startswith("XLA"):
            return OTHERS
        clear = all(result.ratio.significant for result in self.results)
        if clear and min(self.ratios) > 1:
            return PAYS
        return LOSES if clear and max(self.ratios) < 1 else UNCLEAR

    @property
    def words(self) -> str:
        """From the lowest to the highest ratio, such as ``3.86 to 6.35x faster``."""
        low, high = min(self.ratios), max(self.ratios)
        if low < 1 < high:
            return f"{times_in_words(low)} to {times_in_words(high)}"
        if high <= 1:
            low, high = 1 / high, 1 / low
        ends = dict.fromkeys([digits(low), digits(high)])
        return f"{' to '.join(ends)}x {'faster' if max(self.ratios) > 1 else 'slower'}"


def machines(root, found):
    """The results in a project, a list for each machine, first of the one that 01's outputs name.

    found: the chains of its notebooks. Returns: the lists, and in sentences what was left out.
    """
    groups, left, folder = {}, Counter(), root / "results"
    results, skipped = read_results(folder) if folder.is_dir() else ([], {})
    for result in results:
        if why := why_left_out(result, home_of(result.name, found)):
            left[f"{result.name}, version {result.version}, {why}"] += 1
        else:
            groups.setdefault(result.title, []).append(result)
    outputs = "".join(path.read_text(encoding="utf-8") for path in root.glob("notebooks/01_*"))

    def shown_and_most(title):
        return title in outputs, sum(len(result.runs) for result in groups[title])

    in_turn = [groups[title] for title in sorted(groups, key=shown_and_most, reverse=True)]
    said = [f"{words} ({pluralize(count, 'result')})" for words, count in sorted(left.items())]
    unread = [f"{Path(path).relative_to(root)}, {why}" for path, why in skipped.items()]
    return in_turn, said + unread


def why_left_out(result, home):
    """Why a result is in no table; "" where it is. home: its notebook, and its version there."""
    ratio = result.ratio
    if not home:
        return "which no notebook records"
    if result.version != home[1]:
        return f"of which {home[0]} records version {home[1]}"
    if not ratio or not result.as_labelled:
        return "whose rows are not what their labels say"
    if not ratio.has_interval or ratio.high >= WIDEST * ratio.low:
        return "whose range says nothing"
    return ""


def in_order(machines):
    """The races of machines, each a list of results: XLA pays first, the highest ratio first."""
    machines, by_race = list(machines), {}
    for result in (result for results in machines for result in results):
        by_race.setdefault(result.about, []).append(result)
    races = [Race(tuple(found), len(machines)) for found in by_race.values()]
    return sorted(races, key=lambda x: (GROUPS.index(x.group), -statistics.median(x.ratios)))


def counted(races):
    """How many races each group has, of those that have any."""
    return dict(Counter(race.group for race in races))


def drawn(races, title, look="light", *, grouped=False, tall=False):
    """SVG: a row for each race, a dot for each machine, a band from the lowest to the highest.

    tall: for a phone, with the words of a race above its band.
    """
    with plt.rc_context(STYLE | {"text.color": LOOKS[look][0]} | (SMALL if tall else {})):
        return as_svg(_figure(races, title, look, grouped, tall))


def shared(races, title):
    """PNG of the same, of the size that a link which is shared shows: 1280 x 640."""
    file = io.BytesIO()
    with plt.rc_context(STYLE | {"text.color": LOOKS["light"][0]}):
        fig = _figure(races, title, "light", grouped=False, tall=False)
        fig.set_size_inches(9.6, 4.8)
        fig.savefig(file, dpi=400 / 3, facecolor="white", metadata={"Software": None})
        plt.close(fig)
    return file.getvalue()


def _figure(races, title, look, grouped, tall):
    text, line, colours = LOOKS[look]
    colours = dict(zip(GROUPS, colours, strict=True))
    places, headings = _rows(races, grouped, gap=0 if tall else 0.6)
    width, edges, inches = (3.6, 1.6, 0.62) if tall else (9.4, 0.95, 0.29)
    height = edges + inches * (max(places) + 1)
    fig, ax = plt.subplots(figsize=(width, height), layout="constrained")
    for row, group in headings.items():
        place = (0, 0, 8) if tall else (0, -250, 0)
        words = textwrap.fill(group, 37) if tall else group
        _beside(ax, row, words, at=place, color=colours[group])
    for row, race in places.items():
        _draw_race(ax, row, race, colours[race.group], text)
    title = textwrap.fill(title, 30) if tall else title
    fig.suptitle(title, x=0.01, ha="left", weight="bold")
    _name_scale(ax, places, text)
    name_rows = _above if tall else _on_both_sides
    name_rows(ax, places, colours, text, line)
    return fig


def _rows(races, grouped, gap):
    """At which heights races stand, and at which the names of their groups."""
    places, headings, row = {}, {}, 0
    for race in races:
        if grouped and race.group not in headings.values():
            row += gap if places else 0
            headings[row] = race.group
            row += 1
        places[row] = race
        row += 1
    return places, headings


def as_svg(fig):
    """A figure as SVG, the same each time, on no ground."""
    file = io.StringIO()
    fig.savefig(file, format="svg", metadata={"Date": None}, transparent=True)
    plt.close(fig)
    return file.getvalue().replace("'DejaVu Sans'", FONTS)


def _beside(ax, row, words, *, at, color, weight="bold"):
    """Words beside a row: right of the left (0) or right (1) of the axes, and up, in points."""
    place = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    side, *away = at
    ax.annotate(words, (side, row), away, color=color, weight=weight, va="center", **place)


def _draw_race(ax, row, race, colour, text):
    band = {"linewidth": 9, "alpha": 0.25, "solid_capstyle": "round"}
    ax.plot([min(race.ratios), max(race.ratios)], [row, row], color=colour, **band)
    ax.plot(race.ratios, [row] * len(race.ratios), "o", color=colour, markersize=5)
    ax.plot(race.ratios[0], row, "o", color=text, fillstyle="none", markersize=9)


def _on_both_sides(ax, places, colours, text, line):
    """The name of a race on the left of its band, what came out on the right."""
    for row, race in places.items():
        _beside(ax, row, race.words, at=(1, 8, 0), color=colours[race.group])
    ax.set_yticks([*places], [race.row for race in places.values()])
    ax.axvline(1, color=text, linewidth=1, zorder=0)
    ax.grid(axis="x", color=line)


def _above(ax, places, colours, text, line):
    """Both above the band, which has marks of its own: no line runs through letters."""
    for row, race in places.items():
        _beside(ax, row, race.row, at=(0, 0, 27), color=text, weight="normal")
        _beside(ax, row, race.words, at=(0, 0, 14), color=colours[race.group])
        colors = [text if tick == 1 else line for tick in ax.get_xticks()]
        ax.vlines(ax.get_xticks(), row - 0.15, row + 0.15, colors, linewidth=1, zorder=0)
    ax.set_yticks([])
    ax.set_xlabel(KEY.replace("; ", ";\n"))


def _name_scale(ax, places, text):
    """How many times faster or slower XLA is, from left to right."""
    ax.set_xscale("log")
    ratios = [ratio for race in places.values() for ratio in race.ratios]
    most = max(8, 1.2 * max(ratios))
    is_wide = most > 20
    slower = [20, 5] if is_wide else [20, 10, 5, 2]
    faster = [5, 20, 100] if is_wide else [2, 5]
    ticks = [*(1 / mark for mark in slower), 1, *faster]
    ax.set_xticks(ticks, [*(f"{x}x" for x in slower), "same", *(f"{x}x" for x in faster)])
    ax.set_xticks([], minor=True)
    ax.set_xlim(min(1 / 25, 0.8 * min(ratios)), most)
    ax.set_ylim(max(places) + 0.6, -0.7)
    ax.set_xlabel(KEY, fontsize=9, labelpad=22, color=text)
    for words, side, away in (("← slower", "right", -30), ("faster →", "left", 30)):
        place = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        ax.annotate(words, (1, 0), (away, -22), ha=side, va="top", fontsize=9, **place)
    ax.tick_params(length=0, labelcolor=text)
    ax.set_axisbelow(True)
    ax.spines[:].set_visible(False)
