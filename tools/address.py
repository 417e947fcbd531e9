"""Write the repository's address, owner/name, into pyproject.toml, the notebooks and the README.

Without an argument it is that of git's remote `origin`. While it is the placeholder that stands
below, the README holds no link that needs one.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACEHOLDER = "OWNER/xla-tensorflow-notebooks"
GITHUB = r"https://(?:[^@/]+@)?github\.com/|(?:ssh://)?git@github\.com[:/]"
ADDRESS = r"[A-Za-z0-9-]+/[A-Za-z0-9_-][A-Za-z0-9_.-]*"
OPENS, ENDS = "<!-- Made by `make address`: do not edit. -->\n", "<!-- Until here. -->"


def main(given=""):
    command = ["git", "remote", "get-url", "origin"]
    origin = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    address = re.sub(rf"^(?:{GITHUB})|/?$", "", given or origin).removesuffix(".git")
    if not re.fullmatch(ADDRESS, address):
        source = "REPO" if given else "git's remote origin"
        print(f"address: {source} is not on GitHub; give REPO=owner/name", file=sys.stderr)
        return 2
    project, readme = ROOT / "pyproject.toml", ROOT / "README.md"
    notebooks = sorted(ROOT.glob("notebooks/*.ipynb"))
    (old,) = re.findall(rf'(?m)^Repository = ".*/({ADDRESS})"$', project.read_text("utf-8"))
    for path in (*notebooks, project):
        text = path.read_text("utf-8")
        path.write_text(text.replace(f'github.com/{old}"', f'github.com/{address}"'), "utf-8")
    before, rest = readme.read_text("utf-8").split(OPENS)
    made = links(address, notebooks) if address != PLACEHOLDER else ""
    readme.write_text(before + OPENS + made + ENDS + rest.split(ENDS, 1)[1], "utf-8")
    print(f"The address is {address}.")
    return 0


def links(address, notebooks):
    """What the README says when there is an address."""
    binder = f"https://mybinder.org/v2/gh/{address}/main?urlpath=lab/tree/notebooks"
    colab = f"https://colab.research.google.com/github/{address}/blob/main/notebooks"
    each = ", ".join(f"[{path.name[:2]}]({colab}/{path.name})" for path in notebooks)
    return f"""Open them in [Binder]({binder}), or in Colab: {each}.

Or get them with `git clone https://github.com/{address} xla`.
"""


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
