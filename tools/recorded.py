"""The folder results/: the comparisons that the notebooks recorded when they were refreshed.

A list there names what refreshes wrote. Only such a file goes again, and all others stay.
"""

import shutil
from hashlib import sha256
from typing import NamedTuple

from tools.collection import UsageError, read_all, recorders
from xla_helpers import read_results

MADE = ".made"  # in the folder: what refreshes wrote there, as `sha256sum` lists files


class Changes(NamedTuple):
    """What a refreshed notebook makes of the folder.

    contents: file to what is written into it, the list included. outdated: files that go.
    results: what the folder then holds.
    """

    contents: dict
    outdated: list
    results: list


def results(root):
    """What the folder holds of what the notebooks record; what has another name is left alone.

    Raises: UsageError for a file that is no result, or that holds one of another name.
    """
    owners = recorders(read_all(root))
    return checked(old for old in (root / "results").glob("*.json") if name_in(old) in owners)


def checked(files):
    """The results in these files, in the order of their names. Raises: UsageError, as above."""
    found, skipped = read_results(sorted(files, key=lambda file: file.name))
    named = {
        str(r.path): f"it is named {r.name} inside" for r in found if r.name != name_in(r.path)
    }
    if skipped or named:
        reasons = "".join(f"\n  {path}: {why}" for path, why in (skipped | named).items())
        raise UsageError(f"results/ holds results alone, each under its name:{reasons}")
    return found


def lend_results(path, fresh, root):
    """Copy what the other notebooks have recorded into the folder `fresh`, for that at `path`."""
    owners = recorders(read_all(root))
    for result in (root / "results").glob("*.json"):
        if owners.get(name_in(result), path) != path:
            shutil.copy(result, fresh)


def changes(path, fresh, root):
    """What becomes of the folder when the notebook at `path` has recorded in the folder `fresh`.

    What it recorded earlier and no longer does goes, of whatever subject, and so does what no
    notebook records; but only files that a refresh wrote, and that nobody changed since.

    Raises: UsageError when what was recorded is no result.
    """
    folder, owners = root / "results", recorders(read_all(root))
    new = {folder / n.name: n for n in fresh.glob("*.json") if owners.get(name_in(n)) == path}
    old = set(folder.glob("*.json")) - set(new)
    ours = [one for one in old if owners.get(name_in(one), path) == path]
    outdated = [one for one in ours if is_listed(one)]
    stay = old - set(outdated)
    found = checked([*new.values(), *(one for one in stay if name_in(one) in owners)])
    contents = {file: one.read_bytes() for file, one in new.items()}
    if new or outdated:
        contents[folder / MADE] = list_of(contents, folder, {one.name for one in stay})
    return Changes(contents, outdated, found)


def others(root):
    """Names of the files in the folder that no refresh wrote, or that were changed since."""
    return sorted(old.name for old in (root / "results").glob("*.json") if not is_listed(old))


def is_listed(file):
    """Whether a refresh wrote this file as it is now."""
    listed = listed_in(file.parent)
    return file.name in listed and listed[file.name] == hash_of(file.read_bytes())


def list_of(contents, folder, stay):
    """The list when these contents are written beside the files of the names in `stay`."""
    kept = {name: known for name, known in listed_in(folder).items() if name in stay}
    hashes = kept | {file.name: hash_of(content) for file, content in contents.items()}
    return "".join(f"{hashes[name]}  {name}\n" for name in sorted(hashes))


def listed_in(folder):
    """What the list names: file to the hash of its content. Other lines in it say nothing."""
    path = folder / MADE
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
    return {name: known for known, _, name in (line.partition("  ") for line in lines)}


def hash_of(content):
    return sha256(content).hexdigest()


def name_in(file):
    """The name in that of a result's file, such as five-modes.3fa9c2d1.json."""
    return file.name.split(".")[0]
