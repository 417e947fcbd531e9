"""Make or mend `.venv`, the environment in which every other command runs.

Standard library only. It must parse on old Pythons, so that they get a sentence and no traceback.
"""

import ast
import hashlib
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

from tools.alone import alone
from tools.pythons import THIS, SetUpError, choose_python, dotted, output_of
from tools.variants import LOCKS, UsageError, choose_variant, nvidia_device

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STAMP, CACHE = "set-up.stamp", "cache"  # inside .venv
LOCK = ".set-up.lock"  # inside build
TAKES = {
    LOCKS["cpu"]: "half a minute on a fast network",
    LOCKS["cuda"]: "some gigabytes, which take minutes on a fast network",
}
PATIENCE = 30  # seconds for the driver of a device
UV_NAMES = {  # of settings of pip, which uv does not read
    "index-url": "UV_INDEX_URL",
    "extra-index-url": "UV_EXTRA_INDEX_URL",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}


def main():
    try:
        interpreter = choose_python(explicit="PYTHON" in os.environ)
        if interpreter != sys.executable:
            return subprocess.call([interpreter, "-m", "tools.set_up"], cwd=ROOT)
        device = nvidia_device()
        set_up(ROOT, device)
        if device:  # a start of Python, which says what hides it, if anything does
            say_what_hides_it(device)
    except (SetUpError, UsageError, OSError, ImportError, subprocess.CalledProcessError) as error:
        print(f"set-up: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        print("\nset-up: interrupted; the next command starts it again.", file=sys.stderr)
        return 130
    return 0


def say_what_hides_it(device):
    """Let the helpers say what hides an NVIDIA device; a driver that hangs must not stop us."""
    command = [f"{ROOT}/.venv/bin/python", "-m", "xla_helpers.devices", device]
    asked = subprocess.Popen(command, cwd=ROOT)
    try:
        asked.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        asked.kill()
        print(f"set-up: the NVIDIA driver did not answer within {PATIENCE} s.", file=sys.stderr)


def set_up(root, device=""):
    """Bring `root/.venv` in line with its lock, doing nothing when it already is.

    device: what shows that an NVIDIA device is here, if one is. Only one set-up changes it at a
    time; another one waits, and judges again.
    """
    if not what_to_do(root, device):
        return
    os.makedirs(f"{root}/build", exist_ok=True)
    with alone(Path(root, "build", LOCK), wait=say_who_is_waited_for):
        to_do = what_to_do(root, device)
        if to_do:
            make_or_mend(root, *to_do)


def say_who_is_waited_for(process):
    print(f"Another set-up is under way, process {process}; waiting for it.", flush=True)


def what_to_do(root, device):
    """Whether `.venv` is made anew, its variant, and why that one; nothing where it is finished."""
    venv, stamp = f"{root}/.venv", read(f"{root}/.venv/{STAMP}")
    chosen = variant_of(stamp)
    variant, why = choose_variant(os.environ.get("ACCELERATOR"), chosen, device)
    anew = not usable(venv, stamp) or (chosen, variant) == ("cuda", "cpu")
    if not anew and stamp.endswith(f"\n{variant} {fingerprint(root, variant)}"):
        return ()
    return anew, variant, why


def make_or_mend(root, anew, variant, why):
    venv, contents = f"{root}/.venv", f"{variant} {fingerprint(root, variant)}"
    make_venv(venv) if anew else begin(venv)
    print(f"Packages: {variant}, {why}.", flush=True)
    install_packages(root, venv, LOCKS[variant])
    write(f"{venv}/{STAMP}", identity(venv) + contents)


def begin(venv):
    """What is interrupted from now on must not look finished, but stays what it was chosen to be.

    Only what was finished counts as chosen.
    """
    chosen = variant_of(read(f"{venv}/{STAMP}"))
    write(f"{venv}/{STAMP}", f"\n{chosen}" if chosen else "")


def usable(venv, stamp):
    """Whether `.venv` was finished, still stands where it was made, and is the Python asked for.

    Nothing is started to find out: a process that fails to start says nothing about `.venv`.
    """
    version = f"version = {dotted(THIS)}."
    asked_for = "PYTHON" not in os.environ or version in read(f"{venv}/pyvenv.cfg")
    finished = stamp.startswith(identity(venv))
    return asked_for and finished and os.access(f"{venv}/bin/python", os.X_OK)


def variant_of(stamp):
    """Which variant was finished last, here or elsewhere and by whatever Python, or nothing.

    Stamps named none when there was only one.
    """
    _, was_finished, contents = stamp.rpartition("\n")
    first = contents.split(" ")[0] if was_finished else ""
    return first if first in LOCKS or not first else "cpu"


def identity(venv):
    """Where an environment stands and whose Python it is, as the first line of its stamp."""
    return f"{venv} {os.path.realpath(venv + '/bin/python')}\n"


def make_venv(venv):
    """A fresh, empty `.venv`, in place of an earlier one but never of what is somebody else's."""
    if not find_spec("venv") or not (find_spec("ensurepip") or find_spec("pip")):
        raise SetUpError(
            f"{sys.executable} cannot make environments: it has no "
            f"{'ensurepip and no pip' if find_spec('venv') else 'venv'}; "
            "install them (Debian and Ubuntu: sudo apt install python3-venv) and try again."
        )
    if os.path.lexists(venv) and not is_ours(venv):
        raise SetUpError(f"{venv} is not of our making; move it away or remove it, and try again.")
    os.makedirs(venv, exist_ok=True)
    begin(venv)
    clear(venv)
    import_module("venv").create(venv, symlinks=True, with_pip=bool(find_spec("ensurepip")))


def is_ours(venv):
    if os.path.islink(venv) or not os.path.isdir(venv):
        return False
    return os.path.isfile(f"{venv}/{STAMP}") or not os.listdir(venv)


def clear(venv):
    """Remove what an earlier set-up made, except what it fetched."""
    if os.path.lexists(f"{venv}/bin"):
        print("Replacing .venv: it is incomplete, out of place or another one.", flush=True)
    for entry in os.scandir(venv):
        if entry.is_dir(follow_symlinks=False) and entry.name != CACHE:
            shutil.rmtree(entry.path)
        elif entry.name not in (STAMP, CACHE):
            os.remove(entry.path)


def install_packages(root, venv, lock=LOCKS["cpu"]):
    """Install a lock and then this project: uv comes by pip, and all else by uv."""
    python = os.path.realpath(f"{venv}/bin/python")
    print(f"Setting up .venv with {python}: {TAKES[lock]}.", flush=True)
    lock, uv, pip = f"{root}/{lock}", f"{venv}/bin/uv", pip_for(venv)
    if not os.path.exists(uv):
        install_uv(pip, venv, lock)
    settings = pip_settings(pip)
    install = [uv, "pip", "install", "--no-deps", "--python", f"{venv}/bin/python"]
    if settings.get("no-index", "").lower() in ("1", "true", "t", "yes", "y", "on"):
        install.append("--no-index")
    environment = uv_environment(settings, venv)
    # Python writes bytecode at a first import, unless it was told not to.
    bytecode = ["--compile-bytecode"] if sys.dont_write_bytecode else []
    run(install + bytecode + ["--require-hashes", "-r", lock], environment)
    # The lock holds setuptools, so building this project needs no download.
    run(install + ["--quiet", "--no-build-isolation", "--editable", root], environment)


def install_uv(pip, venv, lock):
    pin = f"{venv}/uv.txt"
    write(pin, re.search(r"(?m)^uv==(.*\\\n)*.*", read(lock)).group())
    quietly = ["-qq", "--no-input", "--disable-pip-version-check", "--retries", "2"]
    run(pip + ["install"] + quietly + ["--no-deps", "--require-hashes", "-r", pin])


def pip_for(venv):
    """The command that runs pip for `.venv`: its own, or this Python's where it has none."""
    if os.path.exists(f"{venv}/bin/pip") or not find_spec("pip"):
        return [f"{venv}/bin/python", "-m", "pip"]
    return [f"{venv}/bin/python", os.path.dirname(find_spec("pip").origin)]


def pip_settings(pip):
    """What pip is configured with, by files and by variables, such as {"find-links": "wheels"}."""
    settings = {}
    lines = output_of(pip + ["config", "list"]).splitlines()
    for section in ("global.", "install.", ":env:."):  # the last one counts
        for name, _, value in (line.partition("=") for line in lines):
            if name.startswith(section):
                settings[name[len(section) :]] = " ".join(ast.literal_eval(value).split())
    return settings


def uv_environment(settings, venv):
    """The variables for uv: what the reader has set, and else pip's settings by uv's names."""
    links = settings.get("find-links", "").split()
    return {
        "UV_CACHE_DIR": f"{venv}/{CACHE}",
        "UV_INDEX_STRATEGY": "unsafe-best-match",  # any index may serve: the hashes decide
        "UV_SYSTEM_CERTS": "1",
        "UV_FIND_LINKS": ",".join(filter(exists, links)),
        **{uv: settings[name] for name, uv in UV_NAMES.items() if name in settings},
        **os.environ,
    }


def exists(link):
    """Whether a place to look for packages may be there: uv stops at a missing folder."""
    path = unquote(link[7:]) if link.startswith("file://") else link
    return "://" in path or os.path.exists(path)


def run(command, environment=None):
    if subprocess.call(command, env=environment):
        raise SetUpError(
            "not finished; the message above says why. "
            "With that mended, or the network back, the same command starts again."
        )


def fingerprint(root, variant):
    inputs = "".join(read(f"{root}/{name}") for name in (LOCKS[variant], "pyproject.toml"))
    return hashlib.sha256(os.fsencode(inputs)).hexdigest()


def read(path):
    """The text of a file, or nothing when there is no such file."""
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read())
    except (FileNotFoundError, NotADirectoryError):
        return ""


def write(path, text):
    with open(path, "wb") as file:
        file.write(os.fsencode(text))


if __name__ == "__main__":
    sys.exit(main())
