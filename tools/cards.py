"""Cards of the site's first page, from the README's table and from what each notebook says.

A card has a picture, the question, the notebooks that come before, and the minutes.
"""

import base64
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path

from PIL import Image  # which matplotlib brings

ROW = (
    r"(?m)^\| (\d*) ?\| (?:\*\*([^|]+)\*\*|\[([^|]+)\]\(notebooks/([^|]+)\.ipynb\)) \| *(.*?) *\|$"
)
NEEDS = re.compile(
    r"(?m)^\*\*What you'll need\.\*\* (.+?)\. (?:.+\. )?([^.]+ to read, [^.]+ to run)\.$"
)
EARLIER = re.compile(r"\[[^]]+\]\(((\d\d)_\w+\.ipynb)\)")
WIDTH, TITLE = 540, 62  # of a small picture, and the height of a picture's title, in its dots


@dataclass(frozen=True)
class Card:
    """What the first page says of a notebook; `needs` is Markdown."""

    number: str
    title: str
    name: str
    question: str
    needs: str
    minutes: str

    @property
    def link(self):
        return f"[{self.number} {self.title}](notebooks/{self.name}.ipynb)"

    @property
    def after(self):
        """The numbers of the notebooks that it needs."""
        return [number for _, number in EARLIER.findall(self.needs)]


def parts(readme, folder):
    """The parts of the README's table, each with the cards of its notebooks in `folder`."""
    found = {}
    for number, part, title, name, question in re.findall(ROW, readme):
        if part:
            cards = found[part] = []
        else:
            opening = "".join(read(folder / f"{name}.ipynb")["cells"][0]["source"])
            cards.append(Card(number, title, name, question, *needs(opening)))
    return found


def read(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def needs(opening):
    """What a notebook's first cell says one needs, and how many minutes it takes.

    Raises:
        ValueError: Where it does not say so as all others do.
    """
    found = NEEDS.search(opening)
    if not found:
        raise ValueError(f"no sentence on needs, and on minutes to read and to run: {opening[:40]}")
    needed, minutes = found.groups()
    return needed[0].lower() + needed[1:], minutes


def page(parts):
    """What the first page shows of the notebooks, as Markdown."""
    lines = []
    for part, cards in parts.items():
        lines += [f"### {part}", "", "````{container} cards", *map(shown, cards), "````", ""]
    every = sorted((x for cards in parts.values() for x in cards), key=lambda card: card.number)
    lines += ["### Which notebook needs which", ""]
    lines += ["A line leads back from each notebook to what it builds on.", ""]
    return "\n".join([*lines, "```{container} tree", *tree(every), "```", ""])


def shown(card):
    """A card, as Markdown: its title is the link, and the picture says no more than that."""
    needed = EARLIER.sub(r"[\2](notebooks/\1)", card.needs)
    small = f'<img class="small" src="_images/{card.number}.webp" alt="" loading="lazy">'
    lines = small, card.link, card.question, f"Needs {needed}.", f"{card.minutes}."
    return "\n\n".join(["```{container} card", *lines, "```"])


def tree(cards, above="", depth=0):
    """Which notebook needs which, as a list in a list: each below the last one that it needs."""
    lines, by_number = [], {card.number: card for card in cards}
    for card in cards:
        if above == max(card.after, default=""):
            others = also(card, by_number)
            too = f" (also {', '.join(others)})" if others else ""
            lines += [f"{'  ' * depth}- {card.link}{too}", *tree(cards, card.number, depth + 1)]
    return lines


def also(card, cards):
    """What a notebook needs beside the last one, and what that one needs."""
    *others, last = sorted(card.after) or [""]
    known, new = set(), {last} - {""}
    while new:
        known |= new
        new = {number for one in new for number in cards[one].after}
    return [number for number in others if number not in known]


def small(notebook):
    """The first picture of a notebook as WebP, without its title, which would answer a guess."""
    outputs = [out for cell in notebook["cells"] for out in cell.get("outputs", [])]
    first = next(out["data"]["image/png"] for out in outputs if "image/png" in out.get("data", {}))
    picture = Image.open(io.BytesIO(base64.b64decode(first))).convert("RGB")
    width, height = picture.size
    picture = picture.crop((0, TITLE, width, min(height, TITLE + width // 2)))
    picture = picture.resize((WIDTH, WIDTH * picture.height // width), Image.Resampling.LANCZOS)
    made = io.BytesIO()
    picture.save(made, "WEBP", quality=75, method=6)
    return made.getvalue()
