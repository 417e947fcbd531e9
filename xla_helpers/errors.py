"""Errors that a lesson expects, and checks that a learner has not met yet: shown in one line."""

import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

DEFINED = re.compile(r" \(defined @ [^)]*\)")
"""What TensorFlow adds to the name of a node: its file, a temporary one for a notebook's cell."""


@dataclass
class CaughtError:
    """The error that a block raised; None until then."""

    error: BaseException | None = None

    @property
    def lines(self) -> list[str]:
        """Its message, line by line, without the blank ones and the places in temporary files."""
        message = DEFINED.sub("", str(self.error))
        return [line.strip() for line in message.splitlines() if line.strip()]


@contextmanager
def expect_error(kind: type[BaseException], *words: str) -> Iterator[CaughtError]:
    """Show in one line the error that the block must raise, and go on.

    kind: its type. words: texts that its message must hold. Introduced in notebook 05.

    Yields: a `CaughtError`, which holds the error after the block.
    Raises: AssertionError when the block raises nothing, or a message without one of `words`.
    """
    caught = CaughtError()
    try:
        yield caught
    except kind as error:
        caught.error = error
    if caught.error is None:
        raise AssertionError(f"this should have raised {kind.__name__}")
    for word in words:
        if word not in str(caught.error):
            raise AssertionError(f"the message does not hold {word!r}: {caught.error}")
    print(f"{type(caught.error).__name__}: {(caught.lines or ['no message'])[0]}")


@contextmanager
def not_yet() -> Iterator[None]:
    """Say in one line what a learner's answer still lacks, or that it is right.

    The checks of the workshop's exercises run inside it, so that an open exercise stops nobody.
    """
    try:
        yield
    except Exception as error:
        message = str(error).strip().splitlines()
        reason = message[0] if message else traceback.extract_tb(error.__traceback__)[-1].line
        print(f"Not yet: {reason}")
    else:
        print("Right.")
