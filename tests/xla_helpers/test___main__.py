"""`python -m xla_helpers`, as a process."""

import subprocess
import sys


def test_it_is_a_command_of_python(tmp_path):
    command = [sys.executable, "-m", "xla_helpers", "decide", "nowhere:make", "--budget", "x"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert "argument --budget: invalid float value: 'x'" in done.stderr
