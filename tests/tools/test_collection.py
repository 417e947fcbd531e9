"""What the tools read in the notebooks."""

from collections import Counter

import pytest

from tools import collection


@pytest.mark.parametrize("name", ["2", "02", "02_b", "02_b.ipynb", "notebooks/02_b.ipynb"])
def test_a_notebook_answers_to_its_number_name_and_file(tmp_path, save, name):
    save(tmp_path / "notebooks", "01_a", "")
    second = save(tmp_path / "notebooks", "02_b", "")
    assert collection.choose([name], tmp_path) == [second]


def test_all_are_chosen_when_none_is_named(tmp_path, save):
    written = [save(tmp_path / "notebooks", name, "") for name in ("02_b", "01_a")]
    assert collection.choose([], tmp_path) == sorted(written)


def test_what_is_not_there_cannot_be_chosen(tmp_path, save):
    with pytest.raises(collection.UsageError, match="there are no notebooks in"):
        collection.choose([], tmp_path)
    save(tmp_path / "notebooks", "01_a", "")
    with pytest.raises(collection.UsageError, match="no notebook 7; there are: 01_a"):
        collection.choose(["7"], tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"nbformat": 4}', "[" * 100_000])
def test_what_is_no_notebook_is_named_in_one_line(tmp_path, text):
    (tmp_path / "a.ipynb").write_text(text)
    with pytest.raises(collection.UsageError, match=r"a\.ipynb is no notebook: .+") as caught:
        collection.read(tmp_path / "a.ipynb")
    assert "\n" not in str(caught.value)


def test_a_comparison_leads_to_the_notebook_that_records_it(tmp_path, save):
    one = save(tmp_path / "notebooks", "01_one", 'xh.record("sum", found, "a sum")')
    many = 'xh.record(\n    "mean", found, "a mean")\nrecord(name, found)\nrecorded("no")'
    two = save(tmp_path / "notebooks", "02_two", many)
    assert collection.recorders(collection.read_all(tmp_path)) == {"sum": one, "mean": two}


def test_no_two_notebooks_record_under_one_name():
    notebooks = collection.read_all().values()
    names = Counter(name for n in notebooks for name in set(collection.names_recorded(n)))
    assert names and set(names.values()) == {1}


def test_titles_are_the_names_of_the_files():
    for path, notebook in collection.read_all().items():
        words = collection.title_of(notebook).lower().replace(" ", "_")
        assert path.stem == f"{collection.number_of(path)}_{words}"
