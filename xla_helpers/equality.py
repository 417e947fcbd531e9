"""Whether first calls agree: how far they differ, what rounding explains, what nobody can tell."""

import math
import statistics
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .arguments import perturb
from .differences import (
    FLOATING,
    ArrayDifference,
    Difference,
    Sensitive,
    as_arrays,
    largest,
    largest_number,
    leaves,
)
from .errors import headline
from .evidence import nodes_in
from .first_calls import FirstCalls
from .modes import functions_run_eagerly
from .outcomes import VARIABLES, FirstCall, differences_between, random_ops_in
from .tables import abbreviate

PERTURBATIONS = 3  # runs with arguments and variables that are moved by their last bit
EXPLAINED = 10  # times what rounding alone moves: a larger difference is an error
SMALL = 1e-3  # of the largest number: a result below it, which rounding moves, is nearly zero
NEGLIGIBLE = 1e-2  # of the median change of all variables: the same of a change
NOISE = 0.1  # of a change, which rounding alone moves: then the change is noise


def judge(first_calls: FirstCalls, equal: Callable[[Any, Any], bool] | None = None) -> FirstCalls:
    """Compare each outcome with the first, and say why that may be inconclusive.

    Where one differs, the graph, or the first where there is none, is called again with arguments
    and variables that are moved by their last bit. An array that differs by at most `EXPLAINED`
    times what this moves is left out, unless it differs in shape, type, integers, text or NaN, or
    is so small that it is equal. A variable whose change is within the rounding of its values is
    left out, too. What draws random numbers, or differs from itself, is not called again: nobody
    could tell.

    Args:
        first_calls: The calls.
        equal: Whether a result, the first argument, is as good as that of the first candidate, in
            place of all this; variables are compared nevertheless.

    Returns:
        The same calls, with what was found.
    """
    differences = _differences(first_calls, equal)
    rounding = _largest_perturbations(first_calls, differences)
    erratic = _erratic(first_calls) if differences else {}
    outcomes = dict[str, FirstCall]()
    for label, outcome in first_calls.outcomes.items():
        outcomes[label] = _judged(first_calls, outcome, differences.get(label), rounding)
        if label in erratic:
            outcomes[label] = replace(outcome, difference=erratic[label], agrees=False)
    judged = replace(first_calls, outcomes=outcomes)
    return replace(judged, inconclusive=_why_inconclusive(judged, differences, erratic))


# How far they differ


def _differences(first_calls, equal):
    """Label to the difference of each array, of those that ran as the first one did."""
    reference = first_calls.reference
    ran = {x: y for x, y in first_calls.outcomes.items() if not (y.error or reference.error)}
    found = {x: differences_between(y, reference, first_calls.snapshot) for x, y in ran.items()}
    if equal is None:
        return found
    for label, outcome in ran.items():
        is_equal = outcome is reference or equal(outcome.result, reference.result)
        words = "" if is_equal else "`equal` says so"
        mine = ArrayDifference(0.0 if is_equal else math.inf, detail=words)
        found[label] = [mine, *(x for x in found[label] if x.place.startswith(VARIABLES))]
    return found


def _repeat_themselves(first_calls):
    """Whether each gives the same again from the same state, as far as is known."""
    alike = all(x.from_itself.within(first_calls.tolerance) for x in first_calls.outcomes.values())
    return alike and not random_ops_in(first_calls.outcomes)


def _erratic(first_calls):
    """Label to how it differs from itself, where XLA does, and all else repeats to the bit.

    Where random numbers are drawn, nobody can tell.
    """
    found = {label: outcome.from_itself for label, outcome in first_calls.outcomes.items()}
    compiled = {label for label in found if first_calls.calls[label].is_compiled}
    others = [found[label] for label in found.keys() - compiled]
    if not others or random_ops_in(first_calls.outcomes) or any(x.size for x in others):
        return {}
    words = "other numbers at each call, and no other mode does so"
    return {
        label: Difference(math.inf, found[label].place, f"{words} ({found[label].detail})")
        for label in compiled
        if not found[label].within(first_calls.tolerance)
    }


# What rounding explains


def _largest_perturbations(first_calls, differences):
    """Place to how far it moves where only the last bits do, of arguments and of variables.

    {} where all agree. A generator's step, say, depends on no argument, and on all weights.
    """
    sizes = [array.size for arrays in differences.values() for array in arrays]
    differs = any(first_calls.tolerance < size < math.inf for size in sizes)
    if not (differs and _repeat_themselves(first_calls) and "tensorflow" in sys.modules):
        return {}
    calls = {label: first_calls.calls[label] for label in differences}
    graphs = (x for x, call in calls.items() if call.is_traced and not call.is_compiled)
    label = next(graphs, next(iter(first_calls.outcomes)))
    largest_by_place: dict[str, float] = {}
    for seed in range(PERTURBATIONS):
        try:
            other = _perturbed(first_calls, calls[label], seed)
        except Exception:  # whatever a reader's function raises
            continue
        finally:
            first_calls.snapshot.restore()
        for array in differences_between(other, first_calls.outcomes[label], first_calls.snapshot):
            before = largest_by_place.get(array.place, 0.0)
            largest_by_place[array.place] = max(array.absolute, before)
    return largest_by_place


