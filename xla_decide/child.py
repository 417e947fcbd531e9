"""A process that studies a model in a file as its own process would run it, and writes lines."""

import faulthandler
import os
import sys
import traceback
from pathlib import Path

import msgspec

from xla_helpers.errors import headline
from xla_helpers.machine import describe_machine
from xla_helpers.startup import prepare_tensorflow

from .on_cards import compile_example
from .plan import Plan
from .process_words import result_of
from .protocol import CALL_SECONDS, COMPILE, FIRST, RACING, SAME_NUMBERS
from .random_numbers import stand_in
from .reader_file import Unfit, loaded
from .study import compare_with_same_numbers, examine

FRAMES = 3  # of the reader's own code, in the words of an error


class _Switches:
    """Sets TensorFlow's switches again when it is imported, whatever a file did to them."""

    def __init__(self):
        names = "TF_CPP_VMODULE", "TF_CPP_MIN_LOG_LEVEL"
        self._switches = {name: os.environ[name] for name in names}

    def find_spec(self, name, path=None, target=None):
        """Called by Python before it looks for a module; finds none itself."""
        if name == "tensorflow":
            os.environ.update(self._switches)


def study_in_child(file: str, name: str, options: str, log: str, asked: str = FIRST) -> None:
    """Study a model in a file, and write what begins and what is found as lines of JSON.

    Args:
        file: Path of the file.
        name: Its function without arguments.
        options: Options of `decide` in JSON, in place of the file's; of `COMPILE`, `target`.
        log: Path of the lines.
        asked: `STUDY`, `FIRST`, `SAME_NUMBERS` or `COMPILE`.
    """

    def report(**what):
        with open(log, "ab") as lines:
            lines.write(msgspec.json.encode(what) + b"\n")

    def on_stage(stage, study=None):
        if stage == RACING:  # of what has run before
            faulthandler.cancel_dump_traceback_later()
        else:
            faulthandler.dump_traceback_later(CALL_SECONDS, exit=True)
        report(stage=stage, **({"finding": result_of(study)} if study else {}))

    prepare_tensorflow()
    sys.meta_path.insert(0, _Switches())
    try:
        _answer(file, name, msgspec.json.decode(options), asked, report=report, on_stage=on_stage)
    except Unfit as error:
        report(error=str(error))
    except SystemExit as error:
        report(error=f"the model ends the process itself (SystemExit: {error})")
    except Exception as error:  # whatever a reader's code raises
        report(error=_in_words(error, file))
    faulthandler.cancel_dump_traceback_later()


def _answer(file, name, options, asked, *, report, on_stage):
    """Do what is asked of the process, and say what was found."""
    if asked == SAME_NUMBERS:
        stand_in()
    fn, batches, asked_for = loaded(Path(file), name, options)
    _refuse_other_worlds(file)
    target = asked_for.pop("target") if asked == COMPILE else []
    plan = Plan.of(asked_for)
    sizes = {"calls": plan.calls, "min_speedup": plan.min_speedup, "repeats": plan.repeats}
    report(machine=describe_machine(), plan=sizes)
    if asked == COMPILE:
        report(stage=COMPILE)
        report(programs=compile_example(fn, batches, plan, target))
    elif asked == SAME_NUMBERS:
        report(same_numbers=compare_with_same_numbers(fn, batches, plan, on_stage))
    else:
        examine(fn, batches, plan, on_stage=on_stage, is_first=asked == FIRST)


def _refuse_other_worlds(file):
    """Raise where the file has left what can be judged: TensorFlow 2, and Keras on it."""
    name = Path(file).name
    keras = sys.modules.get("keras")
    backend = keras.config.backend() if hasattr(keras, "config") else "tensorflow"
    if backend != "tensorflow":
        raise Unfit(f"{name} runs Keras on {backend}: TensorFlow's graphs are judged here")
    if (tf := sys.modules.get("tensorflow")) and not tf.executing_eagerly():
        raise Unfit(
            f"{name} switches TensorFlow 2 off (disable_v2_behavior, or disable_eager_execution): "
            "functions are judged here, not sessions"
        )


def _in_words(error, file):
    """An error in a line, with the last lines of the reader's own code that led to it."""
    text = headline(error, 1000).removeprefix("ValueError: ")
    frames, cause = list[str](), error.__cause__ or error
    for frame in traceback.extract_tb(cause.__traceback__):
        if Path(frame.filename).parent == Path(file).parent:
            frames.append(f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}")
    return f"{text} ({'; '.join(frames[-FRAMES:])})" if frames else text
