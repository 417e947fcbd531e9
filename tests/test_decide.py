"""`xla-decide`: a page about a model in a file, and an exit code."""

import functools
import json
import re
import subprocess
import sys
from dataclasses import replace

import decision_schema
import jsonschema
import pytest

import xla_decide as xd
from xla_decide import command, decision_file, page
from xla_decide.costs import Cost, ProcessResult
from xla_decide.gpu.launches import Launch
from xla_decide.gpu.target_programs import Memory, TargetProgram
from xla_decide.page import answer, html_of, tiles
from xla_decide.rivals.table import Rival, Rivals
from xla_helpers.comparisons import Comparison
from xla_helpers.differences import Difference
from xla_helpers.timing import Block, Measurement

RUN = "from xla_decide.command import run; run()"
MODEL = """
import numpy as np
import tensorflow as tf


def make():
    return tf.tanh, [np.ones([3, 4], "float32")], {"calls": 77, "budget": 0.1}
"""


def cost(call, per_new=0.0, new=1):
    return Cost(call, 1.1 * call, 0.9 * call, per_new, 20, new, 0)


def decision(xla, processes=6, **facts):
    costs = {"graph": cost(2e-3), "XLA": xla} if xla else {}
    objections = {"XLA": "" if xla else "is refused: AsString"}
    given = {"objections": objections} | facts
    found = ProcessResult("a machine", {"float32[3]": 1.0}, costs, **given)
    return xd.Decision((found,) * processes, 10_000, 1.05)


FAST, SLOW = cost(1e-3, per_new=0.5), cost(4e-3)
UNSURE = {"not_compared": {"XLA": "random numbers are drawn"}}


@pytest.mark.parametrize(
    ("made", "begins", "says"),
    [
        (decision(FAST), "Yes: switch XLA on", "2 ms → 1 ms in the graph and with XLA"),
        (decision(FAST), "Yes", "repaid after 500 calls"),
        (decision(FAST), "Yes", "over 6 processes"),
        (decision(FAST), "Yes", "Results agree"),
        (decision(FAST, **UNSURE), "Yes", "Results not compared"),
        (decision(FAST, **UNSURE), "Yes", "if you trust its results, which were not compared"),
        (decision(SLOW, processes=1), "No: keep the graph", "times as slow in one process"),
        (decision(cost(1e-3, per_new=9.0, new=9)), "No: keep the graph", "2 ms → 1 ms"),
        (decision(cost(1.9e-3), processes=1), "Not decided", "less than 1.05 times is no gain"),
        (decision(None), "No: keep the graph", "XLA is refused: AsString"),
        (decision(None, inconclusive="the graph runs XLA"), "No verdict", "The graph runs XLA"),
        (
            decision(Cost(1e-3, 1e-3, 1e-3, 0.1, 20, 10, 10)),
            "It depends on your calls",
            "if new ones keep coming",
        ),
        (
            decision(FAST, objections={"XLA": "differs from the graph"}),
            "No: keep the graph. XLA differs",
            "It would be 1.90 to 1.90 times as fast",
        ),
        (
            decision(SLOW, objections={"XLA": "differs from the graph"}),
            "No: keep the graph. XLA is 2.00 to 2.00 times as slow",
            "And it differs from the graph. A call 2 ms → 4 ms",
        ),
        (
            decision(Cost(2e-3, 3e-3, 1e-3, 0, 9, 1, 0), processes=1),
            "No: keep",
            "no difference is seen",
        ),
    ],
)
def test_the_page_answers_first(made, begins, says):
    head, sums = answer(made)
    shown_tiles = tiles(made)
    said = " ".join([head, sums, *(" ".join(tile) for tile in shown_tiles)])
    assert said.startswith(begins) and says in said and head.endswith(".")
    assert sums.endswith(".") or shown_tiles
    text = re.sub("</?(?:strong|span)>", "", html_of(made, "<mine>.py:make"))
    shown = sums or shown_tiles[0][1]
    assert text.index(head) < text.index(shown) < text.index("<h2>") and "<mine>" not in text
    assert text.count("<svg ") == bool(shown_tiles or made.has_two_sums)
    assert text.count("<i style") == len(made.findings) * bool(shown_tiles or made.has_two_sums)


def test_each_shape_has_a_row_of_its_own():
    calls = {"float32[3]": {"graph": 1e-3, "XLA": 2e-3}, "float32[9]": {"graph": 3e-3, "XLA": 1e-3}}
    found = decision(FAST, by_shape=calls)
    one = replace(found.findings[0], shapes={"float32[3]": 0.25, "float32[9]": 0.75})
    text = html_of(replace(found, findings=(one,)), "mine.py:make")
    rows = "<td>25%</td><td>1 ms</td><td>2 ms, 2.00x slower</td>", "<td>1 ms, 3.00x faster</td>"
    assert all(row in text for row in rows)


