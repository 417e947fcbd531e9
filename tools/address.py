"""Write the repository's address, owner/name, into pyproject.toml, the notebooks and the README.

Without an argument it is that of git's remote `origin`. While it is the placeholder that stands
below, neither README nor notebooks hold a link that needs one.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACEHOLDER = "OWNER/xla-tensorflow-notebooks"
GITHUB = r"https://(?:[^@/]+@)?github\.com/|(?:ssh://)?git@github\.com[:/]"
ADDRESS = r"[A-Za-z0-9-]+/[A-Za-z0-9_-][A-Za-z0-9_.-]*"
OPENS, ENDS = "<!-- Made by `make address`: do not edit. -->\n", "<!-- Until here. -->"
DOOR = "[Read this page on its site]("  # begins the line below a notebook's title


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
        text = path.read_text("utf-8").replace(f'github.com/{old}"', f'github.com/{address}"')
        path.write_text(text if path == project else with_door(text, address, path), "utf-8")
    before, rest = readme.read_text("utf-8").split(OPENS)
    made = links(address, notebooks) if address != PLACEHOLDER else ""
    readme.write_text(before + OPENS + made + ENDS + rest.split(ENDS, 1)[1], "utf-8")
    print(f"The address is {address}.")
    return 0


def site_of(address):
    """Where GitHub shows the site; nothing while the project has no address."""
    owner, name = address.split("/")[-2:]
    return "" if owner == "OWNER" else f"https://{owner.lower()}.github.io/{name}/"


def colab(address, path):
    """Where Colab opens a notebook."""
    return f"https://colab.research.google.com/github/{address}/blob/main/notebooks/{path.name}"


def with_door(text, address, path):
    """A notebook with a line of links below its title, when there is an address."""
    notebook = json.loads(text)
    title = notebook["cells"][0]["source"]
    if len(title) > 2 and title[2].startswith(DOOR):
        del title[2:4]
    if address != PLACEHOLDER:
        page = f"{site_of(address)}notebooks/{path.stem}.html"
        title[2:2] = [f"{DOOR}{page}) · [run it in Colab]({colab(address, path)})\n", "\n"]
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def links(address, notebooks):
    """What the README says when there is an address."""
    binder = f"https://mybinder.org/v2/gh/{address}/main?urlpath=lab/tree/notebooks"
    each = ", ".join(f"[{path.name[:2]}]({colab(address, path)})" for path in notebooks)
    site = f"[the site]({site_of(address)})"
    return f"""Read them on {site}, where guesses take bets and programs show each change.
Run them in [Binder]({binder}), or in Colab: {each}. Or clone them:

```
git clone https://github.com/{address} xla && cd xla
```
"""


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
