"""Does XLA pay for a model, with its shapes, on this machine? One call, one page."""

import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

import numpy as np
from tqdm import tqdm

from ..environment import check_environment
from ..results import Result
from ..subjects import fingerprint
from ..targets import name_of
from ..validation import check_count, check_positive, check_tolerance
from ..watching import free_memory
from . import page
from .again import as_command, in_python
from .conduct import conduct
from .costs import Costs
from .files import Files
from .findings import Findings
from .load import busy_cores
from .runners import Here, Processes, here
from .section import Section
from .steps import STEPS
from .verdict import Choice, judge

BUDGET = 120
"""Seconds for everything."""

MEMORY = 0.8
"""The share of what is free at the start that a process may hold."""

LONGEST = 40  # characters of a name in names of files


@dataclass(frozen=True, repr=False, eq=False)
class Decision:
    """What was found, and what to use.

    findings: all that was found, as data. races: number of a shape to the `Result` of its races.
    folder: where all of it was written. choice: what to use, with reasons. page: the path of the
    page, one HTML file that needs no other.
    """

    findings: Findings
    races: Mapping[int, Result]
    folder: Path
    choice: Choice = field(init=False)
    page: Path = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "choice", judge(self.findings, self.races))
        object.__setattr__(self, "page", self.folder / "decision.html")

    @property
    def label(self) -> str:
        """ "graph", "XLA", "XLA, padded" or "XLA in" a layer; "" for undecided."""
        return self.choice.label

    @property
    def verdict(self) -> str:
        """The three lines to paste."""
        return "\n".join(self.choice.lines)

    @property
    def costs(self) -> Costs:
        """Seconds per call and once, and when the latter is repaid, with intervals."""
        return Costs(self.findings, self.races)

    def over(self, calls: int) -> "Decision":
        """The same measurements, for another number of calls. The page stays as it is.

        Raises: ValueError when `calls` is no whole number above zero.
        """
        check_count("calls", calls)
        return replace(self, findings=replace(self.findings, calls=calls))

    def section(self, title: str) -> Section:
        """One section of the page, with its pictures.

        title: such as "Speed". Raises: ValueError, with all titles, when there is no such section.
        """
        return Section(page.section(self.findings, self.races, title))

    def __repr__(self):
        return self.verdict


def decide(
    what,
    batches: Iterable | None = None,
    *,
    kwargs: Mapping | None = None,
    signature=None,
    step: bool | None = None,
    worst: Iterable | None = None,
    calls: int | None = None,
    pad=None,
    fresh: bool | None = None,
    tolerance: float | None = None,
    floor: float | None = None,
    budget: float = BUDGET,
    folder: Path | str | None = None,
) -> Decision:
    """Decide whether XLA pays for a model, with these shapes, on this machine.

    what: a text, "package.module:make" or "path/to/file.py:make", names a function without
    arguments that makes what is decided about; another text is the folder of a SavedModel. Then
    each part runs in a fresh process, with a limit of time and of memory. Anything else that can be
    called is decided about in this process, one part after the other, without limits. The function
    returns what is decided about, or (what, batches), or (what, batches, options); options are
    `kwargs` to `floor` below, by name, and what is given here counts more.

    batches: example calls, such as a list or a `tf.data.Dataset`; a tuple holds the positional
    arguments of one call, anything else is its only argument. Their shapes, and how often each
    comes, are the plan; the first call of each shape is the one that is timed. kwargs: keyword
    arguments of every call. signature: an ``input_signature`` for the graph and for XLA. step:
    whether it is a training step: that of a compiled Keras model, or a function that is one.
    worst: hostile calls, in the form of `batches`, such as with an id out of range. calls: how
    many calls a process makes in its life, 10,000 unless said. pad: a number, to whose next
    multiple sizes are padded with zeros; a list of sizes; or a function of the arguments that
    returns them padded. fresh: whether `what`, or what the function returns, is a function
    without arguments that makes a new copy for each mode. tolerance: the relative difference
    between results that is allowed, 1e-4 unless said. floor: how many times faster XLA must be over
    all calls, first calls included, to be worth it, 1.05 unless said. budget: seconds for
    everything; what did not fit is listed. folder: where the page, its pictures, the findings and
    the races are written, by default below ``decisions`` in the working directory; it is new or
    empty, or holds an earlier decision about the same name. With the environment variable
    ``XLA_RESULTS`` the races are recorded there, too.
    Introduced in notebook 13.

    Returns: a `Decision`, which shows three lines to paste; `page` is the path of its page.
    Raises: TypeError or ValueError for arguments that make no sense, for a folder that holds
    something else or in which another decision is under way, and for what cannot be made or not be
    called at all. After Ctrl-C the page holds what was finished by then.
    """
    given = {
        "kwargs": kwargs,
        "signature": signature,
        "step": step,
        "worst": worst,
        "calls": calls,
        "pad": pad,
        "fresh": fresh,
        "tolerance": tolerance,
        "floor": floor,
    }
    options = {name: _plain(value) for name, value in given.items() if value is not None}
    _check(what, options, budget)
    reference = str(what) if isinstance(what, (str, Path)) else None
    default = Path("decisions") / slug(reference or _own_name(what))
    files = Files(Path(folder or default), named=bool(folder))
    known = _known(what, reference, batches, options, budget)
    with tempfile.TemporaryDirectory(prefix="decide-") as scratch:
        if reference is None:
            runner = here(what, batches, options)
        else:
            _check_flags()
            memory = int(MEMORY * free_memory())
            runner = Processes(reference, batches, options, Path(scratch), memory)
        return _decided(runner, known, files)


