"""What all tests share: one TensorFlow, its log, a temporary folder, and the pages that run.

The children of tests, kernels too, get a temporary folder with a space in its name, and it goes:
nbval kills a kernel when its notebook ends, so what TensorFlow would remove at exit stays there.
"""

import os
import tempfile

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

from xla_helpers import prepare_tensorflow
from xla_helpers.logs import compilations_are_logged

pytest_plugins = ["pytester", "tests.records", "tests.notebook_files"]

# The blocks of a page are tests in one process, in their order.
pytest_collect_file = Sybil(
    [PythonCodeBlockParser()], path="docs", pattern="*.md", fixtures=["keep_log"]
).pytest()


def pytest_configure(config):
    if hasattr(config, "workerinput"):  # a process of xdist has it from the first one
        return
    folder = tempfile.TemporaryDirectory(prefix="two words ", ignore_cleanup_errors=True)
    config.add_cleanup(folder.cleanup)
    os.environ["TMPDIR"] = folder.name
    # Each process that starts from here imports TensorFlow for two seconds less.
    paths = [str(config.rootpath / "tests/lighter"), os.environ.get("PYTHONPATH")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    os.environ["XLA_CLAIMS"] = os.path.join(folder.name, "tests.claims")


@pytest.fixture(scope="session")
def tf():
    """TensorFlow, with its log in a file, for this process only."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TF_CPP_VMODULE", "")
        environment.setenv("TF_CPP_MIN_LOG_LEVEL", "0")
        prepare_tensorflow()
        import tensorflow

        # It asks once, with a first compilation. Now the log is still here, which pytest takes away
        # for each test, and XLA reads its flags before a test sets them for a child.
        assert compilations_are_logged()
        yield tensorflow


@pytest.fixture
def keep_log(tf):
    """Asked for by a test that reads the log of TensorFlow."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    """Give TensorFlow's log file descriptor 2 back, which pytest takes for each test."""
    if "keep_log" in getattr(item, "fixturenames", ()):
        log = os.open(prepare_tensorflow(), os.O_WRONLY | os.O_APPEND)
        os.dup2(log, 2)
        os.close(log)
