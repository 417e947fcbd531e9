"""The order of the parts and their time, with a runner that only notes what it is asked."""

from dataclasses import replace

import pytest

from tests.xla_helpers.deciding.examples import findings
from xla_helpers.deciding.conduct import NothingToDecide, conduct, joined, seconds_for
from xla_helpers.deciding.findings import End, Findings, FirstCalls, Raced
from xla_helpers.deciding.plan import Order
from xla_helpers.deciding.steps import STEPS, Step

EXAMPLE = findings(ends=(), first=(), raced=(), checks=())
FIRST_CALLS = {f"first calls, {one.label}": one for one in findings().first}


class Runner:
    """Each part takes its seconds by the clock. ends: part to its `End`, or to an error."""

    def __init__(self, clock, isolated=True, seconds=10.0, **ends):
        self.clock, self.isolated, self.seconds = clock, isolated, seconds
        self.ends = {name.replace("_", " "): end for name, end in ends.items()}
        self.orders, self.limits = [], []

    def run(self, order, limit, plan):
        self.orders.append(order)
        self.limits.append(limit)
        end = self.ends.get(order.part, End(order.part, "finished"))
        if isinstance(end, BaseException):
            raise end
        self.clock.now += min(self.seconds, limit)
        first = (FIRST_CALLS[order.part],) if order.part in FIRST_CALLS else ()
        known = replace(EXAMPLE, budget=0.0, left_out=("The same.",))
        return replace(known, ends=(replace(end, seconds=self.seconds),), first=first)

    @property
    def parts(self):
        return [order.part for order in self.orders]


def done(runner, clock, budget=1000.0, keep=lambda found: None, **options):
    return conduct(runner, Findings(budget=budget), "races", keep, clock=clock, **options)


IN_ORDER = [
    "first calls, graph",
    "first calls, XLA",
    "results",
    "race 1",
    "work",
    "race 2",
    "race 3",
]


def test_one_part_after_the_other(clock):
    runner, told, kept = Runner(clock), [], []
    found = done(runner, clock, keep=kept.append, tell=lambda part, left: told.append((part, left)))
    assert runner.parts == IN_ORDER
    assert told == [(part, 1000 - 10 * i) for i, part in enumerate(IN_ORDER)]
    assert {order.folder for order in runner.orders} == {"races"}
    assert kept[-1] == found
    assert [len(one.ends) for one in kept] == list(range(1, 8))
    assert all(one.unfinished for one in kept)


def test_one_process_has_one_race(clock):
    runner = Runner(clock, isolated=False)
    done(runner, clock)
    assert runner.parts == IN_ORDER[:-2]


def test_what_did_not_fit_is_named(clock):
    runner = Runner(clock, seconds=20.0)
    found = done(runner, clock, budget=100.0)
    assert clock.now <= 100
    hows = [end.how for end in found.ends]
    assert hows == ["finished"] * 4 + ["left out"] * 3
    assert [end.part for end in found.ends] == IN_ORDER
    assert found.ends[-1].said == "it needs about 20.2 s, and there were 10 s for it"


def test_a_part_that_is_lost_costs_its_rows_alone(clock):
    runner = Runner(clock, results=End("results", "killed"), work=End("work", "time"))
    found = done(runner, clock)
    assert runner.parts == IN_ORDER
    assert [end.how for end in found.ends].count("finished") == 5


def test_without_a_graph_nothing_else_is_tried(clock):
    lost = Runner(clock)
    lost.ends = {"first calls, graph": End("first calls, graph", "time")}
    found = done(lost, clock)
    assert lost.parts == ["first calls, graph"]
    assert found.ends[0].how == "time"


@pytest.mark.parametrize(
    ("how", "said", "plan", "message"),
    [
        ("failed", "no module named x", EXAMPLE.plan, "^no module named x$"),
        ("time", "", None, "^it was not made within 7 s$"),
        ("memory", "it held more than 2 GB", None, "^it held more than 2 GB$"),
        ("finished", "", None, "^it was not made$"),
        ("killed", "killed by SIGABRT", None, "^the process that makes it was killed by SIGABRT$"),
    ],
)
def test_what_cannot_be_made(how, said, plan, message, clock, monkeypatch):
    kept, runner = [], Runner(clock)
    ends = (End("first calls, graph", how, said, limit=7.0),)
    runner.run = lambda *_: Findings(plan=plan, ends=ends)
    with pytest.raises(NothingToDecide, match=message):
        done(runner, clock, keep=kept.append)
    assert not kept  # an earlier decision stays


def test_an_interruption_keeps_what_was_finished(clock):
    runner, kept = Runner(clock, results=KeyboardInterrupt()), []
    with pytest.raises(KeyboardInterrupt):
        done(runner, clock, keep=kept.append)
    assert [end.part for end in kept[-1].ends] == IN_ORDER[:2]
    assert kept[-1].unfinished


# Time


def test_limits_stay_within_the_budget(clock):
    runner = Runner(clock, seconds=0.0)
    done(runner, clock, budget=100.0)
    for order, limit in zip(runner.orders, runner.limits, strict=True):
        assert order.seconds < limit <= 100
    assert runner.orders[-1].seconds == pytest.approx(90)  # a part that is alone has what is left


def steps(*shares):
    return [Step(f"part {share}", share, lambda found: Order("part")) for share in shares]


def test_a_part_gets_its_share_and_what_others_left():
    known = Findings(budget=100.0, plan=EXAMPLE.plan)
    assert seconds_for(steps(0.2, 0.2, 0.2), known, 100.0) == pytest.approx(30)
    assert seconds_for(steps(0.2, 0.6), known, 30.0) == pytest.approx(20)
    assert seconds_for(steps(0.2), known, 15.0) == pytest.approx(5)
    assert seconds_for(steps(0.2), known, 5.0) == 0


def test_a_part_that_is_not_due_leaves_its_share():
    known = Findings(budget=100.0, plan=EXAMPLE.plan)
    later = Step("later", 0.6, lambda found: None)
    assert seconds_for([*steps(0.2), later], known, 100.0) == pytest.approx(90)
    assert seconds_for([*steps(0.2), later], Findings(budget=100.0), 100.0) < 90


# What is known


def test_first_calls_and_races_and_sentences_stand_once():
    before = Findings(
        first=(FirstCalls("graph", 1), FirstCalls("XLA", 1)),
        raced=(Raced(0, "a.json", {"eager": "x"}), Raced(1, "b.json")),
        left_out=("One.", "Two."),
    )
    more = Findings(
        first=(FirstCalls("XLA", 2),),
        raced=(Raced(0, "a.json", {"XLA": "y"}),),
        left_out=("Two.", "Three."),
    )
    found = joined(before, more)
    assert [(one.label, one.memory) for one in found.first] == [("graph", 1), ("XLA", 2)]
    assert found.raced == (Raced(0, "a.json", {"eager": "x", "XLA": "y"}), Raced(1, "b.json"))
    assert found.left_out == ("One.", "Two.", "Three.")


@pytest.mark.parametrize("files", [("a.json", ""), ("", "a.json")])
def test_a_race_that_timed_nothing_takes_no_times_away(files):
    before, more = (Findings(raced=(Raced(0, file, {"XLA": "y"}),)) for file in files)
    assert joined(before, more).raced == (Raced(0, "a.json", {"XLA": "y"}),)


def test_the_steps_share_the_budget():
    assert all(0 < step.share < 1 for step in STEPS)
    assert len({step.name for step in STEPS}) == len(STEPS)