def _perturbed(first_calls, call, seed):
    """What a call does with arguments and variables that are moved by their last bit."""
    draws = np.random.default_rng(seed)
    first_calls.snapshot.perturb(lambda value: perturb(value, draws))
    returned = as_arrays(call.perturbed(seed)())
    return FirstCall(result=returned, variables=first_calls.snapshot.changed())


def _judged(first_calls, outcome, arrays, rounding):
    """An outcome with its difference, and what is left out of it.

    arrays: the difference of each, None beside an error. rounding: place to how far it moves.
    """
    if arrays is None:
        agrees = bool(outcome.error and first_calls.reference.error)
        return replace(outcome, difference=None, agrees=agrees, left_out=())
    kept, left_out = list[Difference](), list[Sensitive]()
    for array in arrays:
        by_rounding = rounding.get(array.place, 0.0)
        is_explained = first_calls.tolerance < array.size < math.inf
        is_explained &= array.absolute <= EXPLAINED * by_rounding
        if array.within_rounding:
            left_out.append(Sensitive(array.place, array.size, None))
        elif not is_explained:
            kept.append(array)
        elif _is_equal_by_rounding(first_calls, array, by_rounding):
            kept.append(Difference(place=array.place))
        else:
            left_out.append(Sensitive(array.place, array.size, by_rounding / array.scale))
    most = largest(kept)
    agrees = most.within(first_calls.tolerance)
    return replace(outcome, difference=most, agrees=agrees, left_out=tuple(left_out))


def _is_equal_by_rounding(first_calls, array, by_rounding):
    """Whether what rounding explains is equal, because the array is small, or hardly moved.

    A change of a variable has a floor, twice what rounding makes of it; where that is much of it,
    the array is noise, which is named, unless it is small.
    """
    if not array.place.startswith(VARIABLES):
        results = (one for _, one in leaves(first_calls.reference.result))
        return array.scale < SMALL * min(1.0, largest_number(results))
    typical = statistics.median(_changes(first_calls) or [0.0])
    is_hardly_moved = by_rounding <= NOISE * array.scale and array.absolute <= 2 * by_rounding
    return array.scale < NEGLIGIBLE * typical or is_hardly_moved


def _changes(first_calls):
    """The largest change of each variable of floating numbers, in the reference."""
    return [
        largest_number([value - first_calls.snapshot.saved(name)])
        for name, value in first_calls.reference.variables.items()
        if value.dtype.kind in FLOATING
    ]


# What nobody can tell


def _why_inconclusive(judged, differences, erratic):
    """Why nothing can be said of the differences, or ""."""
    outcomes = judged.outcomes
    if all(outcome.error for outcome in outcomes.values()):
        return f"every mode fails: {headline(judged.reference.error)}" if outcomes else ""
    if all(outcome.is_empty for outcome in outcomes.values()):
        return "there is no result, and no variable that is known changes"
    different = [label for label, x in outcomes.items() if x.difference and not x.agrees]
    if different and (why := _why_different(judged, different, erratic)):
        return why
    places = {array.place for arrays in differences.values() for array in arrays}
    if len(judged.sensitive) > len(places) / 2:
        most = abbreviate(array.place for array in judged.sensitive)
        return f"rounding alone moves most of the results ({most})"
    return ""


def _why_different(judged, different, erratic):
    """Why none of these can be blamed for what differs, or "": draws, or Python that counts."""
    changing = {
        label: outcome.from_itself
        for label, outcome in judged.outcomes.items()
        if label not in erratic and not outcome.from_itself.within(judged.tolerance)
    }
    if drawn := random_ops_in(judged.outcomes):
        where = "at each call" if changing else f"in {', '.join(different)}"
        return f"random numbers are drawn ({abbreviate(drawn)}), other ones {where}"
    call = next((call for call in judged.calls.values() if call.is_traced), None)
    if not erratic and call and _traces_differ(call):
        return "its Python counts, or draws numbers: each trace holds other constants"
    for label, itself in changing.items():
        return f"{label} differs from itself when called again ({itself})"
    return ""


def _traces_differ(call):
    """Whether two new traces hold other constants: the Python counts its calls, or draws numbers.

    False also where one fails.
    """
    try:
        with functions_run_eagerly(False):
            return _constants_of(call) != _constants_of(call)
    except Exception:  # whatever a reader's function raises
        return False


def _constants_of(call):
    """The constants of a new trace, in their order."""
    import tensorflow as tf

    graph = tf.function(call.python).get_concrete_function(*call.args, **call.kwargs).graph
    constants = (node for node in nodes_in(graph) if node.op == "Const")
    return [node.attr["value"].tensor.SerializeToString() for node in constants]
