"""`decide` as a reader calls it, on runs that were made by hand, and one that is real."""

import json
import re
from dataclasses import replace

import pytest

from tests.xla_helpers.deciding.examples import findings, races
from xla_helpers.deciding import decide as room
from xla_helpers.deciding.decide import Decision, decide, slug
from xla_helpers.deciding.findings import End, Findings, Raced, read
from xla_helpers.results import read_results, record

KNOWN = findings()
NAME = "[a-z0-9-]{1,60}"  # what a result may be called
FAST = {"eager": 3e-4, "graph": 1e-4, "XLA": 5e-5}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XLA_RESULTS", raising=False)
    monkeypatch.setattr(room, "busy_cores", lambda: 0.25)


@pytest.fixture
def made_by_hand(tf, no_pictures, monkeypatch):
    """Puts a runner in place that finds what a test says. Returns: what it was made of."""
    seen = []

    class Runner:
        isolated = True

        def __init__(self, *given):
            seen.append(given)

        def run(self, order, limit, plan):
            known = Findings(plan=KNOWN.plan, calls=500, ends=(End(order.part, "finished"),))
            if order.part.startswith("first calls"):
                return replace(known, first=tuple(x for x in KNOWN.first if x.label == order.label))
            if order.part == "race 1":
                raced = races(FAST, FAST)[0].comparison
                path = record("decide-0", raced, "a model, float32[16, 10]", order.folder, runs=9)
                return replace(known, raced=(Raced(0, path.name),))
            if order.part == "work" and seen[0][0] == "interrupted:make":
                raise KeyboardInterrupt
            return known

    def stop(*_):
        raise AssertionError

    monkeypatch.setattr(room, "Processes", Runner)
    monkeypatch.setattr(room, "here", stop)
    return seen


def test_all_of_it_is_written(made_by_hand, pictures_in_the_end, tmp_path):
    decision = decide("my_model:make", calls=500)
    folder = tmp_path / "decisions" / slug("my_model:make")
    assert decision.folder.resolve() == folder
    assert decision.page.resolve() == folder / "decision.html"
    assert {"decision.md", "decision.html", "findings.json"} <= {p.name for p in folder.iterdir()}
    assert read(folder / "findings.json") == decision.findings
    assert (folder / "results" / decision.findings.raced[0].file).is_file()


def test_what_is_known_beforehand(made_by_hand):
    found = decide("my_model:make", calls=500, budget=60).findings
    assert found.name == "my_model:make"
    assert found.command == "python -m xla_helpers decide my_model:make --calls 500 --budget 60"
    assert (found.budget, found.isolated, found.load) == (60.0, True, (0.25, 0.25))
    assert not found.unfinished


def test_only_what_is_given_travels(made_by_hand):
    decide("my_model:make", step=False, tolerance=0.0)
    [(reference, batches, options, _, memory)] = made_by_hand
    assert (reference, batches) == ("my_model:make", None)
    assert options == {"step": False, "tolerance": 0.0}
    assert memory > 0


def test_a_decision_shows_its_three_lines(made_by_hand):
    decision = decide("my_model:make")
    assert tuple(repr(decision).splitlines()) == decision.choice.lines
    assert decision.verdict == repr(decision)
    assert decision.label == decision.choice.label


def test_the_same_measurements_for_another_plan():
    decision = Decision(findings(calls=1_000_000), races(FAST, FAST), room.Path("here"))
    assert decision.over(10).label == "graph"
    assert decision.over(10).findings.calls == 10 and decision.findings.calls == 1_000_000
    with pytest.raises(ValueError, match="`calls` is 0"):
        decision.over(0)


def test_a_decision_reads_its_own_findings():
    decision = Decision(findings(calls=1_000_000), races(FAST, FAST), room.Path("here"))
    assert decision.label == "XLA"
    assert decision.costs.ratio("XLA").value == pytest.approx(2)
    assert repr(decision.section("Speed")).startswith("## Speed")
    with pytest.raises(ValueError, match="`title` is 'Sped': give one of Verdict, What ran"):
        decision.section("Sped")


def test_an_interruption_leaves_the_finished_sections(made_by_hand, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        decide("interrupted:make")
    folder = tmp_path / "decisions" / slug("interrupted:make")
    left = read(folder / "findings.json")
    assert left.unfinished
    assert [end.part for end in left.ends][-1] == "race 1"
    assert "not finished" in (folder / "decision.md").read_text().lower()


def test_races_of_an_earlier_decision_do_not_count(made_by_hand, tmp_path):
    first = decide("my_model:make", folder="here")
    (tmp_path / "here" / "results" / "mine.json").write_text("{}")
    record("decide-7", races(FAST)[0].comparison, "earlier", tmp_path / "here" / "results")
    again = decide("my_model:make", folder="here")
    assert [len(one.races[0].runs) for one in (first, again)] == [1, 1]
    names = {path.name for path in (tmp_path / "here" / "results").iterdir()}
    assert names == {"mine.json", again.findings.raced[0].file}


def test_what_cannot_be_made_leaves_an_earlier_page(made_by_hand, monkeypatch, tmp_path):
    decide("my_model:make", folder="here")
    before = (tmp_path / "here" / "decision.md").read_text()
    failed = Findings(ends=(End("first calls, graph", "failed", "no module named x"),))
    monkeypatch.setattr(room.Processes, "run", lambda *_: failed)
    with pytest.raises(ValueError, match="^no module named x$"):
        decide("my_model:make", folder="here")
    assert (tmp_path / "here" / "decision.md").read_text() == before
    assert list((tmp_path / "here" / "results").glob("decide-*.json"))


def test_races_are_recorded_for_the_report_where_somebody_says_where(
    made_by_hand, monkeypatch, tmp_path
):
    monkeypatch.setenv("XLA_RESULTS", str(tmp_path / "all"))
    for _ in range(2):
        decide("my_model:make")
    [result], skipped = read_results(tmp_path / "all")
    assert not skipped
    name = f"decide-{slug('my_model:make')}"
    assert (result.name, len(result.runs)) == (name, 1)
    assert result.path.name.startswith(f"{name}.")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("my_model:make", "my-model-make-[0-9a-f]{8}"),
        ("../a b/Größe.py:make", "a-b-gr-e-py-make-[0-9a-f]{8}"),
        ("the function", "the-function-[0-9a-f]{8}"),
        ("模型", "model-[0-9a-f]{8}"),
        ("dense", "dense"),
        ("dense-2", "dense-2"),
    ],
)
def test_names_of_folders(name, expected):
    assert re.fullmatch(expected, slug(name))
    assert re.fullmatch(NAME, f"decide-{slug(name)}")