def test_the_manual_is_linked_where_the_project_has_an_address(monkeypatch):
    found = decision(SLOW)
    assert any("docs/messages.md#slower-when-compiled" in note for note in found.notes)
    assert "the row “slower when compiled” of docs/messages.md" in html_of(found, "mine.py:make")
    monkeypatch.setattr(page, "_manual", lambda: "https://github.com/me/notes/messages.md#")
    link = '<a href="https://github.com/me/notes/messages.md#slower-when-compiled">'
    assert link in html_of(found, "mine.py:make")


def test_the_reason_and_warnings_stand_on_the_first_screen():
    found = decision(SLOW, why="Under XLA 3 of 4 ms are in `mix`.", warnings=("Look here.",))
    page = html_of(found, "mine.py:make")
    places = [page.index(x) for x in ("keep the graph", "in <code>mix</code>", "Look here", "<h2>")]
    assert places == sorted(places) and page.count("<code>mix</code>") == 1
    assert "were not compared: random" in html_of(decision(FAST, **UNSURE), "mine.py:make")


@pytest.mark.parametrize(
    "made",
    [
        decision(FAST),
        decision(FAST, processes=1, **UNSURE),
        decision(None),
        decision(Cost(1e-3, 2e-3, 1e-4, 0.1, 20, 10, 10)),
        decision(None, inconclusive="the graph runs XLA"),
    ],
)
def test_a_decision_is_json_that_its_schema_describes(made):
    found = json.loads(decision_file.in_json(made, "mine.py:make", "An answer."))
    jsonschema.validate(found, json.loads(decision_file.schema()))
    assert found["verdict"] == made.verdict and found["gains"].keys() == made.gains.keys()
    assert len(found["processes"]) == len(made.findings)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found | {"calls": "many"}, json.loads(decision_file.schema()))


def test_the_schema_is_that_of_the_classes():
    writes = ".venv/bin/python tools/decision_schema.py writes it"
    assert decision_schema.SCHEMA.read_bytes() == decision_file.schema(), writes


@pytest.mark.parametrize(
    ("made", "expect", "code"),
    [
        (decision(FAST), None, 0),
        (decision(FAST), "XLA", 0),
        (decision(FAST), "graph", 1),
        (decision(SLOW), "graph", 0),
        (decision(FAST, **UNSURE), None, 0),
        (decision(FAST, **UNSURE), "XLA", 3),
        (decision(SLOW, **UNSURE), "graph", 0),
    ],
)
def test_results_that_were_not_compared_have_a_code_of_their_own(made, expect, code, capsys):
    assert command.code_of(made, expect) == code
    assert bool(capsys.readouterr().err) == bool(code)


def test_help_tells_the_forms_of_an_example_and_the_codes(capsys):
    with pytest.raises(SystemExit):
        command.main(["--help"])
    said = capsys.readouterr().out
    assert said.count("model(") >= 4 and "(x, labels, weights)" in said and "exit codes" in said


