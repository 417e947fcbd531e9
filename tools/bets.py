"""Bets of the site: a guess whose answer is a count or a choice, and the answer that came out.

A "Guess before you run" has it in its metadata: `bet`, a list of what to `ask`, and of the `cell`
in whose committed output the pattern `find` has the right answer; `choices` where it is no number.
The pattern's group is the answer in the output's words. Where it has several groups, they stand for
the choices, one after the other, and the one that matches says which is right.
`flatters` names what a reader bets who expects much of XLA: "more" or "fewer" of what is counted,
or the choices beyond the others, the best for XLA last. Without it a wrong bet is just wrong.
"""

import json
import re
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Bet:
    """A question, its right answer as text, the choices, none for a number, and what flatters."""

    ask: str
    right: str
    choices: tuple[str, ...] = ()
    flatters: str | list[str] = ""


def bets_of(cell, cells):
    """The bets of a guess, by what the notebook's cells show.

    Raises:
        ValueError: Where the output holds no answer, or none that can be chosen.
    """
    return [made(bet, cells) for bet in cell["metadata"].get("bet", [])]


def made(bet, cells):
    """A bet of the metadata, with its answer."""
    (shown,) = (one for one in cells if one["id"] == bet["cell"])
    match = re.search(bet["find"], text_of(shown))
    if not match:
        raise ValueError(f"{bet['cell']} shows no {bet['find']!r}")
    choices, flatters = tuple(bet.get("choices", ())), bet.get("flatters", "")
    if match.re.groups > 1:
        right = choices[match.lastindex - 1]
    else:
        right = match[1] if choices else match[1].replace(",", "")
    if not (right in choices if choices else re.fullmatch(r"-?\d+", right)):
        raise ValueError(f"{right!r} is no answer to {bet['ask']!r}")
    if not (set(flatters) <= set(choices) if choices else flatters in ("", "more", "fewer")):
        raise ValueError(f"{flatters!r} cannot be bet on {bet['ask']!r}")
    return Bet(bet["ask"], right, choices, flatters)


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
        f'data-guess="{escape(guess)}" data-flatters="{escape(json.dumps(bet.flatters))}" hidden>'
        f'<label for="{name}">{escape(bet.ask)}</label> {field} <button>Bet</button> '
        '<output aria-live="polite"></output></form>'
    )
