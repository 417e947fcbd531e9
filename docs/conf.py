"""The site: README, notebooks with their committed outputs, pages of docs/, the reference."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for conf.anchor

project = html_title = "XLA for TensorFlow, in notebooks"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "README"
include_patterns = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "notebooks/*.ipynb", "docs/*"]
nb_execution_mode = "off"
nb_render_markdown_format = "myst"  # outputs that are Markdown may hold tables
myst_heading_anchors = 3
myst_heading_slug_func = "conf.anchor"
highlight_language = "none"
default_role = "py:obj"
add_module_names = False
autodoc_class_signature = "separated"
autodoc_default_options = {"exclude-members": "__init__"}  # results are made by functions
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False  # Google style alone
napoleon_use_ivar = True  # attributes as one list
html_theme = "furo"
html_copy_source = html_use_index = html_domain_indices = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]

CONTENTS = """
```{toctree}
:hidden:
:glob:
notebooks/*
docs/*
CONTRIBUTING
CHANGELOG
```
"""


def anchor(heading):
    """As JupyterLab and GitHub name the heading of a notebook."""
    return heading.replace(" ", "-")


def setup(app):
    app.connect("source-read", for_the_site)


def for_the_site(app, name, source):
    """Add the side bar's list to the README; in notebooks, fold and describe as JupyterLab does."""
    if name == "README":
        source[0] += CONTENTS
    if not name.startswith("notebooks/"):
        return
    notebook = json.loads(source[0])
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"] != "colab"]
    for cell in notebook["cells"]:
        if cell["metadata"].get("jupyter", {}).get("source_hidden"):
            cell["metadata"].setdefault("tags", []).append("hide-input")
        for output in cell.get("outputs", []):
            if alt := output.get("metadata", {}).get("image/png", {}).get("alt"):
                cell["metadata"]["mystnb"] = {"image": {"alt": alt}}
    source[0] = json.dumps(notebook)
