"""Build the site: the README, the notebooks with their committed outputs and the reference of the
helpers, as HTML in build/site.

Nothing is executed, and the pages ask no other host for anything. What stands in the folder and
is not of an earlier site stays.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile
import tomllib
from io import StringIO
from pathlib import Path

import nbformat
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.console import strip_colors
from sphinx.util.docutils import docutils_namespace, patch_docutils

from tools.address import PLACEHOLDER, current
from tools.collection import ROOT, UsageError, is_for_colab, number_of, read_all, title_of
from tools.commands import carried_out
from tools.site import reference
from xla_helpers.errors import headline
from xla_helpers.pages import render
from xla_helpers.tables import in_one_line
from xla_helpers.writing import holds_others, write_file, write_folder

PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md"}
ELSE = "name another folder, or remove it"
STUB = "xla_helpers/__init__.pyi"  # lists what the page of reference explains
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TITLE = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
SETTINGS = {
    "project": TITLE,
    "author": PROJECT["authors"][0]["name"],
    "extensions": ["myst_nb", "sphinx.ext.autodoc", "tools.site.reference"],
    "add_module_names": False,
    "autodoc_typehints_format": "short",
    "default_role": "py:obj",
    "highlight_language": "none",
    "html_theme": "furo",
    "html_title": TITLE,
    "nb_execution_mode": "off",
    "nb_render_markdown_format": "myst",  # outputs that are Markdown may hold tables
    "html_copy_source": False,
    "html_use_index": False,
    "html_domain_indices": False,
    "html_show_sphinx": False,
    "html_show_copyright": False,
    "myst_heading_anchors": 3,
    "html_static_path": ["_static"],
    "html_css_files": ["house.css", "site.css"],
}


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tools.site.build", description=__doc__)
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "build" / "site",
        help="folder to write; an earlier site in it is replaced (default build/site)",
    )
    out = parser.parse_args(arguments).out
    return carried_out("site", lambda: build(out))


def build(out):
    """Build the site beside and bring it into the folder. Returns: 1 where it is not whole."""
    if holds_others(out) or (out / "guide.html").exists():  # the second: a workshop
        raise UsageError(f"{out} holds files that no earlier site lists; {ELSE}")
    with tempfile.TemporaryDirectory() as folder:  # myst-nb writes beside its output as well
        source, html, cache = (Path(folder, name) for name in ("source", "html", "cache"))
        gather(ROOT, source)
        if not write_pages(source, html, cache):
            return 1
        kept, pages = write_folder(html, out), len(list(html.glob("*.html")))
    for path in kept:
        line = f"site: kept {path}: no earlier site wrote it so; {ELSE}"
        print(in_one_line(line), file=sys.stderr)
    print(f"{pages} pages; open {in_one_line(str(out / 'index.html'))}")
    if current() == PLACEHOLDER:
        print("links still name OWNER: `make address REPO=owner/name` writes yours")
    return 1 if kept else 0


def write_pages(source, html, cache):
    """Let Sphinx make the pages. Returns: whether it could; what it says is on stderr."""
    said, options = StringIO(), {"warningiserror": True, "parallel": os.cpu_count()}
    try:
        with patch_docutils(source), docutils_namespace():
            sphinx = Sphinx(source, None, html, cache, "html", SETTINGS, None, said, **options)
            sphinx.build()
        return sphinx.statuscode == 0
    except SphinxError as error:
        said.write(f"site: {headline(error)}\n")
        return False
    finally:
        print(strip_colors(said.getvalue()), end="", file=sys.stderr)


def gather(root, source):
    """Copy what becomes a page into one new folder, in the form that Sphinx reads."""
    source.mkdir()
    notebooks, readme = read_all(root), (root / "README.md").read_text(encoding="utf-8")
    for path, notebook in notebooks.items():
        nbformat.write(for_sphinx(notebook), source / path.name)
    for name, page in PAGES.items():
        text = for_the_site((root / name).read_text(encoding="utf-8"))
        more = contents(notebooks) if page == "index.md" else ""
        write_file(source / page, text + more)
    for picture in re.findall(r"\]\((\w+\.png)\)", readme):
        shutil.copy(root / picture, source)
    shutil.copy(root / "LICENSE", source)
    stub = (root / STUB).read_text(encoding="utf-8")
    write_file(source / "reference.rst", reference.page(stub))
    (source / "_static").mkdir()
    write_file(source / "_static" / "house.css", render("house.css.j2"))
    shutil.copy(Path(__file__).with_name("site.css"), source / "_static")


def for_sphinx(notebook):
    """Say in Sphinx' terms what is folded and what a picture shows; leave out Colab's cell."""
    for cell in notebook.cells:
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            cell.metadata.setdefault("tags", []).append("hide-input")
        for output in cell.get("outputs", []):
            described = output.get("metadata", {}).get("image/png", {}).get("alt")
            if described:
                cell.metadata["mystnb"] = {"image": {"alt": described}}
    notebook.cells = [cell for cell in notebook.cells if not is_for_colab(cell)]
    return notebook


def for_the_site(text):
    """All pages are in one folder, badges are words, and anchors are as Sphinx makes them."""
    for name, page in PAGES.items():
        text = text.replace(f"]({name})", f"]({page})")
    text = text.replace(f"]({STUB})", "](reference.rst)")
    text = re.sub(r"\[!\[(.+?)\]\(https:.+?\)\](\(.+?\))", r"[\1]\2  ", text)
    text = re.sub(r"(?<=\.ipynb#)[^)\s]+", lambda anchor: slug(anchor.group()), text)
    return text.replace("](notebooks/", "](")


def slug(anchor):
    return re.sub(r"[^\w-]", "", anchor.lower())


def contents(notebooks):
    """The side bar's list of pages, with the numbers by which the text names them."""
    pages = [f"{number_of(path)} {title_of(n)} <{path.stem}>" for path, n in notebooks.items()]
    return tree("Notebooks", pages) + tree("Project", ["reference", "contributing"])


def tree(caption, pages):
    return "\n".join(
        ["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""]
    )


if __name__ == "__main__":
    sys.exit(main())
