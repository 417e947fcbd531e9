"""The folder results/: what a refreshed notebook recorded, and nothing that no notebook records."""

import errno
import os

import pytest

from tools.collection import ROOT, UsageError, number_of, read_all, recorders, text_of
from tools.recorded import keep_results, lend_results, name_in, results
from xla_helpers import read_published


@pytest.fixture
def project(tmp_path, save, result):
    """Two notebooks, of which the first recorded two comparisons, and the second one."""
    for name, records in (("01_one", ["sum", "mean"]), ("02_two", ["product"])):
        code = "\n".join(f'record("{record}", found)' for record in records)
        save(tmp_path / "notebooks", name, code)
        for record in records:
            write(tmp_path / "results", record, result(record, graph=0.2, XLA=0.1))
    return tmp_path


def write(folder, name, text, fingerprint="0123abcd"):
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.{fingerprint}.json").write_text(text)


def names(project):
    return sorted(name_in(path) for path in (project / "results").iterdir())


def test_what_was_recorded_replaces_what_was_there(project, result):
    write(project / "fresh", "sum", result("sum", what="a large sum", graph=0.2, XLA=0.1))
    write(project / "fresh", "mean", result("mean", graph=0.2, XLA=0.1))
    keep_results(project / "notebooks" / "01_one.ipynb", project / "fresh", project)
    assert names(project) == ["mean", "product", "sum"]
    assert {"a large sum", "a sum"} == {found.what for found in results(project)}


def test_a_notebook_sees_what_the_others_have_recorded(project):
    (project / "fresh").mkdir()
    lend_results(project / "notebooks" / "01_one.ipynb", project / "fresh", project)
    assert [name_in(path) for path in (project / "fresh").iterdir()] == ["product"]
    keep_results(project / "notebooks" / "01_one.ipynb", project / "fresh", project)
    assert names(project) == ["product"]


def test_what_is_no_longer_recorded_goes(project, result, save):
    save(project / "notebooks", "01_one", 'record("sum", found)')
    write(project / "fresh", "sum", result("sum", graph=0.2, XLA=0.1))
    keep_results(project / "notebooks" / "01_one.ipynb", project / "fresh", project)
    assert names(project) == ["product", "sum"]


def test_a_subject_that_is_no_longer_recorded_goes(project, result):
    write(project / "fresh", "product", result("product", graph=0.2, XLA=0.1), "89ef4567")
    keep_results(project / "notebooks" / "02_two.ipynb", project / "fresh", project)
    assert (project / "results" / "product.89ef4567.json").exists()
    assert names(project) == ["mean", "product", "sum"]


def test_what_the_notebook_does_not_name_stays_out(project, result):
    write(project / "fresh", "other", result("other", graph=0.2, XLA=0.1))
    keep_results(project / "notebooks" / "02_two.ipynb", project / "fresh", project)
    assert names(project) == ["mean", "sum"]


def test_what_cannot_be_kept_loses_nothing(project, result, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write(project / "fresh", "sum", result("sum", what="new", graph=0.2, XLA=0.1))
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        keep_results(project / "notebooks" / "01_one.ipynb", project / "fresh", project)
    assert names(project) == ["mean", "product", "sum"]


def test_the_folder_holds_results_alone(project):
    write(project / "results", "sum", "{")
    with pytest.raises(UsageError, match="sum.0123abcd.json: not JSON"):
        results(project)


def test_each_result_here_is_recorded_by_a_notebook():
    assert {result.name for result in results(ROOT)} <= set(recorders(read_all()))


@pytest.mark.parametrize("name", sorted({figures.name for figures in read_published()}))
def test_published_figures_are_about_what_the_notebooks_measure(name):
    measured = [found.comparison for found in results(ROOT) if found.name == name]
    assert measured, "run make refresh"
    for figures in read_published(name):
        assert all(map(figures.is_about, measured)), "run make refresh"


def test_the_last_notebook_judges_what_the_others_recorded():
    """Its committed verdicts are those of the results that lie beside it."""
    (notebook,) = [cells for path, cells in read_all().items() if number_of(path) == "12"]
    (cell,) = [cell for cell in notebook.cells if cell.id == "verdicts"]
    said = "".join(map(text_of, cell.outputs))
    for figures in read_published():
        (found,) = [r for r in results(ROOT) if r.name == figures.name]
        for claim in figures.claims:
            assert str(claim.judge(found)) in said, "run make refresh NOTEBOOKS=12"
