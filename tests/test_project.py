"""The set-up files say the same things in different languages; these tests hold them together."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PYTHONS = ["3.11", "3.12", "3.13"]
WORKFLOWS = {path.stem: path for path in sorted((ROOT / ".github/workflows").glob("*.yml"))}

# What stock Colab holds besides tools/colab.txt: at least this.
COLAB_AT_LEAST = {
    "lazy-loader": "0.4",
    "networkx": "3.2",
    "platformdirs": "4.2",
    "tabulate": "0.9.0",
}
NEW_ON_COLAB = {"msgspec"}  # and it asks for no others
PLACEHOLDER = "OWNER/xla-tensorflow-notebooks"


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def core():
    return [Requirement(line) for line in project()["dependencies"]]


def extras():
    groups = project()["optional-dependencies"].values()
    return [Requirement(line) for group in groups for line in group]


def lock():
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    return [Requirement(line.rstrip(" \\")) for line in lines if re.match(r"\w", line)]


def locked_version(name, python):
    """The version that the lock gives `name` on Linux, or None."""
    machine = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_machine": "x86_64",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
        "os_name": "posix",
    }
    for pin in lock():
        if canonicalize_name(pin.name) == canonicalize_name(name):
            if pin.marker is None or pin.marker.evaluate(machine):
                return Version(str(pin.specifier).removeprefix("=="))
    return None


def conda_specs(name):
    dependencies = yaml.safe_load((ROOT / name).read_text())["dependencies"]
    return [spec for spec in dependencies if isinstance(spec, str)]


def jobs(workflow):
    return yaml.safe_load(WORKFLOWS[workflow].read_text(encoding="utf-8"))["jobs"]


def runs(job):
    """The commands of a job, in order."""
    return [step["run"] for step in job["steps"] if "run" in step]


def matrix(job):
    return job["strategy"]["matrix"]


# Python


def test_every_file_names_the_same_pythons():
    supported = SpecifierSet(project()["requires-python"])
    minors = [f"3.{minor}" for minor in range(30) if f"3.{minor}" in supported]
    assert minors == PYTHONS
    set_up = (ROOT / "tools/set-up").read_text()
    assert "(3, 11) <= sys.version_info < (3, 14)" in set_up
    assert f"Python {minors[0]} to {minors[-1]}" in set_up
    for job in (jobs("test")["fast"], jobs("weekly")["locked"]):
        assert matrix(job)["python"] == minors
    assert f"--python-version {minors[0]}" in (ROOT / "Makefile").read_text()
    assert f"PYTHONS = {minors}".replace("'", '"') in (ROOT / "noxfile.py").read_text()


def test_conda_takes_a_supported_python():
    assert "python" + project()["requires-python"] in conda_specs("environment.yml")
    (spec,) = [spec for spec in conda_specs("binder/environment.yml") if spec.startswith("python")]
    assert spec.removeprefix("python=") in PYTHONS


# Packages


def test_the_lock_holds_nothing_but_pins_with_their_hashes():
    text = (ROOT / "requirements.txt").read_text()
    assert "://" not in text
    assert set(re.findall(r"--[\w-]+", text)) == {"--hash"}
    assert all(re.fullmatch(r"==[^,*]+", str(pin.specifier)) for pin in lock())
    hashed = re.findall(r"(?m)^\w.* \\\n    --hash=sha256:[0-9a-f]{64}(?!\S)", text)
    assert len(hashed) == len(lock())


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_answers_every_requirement(python):
    for requirement in core() + extras():
        version = locked_version(requirement.name, python)
        assert version in requirement.specifier, f"{requirement}: run make lock"


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_builds_the_package_without_a_download(python):
    built_with = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    for requirement in map(Requirement, built_with):
        assert locked_version(requirement.name, python) in requirement.specifier


@pytest.mark.parametrize("python", PYTHONS)
def test_tensorflow_and_tf_keras_are_of_one_minor_release(python):
    tensorflow, tf_keras = (locked_version(name, python) for name in ("tensorflow", "tf-keras"))
    assert tensorflow.release[:2] == tf_keras.release[:2]
    ranges = {r.name: str(r.specifier) for r in core() + extras()}
    assert ranges["tensorflow"] == ranges["tf-keras"]


def test_the_package_replaces_nothing_on_colab():
    pins = re.findall(r"(?m)^([\w-]+)==(.+)$", (ROOT / "tools/colab.txt").read_text())
    stock = COLAB_AT_LEAST | dict(pins)
    for requirement in core():
        if requirement.name not in NEW_ON_COLAB:
            assert stock[requirement.name] in requirement.specifier
    # Its newest release asks for the newest TensorFlow, whatever is installed.
    assert "tf-keras" not in {requirement.name for requirement in core()}
    assert "3.13" in SpecifierSet(project()["requires-python"])


def test_conda_installs_the_lock_and_then_the_package():
    text = (ROOT / "environment.yml").read_text()
    (pip,) = [
        entry["pip"] for entry in yaml.safe_load(text)["dependencies"] if isinstance(entry, dict)
    ]
    assert pip == ["-r requirements.txt"]
    commands = re.findall(r"(?m)^# (\S*\s?conda .*)$", text)
    assert commands[0].startswith("PIP_NO_DEPS=1 ")  # the lock lacks a package that one asks for
    assert "pip install --no-deps --no-build-isolation --editable ." in commands[1]
    told = (ROOT / "README.md").read_text() + (ROOT / "docs/gpu.md").read_text()
    assert all(command in told for command in commands)


# Binder


@pytest.fixture(scope="module")
def binder_log(tmp_path_factory):
    """What repo2docker would build, without a container engine."""
    copy = tmp_path_factory.mktemp("binder") / "repository"
    others = ("__pycache__", ".*_cache", ".hypothesis")  # where other tests may be writing
    hidden = shutil.ignore_patterns(".venv", ".nox", ".git", "build", "notebooks", *others)
    shutil.copytree(ROOT, copy, ignore=hidden)
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", "."]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_binder_builds_from_its_own_folder(binder_log):
    assert 'env update -p ${NB_PYTHON_PREFIX} --file "binder/environment.yml"' in binder_log
    assert "RUN ./binder/postBuild" in binder_log
    (spec,) = [spec for spec in conda_specs("binder/environment.yml") if spec.startswith("python")]
    assert f"Building conda environment for {spec}" in binder_log


def test_binder_installs_as_make_does():
    script = (ROOT / "binder/postBuild").read_text()
    assert script.startswith("#!/bin/bash\n")
    assert "pip install --no-cache-dir --no-deps -r requirements.txt" in script
    assert "pip install --no-cache-dir --no-deps --no-build-isolation -e ." in script


@pytest.mark.parametrize("name", ["binder/postBuild", ".ci/run", "tools/set-up"])
def test_scripts_can_be_executed(name):
    assert os.access(ROOT / name, os.X_OK)
    assert not (ROOT / name).is_symlink()


# Commands


def test_the_workflows_are_valid():
    command = [sys.executable, "-m", "check_jsonschema"]
    command += ["--builtin-schema", "vendor.github-workflows", *map(str, WORKFLOWS.values())]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_workflows_run_what_a_reader_can():
    commands = [".ci/run", "make run", ".venv/bin/nox"]
    said = "\n".join(run for name in WORKFLOWS for job in jobs(name).values() for run in runs(job))
    assert all(command in said for command in commands)
    assert re.findall(r"(?m)^make (\S+)", (ROOT / ".ci/run").read_text()) == ["lint", "test"]
    for notebook in re.findall(r"notebooks/[\w]+\.ipynb", said):
        assert (ROOT / notebook).exists()


def test_only_the_job_that_opens_an_issue_may_write():
    for workflow, path in WORKFLOWS.items():
        everywhere = yaml.safe_load(path.read_text(encoding="utf-8"))["permissions"]
        assert everywhere == {"contents": "read"}
        for name, job in jobs(workflow).items():
            more = {"contents": "read", "issues": "write"} if name == "report" else None
            assert job.get("permissions") == more


def test_nox_knows_its_sessions():
    command = [sys.executable, "-m", "nox", "--list", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = [session["name"] for session in json.loads(done.stdout)]
    assert {name: names.count(name) for name in names} == {
        "versions": 8,
        "oldest": 1,
        "prerelease": 1,
        "colab": 1,
    }


def test_make_lists_every_command():
    makefile = (ROOT / "Makefile").read_text()
    (commands,) = re.findall(r"(?m)^\.PHONY: (.*)$", makefile)
    done = subprocess.run(["make", "-C", ROOT, "help"], capture_output=True, text=True)
    listed = re.findall(r"(?m)^  make (\S+) +\S", done.stdout)
    assert sorted(listed) == sorted(commands.split())


def test_every_command_sets_up_first():
    makefile = (ROOT / "Makefile").read_text()
    targets = dict(re.findall(r"(?m)^([a-z-]+):([^#\n]*)##", makefile))
    assert {name for name, needs in targets.items() if needs.strip() != "set-up"} == {
        "help",
        "set-up",
    }


# The temporary folder of tests


def test_what_a_kernel_leaves_in_its_temporary_folder_goes_with_the_run(tmp_path):
    """The name of the folder holds a space, as folders of users do."""
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "test_left.py").write_text(
        "import pathlib, subprocess, sys\n"
        "LEAVES = 'import tempfile; print(tempfile.mkdtemp(), end=\"\")'\n"
        "def test_left():\n"
        "    left = subprocess.check_output([sys.executable, '-c', LEAVES], text=True)\n"
        "    assert pathlib.Path(left).is_dir()\n"
        "    pathlib.Path('left').write_text(left)\n"
    )
    subprocess.run([sys.executable, "-m", "pytest", tmp_path], cwd=tmp_path, check=True)
    left = Path((tmp_path / "left").read_text())
    assert " " in str(left) and not left.parent.exists()


# The address


def text_files():
    named = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout
    names = named.splitlines() or [*map(str, ROOT.glob("notebooks/*")), "README.md"]
    return [ROOT / name for name in names if name.endswith((".md", ".ipynb", ".toml", ".py"))]


def test_every_link_to_this_project_carries_its_address():
    urls = project()["urls"]
    address = urls["Repository"].removeprefix("https://github.com/")
    places = r"(?:research\.google\.com/github|mybinder\.org/v2/gh|git\+https://github\.com)/"
    for path in text_files():
        found = re.findall(rf"{places}([\w-]+/[\w.-]+)", path.read_text(encoding="utf-8"))
        assert set(found) <= {address}, f"{path.name}: run make address REPO={address}"


def test_an_address_reaches_every_link_and_nothing_else(tmp_path):
    for name in ("tools", "notebooks", "docs"):
        (tmp_path / name).mkdir()
    shutil.copy(ROOT / "tools/address.py", tmp_path / "tools")
    for name in ("README.md", "pyproject.toml", "notebooks/01_fuse_a_computation.ipynb"):
        shutil.copy(ROOT / name, tmp_path / name)
    other = tmp_path / "docs/other.md"
    other.write_text(f"github.com/{PLACEHOLDER}-two")

    def write(address):
        command = [sys.executable, tmp_path / "tools/address.py", address]
        return subprocess.run(command, capture_output=True, text=True)

    before = {path: path.read_text() for path in tmp_path.rglob("*.*")}
    for wrong in ("", "me", "me/notes.git", "me/no tes", "https://github.com/me/notes"):
        done = write(wrong)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert {path: path.read_text() for path in before} == before
    assert write("me/notes").returncode == 0 and write("you/n.b").returncode == 0
    readme = (tmp_path / "README.md").read_text()
    assert "OWNER/" not in readme and "me/notes" not in readme
    assert other.read_text() == f"github.com/{PLACEHOLDER}-two"
    assert "git clone https://github.com/you/n.b xla\ncd xla\n" in readme
    assert write(PLACEHOLDER).returncode == 0
    assert {path: path.read_text() for path in before} == before
