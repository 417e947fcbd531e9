"""A section of a page, which shows itself in a notebook with its pictures, and else as text."""

import base64
import re
from collections.abc import Iterator

from ..figures import Picture

PICTURE = re.compile(r"!\[((?:\\.|[^\]\\])*)\]\(data:image/png;base64,([A-Za-z0-9+/=]*)\)")


class Section:
    """Markdown that holds its own pictures.

    text: the Markdown. In a notebook each picture is an output of its own, since not every
    notebook shows those that stand inside of a text.
    """

    def __init__(self, text: str):
        self.text = text

    def __repr__(self):
        return PICTURE.sub(lambda found: f"[Picture: {_unescaped(found[1])}]", self.text)

    def _ipython_display_(self):
        from IPython.display import display

        for part in self._parts():
            if isinstance(part, str):
                display({"text/markdown": part, "text/plain": part}, raw=True)
            else:
                display(part)

    def _parts(self) -> Iterator[str | Picture]:
        """Texts and pictures, in order."""
        texts = iter(PICTURE.split(self.text))  # text, description, data, text and so on
        for text in texts:
            if text.strip():
                yield text.strip()
            alt, data = next(texts, ""), next(texts, "")
            if data:
                yield Picture(base64.b64decode(data), _unescaped(alt))


def _unescaped(alt):
    return re.sub(r"\\(.)", r"\1", alt)
