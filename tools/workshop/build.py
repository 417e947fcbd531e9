"""Build what a workshop needs from the notebooks, in build/workshop: learner copies, slides and
the instructor's guide.

Learner copies have no outputs and no solutions; after each exercise stands its check, which says
"Not yet" until the answer is right. Slides show headings, questions, code and outputs; the prose
is in their speaker notes (press S). Nothing is executed, and the slides ask no other host.
Files that this command did not write, or that were changed since, stay as they are.
"""

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

import nbformat

from tools.collection import ROOT, UsageError, paths, read
from tools.commands import carried_out, of_file
from tools.workshop import guide
from tools.workshop.learners import differs, learner_copy
from tools.workshop.slides import bring_player, slides_of
from xla_helpers.errors import headline
from xla_helpers.tables import in_one_line
from xla_helpers.writing import holds_others, was_written, write_file, write_folder

LEARNERS, SLIDES, GUIDE = "notebooks", "slides", "guide.html"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tools.workshop.build", description=__doc__)
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "build" / "workshop",
        help="folder to write; what an earlier workshop wrote in it is replaced "
        "(default build/workshop)",
    )
    out = parser.parse_args(arguments).out
    return carried_out("workshop", lambda: build(out))


def build(out):
    """Build all beside, and bring it into the folder. Returns: 1 when something was not made."""
    if (out / "objects.inv").exists():
        raise UsageError(f"{out} holds a site; name another folder, or remove it")
    if not was_written(out) and holds_others(out / SLIDES):
        slides = f"{out / SLIDES} holds files that no earlier workshop lists"
        raise UsageError(f"{slides}; name another folder, or remove it")
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        failures = make(made)
        kept = write_folder(made, out, remove=not failures)
        failures += told(kept, made, out.resolve())
        count, guided = len(list((made / LEARNERS).glob("*.ipynb"))), (made / GUIDE).exists()
    for failure in failures:
        print(f"workshop: {failure}", file=sys.stderr)
    where = in_one_line(str(out))
    print(f"{count} notebooks for learners in {where}/{LEARNERS}, their slides in {where}/{SLIDES}")
    if guided:
        print(f"the instructor's guide is {where}/{GUIDE}")
    return 1 if failures else 0


def make(folder):
    """Write the whole workshop into a new folder. Returns: a line for all that cannot be made."""
    (folder / LEARNERS).mkdir()
    bring_player(folder / SLIDES)
    parts = {path.name: partial(write_lesson, path, folder) for path in paths()}
    parts[GUIDE] = partial(write_guide, folder)
    return list(filter(None, (failure(name, part) for name, part in parts.items())))


def failure(name, part):
    """Make a part. Returns: why it cannot be made, or nothing."""
    try:
        part()
    except OSError:
        raise
    except UsageError as error:
        return str(error)
    except Exception as error:  # one notebook of a kind that we do not know stops no other
        return f"{name} cannot be made: {headline(error)}"
    return ""


def write_lesson(path, folder):
    """Write the learner copy and the slides of a notebook."""
    notebook, said = read(path), guide.advice()[path.stem]
    slides = slides_of(notebook, said)
    nbformat.write(learner_copy(notebook), folder / LEARNERS / path.name)
    write_file(folder / SLIDES / f"{path.stem}.html", slides)


def write_guide(folder):
    write_file(folder / GUIDE, guide.as_page(guide.as_markdown()))


def told(kept, made, out):
    """Name the files that were kept. Returns: a line for each learner copy that is broken."""
    broken = []
    for path in kept:
        try:
            if path.suffix != ".ipynb" or differs(path, made / path.relative_to(out)):
                line = f"kept {path}: it differs from the new one; remove it to get that"
                print(in_one_line(line))
        except UsageError as error:
            broken.append(f"{error}; remove it to get a new copy")
        except OSError as error:
            broken.append(of_file(error))
    return broken


if __name__ == "__main__":
    sys.exit(main())
