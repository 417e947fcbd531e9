"""Write the repository's address, owner/name, into pyproject.toml and every link to it."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ADDRESS = r"[A-Za-z0-9-]+/[A-Za-z0-9_-][A-Za-z0-9_.-]*"
PROJECT = ROOT / "pyproject.toml"
PAGES = ("*.md", "docs/*.md", "notebooks/*.ipynb")


def main(new=""):
    if not re.fullmatch(ADDRESS, new) or new.endswith(".git"):
        print("address: give owner/name, as in: make address REPO=me/notes", file=sys.stderr)
        return 2
    text = PROJECT.read_text(encoding="utf-8")
    (old,) = re.findall(rf'(?m)^Repository = "https://github\.com/({ADDRESS})"$', text)
    for path in [*(path for page in PAGES for path in sorted(ROOT.glob(page))), PROJECT]:
        text = path.read_text(encoding="utf-8")
        written = re.sub(rf"(?<=[/\"]){re.escape(old)}(?![\w-])", new, text)
        if written != text:
            path.write_text(written, encoding="utf-8")
            print(f"  {path.relative_to(ROOT)}")
    print(f"The address is {new}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
