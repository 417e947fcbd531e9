"""The site: README, notebooks with their committed outputs, pages of docs/, the reference."""

import json
import re
import sys
import tomllib
from pathlib import Path

from myst_parser.slugs import github_slugify

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]
import cards  # noqa: E402
import dial  # noqa: E402
from address import site_of  # noqa: E402
from bets import bets_of, form  # noqa: E402
from chains import chains  # noqa: E402
from races import machines  # noqa: E402

from tools.folds import folded  # noqa: E402

project = html_title = "XLA for TensorFlow, in notebooks"
(copyright,) = re.findall(r"Copyright \(c\) (.+)", (ROOT / "LICENSE").read_text(encoding="utf-8"))
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
root_doc = "README"
include_patterns = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "notebooks/*.ipynb", "docs/*"]
exclude_patterns = [".*", "build"]  # else Sphinx walks through the environment as well, twice
nb_execution_mode = "off"
nb_render_markdown_format = "myst"  # outputs that are Markdown may hold tables
myst_heading_anchors = 3
highlight_language = "none"
default_role = "py:obj"
add_module_names = False
autodoc_class_signature = "separated"
autodoc_default_options = {"exclude-members": "__init__, __new__"}  # results are made by functions
autodoc_preserve_defaults = True
autodoc_typehints = "description"  # beside the words about a parameter
autodoc_typehints_description_target = "documented"
python_use_unqualified_type_names = True
napoleon_numpy_docstring = False  # Google style alone
napoleon_use_ivar = True  # attributes as one list
napoleon_use_rtype = False  # types are in the code, and "Returns" is prose
toc_object_entries_show_parents = "hide"  # methods stand below their class
html_theme = "furo"
html_copy_source = html_use_index = html_domain_indices = False
html_favicon = "site/favicon.svg"
html_static_path = ["site"]
html_extra_path = ["site/404.html"]  # GitHub shows it for what is not there
html_css_files = ["site.css"]
html_js_files = ["site.js", "bets.js", "dial.js", "passes.js", "messages.js"]

# The side bar below the parts of the README. A page that no group names goes into the last one.
GROUPS = {
    "Look up": [
        "docs/sheet",
        "docs/topics",
        "docs/messages",
        "docs/upgrades",
        "docs/glossary",
        "docs/reference",
    ],
    "For teachers": ["docs/workshop"],
    "Try it": ["docs/passes", "docs/dial"],
    "About the numbers": ["docs/results", "docs/measurements", "docs/bench"],
    "Elsewhere": ["docs/gpu", "docs/commands", "docs/versions"],
    "The project": [],
}


SAID = "When does XLA make TensorFlow faster? Notebooks that predict, measure, compare and explain."


SHARED = {"property=og:title": project, "property=og:description": SAID}
SHARED["twitter:card"] = "summary_large_image"


def head(site):
    """What a search engine and a link that is shared show of the site."""
    shown = {"description": SAID}
    if site:
        shown |= SHARED | {"property=og:image": f"{site}_static/share.png"}
    lines = "\n".join(f"    {json.dumps(key)}: {json.dumps(said)}" for key, said in shown.items())
    return f"---\nmyst:\n  html_meta:\n{lines}\n---\n"


about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
html_baseurl = site_of(about["urls"]["Repository"])

PICTURE = re.compile(r'(?s)<picture>(.*?)<img alt="(.*?)" src="(.*?)"></picture>')
BESIDE = "\nIn a clone of this repository:"  # the site's first screen invites to touch something
TRY = """
```{container} try
- [New to XLA?](notebooks/01_fuse_a_computation.ipynb) See what it does to one line.
- [Bet before you run](notebooks/01_fuse_a_computation.ipynb#Count-the-kernels):
  how many kernels will run?
- [Turn the dial](docs/dial.md): after how many calls does XLA pay?
- [Step through the passes](docs/passes.md), as a compiler's engineer would.
```
"""
SCORE = '\n<p class="bet" id="your-bets" hidden></p>\n'  # which bets.js tells
SECTION = r"(?s)## The notebooks\n.*?(?=\n## )"
ANCHOR = re.compile(r'<a id="[^"]*"></a>\n\n')  # for JupyterLab: here headings have their own


def setup(app):
    app.connect("source-read", for_the_site)
    app.connect("builder-inited", draw_cards)


def draw_cards(app):
    """The small pictures of the cards, beside all others."""
    folder = Path(app.outdir, "_images")
    folder.mkdir(parents=True, exist_ok=True)
    for path in ROOT.glob("notebooks/*.ipynb"):
        (folder / f"{path.name[:2]}.webp").write_bytes(cards.small(cards.read(path)))


