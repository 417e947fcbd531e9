"""The page of reference: all that is exported, in the stub's order, from the docstrings."""

import xla_helpers
from tools.site import reference

STUB_TEXT = """\
# Comments that no import follows have no heading.

# Draw
from . import figures
from .plots import plot_sweep

# Measure and compare
from .comparing import (
    compare,
    sweep,
)
from .timing import measure as measure

__all__ = ["compare"]
"""


def test_headings_and_names_are_those_of_the_stub():
    assert reference.groups(STUB_TEXT) == {
        "Draw": ["figures", "plot_sweep"],
        "Measure and compare": ["compare", "sweep", "measure"],
    }


def test_the_page_asks_for_all_that_is_exported_and_for_nothing_twice():
    names = [
        name for group in reference.groups(reference.STUB.read_text()).values() for name in group
    ]
    assert sorted(names) == sorted(xla_helpers.__all__)
    page = reference.page(reference.STUB.read_text())
    for name in xla_helpers.__all__:
        assert page.count(f":: xla_helpers.{name}\n") == 1


def test_each_kind_is_asked_for_as_what_it_is():
    assert reference.directive("compare") == ".. autofunction:: xla_helpers.compare"
    assert reference.directive("Comparison").startswith(".. autoclass:: xla_helpers.Comparison\n")
    assert reference.directive("ProcessError").startswith(".. autoexception:: xla_helpers.Pro")
    assert ".. automodule:: xla_helpers.figures\n" in reference.directive("figures")


def marked(thing, *lines):
    lines = list(lines)
    reference.mark_up(None, "function", "name", thing, None, lines)
    return lines


def test_parameters_and_results_are_set_apart():
    def work(first, last, how): ...

    assert marked(work, "Do it.", "", "first, last: where. how: quickly. else: no parameter.") == [
        *("Do it.", "", "**first, last:** where. **how:** quickly. else: no parameter.")
    ]
    assert marked(work, "Do it. how:", "quickly.") == ["Do it. **how:**", "quickly."]
    assert marked(work, "Returns: a thing.", "Raises: ValueError.") == [
        *("", "**Returns:** a thing.", "", "**Raises:** ValueError.")
    ]


def test_a_letter_may_follow_a_name():
    assert marked(None, "Many `Result`s, and ``code``.") == ["Many `Result`\\ s, and ``code``."]


def test_defaults_are_shown_by_their_names():
    given = "(x, clock=<built-in function perf_counter>, show=<function show at 0x7f>, n=<factory>)"
    shown, returned = reference.name_defaults(None, "function", "f", None, None, given, "int")
    assert (shown, returned) == ("(x, clock=perf_counter, show=show, n=...)", "int")
    assert reference.name_defaults(None, "module", "m", None, None, None, None) is None
