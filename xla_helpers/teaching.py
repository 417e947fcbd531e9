"""What a lesson needs: an error that must come, an exercise with its check, a small checkpoint."""

import io
import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

from .errors import headline


@contextmanager
def expect_error(kind: type[BaseException], *words: str) -> Iterator[SimpleNamespace]:
    """Show in one line the error that the block must raise, and go on.

    Args:
        kind: The type of the error.
        words: Texts that its message must contain.

    Yields:
        A namespace, whose `error` is the error after the block.

    Raises:
        AssertionError: When the block raises nothing, or a message without one of `words`.
    """
    caught = SimpleNamespace(error=None)
    try:
        yield caught
    except kind as error:
        caught.error = error
    # Raised and not asserted, so that `python -O` keeps the lesson.
    if caught.error is None:
        raise AssertionError(f"this should have raised {kind.__name__}")
    if missing := [word for word in words if word not in str(caught.error)]:
        raise AssertionError(f"the message does not contain {missing}: {caught.error}")
    print(headline(caught.error))


def exercise(check: Callable[[], None]) -> None:
    """Say whether a learner's answer is right, so that an open exercise stops nobody.

    Args:
        check: Asserts what a right answer does, each with a hint for a wrong one. What it prints
            explains the right answer, and is shown below "Right." only.
    """
    explanation = io.StringIO()
    try:
        with redirect_stdout(explanation):
            check()
    except AssertionError as error:
        source = traceback.extract_tb(error.__traceback__)[-1].line or "the answer is not right"
        print(f"Not yet: {(str(error).strip() or source).splitlines()[0]}")
    except Exception as error:  # whatever a learner's answer raises
        print(f"Not yet: the answer cannot be checked ({headline(error)})")
    else:
        print(f"Right.\n{explanation.getvalue()}", end="")


def find_checkpoint(name: str = "tiny-gpt2") -> Path:
    """Find the folder of a checkpoint for `from_pretrained`.

    Args:
        name: ``tiny-gpt2`` for the one in this package, a local folder, or a model on the Hugging
            Face Hub such as ``openai-community/gpt2``, downloaded unless the Hub's cache holds it.

    Returns:
        The path of the folder.

    Raises:
        Exception: What the Hub's client raises for a name that is none of these, or offline.
    """
    if name == "tiny-gpt2":  # trained on the corpus.txt beside it
        return Path(str(files(__package__))) / "data" / name
    if os.path.isdir(name):
        return Path(name)
    from huggingface_hub import snapshot_download

    # Not model.safetensors, whose names are mostly PyTorch's: TensorFlow's classes prefer it, but
    # cannot read it (huggingface/transformers#40028).
    return Path(snapshot_download(name, allow_patterns=["*.json", "*.txt", "*.model", "*.h5"]))
