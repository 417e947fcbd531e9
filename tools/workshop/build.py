"""Build what a workshop needs from the notebooks, in build/workshop: learner copies, slides and
the instructor's guide.

Learner copies have no outputs and no solutions; after each exercise stands its check, which says
"Not yet" until the answer is right. Slides show headings, questions, code and outputs; the prose
is in their speaker notes (press S). Nothing is executed, and the slides ask no other host.
"""

import argparse
import shutil
import sys
from pathlib import Path

from tools.collection import ROOT, read_all
from tools.workshop import guide
from tools.workshop.learners import hand_out, learner_copy
from tools.workshop.slides import PLAYER, bring_player, slides_of

HELP = "folder to write; earlier slides in it are replaced (default build/workshop)"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tools.workshop.build", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "workshop", help=HELP)
    out = parser.parse_args(arguments).out
    learners, slides = out / "notebooks", out / "slides"
    if slides.exists() and not (slides / PLAYER).is_dir():
        print(f"workshop: {slides} holds something else; name another folder", file=sys.stderr)
        return 1
    notebooks = read_all()
    write_learner_copies(notebooks, learners)
    write_slides(notebooks, slides)
    (out / "guide.html").write_text(guide.as_page(guide.as_markdown()))
    print(f"{len(list(learners.glob('*.ipynb')))} notebooks for learners in {learners}")
    print(f"their slides in {slides}, the instructor's guide is {out / 'guide.html'}")
    return 0


def write_learner_copies(notebooks, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for path, notebook in notebooks.items():
        hand_out(learner_copy(notebook), folder / path.name)


def write_slides(notebooks, folder):
    shutil.rmtree(folder, ignore_errors=True)
    bring_player(folder)
    said = guide.advice()
    for path, notebook in notebooks.items():
        (folder / f"{path.stem}.html").write_text(slides_of(notebook, said[path.stem]))


if __name__ == "__main__":
    sys.exit(main())
