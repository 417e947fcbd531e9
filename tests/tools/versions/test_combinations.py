"""Which combinations there are follows from pyproject.toml alone."""

import pytest
from packaging.requirements import Requirement

from tools.versions.combinations import combinations, pythons, releases

PYPROJECT = """
[build-system]
requires = ["setuptools>=77"]
[project]
requires-python = ">=3.11,<3.13"
dependencies = ["tensorflow>=2.20,<2.22", "numpy>=1.26"]
[project.optional-dependencies]
notebooks = ["tf-keras>=2.20,<2.22"]
test = ["pytest>=8"]
site = ["sphinx>=8"]
"""


@pytest.fixture
def root(tmp_path):
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    return tmp_path


def named(name, root):
    return next(one for one in combinations(root) if one.name == name)


def test_each_python_meets_each_tensorflow(root):
    assert pythons(root) == ["3.11", "3.12"] and releases(root) == ["2.20", "2.21"]
    names = [one.name for one in combinations(root)]
    assert names[:4] == ["3.11-2.20", "3.11-2.21", "3.12-2.20", "3.12-2.21"]
    assert names[4:] == ["oldest", "newest", "prerelease", "nightly"]


def test_tensorflow_and_keras_2_change_together_and_all_else_stays(root):
    asked = named("3.12-2.20", root).requirements(root)
    expected = ["tensorflow==2.20.*", "numpy>=1.26", "tf-keras==2.20.*", "pytest>=8"]
    assert asked == ["setuptools>=77", *expected]


def test_the_oldest_is_of_all_ranges_as_they_are(root):
    oldest = named("oldest", root)
    assert oldest.python == "3.11" and "tensorflow>=2.20,<2.22" in oldest.requirements(root)
    assert oldest.options == ("--resolution", "lowest-direct")


def test_what_is_to_come_may_pass_the_range_and_is_not_promised(root):
    ahead = [one for one in combinations(root) if not one.supported]
    assert [one.name for one in ahead] == ["prerelease", "nightly"]
    before, nightly = (one.requirements(root) for one in ahead)
    assert "tensorflow>=2.20" in before and ahead[0].whatever == ("tensorflow>=2.20",)
    assert {"tf-nightly", "tf-keras-nightly"} <= set(nightly)


def test_what_is_replaced_in_this_project_is_there():
    for one in combinations():
        assert len(set(one.requirements())) == len(one.requirements())
        kept = {Requirement(line).name for line in one.requirements()}
        assert not one.instead or {Requirement(r).name for r in one.instead.values()} <= kept