def for_the_site(app, name, source):
    """Fold as JupyterLab does, link as GitHub does, and list what stands elsewhere."""
    if name == "README":
        parts = cards.parts(source[0], ROOT / "notebooks")
        source[0] = head(html_baseurl) + home(source[0], parts)
        source[0] += contents(parts, app.env.found_docs - {name})
    if name == "docs/dial":
        groups, _ = machines(ROOT, chains(ROOT))
        source[0] += data("dial-data", dial.presets(groups[0] if groups else []))
    if name == "docs/passes":
        made = json.loads((ROOT / "docs/passes.json").read_text(encoding="utf-8"))
        compilers = " and ".join(f"{name} ({device})" for device, name in made["compilers"].items())
        source[0] += f"\nBy the XLA of {compilers}, {made['day']}.\n" + data("lens-data", made)
    if name == "docs/reference":
        source[0] = re.sub(r"(?m)^---+\n\n((?:\.\. auto.+\n(?: .+\n)*)+)", summary, source[0])
    if name.startswith("notebooks/"):
        source[0] = json.dumps(lesson(name[10:12], json.loads(source[0])))
    else:
        source[0] = ANCHOR.sub("", source[0])
        source[0] = link(PICTURE.sub(picture, source[0]))


def lesson(number, notebook):
    """A notebook as the site shows it: numbered, with its bets, and folded."""
    opening = notebook["cells"][0]  # whose title gets the number by which all speak of it
    opening["source"] = "".join(opening["source"]).replace("# ", f"# {number} ", 1)
    for cell in notebook["cells"]:
        forms = [form(bet, f"{number}-{cell['id']}", place)
            for place, bet in enumerate(bets_of(cell, notebook["cells"]))]  # fmt: skip
        if forms:
            cell["source"] = "\n\n".join(["".join(cell["source"]), *forms])
    notebook["cells"] = list(folded(cell for cell in notebook["cells"] if cell["id"] != "colab"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = link("".join(cell["source"]))
    return notebook


def data(key, value):
    """What a script of the page reads."""
    found = json.dumps(value).replace("<", "\\u003c")
    return f'\n<script type="application/json" id="{key}">{found}</script>\n'


def picture(found):
    """One picture, which site.css turns in the dark; for a phone, another where there is one."""
    sources, alt, path = found.groups()
    tall = re.search(r'media="\(max-width: 40em\)" srcset="(.*?)"', sources)
    if not tall:
        return f"![{alt}]({path})"
    both = {"wide": path, "tall": tall[1]}.items()
    return "\n\n".join(
        f"```{{image}} {path}\n:alt: {alt}\n:class: {name}\n```" for name, path in both
    )


def link(text):
    """Links to headings: JupyterLab keeps capitals and commas, GitHub and this site do not."""
    place = r"(\]\((?!\w+:)[^)\s#]*#)([^)\s]+)"
    return re.sub(place, lambda found: found[1] + github_slugify(found[2]), text)


def home(readme, parts):
    """The README as the first page: what to try, cards in place of the table, and the score."""
    (section,) = re.findall(SECTION, readme)
    opening, others = readme.replace(section, "").split("\n## ", 1)
    section = re.sub(r"(?m)^\|.*\n(?:\|.*\n)*", lambda _: cards.page(parts), section)
    return f"{opening.replace(BESIDE, TRY + BESIDE)}\n{section}\n## {others}{SCORE}"


def contents(parts, pages):
    """The side bar: the parts and notebooks of the README's table, then groups of other pages."""
    parts = {part: [f"notebooks/{card.name}" for card in found] for part, found in parts.items()}
    pages = pages - {page for found in parts.values() for page in found}
    for part, named in GROUPS.items():
        parts[part] = [page for page in named if page in pages]
        pages -= {*named}
    parts[part] += sorted(pages)
    tree = "\n```{{toctree}}\n:hidden:\n:caption: {}\n\n{}\n```\n"
    return "".join(tree.format(part, "\n".join(lines)) for part, lines in parts.items())


def summary(found):
    """Below a heading of the reference: a table of what the section describes."""
    names = re.findall(r":: (?:xla_\w+\.)?(.+)", found[1])
    table = ["\n.. autosummary::", "   :nosignatures:", "", *(f"   {name}" for name in names)]
    return found[0].replace(found[1], "\n".join([*table, "", found[1]]))
