"""What a decision says of models that no notebook knows. The gallery holds the truth of each."""

import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from tests.xla_helpers.gallery import GALLERY, Model, by_name
from xla_helpers.deciding import decide as room
from xla_helpers.deciding import work
from xla_helpers.deciding.decide import decide
from xla_helpers.deciding.findings import Peaks, read
from xla_helpers.deciding.standing import differs

MAKERS = Path(__file__).with_name("makers.py")
LIMIT = 180  # seconds that a command may take
BUDGET = "60"
AMPLE = 60  # seconds for a model that is decided about here: none of its parts is left out
UNLIKE = [
    "two_inputs_by_name",
    "dropout_in_training",
    "text_at_the_start",
    "nothing_but_a_side_effect",
    "a_pipeline_that_goes_on",
    "a_saved_model_loaded",
]
REFUSED_BY_COMPARE = r"result\S* holds \d+ NaN.*?give arguments that avoid it"
NO_NUMBER = r"\b(nan|NaN|None|inf|Infinity)\b(?![,\]])"  # in a shape, None is a size
INTERVAL = r"\[([\d.,]+), ([\d.,]+|no end)\]"


@dataclass(frozen=True)
class Told:
    """A decision as a reader finds it in its folder, with the truth about the model."""

    model: Model
    folder: Path

    @cached_property
    def page(self):
        """Its text without the backslashes of markdown."""
        text = (self.folder / "decision.md").read_text(encoding="utf-8")
        return re.sub(r"\\(\W|_)", r"\1", text)

    @cached_property
    def sections(self):
        _, *parts = re.split(r"^## ", self.page, flags=re.MULTILINE)
        return dict(part.split("\n", 1) for part in parts)

    @cached_property
    def findings(self):
        return read(self.folder / "findings.json")

    @property
    def verdict(self):
        """The first line, which names the choice."""
        return re.search(r"^> \*\*(.*)\*\*$", self.sections["Verdict"], re.MULTILINE)[1]

    @property
    def check(self):
        [check] = self.findings.checks_of("plan")
        return check


def numbers_are_numbers(told):
    """A result may well be no number; what was measured is one, and what is not known is said."""
    sections = dict(told.sections)
    assert not re.search(r"(?<![\d.,])0 ?%", told.page)
    assert "traceback" not in told.page.lower()
    del sections["Same result?"], sections["Reproduce"]
    for title, text in sections.items():
        assert not re.search(NO_NUMBER, re.sub(REFUSED_BY_COMPARE, "", text)), title


def nothing_is_said_of_a_gpu(told):
    if "no GPU" in told.findings.machine.values():
        assert "GPU" not in told.page.replace("no GPU", "")


def calls_have_an_interval(told):
    for words, interval in re.findall(r"after ([\d,]+ calls?\b)( \[)?", told.page):
        assert interval, words
    for low, high in re.findall(rf"after [\d,]+ calls? {INTERVAL}", told.page):
        assert high == "no end" or number(low) <= number(high)


def winners_are_clear(told):
    """The interval of what wins holds neither 1 nor the floor; that of what does not, one."""
    found = re.search(INTERVAL, told.verdict)
    if told.verdict.startswith("XLA"):
        assert number(found[1]) >= max(1, told.findings.floor) - 0.005, told.verdict
        value, noise = re.search(r"([\d.]+)x faster than the graph", told.verdict), noise_of(told)
        assert number(value[1]) >= noise
    elif told.verdict.startswith("Undecided: over") and " faster " in told.verdict:
        assert number(found[1]) <= told.findings.floor + 0.005, told.verdict


def noise_of(told):
    found = re.search(r"raced against itself, .* was up to ([\d.]+)x apart", told.page)
    return number(found[1]) if found else 1.0


def number(text):
    return float(text.replace(",", ""))


def modes_are_those_that_ran(told):
    modes = [row.mode for row in told.check.rows]
    assert modes == told.model.modes
    assert told.model.eager or "three modes" not in told.page
    assert told.model.eager or "eager" not in told.page.lower()


def sameness_is_of_something(told):
    text = told.sections["Same result?"]
    for line in text.splitlines():
        assert not re.search(r"(?i)the same (in all|as a graph)", line), line
    if re.search(r"The same (result|values)", text):
        assert told.check.compared and f"Compared: {told.check.names[0]}" in text
    if told.model.agrees:
        assert told.check.agrees


def changed_variables_are_named(told):
    text = told.sections["Same result?"]
    for part in told.model.changes:
        [name, *_] = [name for name in told.check.names if part in name] or [None]
        assert name, f"{part} is not among {told.check.names}"
        assert name in text or "others" in text, name


