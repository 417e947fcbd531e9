"""Bets of the site: a guess whose answer is a count or a choice, and the answer that came out.

A "Guess before you run" has it in its metadata: `bet`, a list of what to `ask`, and of the `cell`
in whose committed output the pattern `find` has the right answer; `choices` where it is no number.
"""

import re
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Bet:
    """A question, its right answer as text, and the choices, none for a number."""

    ask: str
    right: str
    choices: tuple[str, ...] = ()


def bets_of(cell, cells):
    """The bets of a guess, by what the notebook's cells show.

    Raises:
        ValueError: Where the output holds no answer, or none that can be chosen.
    """
    found = []
    for bet in cell["metadata"].get("bet", []):
        (shown,) = (one for one in cells if one["id"] == bet["cell"])
        text = text_of(shown)
        match = re.search(bet["find"], text)
        if not match:
            raise ValueError(f"{bet['cell']} shows no {bet['find']!r}")
        right, choices = match[1].replace(",", ""), tuple(bet.get("choices", ()))
        fits = right in choices if choices else re.fullmatch(r"-?\d+", right)
        if not fits:
            raise ValueError(f"{right!r} is no answer to {bet['ask']!r}")
        found.append(Bet(bet["ask"], right, choices))
    return found


def text_of(cell):
    """What a cell shows, as text."""
    outs = cell["outputs"]
    texts = [out.get("text") or out.get("data", {}).get("text/plain", "") for out in outs]
    return "\n".join("".join(text) for text in texts)


def form(bet, guess, place):
    """HTML of a bet, which bets.js brings to life and which is hidden without it."""
    key = f"{guess}-{place}"
    name = f"bet-{key}"
    if bet.choices:
        options = "".join(f"<option>{escape(choice)}</option>" for choice in bet.choices)
        field = f'<select id="{name}"><option value="">choose</option>{options}</select>'
    else:
        field = f'<input id="{name}" inputmode="numeric" size="6" autocomplete="off">'
    return (
        f'<form class="bet" data-right="{escape(bet.right)}" data-key="{escape(key)}" '
        f'data-guess="{escape(guess)}" hidden>'
        f'<label for="{name}">{escape(bet.ask)}</label> {field} <button>Bet</button> '
        '<output aria-live="polite"></output></form>'
    )