def slug(name: str) -> str:
    """A name as small letters, digits and hyphens, for files.

    Where that changes it, it ends with a fingerprint of the name, so that no other one is equal;
    of a long name the end stays.
    """
    words = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-") or "model"
    if words == name and len(words) <= LONGEST:
        return words
    mark = fingerprint(name)
    return f"{words[len(mark) + 1 - LONGEST :].strip('-')}-{mark}"


def _own_name(what):
    """The name that a model was given; otherwise that of what is called."""
    name = getattr(what, "name", None)
    return name if isinstance(name, str) and name else name_of(what)


def _plain(value):
    """A number of NumPy as one of Python, which can travel."""
    return value.item() if isinstance(value, np.generic) else value


def _check(what, options, budget):
    if not (callable(what) or isinstance(what, (str, Path)) or hasattr(what, "signatures")):
        raise TypeError(
            f"`what` is {type(what).__name__}: give a model, a function, or a text such as "
            '"my_model:make"'
        )
    if isinstance(what, str) and not what.strip():
        raise ValueError('`what` is empty: give a model, such as "my_model:make"')
    check_positive("budget", budget)
    checks = {"calls": lambda calls: check_count("calls", calls), "tolerance": check_tolerance}
    checks["floor"] = lambda floor: check_positive("floor", floor)
    for name in checks.keys() & options.keys():
        checks[name](options[name])


def _check_flags():
    """Here and once, because each process that a part runs in would try them anew."""
    try:
        check_environment()
    except RuntimeError as error:
        raise ValueError(str(error)) from error


def _known(what, reference, batches, options, budget):
    """What is known before anything runs."""
    given = {**({} if batches is None else {"batches": batches}), **options}
    given |= {} if budget == BUDGET else {"budget": budget}
    return Findings(
        name=reference or name_of(what),
        command=as_command(reference, given) if reference else "",
        code=in_python(reference, given),
        day=date.today().isoformat(),
        budget=float(budget),
        isolated=reference is not None,
        load=(busy_cores(),),
    )


def _decided(runner: Processes | Here, known: Findings, files: Files) -> Decision:
    with files.alone():
        files.check(known)
        with _progress(len(STEPS)) as tell:
            found = conduct(runner, known, str(files.records.absolute()), files.write, tell)
        found = replace(found, unfinished=False, load=(*known.load, busy_cores()))
        races = files.write(found)
        files.keep_for_report(f"decide-{slug(found.name)}")
    return Decision(found, races, files.folder)


@contextmanager
def _progress(parts):
    """A bar on standard output, for people: in a terminal or a notebook, and gone at the end."""
    watched = sys.stdout.isatty() or "ipykernel" in sys.modules
    shown = {"leave": False, "file": sys.stdout, "bar_format": "{desc} |{bar}|"}
    with tqdm(total=parts, disable=not watched, **shown) as bar:

        def tell(part, left):
            bar.set_description_str(f"{part}, {left:.0f} s left")
            bar.update(next(i for i, step in enumerate(STEPS) if step.name == part) - bar.n)

        yield tell
