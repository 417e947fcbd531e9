"""What `make refresh` writes into the README, and others read there: the picture, and what each
notebook costs.
"""

import base64
import re
import threading

import psutil

EVERY = 0.2  # seconds between two looks at the memory
ROW = re.compile(
    r"^(?P<before>\| (?P<number>\d\d) \| \[(?P<title>.+?)\]\(notebooks/(?P<file>.+?)\) \|[^|]+\|)"
    r" *(?P<seconds>\d*) ?s? *\| *(?P<memory>[^|]*?) *\|",
    re.MULTILINE,
)
"""A row of the README's table of notebooks."""


class PeakMemory:
    """The most bytes that the processes below this one held together, while the block ran.

    Memory that they share counts more than once.
    """

    def __enter__(self):
        self.bytes, self._done = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._done.set()
        self._thread.join()

    def _watch(self):
        while not self._done.wait(EVERY):
            self.bytes = max(self.bytes, sum(map(resident, psutil.Process().children(True))))


def resident(process):
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0  # it has just ended


def keep_picture(notebook, root):
    """Write the figure of the cell tagged `readme-picture`, if there is one."""
    for cell in notebook.cells:
        if "readme-picture" in cell.metadata.get("tags", []):
            (root / "README.png").write_bytes(base64.b64decode(cell.outputs[0].data["image/png"]))


def keep_cost(name, seconds, peak, root):
    """Write seconds and bytes into the notebook's row of the table."""
    readme = root / "README.md"
    if not readme.exists():
        return
    cost = f" {seconds:.0f} s | {peak / 2**30:.1f} GiB |"

    def with_cost(row):
        return row["before"] + cost if row["file"] == name else row.group()

    readme.write_text(ROW.sub(with_cost, readme.read_text()))


def costs(root):
    """Number of a notebook to its title, seconds and memory, as the table says."""
    rows = ROW.finditer((root / "README.md").read_text())
    return {
        row["number"]: {key: row[key] for key in ("title", "seconds", "memory")} for row in rows
    }
