"""What takes long and is not looked at: garbage, pictures of unfinished pages, long blocks."""

from functools import partial
from types import SimpleNamespace

import pytest

from xla_helpers.deciding import calls, page, races, work
from xla_helpers.deciding.pictures import draw_all
from xla_helpers.deciding.turns import compared
from xla_helpers.timing import measure

SHORT = 1e-3  # seconds of a block of calls


@pytest.fixture(autouse=True)
def garbage_stays(monkeypatch):
    """Beside all of TensorFlow, collecting it takes longer than most first calls."""
    monkeypatch.setattr(calls, "gc", SimpleNamespace(collect=lambda: None))


@pytest.fixture
def no_pictures(monkeypatch):
    """Pages hold none."""
    monkeypatch.setattr(page, "draw_all", lambda *_: {})


@pytest.fixture
def pictures_in_the_end(monkeypatch):
    """Only the finished page holds pictures; it takes the place of all before."""

    def draw(findings, *rest):
        return {} if findings.unfinished else draw_all(findings, *rest)

    monkeypatch.setattr(page, "draw_all", draw)


@pytest.fixture
def short_races(monkeypatch):
    """Races have the fewest rounds, of short blocks, however much time there is."""

    def race(candidates, example, *, budget, **options):
        return compared(candidates, example, budget=0.0, block=SHORT, **options)

    monkeypatch.setattr(races, "compared", race)


@pytest.fixture
def short_measures(monkeypatch):
    """The seconds of a call are measured in short blocks."""
    monkeypatch.setattr(work, "measure", partial(measure, block=SHORT))
