"""The command `python -m xla_helpers`: decide for a model, and tell a CI job what came out."""

import argparse
import sys
import traceback
from pathlib import Path

from .devices import UNSEEN, hidden_accelerator
from .errors import headline

DONE, OTHERWISE, UNUSABLE, OPEN, BROKEN, INTERRUPTED = 0, 1, 2, 3, 70, 130
"""Exit codes: of `decide`, as its help says them, and after Ctrl-C."""

EXAMPLE = """\
my_model.py holds a function without arguments, which makes what is decided about:

    import tensorflow as tf

    def make():
        model = tf.keras.Sequential([tf.keras.Input((32,)), tf.keras.layers.Dense(8)])
        batches = [tf.random.normal([16, 32])] * 9 + [tf.random.normal([5, 32])]
        return model, batches

    python -m xla_helpers decide my_model:make

The shapes of the example calls, and how often each comes, are the plan. A third value may be a
dict of options, such as {"step": True, "worst": [...]}; see `xla_helpers.decide`.

exit codes: 0 done, and as expected; 1 another choice than expected; 2 it cannot be called, or the
arguments make no sense; 3 undecided where a choice was expected; 70 a fault of this command;
130 interrupted. A GPU that TensorFlow does not see changes none of them: a line on stderr says so.
"""


def main(words: list[str] | None = None) -> int:
    """Run the command. words: those after its name. Returns: the exit code."""
    top = parser()
    options = top.parse_args(words)
    if options.command is None:
        top.print_help()
        return DONE
    try:
        return _decide(options)
    except (TypeError, ValueError, OSError) as error:
        print(f"decide: {_line(error)}", file=sys.stderr)
        return UNUSABLE
    except Exception:
        traceback.print_exc()
        return BROKEN
    except KeyboardInterrupt:
        print("decide: interrupted; the page holds what was finished, if any", file=sys.stderr)
        return INTERRUPTED


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    top = argparse.ArgumentParser(prog="python -m xla_helpers", description="XLA for TensorFlow.")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    decide = commands.add_parser(
        "decide",
        help="does XLA pay for a model, with its shapes, on this machine?",
        description="Does XLA pay for a model, with its shapes, on this machine?",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_options(decide)
    return top


def _add_options(decide):
    number = {"type": float, "metavar": "NUMBER"}
    decide.add_argument(
        "model",
        metavar="MODEL",
        help='"module:function" or "path/file.py:function"; the function returns model and calls, '
        "or the folder of a SavedModel and calls",
    )
    decide.add_argument("--calls", type=_whole, metavar="N", help="calls in all (10,000)")
    decide.add_argument("--budget", type=float, metavar="SECONDS", help="for everything (120)")
    decide.add_argument("--tolerance", **number, help="relative difference of results (1e-4)")
    decide.add_argument("--floor", **number, help="times faster that XLA must be (1.05)")
    decide.add_argument(
        "--pad",
        type=_sizes,
        metavar="SIZES",
        help="pad with zeros: 8 to the next multiple of 8, 16,32,64 to the next of these",
    )
    decide.add_argument(
        "--step", action="store_true", default=None, help="it is a training step, or has one"
    )
    decide.add_argument("--expect", choices=("graph", "XLA"), help="else the exit code is not 0")
    decide.add_argument("--out", type=Path, metavar="FOLDER", help="for the page (below decisions)")


def _whole(text):
    return int(text.replace(",", "").replace("_", ""))


def _sizes(text):
    sizes = [int(size) for size in text.split(",") if size.strip()]
    if not sizes:
        raise ValueError(text)
    return sizes if "," in text else sizes[0]


_whole.__name__, _sizes.__name__ = "number", "size"  # as argparse says what a text is not


def _decide(options):
    from .deciding.decide import decide

    names = ("calls", "budget", "tolerance", "floor", "pad", "step")
    given = {name: getattr(options, name) for name in names}
    given = {name: value for name, value in given.items() if value is not None}
    hidden = hidden_accelerator()
    _warn(hidden)
    decision = decide(options.model, folder=options.out, **given)
    print(decision, decision.page, sep="\n")
    if not hidden and UNSEEN in decision.findings.machine.values():
        _warn(f"There is an {UNSEEN}. What was found is of the processor alone.")
    return exit_code(decision.label, options.expect)


def _warn(sentence):
    if sentence:
        print(f"decide: {sentence}", file=sys.stderr)


def exit_code(label: str, expected: str | None) -> int:
    """What a CI job can act on.

    label: of what was chosen, "" for undecided. expected: "graph", "XLA" in any of its forms, or
    None for no expectation.
    """
    if expected is None:
        return DONE
    if not label:
        return OPEN
    return DONE if label.split(",")[0].split(" ")[0] == expected else OTHERWISE


def _line(error):
    """An error of ours is a sentence; of any other its type counts, too."""
    ours = type(error) in (TypeError, ValueError) or type(error).__module__.startswith(__package__)
    return " ".join(str(error).split()) if ours else headline(error)
