"""Make or mend `.venv`, the environment in which every other command runs.

Standard library only. It must parse on old Pythons, so that they get a sentence and no traceback.
"""

import glob
import hashlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time

OLDEST, NEWEST = (3, 11), (3, 13)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INPUTS = ("requirements.txt", "pyproject.toml")
SECONDS_BETWEEN_LINES = 10  # of progress, where a line cannot be rewritten


class SetUpError(Exception):
    """A set-up that cannot go on; the message is all that the reader gets."""


def main():
    try:
        interpreter = choose_python(explicit="PYTHON" in os.environ)
        if interpreter != sys.executable:
            return subprocess.call([interpreter, os.path.abspath(__file__)])
        set_up(ROOT)
    except SetUpError as error:
        print(f"set-up: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nset-up: interrupted; the next command starts it again.", file=sys.stderr)
        return 130
    return 0


def choose_python(explicit, version=sys.version_info[:2], search=shutil.which):
    """The interpreter to use: this one when it is supported, else the newest on the PATH that is.

    An interpreter that was asked for by name (`explicit`) is never replaced by another.
    """
    if OLDEST <= version <= NEWEST:
        return sys.executable
    if not explicit:
        for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
            path = search(f"python3.{minor}")
            if path and version_of(path):
                return path
    raise SetUpError(
        f"this is Python {version[0]}.{version[1]}, and the notebooks need Python "
        f"{OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}; install one, "
        "or name it: make PYTHON=/path/to/python3 ..."
    )


def set_up(root, install=None):
    """Bring `root/.venv` in line with the lock, doing nothing when it already is."""
    venv = os.path.join(root, ".venv")
    stamp = os.path.join(venv, "set-up.stamp")
    contents = fingerprint(root)
    if not usable(venv, read(stamp)):
        make_venv(venv)
    elif read(stamp).endswith(contents):
        return
    else:
        os.remove(stamp)  # an interrupted update must not look finished
    (install or install_packages)(root, venv)
    with open(stamp, "w") as file:
        file.write(f"{version_of(python_in(venv))} {venv}\n{contents}")


def usable(venv, stamp):
    """Whether `.venv` was finished, still works where it stands, and is the Python asked for."""
    version = version_of(python_in(venv))
    asked_for = "PYTHON" not in os.environ or version == version_of(sys.executable)
    return asked_for and version and stamp.startswith(f"{version} {venv}\n")


def make_venv(venv):
    """A fresh, empty `.venv`, in place of whatever is there."""
    check_tools()
    if os.path.islink(venv) or os.path.isfile(venv):
        os.remove(venv)
    elif os.path.isdir(venv):
        print("Replacing .venv: it is incomplete, out of place or of another Python.", flush=True)
        shutil.rmtree(venv)
    without_pip = [] if has("ensurepip") else ["--without-pip"]
    command = [sys.executable, "-m", "venv"] + without_pip + [venv]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.stderr.write(done.stdout.decode(errors="replace"))
        raise SetUpError("Python could not make the environment .venv; its message stands above.")


def check_tools():
    if not has("venv") or not (has("ensurepip") or has("pip")):
        raise SetUpError(
            f"{sys.executable} cannot make environments: it has no "
            f"{'ensurepip and no pip' if has('venv') else 'venv'}; "
            "install them (Debian and Ubuntu: sudo apt install python3-venv) and try again."
        )


def install_packages(root, venv):
    """Install the lock and then this package, both with pip and exactly as written."""
    pip = pip_command(venv)
    lock = os.path.join(root, "requirements.txt")
    count = len(re.findall(r"(?m)^[\w.-]+==", read(lock)))
    print(
        f"Setting up .venv with Python {version_of(python_in(venv))}: about a minute, once.",
        flush=True,
    )
    run_pip(pip + ["--no-deps", "--no-compile", "-r", lock], venv, count)
    compile_packages(venv)
    # The lock holds setuptools, so building this package needs no download.
    run_pip(pip + ["--no-deps", "--no-build-isolation", "-e", root], venv)


def compile_packages(venv):
    """Write the bytecode on all cores: pip would do it on one, and take half a minute longer."""
    print("  compiling", flush=True)
    command = [python_in(venv), "-m", "compileall", "-q", "-j", "0", os.path.join(venv, "lib")]
    # Some packages carry templates and tests that are no valid Python; nobody imports them.
    subprocess.call(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def pip_command(venv):
    options = ["install", "--no-input", "--disable-pip-version-check"]
    if output_of(python_in(venv), "import pip; print(pip.__version__)"):
        return [python_in(venv), "-m", "pip"] + options
    return [sys.executable, "-m", "pip", "--python", python_in(venv)] + options


def run_pip(command, venv, count=None):
    """Run pip with its output in `.venv/pip.log`; show how far it is when the `count` is known."""
    log = os.path.join(venv, "pip.log")
    with open(log, "wb" if count else "ab") as file:
        pip = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        try:
            if count:
                show_progress(pip, venv, log, count)
            pip.wait()
        except BaseException:
            pip.send_signal(signal.SIGINT)  # which it hands on to its own children
            pip.wait()
            raise
    if pip.returncode:
        sys.stderr.write(complaint(read(log)))
        raise SetUpError(
            "pip could not install the packages; its message stands above. "
            "With the network back, the same command starts again."
        )


def show_progress(pip, venv, log, count):
    """Say how many packages are fetched and installed until `pip` ends."""
    start = shown = time.time()
    while pip.poll() is None:
        time.sleep(0.5)
        if sys.stdout.isatty() or time.time() - shown >= SECONDS_BETWEEN_LINES:
            shown = time.time()
            print(progress_line(venv, log, count, shown - start), end=end_of_line(), flush=True)
    print(progress_line(venv, log, count, time.time() - start), flush=True)


def progress_line(venv, log, count, seconds):
    text = read(log)
    ignored = len(re.findall(r"(?m)^Ignoring ", text))
    fetched = len(re.findall(r"(?m)^(?:Collecting|Processing|Requirement already) ", text))
    packages = os.path.join(venv, "lib", "python*", "site-packages", "*.dist-info")
    total = count - ignored
    installed = min(len(glob.glob(packages)), total)  # an update may find others there
    return f"  {seconds:3.0f} s  fetched {fetched}, installed {installed} of {total}"


def end_of_line():
    return "\r" if sys.stdout.isatty() else "\n"


def complaint(log):
    """What pip said went wrong: its lines of errors, else its last lines."""
    errors = [line for line in log.splitlines() if line.startswith(("ERROR:", "error:"))]
    return "\n".join((errors or log.splitlines())[-12:]) + "\n"


def fingerprint(root):
    digest = hashlib.sha256()
    for name in INPUTS:
        with open(os.path.join(root, name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def has(module):
    return importlib.util.find_spec(module) is not None


def version_of(python):
    """The version of an interpreter, such as 3.12, or nothing when it does not run."""
    return output_of(python, "import sys; print('%d.%d' % sys.version_info[:2], end='')")


def output_of(python, code):
    try:
        done = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError:
        return ""
    return "" if done.returncode else done.stdout.decode()


def python_in(venv):
    return os.path.join(venv, "bin", "python")


def read(path):
    """The text of a file, or nothing when there is no such file."""
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


if __name__ == "__main__":
    sys.exit(main())
