"""Write the repository's address into pyproject.toml and into every link that carries it."""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACEHOLDER = "OWNER/xla-tensorflow-notebooks"
ADDRESS = r"[A-Za-z0-9][A-Za-z0-9-]*/[\w-]+(?:\.(?!git\b)[\w-]+)*"
# Links of these kinds always lead to this project; a plain GitHub link may lead to another one.
ALWAYS_OURS = (
    r"colab\.research\.google\.com/github/",
    r"mybinder\.org/v2/gh/",
    r"git\+https://github\.com/",
)


def main(arguments=None, root=ROOT):
    parser = argparse.ArgumentParser(prog="make address", description=__doc__)
    parser.add_argument("address", metavar="owner/name", help="as in github.com/owner/name")
    address = parser.parse_args(arguments).address
    if not re.fullmatch(ADDRESS, address):
        parser.error(f"{address!r} is not of the form owner/name; try: make address REPO=me/notes")
    old = current(root)
    for path in files(root):
        rewrite(path, old, address)
    print(f"The address is {address}.")


def current(root=ROOT):
    """The owner/name that pyproject.toml holds."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    return re.search(rf'(?m)^Repository = "https://github\.com/({ADDRESS})"$', text)[1]


def files(root=ROOT):
    """Every file that carries the address, pyproject.toml last: it tells what is still old."""
    names = [root / "README.md", root / "CONTRIBUTING.md", *sorted(root.glob("notebooks/*.ipynb"))]
    return [path for path in names if path.exists()] + [root / "pyproject.toml"]


def links(text):
    """Every address in a link that can only lead to this project."""
    return re.findall(rf"(?:{'|'.join(ALWAYS_OURS)})({ADDRESS})", text)


def rewrite(path, old, new):
    text = path.read_bytes().decode("utf-8")
    changed = re.sub(rf"({'|'.join(ALWAYS_OURS)}){ADDRESS}", rf"\g<1>{new}", text)
    changed = re.sub(rf"(?<![\w-]){re.escape(old)}(?!(?:\.(?!git\b))?[\w-])", new, changed)
    # "git clone …" is followed by "cd name".
    changed = re.sub(
        rf"(?m)^(\s*cd ){re.escape(old.split('/')[1])}$", rf"\g<1>{new.split('/')[1]}", changed
    )
    if changed != text:
        path.write_bytes(changed.encode("utf-8"))
        print(f"  {path.name}")


if __name__ == "__main__":
    sys.exit(main())
