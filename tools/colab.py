"""Run notebooks as Colab would: its stock versions, then each notebook with its own first cell.

The first cell installs this project from its address; here it takes this checkout instead.
About five minutes, and a network for the packages.
"""

import argparse
import os
import shutil
import sys

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat.v4 import new_code_cell

from tools import environments
from tools.address import current
from tools.collection import ROOT, choose, is_for_colab, read
from tools.commands import carried_out
from tools.environments import NotMade
from tools.kernels import CELL_SECONDS, KERNEL_ARGUMENTS, message_of
from tools.pythons import version_of
from xla_helpers.tables import in_one_line

STOCK = {  # what a new Colab machine held in August 2026, on Python 3.13
    "tensorflow": "2.20.0",
    "tf-keras": "2.20.1",
    "keras": "3.13.2",
    "numpy": "2.1.3",
    "matplotlib": "3.10.0",
    "scipy": "1.16.3",
    "transformers": "5.15.0",
}
PYTHONS = ["python3.13", "python3.12", "python3.11"]  # the first one found; Colab has the first
ALSO = ["ipykernel", "ipywidgets"]  # what else is there, in any version
KINDS = ["01", "02", "03", "05"]  # plain TensorFlow, Keras 3, Transformers, fresh processes
PRETEND = """import sys
import types

sys.modules["google.colab"] = types.ModuleType("google.colab")"""
VERSIONS = """from importlib.metadata import version

for name, stock in {stock}.items():
    assert version(name) == stock, f"{{name}} {{stock}} was replaced by {{version(name)}}\""""


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tools.colab", description=__doc__)
    parser.add_argument("notebooks", nargs="*", default=KINDS, help="numbers (default 01 02 03 05)")
    wanted = parser.parse_args(arguments).notebooks
    return carried_out("colab", lambda: try_out(choose(wanted)))


def try_out(paths):
    """Run notebooks among the stock versions. Returns: the exit code."""
    python = next(filter(version_of, PYTHONS), None)  # one on the PATH may not start
    if python is None:
        return sorry(f"none of {', '.join(PYTHONS)} is installed")
    folder = ROOT / "build" / "colab"
    try:
        make_environment(python, folder)
    except NotMade as error:
        return sorry(f"no environment: {error}")
    os.environ["JUPYTER_PATH"] = str(folder / "share" / "jupyter")
    os.environ["XLA_RESULTS"] = str(folder / "results")  # not those of this machine's versions
    failed = [path.stem for path in paths if not runs(path)]
    return sorry(f"failed: {', '.join(failed)}") if failed else 0


def sorry(message):
    print(in_one_line(f"colab: {message}"), file=sys.stderr)
    return 1


def make_environment(python, folder):
    """A new virtual environment with the stock versions, pip, and a kernel named colab."""
    print(f"colab: {python}, installing {len(STOCK)} stock versions", flush=True)
    environments.make(folder, shutil.which(python), "--seed")
    # The copy of this project from which setuptools installs it: there, old modules live on.
    shutil.rmtree(ROOT / "build" / "lib" / "xla_helpers", ignore_errors=True)
    pins = [f"{name}=={version}" for name, version in STOCK.items()]
    environments.install(folder, *pins, *ALSO)
    kernel = ["-m", "ipykernel", "install", "--prefix", folder, "--name", "colab"]
    environments.call(environments.inside(folder), *kernel)


def runs(path):
    """Execute a copy in memory, and say whether it ended well."""
    print(f"colab: {path.stem} ... ", end="", flush=True)
    try:
        settings = {"timeout": CELL_SECONDS, "extra_arguments": KERNEL_ARGUMENTS}
        elsewhere = ROOT / "notebooks"  # not beside the package, which the first cell installs
        settings["resources"] = {"metadata": {"path": str(elsewhere)}}
        NotebookClient(on_colab(path), kernel_name="colab", **settings).execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        kind = getattr(error, "ename", type(error).__name__)
        print(in_one_line(f"FAILED: {kind}: {message_of(error)}"))
        return False
    print("passed")
    return True


def on_colab(path):
    """The notebook as it would run there, and a check that the versions stayed."""
    notebook = read(path)
    address = f"git+https://github.com/{current()}"
    first = next(filter(is_for_colab, notebook.cells))
    assert address in first.source, "the first cell installs something else"
    first.source = first.source.replace(address, str(ROOT))
    place = notebook.cells.index(first)
    kept = {name: version for name, version in STOCK.items() if name != "transformers"}
    notebook.cells.insert(place + 1, new_code_cell(VERSIONS.format(stock=kept)))
    notebook.cells.insert(place, new_code_cell(PRETEND))
    return notebook


if __name__ == "__main__":
    sys.exit(main())