def test_no_two_names_have_one_folder():
    names = ("models/a.py:make", "models_a.py:make", "models-a-py-make", "网络甲:make")
    names += ("网络乙:make", "make", "Make", "-make")
    assert len({slug(name) for name in names}) == len(names)


def test_long_names_keep_their_ends_and_stay_apart():
    a, b = (slug(f"/home/{'x' * 60}/models/{name}.py:make") for name in "ab")
    assert a != b and "models-a-py-make" in a
    assert max(len(a), len(b)) <= 40 and re.fullmatch(NAME, f"decide-{a}")


def test_a_folder_with_files_of_others_is_left_alone(made_by_hand, tmp_path):
    (tmp_path / "speed.png").write_bytes(b"mine")
    with pytest.raises(ValueError, match="holds other files"):
        decide("my_model:make", folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["speed.png"]


def test_a_folder_of_another_model_is_left_alone(made_by_hand, tmp_path):
    decide("a:make", folder="here")
    with pytest.raises(ValueError, match="about 'a:make', and this one is about 'b:make'"):
        decide("b:make", folder="here")
    assert read(tmp_path / "here" / "findings.json").name == "a:make"
    decide("a:make", calls=7, folder="here")


def test_two_decisions_at_once_do_not_mix(made_by_hand, monkeypatch, tmp_path):
    run, said = room.Processes.run, []

    def meanwhile(*given):
        if not said:
            with pytest.raises(ValueError, match="another decision is being written") as refused:
                decide("my_model:make", folder="here")
            said.append(str(refused.value))
        return run(*given)

    monkeypatch.setattr(room.Processes, "run", meanwhile)
    assert not decide("my_model:make", folder="here").findings.unfinished
    assert len(said) == 1


def test_what_cannot_be_made_leaves_no_folder(made_by_hand, monkeypatch, tmp_path):
    failed = Findings(ends=(End("first calls, graph", "failed", "no module named x"),))
    monkeypatch.setattr(room.Processes, "run", lambda *_: failed)
    with pytest.raises(ValueError, match="^no module named x$"):
        decide("my_model:make")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("what", "options", "error", "message"),
    [
        (3, {}, TypeError, "`what` is int: give a model, a function, or a text such as"),
        ("  ", {}, ValueError, "`what` is empty: give a model"),
        ("m:f", {"calls": 0}, ValueError, "`calls` is 0: give a number above zero"),
        ("m:f", {"calls": 1.5}, ValueError, "`calls` is 1.5: give a whole number"),
        ("m:f", {"tolerance": -1}, ValueError, "`tolerance` is -1: give a number"),
        ("m:f", {"floor": "x"}, ValueError, "`floor` is 'x': give a number above zero"),
        ("m:f", {"budget": 0}, ValueError, "`budget` is 0: give a number above zero"),
        ("m:f", {"budget": float("inf")}, ValueError, "`budget` is inf: give a number above zero"),
        ("m:f", {"pad": lambda x: x}, TypeError, "`pad` cannot be given to a fresh process"),
        ("m:f", {"batches": "x"}, TypeError, "`batches` is one str: put it in a list"),
    ],
)
def test_arguments_that_make_no_sense(what, options, error, message, tmp_path):
    with pytest.raises(error, match=message):
        decide(what, **options)
    assert not (tmp_path / "decisions").exists()


def test_a_live_object_from_end_to_end(tf, pictures_in_the_end, short_races, tmp_path):
    w = tf.random.stateless_normal([64, 64], seed=(1, 2))

    def dense(x):
        return tf.nn.relu(x @ w)

    decision = decide(dense, [tf.ones([8, 64])], calls=1000, budget=60, folder=tmp_path / "live")
    found = decision.findings
    assert not found.isolated and found.command == ""
    assert [end.part for end in found.ends][:3] == [
        "first calls, graph",
        "first calls, XLA",
        "results",
    ]
    assert {one.label for one in found.first} >= {"graph", "XLA"}
    assert json.loads((tmp_path / "live" / "findings.json").read_text())["calls"] == 1000
    assert decision.label in ("", "graph", "XLA")
