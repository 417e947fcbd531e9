"""Build the site: the README, the notebooks with their committed outputs and the reference of the
helpers, as HTML in build/site.

Nothing is executed, and the pages ask no other host for anything.
"""

import argparse
import re
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

import nbformat
from sphinx.cmd.build import main as sphinx

from tools.address import PLACEHOLDER, current
from tools.collection import ROOT, is_for_colab, number_of, read_all, title_of
from tools.site import reference
from xla_helpers.pages import render

PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md"}
STUB = "xla_helpers/__init__.pyi"  # lists what the page of reference explains
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TITLE = (ROOT / "README.md").read_text().splitlines()[0].removeprefix("# ")
SETTINGS = {
    "project": TITLE,
    "author": PROJECT["authors"][0]["name"],
    "extensions": "myst_nb,sphinx.ext.autodoc,tools.site.reference",
    "add_module_names": 0,
    "autodoc_typehints_format": "short",
    "default_role": "py:obj",
    "highlight_language": "none",
    "html_theme": "furo",
    "html_title": TITLE,
    "nb_execution_mode": "off",
    "html_copy_source": 0,
    "html_use_index": 0,
    "html_domain_indices": 0,
    "html_show_sphinx": 0,
    "html_show_copyright": 0,
    "myst_heading_anchors": 3,
    "html_static_path": "_static",
    "html_css_files": "house.css,site.css",
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
    if out.exists() and not is_ours(out):
        print(f"site: {out} holds something else; name an empty folder", file=sys.stderr)
        return 1
    settings = [f"-D{name}={value}" for name, value in SETTINGS.items()]
    with tempfile.TemporaryDirectory() as folder:  # myst-nb writes beside its output as well
        source, html, cache = (Path(folder, name) for name in ("source", "html", "cache"))
        gather(ROOT, source)
        places = ["-d", str(cache), str(source), str(html)]
        status = sphinx(["-C", "-W", "--keep-going", "-q", "-j", "auto", *settings, *places])
        if status == 0:
            shutil.rmtree(out, ignore_errors=True)
            shutil.move(html, out)
            print(f"{len(list(out.glob('*.html')))} pages; open {out / 'index.html'}")
    if current() == PLACEHOLDER:
        print("links still name OWNER: `make address REPO=owner/name` writes yours")
    return status


def is_ours(folder):
    """Whether a folder is empty or an earlier site, and so may be replaced."""
    return folder.is_dir() and (not any(folder.iterdir()) or (folder / "objects.inv").is_file())


def gather(root, source):
    """Copy what becomes a page into one new folder, in the form that Sphinx reads."""
    source.mkdir()
    notebooks = read_all(root)
    for path, notebook in notebooks.items():
        nbformat.write(for_sphinx(notebook), source / path.name)
    for name, page in PAGES.items():
        (source / page).write_text(for_the_site((root / name).read_text()))
    with open(source / "index.md", "a") as index:
        index.write(contents(notebooks))
    for picture in re.findall(r"\]\((\w+\.png)\)", (root / "README.md").read_text()):
        shutil.copy(root / picture, source)
    shutil.copy(root / "LICENSE", source)
    (source / "reference.rst").write_text(reference.page((root / STUB).read_text()))
    (source / "_static").mkdir()
    (source / "_static" / "house.css").write_text(render("house.css.j2"))
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
