"""The set-up files say the same things in different languages; these tests hold them together."""

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

from tools import colab, pythons
from tools.address import PLACEHOLDER, current, files, links
from tools.versions.combinations import combinations

ROOT = Path(__file__).parent.parent
PYTHONS = ["3.11", "3.12", "3.13"]
CONDA_FILES = ["environment.yml", "binder/environment.yml"]
WORKFLOWS = {path.stem: path for path in sorted((ROOT / ".github/workflows").glob("*.yml"))}

# What a stock Colab machine had in August 2026, under Python 3.13.
# What stock Colab holds. Of these: at least this.
AT_LEAST = {
    "fastjsonschema": "2.19",
    "jinja2": "3.1.4",
    "lazy-loader": "0.4",
    "markdown-it-py": "3.0",
    "networkx": "3.2",
    "platformdirs": "4.2",
    "psutil": "5.9.5",
    "tqdm": "4.66.1",
}
COLAB = colab.STOCK | AT_LEAST


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
    assert [f"{major}.{minor}" for major, minor in (pythons.OLDEST, pythons.NEWEST)] == [
        minors[0],
        minors[-1],
    ]
    for job in (jobs("test")["fast"], jobs("weekly")["locked"]):
        assert matrix(job)["python"] == minors
    assert f"Python {minors[0]} to {minors[-1]}" in (ROOT / "Makefile").read_text()
    assert f"--python-version {minors[0]}" in (ROOT / "Makefile").read_text()


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


NEW_THERE = {"cattrs"}  # Colab has what it needs, attrs and typing-extensions, but not itself


def test_the_package_replaces_nothing_on_colab():
    for requirement in core():
        if requirement.name in NEW_THERE:
            continue
        assert COLAB[requirement.name] in requirement.specifier
    # Its newest release asks for the newest TensorFlow, whatever is installed.
    assert "tf-keras" not in {requirement.name for requirement in core()}
    assert "3.13" in SpecifierSet(project()["requires-python"])


@pytest.mark.parametrize("name", CONDA_FILES)
def test_conda_understands_every_spec(name):
    from rattler import MatchSpec

    names = [MatchSpec(spec, strict=True).name.normalized for spec in conda_specs(name)]
    assert names == ["python", "pip"]


def test_conda_installs_the_lock_and_then_the_package():
    text = (ROOT / "environment.yml").read_text()
    (pip,) = [
        entry["pip"] for entry in yaml.safe_load(text)["dependencies"] if isinstance(entry, dict)
    ]
    assert pip == ["-r requirements.txt"]
    commands = re.findall(r"(?m)^# (conda .*)$", text)
    assert "pip install --no-deps --no-build-isolation --editable ." in commands[1]
    readme = (ROOT / "README.md").read_text()
    assert all(command in readme for command in commands)


# Binder


@pytest.fixture(scope="module")
def binder_log(tmp_path_factory):
    """What repo2docker would build, without a container engine."""
    copy = tmp_path_factory.mktemp("binder") / "repository"
    others = ("__pycache__", ".*_cache", ".hypothesis")  # where other tests may be writing
    hidden = shutil.ignore_patterns(".venv", ".git", "build", "notebooks", *others)
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


@pytest.mark.parametrize("name", ["binder/postBuild", ".ci/run"])
def test_scripts_can_be_executed(name):
    assert os.access(ROOT / name, os.X_OK)
    assert not (ROOT / name).is_symlink()


# Commands


def test_the_workflows_are_valid():
    command = [sys.executable, "-m", "check_jsonschema"]
    command += ["--builtin-schema", "vendor.github-workflows", *map(str, WORKFLOWS.values())]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_a_change_is_tried_with_one_notebook_of_each_kind():
    style, tests, notebooks, papermill = runs(jobs("test")["fast"])
    assert (style, tests) == ("make lint", ".venv/bin/python -m pytest tests")
    assert f"\n{papermill}\n```" in (ROOT / "README.md").read_text()
    assert notebooks.startswith(".venv/bin/python -m pytest ")
    assert re.findall(r"notebooks/(\d\d)_\*\.ipynb", notebooks) == colab.KINDS


def test_the_week_runs_the_commands_of_the_makefile():
    assert runs(jobs("weekly")["locked"]) == [".ci/run", "make run"]
    assert re.findall(r"(?m)^make (\S+)", (ROOT / ".ci/run").read_text()) == ["lint", "test"]


def test_the_week_tries_every_combination_of_versions():
    job = jobs("weekly")["versions"]
    assert matrix(job)["name"] == [one.name for one in combinations()]
    assert runs(job) == ["make test-versions NAMES=${{ matrix.name }}"]


def test_the_week_is_on_linux_and_macos():
    for name in ("locked", "versions"):
        assert matrix(jobs("weekly")[name])["system"] == ["ubuntu-latest", "macos-latest"]


def test_only_the_job_that_opens_an_issue_may_write():
    for workflow, path in WORKFLOWS.items():
        everywhere = yaml.safe_load(path.read_text(encoding="utf-8"))["permissions"]
        assert everywhere == {"contents": "read"}
        for name, job in jobs(workflow).items():
            more = {"contents": "read", "issues": "write"} if name == "report" else None
            assert job.get("permissions") == more


def test_what_failed_is_kept_for_whoever_looks():
    for job in (jobs("weekly")["locked"], jobs("weekly")["versions"]):
        (keep,) = [s for s in job["steps"] if "upload-artifact" in s.get("uses", "")]
        assert keep["with"]["path"].startswith("build/")
        assert keep["if"] == "${{ !cancelled() }}"


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


def test_every_link_to_this_project_carries_its_address():
    address = current(ROOT)
    for path in files(ROOT):
        strays = links(path.read_text(encoding="utf-8"), address) - {address}
        assert not strays, f"{path.name}: run make address REPO={address}"


def test_no_placeholder_stays_behind():
    owner = PLACEHOLDER.split("/")[0] + "/"
    if current(ROOT) != PLACEHOLDER:
        for path in files(ROOT):
            assert owner not in path.read_text(encoding="utf-8"), path.name
