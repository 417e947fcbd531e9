"""The folder results/: the comparisons that the notebooks recorded when they were refreshed."""

import shutil

from tools.collection import UsageError, read_all, recorders
from xla_helpers import read_results
from xla_helpers.writing import write_files


def results(root):
    """What the folder holds."""
    files = sorted((root / "results").glob("*.json"))
    found, skipped = read_results(files) if files else ([], {})
    if skipped:
        reasons = "".join(f"\n  {path}: {reason}" for path, reason in skipped.items())
        raise UsageError(f"results/ holds what is no result:{reasons}")
    return found


def lend_results(path, fresh, root):
    """Copy what the other notebooks have recorded into the folder `fresh`, for that at `path`."""
    owners = recorders(read_all(root))
    for result in (root / "results").glob("*.json"):
        if owners.get(name_in(result), path) != path:
            shutil.copy(result, fresh)


def keep_results(path, fresh, root):
    """Take into the folder what the notebook at `path` has just recorded in the folder `fresh`.

    What it recorded earlier and no longer does goes, of whatever subject, and so does what no
    notebook records.
    """
    folder, owners = root / "results", recorders(read_all(root))
    found = [new for new in fresh.glob("*.json") if owners.get(name_in(new)) == path]
    if found:
        folder.mkdir(exist_ok=True)
    write_files({folder / new.name: new.read_bytes() for new in found})
    for old in set(folder.glob("*.json")) - {folder / new.name for new in found}:
        if owners.get(name_in(old), path) == path:
            old.unlink()


def name_in(file):
    """The name in that of a result's file, such as five-modes.3fa9c2d1.json."""
    return file.name.split(".")[0]
