"""What a check found, in words."""

from typing import Any

from ..errors import headline
from ..tables import abbreviate
from ..variables import not_restored

LEFT_OUT = "Not compared, because rounding alone moves them"


def summary_of(check: Any) -> str:
    """What a `Check` found."""
    if check.unsupported:
        return f"XLA does not support {abbreviate(check.unsupported, 9)}"
    if check.differing:
        errors = {mode: f": {headline(error)}" for mode, error in check.errors.items()}
        return "; ".join(
            f"{mode}: {against_first(check, mode)}{errors.get(mode, '')}"
            for mode in check.differing
        )
    if check.inconclusive:
        return f"not compared: {check.inconclusive}"
    dropped = ", but XLA drops checks" if check.dropped_checks else ""
    if check.sensitive:
        return f"not compared in part, the rest the same in all modes{dropped}"
    return f"the same in all modes{dropped}"


def objection_of(check: Any) -> str:
    """Why XLA cannot stand in for the first mode; "" where nothing speaks against it."""
    outcome = check["XLA"]
    if check.unsupported:
        return f"is refused: {'; '.join(f'{one}: {one.fix}' for one in check.unsupported)}"
    if outcome.error:
        return f"fails: {headline(outcome.error)}"
    if check.inconclusive or outcome.agrees or outcome.difference is None:
        return ""
    first, allowed = next(iter(check.outcomes)), outcome.difference.allowed_by()
    return f"differs from the {first}, in {outcome.difference}; {allowed}"


def against_first(check: Any, mode: str) -> str:
    """How a mode compares with the first one; "" for the first one itself."""
    outcome = check[mode]
    if mode == next(iter(check.outcomes)):
        return ""
    if outcome.error is not None:
        return "an error too" if outcome.agrees else "an error instead of a result"
    if outcome.difference is None:
        return "a result instead of an error"
    if check.inconclusive and not outcome.agrees:
        return "not compared"
    if not outcome.agrees:
        return f"differs, {outcome.difference}"
    same = f"the same to {outcome.difference.size:.1g}" if outcome.difference.size else "the same"
    return f"not compared in part, the rest {same}" if outcome.left_out else same


def notes_on(check: Any) -> list[str]:
    """What stands below its table."""
    changed = dict.fromkeys(name for o in check.outcomes.values() for name in o.variables)
    notes = {
        "Changes variables": changed,
        "Dropped by XLA": () if "XLA" in check.errors else check.dropped_checks,
        "XLA ran in the graph, too, by": [check.compiled_by] if check.compiled_by else (),
        LEFT_OUT: check.sensitive,
        "Keras' own `fit` leaves XLA out because of": check.jit_unsupported_layers,
    }
    sentences = [f"{words}: {abbreviate(found)}." for words, found in notes.items() if found]
    return list(filter(None, [*sentences, not_restored(check.unrestored), check.see]))
