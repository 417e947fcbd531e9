import os

import psutil

from tools.bench.load import every_core_loaded
from xla_helpers.startup import usable_cores


def busy():
    children = psutil.Process().children()
    return [child for child in children if "getppid" in " ".join(child.cmdline())]


def test_one_process_for_each_core_while_the_block_lasts():
    with every_core_loaded():
        assert len(busy()) == usable_cores() <= os.cpu_count()
    assert busy() == []
