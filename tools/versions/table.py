"""The README's table of versions."""

from tools.collection import ROOT
from tools.readme import END, between, escaped, text_of
from xla_helpers.startup import machine_facts
from xla_helpers.tables import in_one_line
from xla_helpers.writing import write_file

START = "<!-- Made by `make test-versions`: do not edit. -->"
COLUMNS = {  # heading to the packages that it may be
    "TensorFlow": ("tensorflow", "tf-nightly"),
    "Keras": ("keras", "keras-nightly"),
    "Transformers": ("transformers",),
    "NumPy": ("numpy",),
}
HEAD = ["", "Python", *COLUMNS, "helpers", "notebooks", "time"]


def keep_table(all_found, part, root=ROOT):
    """Write the table into the README. part: what of the tests was run, in words."""
    readme = root / "README.md"
    text = text_of(readme)
    if START in text and END in text.partition(START)[2]:
        write_file(readme, between(text, START, f"\n{section(all_found, part)}\n"))


def section(all_found, part):
    """The table, what it was made of, and what failed."""
    facts = {k: v for k, v in machine_facts().items() if k not in ("Python", "TensorFlow")}
    ran_on = f"*{part} On {' · '.join(facts.values())}.*"
    return "\n\n".join(filter(None, [table(all_found), failures(all_found), ran_on]))


def table(all_found):
    lines = [f"| {' | '.join(HEAD)} |", "|---" * (len(HEAD) - 3) + "|---:" * 3 + "|"]
    rows = [map(shown, row(found)) for found in all_found]
    return "\n".join([*lines, *(f"| {' | '.join(cells)} |" for cells in rows)])


def shown(text):
    """Text in one line, as Markdown shows it letter by letter."""
    return escaped(in_one_line(text))


def row(found):
    """The cells of a combination."""
    versions = [version(found.packages, names) for names in COLUMNS.values()]
    if found.missing:
        blank = [""] * (len(HEAD) - 3)
        return [found.name, found.python, "not made" if found.exists else "no release", *blank]
    counts = [str(found.helpers), str(found.notebooks)]
    return [found.name, found.python, *versions, *counts, f"{found.seconds:.0f} s"]


def version(packages, names):
    return next((packages[name] for name in names if name in packages), "")


def failures(all_found):
    """A list of what failed in each, and why; nothing when nothing did."""
    wrong = [found for found in all_found if found.failed]
    return "\n".join(f"- {shown(f'{found.name}: {said}')}" for found in wrong for said in of(found))


def of(found):
    """Lines on what failed."""
    reasons = [*found.helpers.lines, *found.notebooks.lines]
    return [found.missing, *reasons] if found.missing else reasons