def test_a_decision_is_a_page_and_an_exit_code(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("decide_file", "compile_file"):  # once for both codes
        monkeypatch.setattr(command, name, functools.cache(getattr(xd, name)))
    (tmp_path / "mine.py").write_text(MODEL)
    words = ["mine.py:make", "--runs", "1", "--calls", "1"]
    page = tmp_path / "xla-decide/mine-make.html"
    assert command.main(words) == 0
    progress, *compiled, where = capsys.readouterr().out.splitlines()
    (verdict,) = (x for x in compiled if x.startswith("graph: XLA is "))
    assert progress.startswith("process 1 of 1")
    check_compiled([x for x in compiled if x != verdict and not x.startswith("process 1 of 1")])
    assert where == "open xla-decide/mine-make.html"
    shown = page.read_text(encoding="utf-8")
    assert "Does XLA pay for mine.py:make?" in shown and "float32[3, 4]" in shown
    assert ("<td>A100</td>\n<td>1 launch</td>\n<td>96 B</td>" in shown) == (len(compiled) > 1)
    assert "Before, on" not in shown and "xla-decide mine.py:make --runs 1 --calls 1" in shown
    assert command.main([*words, "--expect", "XLA"]) == 1
    assert f": {verdict}" in page.read_text(encoding="utf-8").partition("Before, on")[2]
    assert capsys.readouterr().err == "xla-decide: XLA was expected\n"
    kept = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    assert (kept["verdict"], kept["choice"]) == (verdict, "graph")
    assert len(kept["compiled_for"]) == 3 * (len(compiled) > 1) or kept["not_compiled"]


def check_compiled(lines):
    """What was said of cards that are not there, after the processes and before the verdict."""
    if sys.platform != "linux":
        (line,) = lines
        assert line.startswith("Not compiled for GPUs: ") and "`make set-up` installs it" in line
        return
    waits, titles = lines[:-3], lines[-3:]  # there is more than one where it takes long
    assert waits and all(x.startswith("compiling for T4, A100, H100: ") for x in waits)
    for card, title in zip(["T4", "A100", "H100"], titles, strict=True):
        what = f"{card}: 1 operation traced, 1 launch a call, no least time; 96 B of memory, of "
        assert title.startswith(what)
        assert title.endswith(" GB: fits. Compiled, not run.")


def test_a_card_is_named_and_what_the_card_chooses_is_a_range(monkeypatch):
    def compiled(model, target):
        launch = Launch("exp", ("exp",), None, None, "kCustomKernel", chosen=True)
        (card,) = (one for one in xd.targets().cards if one.name == target[0])
        memory, less = Memory(10**12, 0, 0, 0), Memory(10**9, 10**9, 0, 10**9)
        few, many = (launch,), (launch, replace(launch, inside="while"), launch)
        return (TargetProgram(card, few, many, memory, less, 1, 2, None, "XLA", 9, None),)

    monkeypatch.setattr(command, "compile_file", compiled)
    programs, why = command.compiled_for("mine.py:make", ["B200"], {})
    page = html_of(decision(FAST), "mine.py:make", programs, why)
    assert "<td>B200</td>\n<td>1 to 2 launches</td>\n" in page and "bytes moved" not in page
    assert "<td>1 GB to 1 TB of 192 GB: does not fit" in page
    assert not why and page.index("Compiled for, not run") > page.index("Other plans")


def test_other_runtimes_stand_on_the_page_and_in_the_json():
    measured = {x: Measurement.of(x, 0.1, [Block(y, None)] * 9, 1) for x, y in TWO.items()}
    found = Comparison(measured, {"graph": Difference(), "LiteRT": Difference(6e-3)})
    started = [Rival("graph"), Rival("LiteRT", note="2.3.0", disk=2000), Rival("ONNX", "no Erfc")]
    rivals = Rivals(tuple(Rival.raced(row, found) for row in started), found, "float32[3]", 2)
    made = decision(FAST)
    shown = html_of(made, "mine.py:make", rivals=rivals)
    for words in ("differ, 0.006", "3.00x faster", "2 kB", "ONNX: no Erfc", "with 2 threads"):
        assert words in shown, words
    kept = json.loads(decision_file.in_json(made, "mine.py:make", "An answer.", rivals=rivals))
    jsonschema.validate(kept, json.loads(decision_schema.SCHEMA.read_bytes()))
    assert [row["speedup"] for row in kept["rivals"]] == [1.0, 3.0, None]
    why = "Not raced in other runtimes: a training step"
    assert why in html_of(made, "mine.py:make", no_rivals=why)


TWO = {"graph": 3.0, "LiteRT": 1.0}


def test_a_gpu_can_be_asked_alone(tmp_path, monkeypatch, capsys):
    asked = []

    def compiled(model, target):
        asked.append(target)
        raise ValueError("XLA does not take it")

    monkeypatch.setattr(command, "compile_file", compiled)
    (tmp_path / "mine.py").write_text(MODEL)
    words = [f"{tmp_path}/mine.py:make", "--compile-only", "--target", "h200", "--target", "T4"]
    assert command.main(words) == 1 and asked == [["H200", "T4"]]
    assert capsys.readouterr().out == "Not compiled for GPUs: XLA does not take it\n"


def test_why_nothing_was_compiled_stands_on_the_page(monkeypatch):
    def fails(model):
        raise ValueError("XLA does not take it")

    monkeypatch.setattr(command, "compile_file", fails)
    programs, why = command.compiled_for("mine.py:make", None, {})
    assert "GPUs: XLA does not take it" in html_of(decision(FAST), "mine.py:make", programs, why)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["missing.py:make"], 2, "no file for 'missing.py:make'"),
        (["mine.py"], 2, "no function for 'mine.py'"),
        (["mine.ipynb"], 2, "'mine.ipynb' is a notebook"),
        (["mine.ipynb:make"], 2, "'mine.ipynb' is a notebook"),
        (["mine.py:make", "--calls", "many"], 2, "--calls"),
        (["mine.py:make", "--expcet", "XLA"], 2, "--expcet"),
        (["mine.py:make", "--target", "H3000"], 2, "T4', 'A100', 'H100', 'H200', 'B200'"),
        (["mine.py:make", "--runs", "3"], 1, "1, or at least 6"),
        (["mine.py:other"], 1, "other"),
    ],
)
def test_what_makes_no_sense_is_told_in_a_line(tmp_path, words, code, says):
    (tmp_path / "mine.py").write_text("make = None")  # nothing here comes as far as TensorFlow
    done = subprocess.run(
        [sys.executable, "-c", RUN, *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == code and says in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
