"""What the reader's environment asks of TensorFlow, refused by name where it cannot be."""

import os
import re

from .processes import ProcessError, run_in_process

FLAGS = ("XLA_FLAGS", "TF_XLA_FLAGS")  # one unknown word in them ends a process
TRIED = "XLA_HELPERS_TRIED"  # the flags that a process of ours took, for those that it starts
SECONDS = 120  # for trying them
OTHERS = ("SIGILL", "SIGKILL")  # a processor that is too old, a system without memory

TRY = """
import sys

try:
    import tensorflow as tf

    identity = tf.function(lambda x: x, jit_compile=True, autograph=False)
    identity.experimental_get_compiler_ir(tf.constant(1.0))(stage="hlo")
except Exception:  # whoever does it next sees why: a wrong flag ends the process from C++
    sys.exit(0)
"""
"""Reads all flags, and neither compiles nor writes what a flag may ask for."""


def check_environment(keras: int | None = None) -> None:
    """Refuse variables with which TensorFlow would do something else, or end the process.

    keras: 3 for code in which `tf.keras` has to be Keras 3; None for any. Flags in XLA_FLAGS and
    TF_XLA_FLAGS are tried in a fresh process, once, which takes seconds.
    Raises: RuntimeError, which names the variable.
    """
    _check_keras(keras)
    given = {name: os.environ[name] for name in FLAGS if os.environ.get(name)}
    if given and os.environ.get(TRIED) != repr(given):
        _try_flags(given)
        os.environ[TRIED] = repr(given)


def _check_keras(keras):
    backend = os.environ.get("KERAS_BACKEND") or "tensorflow"
    if backend != "tensorflow":
        raise RuntimeError(
            f"KERAS_BACKEND is {backend!r} in the environment, and Keras must run on TensorFlow "
            "here: unset it, and restart the kernel."
        )
    legacy = os.environ.get("TF_USE_LEGACY_KERAS")
    if keras == 3 and legacy in ("true", "True", "1"):  # what TensorFlow takes for yes
        raise RuntimeError(
            f"TF_USE_LEGACY_KERAS is {legacy!r} in the environment, which makes tf.keras the older "
            "Keras 2, and Keras 3 is needed here: unset it, and restart the kernel."
        )


def _try_flags(given):
    """A wrong flag ends a process at once, from C++; so it ends one of its own."""
    try:
        run_in_process(TRY, flags=given | {"CUDA_VISIBLE_DEVICES": "-1"}, timeout=SECONDS)
    except ProcessError as error:
        if error.signal in (None, *OTHERS) and error.returncode is None:
            return  # it took too long, or was ended by something else: nothing is known
        raise RuntimeError(_refusal(error.stderr, given)) from None


def _refusal(log, given):
    """What ended the process, in its own words where they name a variable."""
    for name in given:
        said = re.search(rf"\] ((Unknown flags?|Could not open file) .*\b{name}\b.*)", log)
        if said:
            return f"TensorFlow does not take {name}: {' '.join(said[1].split())}"
    flags = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return f"TensorFlow does not start with these variables of the environment: {flags}."