def draws_are_named(told):
    """Where random numbers are all that sets modes apart, nobody says that XLA differs."""
    text = told.sections["Same result?"]
    for operation, layer in told.model.draws.items():
        place = f" in {layer}" if layer else ""
        assert re.search(f"Random numbers are drawn: {operation}{re.escape(place)}", text)
        assert not re.search("gives other results|result differs", told.sections["Verdict"])
        assert not differs(told.check, "XLA")
    if told.model.draws and not told.model.refused:
        assert re.search("(?i)not decidable|differs from itself|with the same random numbers", text)


def refusals_are_named(told):
    text = told.sections["Refused"]
    for operation, layer in told.model.refused.items():
        assert f"| {operation} | {layer} |".replace("|  |", "|") in text.replace("|  |", "|")
        assert operation in told.verdict
        assert re.match("graph|Undecided|XLA in ", told.verdict)
    if not told.model.refused:
        assert "XLA refuses" not in text and "does not support" not in told.page
        assert re.match(r"\s*Nothing: XLA compiled it", text)


def lasting_changes_are_named(told):
    for part in told.model.kept:
        assert re.search(f"(?i)- Not put back: .*{part}", told.sections["Same result?"]), part


def differences_are_the_graphs_own(told):
    """A graph that is no more like eager mode than XLA is tells nothing about XLA."""
    if told.model.same or told.model.draws or told.model.refused:
        return
    assert not told.check.agrees
    assert "XLA gives other results" not in told.page
    assert "graph gives other results than eager mode" in told.sections["Verdict"]


def parts_came_to_an_end(told):
    assert {end.how for end in told.findings.ends} <= {"finished", "left out", "time"}
    assert not told.findings.unfinished and "Not finished" not in told.page


def the_page_needs_no_other_file(told):
    html = (told.folder / "decision.html").read_text(encoding="utf-8")
    assert told.findings.plan.shapes[0].arguments[0] in html
    assert not re.search(r'(?:src|href)="(?!data:|#)', html)


def what_was_left_out_is_said(told):
    for end in told.findings.ends:
        assert end.how == "finished" or end.part in told.sections["Verdict"]


CLAIMS = [
    numbers_are_numbers,
    nothing_is_said_of_a_gpu,
    calls_have_an_interval,
    winners_are_clear,
    lasting_changes_are_named,
    parts_came_to_an_end,
    the_page_needs_no_other_file,
    what_was_left_out_is_said,
]
OF_RESULTS = [
    modes_are_those_that_ran,
    sameness_is_of_something,
    changed_variables_are_named,
    draws_are_named,
    refusals_are_named,
    differences_are_the_graphs_own,
]


def assert_true(told: Told):
    """Try every claim, and show all that are broken at once."""
    broken = []
    for claim in CLAIMS + (OF_RESULTS if told.findings.checks_of("plan") else []):
        try:
            claim(told)
        except AssertionError as error:
            broken.append(f"{claim.__name__}: {error}")
    assert not broken, "\n".join([told.model.name, *broken])


@pytest.fixture
def quick(pictures_in_the_end, short_races, short_measures, monkeypatch):
    """How busy the machine is and what it reaches have tests of their own."""
    monkeypatch.delenv("XLA_RESULTS", raising=False)
    monkeypatch.setattr(room, "busy_cores", lambda: 0.25)
    monkeypatch.setattr(work, "measure_peaks", lambda: Peaks(50e9, 10e9))


@pytest.mark.parametrize("name", UNLIKE)
def test_models_decided_about_here(name, tf, keep_log, quick, tmp_path):
    keep_log()
    fn, args, kwargs = by_name(name).build(tf)
    decide(fn, [args], kwargs=kwargs, budget=AMPLE, folder=tmp_path)
    assert_true(Told(by_name(name), tmp_path))


def test_the_number_of_one_shape_is_not_that_of_a_stream(tf, quick, tmp_path):
    batches = (tf.ones([size, 4]) for size in (2, 3, 3, 5))
    decision = decide(lambda x: tf.tanh(x) + 1.0, batches, budget=AMPLE, folder=tmp_path)
    [line, *_] = decision.choice.lines
    all_of_it, some = "over 10,000 calls of 3 shapes", "of 10,000 calls whose shapes were raced"
    assert (all_of_it if len(decision.races) == 3 else some) in line or "not timed" in line
    page = (tmp_path / "decision.md").read_text(encoding="utf-8")
    assert "4 example calls, which came in 3 shapes" in page


@pytest.mark.gallery
@pytest.mark.parametrize("name", [model.name for model in GALLERY])
def test_models_given_to_the_command(name, tmp_path, monkeypatch):
    monkeypatch.delenv("XLA_RESULTS", raising=False)
    command = [sys.executable, "-m", "xla_helpers", "decide", f"{MAKERS}:{name}"]
    command += ["--budget", BUDGET, "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    told = Told(by_name(name), tmp_path)
    assert told.check
    assert_true(told)
