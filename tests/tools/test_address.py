"""`make address`, on a small repository of its own."""

import json
import os

import pytest

from tools import address

README = """\
[![tests](https://github.com/OWNER/notebooks/actions/workflows/test.yml/badge.svg)](https://x.org)
[Colab](https://colab.research.google.com/github/OWNER/notebooks/blob/main/notebooks/01_a.ipynb)
[Binder](https://mybinder.org/v2/gh/STALE/other.name/main?urlpath=lab/tree/notebooks/01_a.ipynb)
    git clone https://github.com/OWNER/notebooks.git
    cd notebooks
A fork: https://github.com/STALE/notebooks. Read https://github.com/OWNER/notebooks.
XLA lives at https://github.com/openxla/xla, helpers at https://github.com/OWNER/notebooks-old.
"""


@pytest.fixture
def repository(tmp_path, save):
    (tmp_path / "pyproject.toml").write_text(
        '[project.urls]\nRepository = "https://github.com/OWNER/notebooks"\n'
    )
    (tmp_path / "README.md").write_text(README)
    install = '%pip install -q "transformers<5" git+https://github.com/OWNER/notebooks\n# done'
    save(tmp_path / "notebooks", "01_a", install)
    return tmp_path


def test_address_is_written_everywhere(repository):
    address.main(["me/lessons.v2"], root=repository)
    assert address.current(repository) == "me/lessons.v2"
    assert (repository / "README.md").read_text() == README.replace(
        "OWNER/notebooks-old", "KEPT"
    ).replace("OWNER/notebooks", "me/lessons.v2").replace(
        "STALE/other.name", "me/lessons.v2"
    ).replace("STALE/notebooks", "me/lessons.v2").replace("cd notebooks", "cd lessons.v2").replace(
        "KEPT", "OWNER/notebooks-old"
    )
    source = json.loads((repository / "notebooks/01_a.ipynb").read_text())["cells"][0]["source"]
    assert source[0].endswith("git+https://github.com/me/lessons.v2\n")


def test_address_can_be_written_twice_and_back(repository):
    before = {path: path.read_bytes() for path in address.files(repository)}
    address.main(["me/lessons"], root=repository)
    after = {path: path.read_bytes() for path in address.files(repository)}
    address.main(["me/lessons"], root=repository)
    assert {path: path.read_bytes() for path in address.files(repository)} == after
    address.main(["OWNER/notebooks"], root=repository)
    assert address.current(repository) == "OWNER/notebooks"
    notebook = repository / "notebooks/01_a.ipynb"
    assert notebook.read_bytes() == before[notebook]


@pytest.mark.parametrize(
    "given", ["", "me", "me/", "/notes", "me/notes/more", "https://github.com/me/notes", "m e/n"]
)
def test_what_is_no_address_is_refused(repository, capsys, given):
    before = (repository / "README.md").read_text()
    with pytest.raises(SystemExit) as info:
        address.main([given], root=repository)
    assert info.value.code == 2
    assert "is not of the form owner/name" in capsys.readouterr().err
    assert (repository / "README.md").read_text() == before


def test_all_files_carry_the_new_address_or_none_does(repository, capsys, monkeypatch):
    files = address.files(repository)
    before = [path.read_bytes() for path in files]
    for locked in files:
        monkeypatch.setattr(os, "access", lambda path, mode, locked=locked: path != locked)
        assert address.main(["me/lessons"], root=repository) == 1
        assert capsys.readouterr() == ("", f"address: {locked}: Permission denied\n")
        assert [path.read_bytes() for path in files] == before


def test_a_project_without_an_address_is_one_line(repository, capsys):
    (repository / "pyproject.toml").write_text("[project]\n")
    assert address.main(["me/lessons"], root=repository) == 2
    assert capsys.readouterr().err.startswith("address: ")
    (repository / "pyproject.toml").unlink()
    assert address.main(["me/lessons"], root=repository) == 1
    assert "pyproject.toml: No such file" in capsys.readouterr().err


def test_what_is_no_utf_8_stays_as_it_is(repository):
    (repository / "README.md").write_bytes(b"\xff github.com/OWNER/notebooks")
    assert address.main(["me/lessons"], root=repository) == 0
    assert (repository / "README.md").read_bytes() == b"\xff github.com/me/lessons"


def test_a_stray_address_is_found():
    found = address.links(README, "OWNER/notebooks")
    assert found == {"OWNER/notebooks", "STALE/notebooks", "STALE/other.name"}
