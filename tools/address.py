"""Write the repository's address into pyproject.toml and into every link that carries it."""

import argparse
import re
import sys

from tools.collection import ROOT, UsageError, paths
from tools.commands import carried_out
from xla_helpers.writing import write_files

PLACEHOLDER = "OWNER/xla-tensorflow-notebooks"
ADDRESS = r"[A-Za-z0-9][A-Za-z0-9-]*/[\w-]+(?:\.(?!git\b)[\w-]+)*"
END = r"(?!(?:\.(?!git\b))?[\w-])"  # an address ends before a full stop and before .git
# Links of these kinds always lead to this project; a plain GitHub link may lead to another one.
ALWAYS_OURS = (
    r"colab\.research\.google\.com/github/",
    r"mybinder\.org/v2/gh/",
    r"git\+https://github\.com/",
    r"git clone https://github\.com/",
)


def main(arguments=None, root=ROOT):
    parser = argparse.ArgumentParser(prog="make address", description=__doc__)
    parser.add_argument("address", metavar="owner/name", help="as in github.com/owner/name")
    address = parser.parse_args(arguments).address
    if not re.fullmatch(ADDRESS, address):
        parser.error(f"{address!r} is not of the form owner/name; try: make address REPO=me/notes")
    return carried_out("address", lambda: write_address(address, root))


def write_address(address, root):
    """Write the address into all files that carry it, or into none."""
    old, changed = current(root), {}
    for path in files(root):
        text = path.read_bytes().decode("utf-8", "surrogateescape")  # as it is, whatever it is
        if (new := rewritten(text, old, address)) != text:
            changed[path] = new.encode("utf-8", "surrogateescape")
    write_files(changed)
    print(*(f"  {path.name}" for path in changed), f"The address is {address}.", sep="\n")


def current(root=ROOT):
    """The owner/name that pyproject.toml holds."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8", errors="replace")
    found = re.search(rf'(?m)^Repository = "https://github\.com/({ADDRESS})"$', text)
    if not found:
        raise UsageError(f'{root / "pyproject.toml"} has no line: Repository = "https://…"')
    return found[1]


def files(root=ROOT):
    """Every file that carries the address, pyproject.toml last: it tells what is still old."""
    names = [root / "README.md", root / "CONTRIBUTING.md", *paths(root)]
    return [path for path in names if path.exists()] + [root / "pyproject.toml"]


def links(text, address):
    """Every address that `text` gives for this project: a correct file holds `address` alone.

    A plain GitHub link is taken for this project's when the repository's name is the same.
    """
    plain = rf"github\.com/([\w-]+/{re.escape(name_of(address))}){END}"
    ours = rf"(?:{'|'.join(ALWAYS_OURS)})({ADDRESS})"
    return set(re.findall(plain, text)) | set(re.findall(ours, text))


def rewritten(text, old, new):
    for address in links(text, old) | {old}:
        text = re.sub(rf"(?<![\w-]){re.escape(address)}{END}", new, text)
    # "git clone ..." is followed by "cd name".
    return re.sub(rf"(?m)^(\s*cd ){re.escape(name_of(old))}$", rf"\g<1>{name_of(new)}", text)


def name_of(address):
    return address.split("/")[1]


if __name__ == "__main__":
    sys.exit(main())
