"""The code can be read, and the set-up files say the same things in different languages."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PYTHONS = ["3.11", "3.12", "3.13"]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


MAKEFILE, TOML = read("Makefile"), tomllib.loads(read("pyproject.toml"))
PROJECT = TOML["project"]
CORE = [Requirement(line) for line in PROJECT["dependencies"]]
EXTRAS = [Requirement(x) for group in PROJECT["optional-dependencies"].values() for x in group]
BUILD = [Requirement(line) for line in TOML["build-system"]["requires"]]
LOCK, TARGETS = (
    [Requirement(pin) for pin in re.findall(r"(?m)^\w.*(?= \\$)", read(name))]
    for name in ("requirements.txt", "requirements-targets.txt")
)
WORKFLOWS = {path.stem: path for path in sorted((ROOT / ".github/workflows").glob("*.yml"))}
JOBS = {name: yaml.safe_load(read(path))["jobs"] for name, path in WORKFLOWS.items()}
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))

NEW_ON_COLAB = {"msgspec"}  # and it asks for no others
PLACEHOLDER = "OWNER/xla-tensorflow-notebooks"


# Code that can be read

MODULES = {
    path: ast.parse(path.read_text(encoding="utf-8"))
    for folder in ("xla_helpers", "xla_decide", "tools")
    for path in sorted((ROOT / folder).rglob("*.py"))
}


def test_each_file_names_its_subject():
    said = {path: ast.get_docstring(tree) for path, tree in MODULES.items()}
    assert all(text and len(text.splitlines()[0]) <= 97 for text in said.values())
    assert len({text.splitlines()[0] for text in said.values()}) == len(said)


# Pythons and packages


def test_every_file_names_the_same_pythons():
    supported = SpecifierSet(PROJECT["requires-python"])
    assert [f"3.{minor}" for minor in range(30) if f"3.{minor}" in supported] == PYTHONS
    assert "(3, 11) <= sys.version_info < (3, 14)" in read("tools/set-up")
    for job in (JOBS["test"]["fast"], JOBS["weekly"]["locked"]):
        assert job["strategy"]["matrix"]["python"] == PYTHONS
    assert f"--python-version {PYTHONS[0]}" in MAKEFILE
    assert f"- python{PROJECT['requires-python']}\n" in read("environment.yml")
    (binder,) = re.findall(r"- python=(.*)", read("binder/environment.yml"))
    assert binder in PYTHONS


def test_nox_tries_every_python_with_every_tensorflow():
    command = [sys.executable, "-m", "nox", "--list", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    sessions = json.loads(done.stdout)
    tried = [(x["python"], x["call_spec"]["tensorflow"]) for x in sessions if x["call_spec"]]
    (supported,) = [x.specifier for x in CORE if x.name == "tensorflow"]
    releases = [f"2.{minor}" for minor in range(60) if f"2.{minor}" in supported]
    assert sorted(tried) == [(python, release) for python in PYTHONS for release in releases]
    weekly = JOBS["weekly"]["versions"]["strategy"]["matrix"]["session"]
    assert {session["name"] for session in sessions} == set(weekly)


def locked_version(name, python):
    """The version of `name` in the lock."""
    machine = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": "linux",
    }
    for pin in LOCK + TARGETS:
        same = canonicalize_name(pin.name) == canonicalize_name(name)
        if same and (pin.marker is None or pin.marker.evaluate(machine)):
            return Version(str(pin.specifier).removeprefix("=="))
    raise AssertionError(f"no {name} in the lock: run make lock")


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_answers_every_requirement(python):
    for requirement in CORE + EXTRAS + BUILD:  # the package itself is built without a download
        assert locked_version(requirement.name, python) in requirement.specifier, requirement
    tensorflow, tf_keras = (locked_version(name, python) for name in ("tensorflow", "tf-keras"))
    assert tensorflow.release[:2] == tf_keras.release[:2]
    assert len({locked_version(pin.name, python) for pin in TARGETS if "jax" in pin.name}) == 1
    assert not {pin.name for pin in TARGETS} & {pin.name for pin in LOCK}  # TensorFlow sees none


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-targets.txt"])
def test_the_lock_holds_nothing_but_pins_with_their_hashes(name):
    text, pins = read(name), LOCK if name == "requirements.txt" else TARGETS
    assert "://" not in text and set(re.findall(r"--[\w-]+", text)) == {"--hash"}
    assert all(re.fullmatch(r"==[^,*]+", str(pin.specifier)) for pin in pins)
    hashed = re.findall(r"(?m)^\w.* \\\n    --hash=sha256:[0-9a-f]{64}(?!\S)", text)
    assert len(hashed) == len(pins) == len(re.findall(r"(?m)^\w", text))


def test_the_package_replaces_nothing_on_colab():
    stock = dict(re.findall(r"(?m)^([\w-]+)==(.+)$", read("tools/colab.txt")))
    for requirement in CORE:
        if requirement.name not in NEW_ON_COLAB:
            assert stock[requirement.name] in requirement.specifier
    # Its newest release asks for the newest TensorFlow, whatever is installed.
    assert "tf-keras" not in {requirement.name for requirement in CORE}


def test_the_release_has_one_version_and_one_title():
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["version"] == PROJECT["version"] and citation["license"] == PROJECT["license"]
    assert f"\n## [{PROJECT['version']}]" in read("CHANGELOG.md")
    assert citation["authors"] == PROJECT["authors"]
    assert read("README.md").startswith(f"# {citation['title']}\n")
    assert f'project = html_title = "{citation["title"]}"\n' in read("docs/conf.py")


def test_the_wheel_holds_every_file_of_the_package_and_no_other(tmp_path):
    packages = ["xla_helpers", "xla_decide"]
    for package in packages:
        shutil.copytree(ROOT / package, tmp_path / package)
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    command = [sys.executable, "-m", "uv", "build", "--quiet", "--offline", "--wheel"]
    command += ["--no-build-isolation", "--python", sys.executable, "."]
    subprocess.run(command, cwd=tmp_path, check=True)
    names = zipfile.ZipFile(*tmp_path.glob("dist/*.whl")).namelist()
    paths = [path for package in packages for path in ROOT.glob(f"{package}/**/*")]
    files = [path for path in paths if path.is_file()]
    there = {str(x.relative_to(ROOT)) for x in files if x.parent.name != "__pycache__"}
    assert {name for name in names if ".dist-info/" not in name} == there
    (wheel,) = tmp_path.glob("dist/*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "unpacked")
    code = "import sys; sys.path.insert(0, 'unpacked'); "
    code += "import xla_helpers as xh, xla_decide as xd; "
    code += "print(xh.__file__, xh.compare, xh.check, xd.decide, xd.targets)"  # one of each folder
    command = [sys.executable, "-I", "-c", code]
    shown = subprocess.check_output(command, cwd=tmp_path, text=True)
    assert "unpacked" in shown.split()[0]
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_conda_installs_the_package_with_the_lock_s_versions_in_one_command():
    *_, last = yaml.safe_load(read("environment.yml"))["dependencies"]
    assert last == {"pip": ["--constraint constraints.txt", "-e .[notebooks,rivals,test]"]}
    pins = re.findall(r"(?m)^\w.*$", read("constraints.txt"))
    assert list(map(Requirement, pins)) == LOCK
    command, more = re.findall(r"(?m)^# (conda .*)$", read("environment.yml"))
    assert f"\n{command}\n" in read("docs/commands.md") and f"`{more}`" in read("docs/gpu.md")


def test_binder_installs_as_make_does():
    script = read("binder/postBuild")
    assert "pip install --no-cache-dir --no-deps -r requirements.txt" in script
    assert "pip install --no-cache-dir --no-deps --no-build-isolation -e ." in script


@pytest.mark.parametrize("kind", ["github-workflows", "dependabot"])
def test_the_files_for_github_are_valid(kind):
    files = WORKFLOWS.values() if kind == "github-workflows" else [".github/dependabot.yml"]
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{kind}"]
    done = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_workflows_run_what_a_reader_can_with_actions_that_nobody_can_move():
    steps = [step for jobs in JOBS.values() for job in jobs.values() for step in job["steps"]]
    ran = "\n".join(step.get("run", "") for step in steps)
    used = re.findall(r"uses: (.*)", "".join(map(read, WORKFLOWS.values())))
    assert used and all(re.fullmatch(r"\S+@[0-9a-f]{40} # v[\d.]+", action) for action in used)
    assert all(command in ran for command in (".ci/run", "make run", ".venv/bin/nox"))
    for script in (ROOT / "binder/postBuild", ROOT / ".ci/run", ROOT / "tools/set-up"):
        assert os.access(script, os.X_OK) and not script.is_symlink()
    notebooks = re.findall(r"notebooks/[\w*]+\.ipynb", ran)
    assert notebooks and all(list(ROOT.glob(name)) for name in notebooks)
    assert " notebooks/${{ matrix.shard }}_*.ipynb\n" in ran
    shards = JOBS["test"]["notebooks"]["strategy"]["matrix"]["shard"]
    in_shards = [path for shard in shards for path in ROOT.glob(f"notebooks/{shard}_*.ipynb")]
    assert sorted(in_shards) == NOTEBOOKS  # each once


def test_a_workflow_runs_every_suite_that_make_test_leaves_out():
    options = TOML["tool"]["pytest"]["ini_options"]
    marked = {line.partition(":")[0] for line in options["markers"]}
    assert set(re.findall(r"not (\w+)", options["addopts"][-1])) == marked
    suites = JOBS["weekly"]["suites"]
    assert set(suites["strategy"]["matrix"]["suite"]) == marked - {"bench"}  # which runs alone
    assert suites["steps"][-1]["run"].endswith("python -m pytest -m ${{ matrix.suite }} tests")


def test_one_job_may_write_the_site_after_a_push_to_main_and_no_other_writes():
    for workflow, path in WORKFLOWS.items():
        assert yaml.safe_load(read(path))["permissions"] == {"contents": "read"}
        for name, job in JOBS[workflow].items():
            more = {"contents": "read", "pages": "write", "id-token": "write"}
            assert job.get("permissions") == (more if name == "site" else None)
    assert yaml.safe_load(read(WORKFLOWS["test"]))[True]["push"] == {"branches": ["main"]}
    assert JOBS["test"]["site"]["if"] == "${{ github.event_name == 'push' }}"


def test_make_lists_every_command_and_each_sets_up_first():
    (commands,) = re.findall(r"(?m)^\.PHONY: (.*)$", MAKEFILE)
    done = subprocess.run(["make", "-C", ROOT, "help"], capture_output=True, text=True)
    assert sorted(re.findall(r"(?m)^  make (\S+) +\S", done.stdout)) == sorted(commands.split())
    needs = dict(re.findall(r"(?m)^([a-z-]+): *([^#\n]*?) *##", MAKEFILE))
    assert {name for name in commands.split() if needs[name] != "set-up"} == {"help", "set-up"}


def test_what_a_kernel_leaves_in_its_temporary_folder_goes_with_the_run(tmp_path):
    (tmp_path / "tests").mkdir()
    for name in ("conftest.py", "tests/records.py", "tests/notebook_files.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    leaves = 'import os\ndef test_left():\n    assert os.system("mktemp -d >left") == 0\n'
    (tmp_path / "test_left.py").write_text(leaves)
    subprocess.run([sys.executable, "-m", "pytest", tmp_path], cwd=tmp_path, check=True)
    left = Path((tmp_path / "left").read_text().strip())
    assert " " in str(left) and not left.parent.exists()


# The address


def test_links_to_this_project_carry_its_address_and_the_readme_has_none_without():
    address = PROJECT["urls"]["Repository"].removeprefix("https://github.com/")
    link = r"(?:google\.com/github|mybinder\.org/v2/gh|clone https://github\.com)/([\w-]+/[\w.-]+)"
    assert set(re.findall(link, read("README.md"))) == {address} - {PLACEHOLDER}
    assert all(f' git+https://github.com/{address}"' in read(path) for path in NOTEBOOKS)


def test_an_address_reaches_every_link(tmp_path):
    notebook = "notebooks/01_fuse_a_computation.ipynb"
    for name in ("tools/address.py", "README.md", "pyproject.toml", notebook):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    git = ["git", "-C", tmp_path]
    subprocess.run([*git, "init", "--quiet"], check=True)

    def write(*address):
        command = [sys.executable, tmp_path / "tools/address.py", *address]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.stderr.count("\n") == (done.returncode == 2)
        files = [*tmp_path.glob("[!.]*.*"), *tmp_path.glob("notebooks/*")]
        return done.returncode, {path.name: path.read_text(encoding="utf-8") for path in files}

    before = write(PLACEHOLDER)[1]
    for wrong in ("", "me", "me/no tes", "https://example.org/me/notes"):
        assert write(wrong) == (2, before)
    for mine in ("me/notes", "https://github.com/me/notes.git", "ssh://git@github.com/me/notes/"):
        assert '/me/notes"' in write(mine)[1][Path(notebook).name]
    subprocess.run([*git, "remote", "add", "origin", "git@github.com:you/n.b.git"], check=True)
    code, after = write()
    readme = after["README.md"]
    assert code == 0 and "OWNER/" not in readme and "me/notes" not in readme
    assert "git clone https://github.com/you/n.b xla && cd xla\n" in readme
    assert "[the site](https://you.github.io/n.b/)" in readme
    for text in (readme, after[Path(notebook).name]):
        assert f"google.com/github/you/n.b/blob/main/{notebook})" in text
    page = notebook.replace(".ipynb", ".html")
    assert after[Path(notebook).name].count(f"(https://you.github.io/n.b/{page})") == 1
    assert write() == (0, after)
    assert "OWNER/" not in before["README.md"] and write(PLACEHOLDER) == (0, before)
