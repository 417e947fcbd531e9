"""Other versions: `.venv/bin/nox --list` names the sessions, `-s oldest` runs one.

A session tests what is named behind `--`, or else what is private in TensorFlow and Keras, the
foreign models, and a notebook of each kind, `prerelease` every notebook.
"""

import os
from glob import glob
from pathlib import Path

import nox

nox.options.default_venv_backend = "uv"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = True

PYTHONS = ["3.11", "3.12", "3.13"]
RELEASES = ["2.20", "2.21"]  # of TensorFlow
KINDS = sorted(glob("notebooks/0[1235]_*.ipynb"))  # TensorFlow, Keras, Transformers, processes


PRIVATE = "tests/xla_helpers/test_internals.py"  # an upgrade that moves a name is told by it


def test(session, *packages, paths=(PRIVATE, "tests/test_gallery.py", *KINDS)):
    session.install("-e", ".[notebooks,rivals,test,targets]", *packages)
    session.run("uv", "pip", "freeze", "--exclude-editable", external=True)
    session.run("pytest", *(session.posargs or paths))


@nox.session
@nox.parametrize("python,tensorflow", [(p, t) for p in PYTHONS for t in RELEASES])
def versions(session, tensorflow):
    """Each Python with each TensorFlow, and the newest of all else."""
    test(session, f"tensorflow=={tensorflow}.*", f"tf-keras=={tensorflow}.*")


@nox.session(python=PYTHONS[0])
def oldest(session):
    """The lower end of every range in pyproject.toml."""
    test(session, "--resolution", "lowest-direct")


@nox.session(python=PYTHONS[-1])
def prerelease(session):
    """Every notebook with the TensorFlow to come; nobody promises that it runs."""
    newer = Path(session.create_tmp(), "newer.txt")
    # The libraries of tensorflow-text are made for one TensorFlow, and KerasHub for released Keras.
    without = [f"{name}; sys_platform == 'never'" for name in ("tensorflow-text", "keras-nightly")]
    wanted = ["tensorflow>=2.22rc0", "tf-keras>=2.21", *without]
    newer.write_text("\n".join(wanted), encoding="utf-8")
    paths = [PRIVATE, "docs", "notebooks"]
    test(session, "--prerelease", "allow", "--overrides", str(newer), paths=paths)


@nox.session(python="3.13")
def colab(session):
    """Notebooks among stock Colab's versions, which their first cell must leave alone."""
    stock = Path("tools/colab.txt").resolve()
    session.install("-r", str(stock), "transformers==5.15", "pip", "ipykernel", "papermill")
    packages = Path(session.virtualenv.location, "lib", "python3.13", "site-packages")
    pretend = 'import sys, types; sys.modules["google.colab"] = types.ModuleType("google.colab")'
    (packages / "pretend.pth").write_text(pretend, encoding="utf-8")
    # The first cell fetches this project from its address: here, the last commit of this clone.
    address = nox.project.load_toml("pyproject.toml")["project"]["urls"]["Repository"]
    session.env["PIP_CONSTRAINT"] = str(stock)
    session.env["GIT_CONFIG_COUNT"] = "1"
    session.env["GIT_CONFIG_KEY_0"] = f"url.{Path.cwd()}.insteadOf"
    session.env["GIT_CONFIG_VALUE_0"] = address
    for notebook in session.posargs or [*KINDS, *glob("notebooks/16_*.ipynb")]:  # KerasHub besides
        session.run("papermill", notebook, os.devnull, "--cwd", "notebooks", "--no-progress-bar")
