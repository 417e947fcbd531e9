"""The command: words in, lines and an exit code out. What decides is a stand-in."""

from types import SimpleNamespace

import pytest

from xla_helpers import command
from xla_helpers.command import exit_code, main
from xla_helpers.deciding import decide as room
from xla_helpers.devices import UNSEEN


@pytest.fixture
def decided(monkeypatch):
    """What `decide` was given. Its choice is what a test puts into `label`, or raises."""
    seen = SimpleNamespace(label="XLA", error=None, accelerators="no GPU")
    monkeypatch.setattr(command, "hidden_accelerator", lambda: "")

    def decide(what, **given):
        seen.what, seen.given = what, given
        if seen.error:
            raise seen.error
        findings = SimpleNamespace(machine={"accelerators": seen.accelerators})
        return SimpleNamespace(label=seen.label, page="decision.html", findings=findings)

    monkeypatch.setattr(room, "decide", decide)
    return seen


def test_without_words_it_says_what_there_is(capsys):
    assert main([]) == 0
    assert "decide" in capsys.readouterr().out


def test_its_help_holds_a_model_that_runs(capsys, tf):
    with pytest.raises(SystemExit) as ended:
        main(["decide", "-h"])
    assert ended.value.code == 0
    assert command.EXAMPLE in capsys.readouterr().out
    lines = command.EXAMPLE.split("decided about:\n")[1].split("    python -m")[0].splitlines()
    names = {}
    exec("\n".join(line.removeprefix("    ") for line in lines), names)
    model, batches = names["make"]()
    assert model(batches[0]).shape == (16, 8) and len(batches) == 10


def test_words_become_arguments(decided):
    words = ["decide", "m:f", "--calls", "10,000", "--budget", "60", "--tolerance", "0", "--floor"]
    assert main([*words, "1.2", "--pad", "16,32", "--step", "--out", "here"]) == 0
    assert decided.what == "m:f"
    assert decided.given == {
        "calls": 10_000,
        "budget": 60.0,
        "tolerance": 0.0,
        "floor": 1.2,
        "pad": [16, 32],
        "step": True,
        "folder": room.Path("here"),
    }


def test_what_is_not_said_is_left_to_the_maker(decided):
    assert main(["decide", "m:f", "--pad", "8"]) == 0
    assert decided.given == {"pad": 8, "folder": None}
    assert main(["decide", "m:f", "--pad", "8,"]) == 0
    assert decided.given["pad"] == [8]


def test_a_fault_of_the_command_is_no_verdict(decided, capsys):
    decided.error = RuntimeError("something broke")
    assert main(["decide", "m:f", "--expect", "XLA"]) == command.BROKEN
    assert "something broke" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", ["decid", "decide", "decide m:f --calls 3x", "decide m:f --expect x"]
)
def test_words_that_make_no_sense(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    assert ended.value.code == 2
    assert "error:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("label", "expected", "code"),
    [
        ("XLA", None, 0),
        ("", None, 0),
        ("graph", "graph", 0),
        ("XLA", "XLA", 0),
        ("XLA, padded", "XLA", 0),
        ("XLA in body/dense", "XLA", 0),
        ("XLA", "graph", 1),
        ("XLA in graph", "graph", 1),
        ("graph", "XLA", 1),
        ("", "XLA", 3),
        ("", "graph", 3),
    ],
)
def test_exit_codes(label, expected, code, decided):
    assert exit_code(label, expected) == code
    decided.label = label
    assert main(["decide", "m:f", *(["--expect", expected] if expected else [])]) == code


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ValueError("no module\nnamed x"), 2, "decide: no module named x"),
        (TypeError("`pad` is str"), 2, "decide: `pad` is str"),
        (
            FileExistsError(17, "File exists", "decisions"),
            2,
            "decide: FileExistsError: [Errno 17] ",
        ),
        (KeyboardInterrupt(), 130, "decide: interrupted; the page holds what was finished"),
    ],
)
def test_errors_are_one_line(error, code, line, decided, capsys):
    decided.error = error
    assert main(["decide", "m:f"]) == code
    said = capsys.readouterr().err
    assert said.startswith(line) and said.count("\n") == 1


def test_a_device_that_is_not_used_is_named_whoever_finds_it(decided, monkeypatch, capsys):
    assert main(["decide", "m:f"]) == 0
    assert capsys.readouterr().err == ""
    decided.accelerators = UNSEEN
    assert main(["decide", "m:f"]) == 0
    said = f"decide: There is an {UNSEEN}. What was found is of the processor alone.\n"
    assert capsys.readouterr().err == said
    monkeypatch.setattr(command, "hidden_accelerator", lambda: "There is one, for a reason.")
    assert main(["decide", "m:f"]) == 0
    assert capsys.readouterr().err == "decide: There is one, for a reason.\n"
