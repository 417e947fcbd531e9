"""The folder results/: what a refreshed notebook recorded, and nothing of anybody else's lost."""

import pytest

from tools.collection import ROOT, UsageError, number_of, read_all, text_of
from tools.recorded import (
    MADE,
    changes,
    checked,
    hash_of,
    lend_results,
    name_in,
    others,
    results,
)
from xla_helpers import read_published


@pytest.fixture
def project(tmp_path, save, result):
    """Two notebooks, of which the first recorded two comparisons, and the second one."""
    (tmp_path / "fresh").mkdir()
    for name, records in (("01_one", ["sum", "mean"]), ("02_two", ["product"])):
        code = "\n".join(f'record("{record}", found)' for record in records)
        save(tmp_path / "notebooks", name, code)
        for record in records:
            write(tmp_path / "fresh", record, result(record, graph=0.2, XLA=0.1))
        keep(tmp_path, name)
    return tmp_path


def write(folder, name, text, fingerprint="0123abcd"):
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.{fingerprint}.json").write_text(text)


def changed(project, notebook):
    return changes(project / "notebooks" / f"{notebook}.ipynb", project / "fresh", project)


def keep(project, notebook):
    """Make the changes, and forget what was recorded. Returns: the names of the results then."""
    found = changed(project, notebook)
    (project / "results").mkdir(exist_ok=True)
    for file, content in found.contents.items():
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    for file in [*found.outdated, *(project / "fresh").iterdir()]:
        file.unlink()
    return [result.name for result in found.results]


def names(project):
    return sorted(name_in(path) for path in (project / "results").glob("*.json"))


def test_what_was_recorded_replaces_what_was_there(project, result):
    write(project / "fresh", "sum", result("sum", what="a large sum", graph=0.2, XLA=0.1))
    write(project / "fresh", "mean", result("mean", graph=0.2, XLA=0.1))
    assert keep(project, "01_one") == names(project) == ["mean", "product", "sum"]
    assert {"a large sum", "a sum"} == {found.what for found in results(project)}


def test_a_notebook_sees_what_the_others_have_recorded(project):
    lend_results(project / "notebooks" / "01_one.ipynb", project / "fresh", project)
    assert [name_in(path) for path in (project / "fresh").iterdir()] == ["product"]
    assert keep(project, "01_one") == names(project) == ["product"]


def test_what_is_no_longer_recorded_goes(project, result, save):
    save(project / "notebooks", "01_one", 'record("sum", found)')
    write(project / "fresh", "sum", result("sum", graph=0.2, XLA=0.1))
    assert keep(project, "01_one") == names(project) == ["product", "sum"]


def test_a_subject_that_is_no_longer_recorded_goes(project, result):
    write(project / "fresh", "product", result("product", graph=0.2, XLA=0.1), "89ef4567")
    keep(project, "02_two")
    assert (project / "results" / "product.89ef4567.json").exists()
    assert names(project) == ["mean", "product", "sum"]


def test_what_the_notebook_does_not_name_stays_out(project, result):
    write(project / "fresh", "other", result("other", graph=0.2, XLA=0.1))
    assert keep(project, "02_two") == names(project) == ["mean", "sum"]


@pytest.mark.parametrize("name", ["annas-laptop", "product"])
def test_what_no_refresh_wrote_stays_and_is_named(project, result, name):
    write(project / "results", name, result("product", graph=0.4, XLA=0.1), "89ef4567")
    write(project / "fresh", "product", result("product", graph=0.2, XLA=0.1))
    for notebook in ("02_two", "01_one"):
        keep(project, notebook)
        assert others(project) == [f"{name}.89ef4567.json"]
    drawn = [found.comparison["graph"].median for found in results(project)]
    assert sorted(drawn) == ([0.2, 0.4] if name == "product" else [0.2])


def test_what_was_changed_since_a_refresh_wrote_it_stays(project, result):
    write(project / "results", "product", result("product", graph=0.4, XLA=0.1))
    assert keep(project, "02_two") == names(project) == ["mean", "product", "sum"]
    assert others(project) == ["product.0123abcd.json"]


def test_without_a_list_nothing_goes(project):
    (project / "results" / MADE).unlink()
    assert changed(project, "01_one").outdated == []
    assert names(project) == ["mean", "product", "sum"]


def test_the_list_is_one_that_sha256sum_reads(project):
    folder = project / "results"
    known = [f"{hash_of(file.read_bytes())}  {file.name}" for file in sorted(folder.glob("*.json"))]
    assert (folder / MADE).read_text().splitlines() == known
    assert others(project) == []


@pytest.mark.parametrize("damage", [b"<<<<<<< HEAD\n", b"\xff\0", b"=======\n\n"])
def test_a_damaged_list_takes_nothing_away(project, damage):
    path = project / "results" / MADE
    path.write_bytes(damage + path.read_bytes())
    assert changed(project, "01_one").outdated
    path.write_bytes(damage)
    assert changed(project, "01_one").outdated == []


def test_the_folder_holds_results_alone(project):
    write(project / "results", "sum", "{")
    with pytest.raises(UsageError, match="sum.0123abcd.json: not JSON"):
        results(project)


def test_a_file_is_named_as_what_it_holds(project, result):
    write(project / "results", "sum", result("elsewhere", graph=0.2, XLA=0.1))
    with pytest.raises(UsageError, match="sum.0123abcd.json: it is named elsewhere inside"):
        results(project)
    write(project / "fresh", "product", result("sum", graph=0.2, XLA=0.1))
    with pytest.raises(UsageError, match="product.0123abcd.json: it is named sum inside"):
        changed(project, "02_two")


def test_each_result_here_is_recorded_by_a_notebook():
    assert len(checked((ROOT / "results").glob("*.json"))) == len(results(ROOT))


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
