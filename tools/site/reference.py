"""The page of reference, from the docstrings of all that `xla_helpers` exports.

Its order and its headings are those of the stub, `xla_helpers/__init__.pyi`. This file is an
extension of Sphinx too: it makes the docstrings' own way of writing into what Sphinx reads.
"""

import inspect
import re
from pathlib import Path

import xla_helpers

TITLE = "Reference"
STUB = Path(xla_helpers.__file__).with_suffix(".pyi")
MEMBERS = "\n   :members:\n   :member-order: bysource"
OPENING = """\
All that `xla_helpers` exports, by what it is for. After ``import xla_helpers as xh``, each name is
``xh.name``. Seconds and bytes are plain numbers everywhere; a unit is chosen when they are shown.
"""


def groups(stub):
    """Heading to exported names, as a stub groups its imports by comments."""
    found, heading = {}, None
    for line in stub.split("__all__")[0].splitlines():
        if line.startswith("# "):
            heading = line.removeprefix("# ")
        else:
            names = re.sub(r"^from \S+ import|\w+ as|#.*", "", line)
            found.setdefault(heading, []).extend(re.findall(r"\w+", names))
    return {heading: names for heading, names in found.items() if names}


def page(stub):
    """The page in the form that Sphinx reads."""
    parts = [".. highlight:: default", under(TITLE, "="), OPENING]
    for heading, names in groups(stub).items():
        parts += [under(heading, "-"), *map(directive, sorted(names, key=is_module))]
    return "\n\n".join(parts) + "\n"


def under(heading, line):
    return f"{heading}\n{line * len(heading)}"


def is_module(name):
    return inspect.ismodule(getattr(xla_helpers, name))


def directive(name):
    """What asks Sphinx for the docstring of a name."""
    thing = getattr(xla_helpers, name)
    if is_module(name):
        return f"{under(f'xh.{name}', '~')}\n\n.. automodule:: xla_helpers.{name}{MEMBERS}"
    if not inspect.isclass(thing):
        return f".. autofunction:: xla_helpers.{name}"
    kind = "exception" if issubclass(thing, Exception) else "class"
    return f".. auto{kind}:: xla_helpers.{name}{MEMBERS}"


def mark_up(app, what, name, thing, options, lines):
    """Set what a docstring names apart: parameters and fields, and what is returned or raised."""
    text = re.sub(r"(?m)^(Returns|Raises): ", r"\n**\1:** ", "\n".join(lines))
    text = re.sub(r"(?<!`)(`[^`\n]+`)(?=\w)", r"\1\\ ", text)  # a plural, such as `Result`s
    names = "|".join(fields_of(thing))
    if names:
        text = re.sub(
            rf"(?m)(^|(?<=\. ))((?:(?:{names}), )*(?:{names})):(?=\s)", r"\1**\2:**", text
        )
    lines[:] = text.splitlines()


def fields_of(thing):
    """Names of the parameters of a function, or of the fields of a class."""
    if not callable(thing):
        return []
    try:
        return [*inspect.signature(thing).parameters]
    except ValueError:  # some built-in types have none
        return []


def name_defaults(app, what, name, thing, options, signature, returned):
    """Show a default that is a function by its name, and one that is made for each call by dots."""
    if signature:
        named = re.sub(r"<(?:built-in )?function (\w+).*?>", r"\1", signature)
        return named.replace("<factory>", "..."), returned


def setup(app):
    app.connect("autodoc-process-docstring", mark_up)
    app.connect("autodoc-process-signature", name_defaults)
    return {"parallel_read_safe": True}
