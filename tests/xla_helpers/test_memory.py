"""Page faults are counted and priced, and shown where they cost."""

import ctypes
import itertools
import mmap
import sys
import textwrap
from dataclasses import replace

import pytest

import xla_helpers as xh
from xla_helpers import memory
from xla_helpers.results import write
from xla_helpers.timing import Measurement

SIZE = 8 << 20


def touch():
    fresh = mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    fresh[:: mmap.PAGESIZE] = bytes(SIZE // mmap.PAGESIZE)


@pytest.fixture
def ordinary():
    if not xh.page_size():
        pytest.skip("pages of unknown size")
    return xh.page_size()


def test_new_memory_is_counted_by_its_pages(ordinary):
    found = xh.measure(touch, rounds=5)
    pages = SIZE / ordinary
    assert pages <= found.faults < 1.1 * pages
    assert found.new_memory.startswith("new memory: 2,0") and found.new_memory in str(found)


def test_a_price_is_of_one_page_fault_however_many_cores_touch_pages(monkeypatch):
    """Each look at the clock is 2 s later, and each count of faults four more."""
    seconds, faults = itertools.count(0.0, 2.0), itertools.count(0, 4)
    monkeypatch.setattr(memory.time, "perf_counter", lambda: next(seconds))
    monkeypatch.setattr(memory, "_faults", lambda: next(faults))
    monkeypatch.setattr(memory, "available_cores", lambda: 4)
    monkeypatch.setattr(memory, "TOUCHED", 1 << 20)
    memory.page_fault_seconds.cache_clear()
    assert memory.page_fault_seconds() == 2.0 / 4
    memory.page_fault_seconds.cache_clear()


def test_a_share_is_the_price_of_all_page_faults_of_a_call():
    def share(faults):
        return Measurement("f", 1.0, (2.0,) * 3, 1, faults, fault_seconds=1e-3).fault_share

    assert [share(faults) for faults in (None, 0, 500, 9000)] == [0, 0, 0.25, 1]


def test_memory_that_is_used_again_costs_nothing():
    fresh = bytearray(SIZE)
    found = xh.measure(lambda: fresh.find(b"x"), rounds=5)
    assert found.faults < 20 and found.new_memory == "" and "new memory" not in str(found)


def test_a_system_that_counts_none_is_not_known(monkeypatch):
    monkeypatch.setattr(memory, "_are_faults_counted", lambda: False)
    found = xh.measure(touch, rounds=3)
    assert found.faults is None and found.new_memory == "new memory: not known"


def test_a_row_says_what_it_pays(ordinary):
    found = xh.compare({"new": touch, "none": lambda: None}, rounds=3, budget=0, strict=False)
    new, none = (line for line in str(found).splitlines() if line.startswith(("new ", "none ")))
    assert "pages a call" in new and "new memory" not in none


@pytest.mark.parametrize("mode", ["always [madvise] never", "[always] madvise never", None])
def test_a_count_is_predicted_for_ordinary_pages_alone(monkeypatch, tmp_path, mode):
    file = tmp_path / "enabled"
    if mode:
        file.write_text(mode)
    monkeypatch.setattr(memory, "HUGE_PAGES", file)
    monkeypatch.setattr(mmap, "PAGESIZE", 4096)
    assert xh.page_size() == (4096 if mode and "[madvise]" in mode else None)
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
    assert xh.page_size() is None


@pytest.mark.parametrize(
    ("quota", "cores"), [("200000 100000", 2), ("150000 100000", 2), ("max 100000", 64), (None, 64)]
)
def test_a_container_s_quota_counts_beside_the_affinity(monkeypatch, tmp_path, quota, cores):
    file = tmp_path / "cpu.max"
    if quota:
        file.write_text(f"{quota}\n")
    monkeypatch.setattr(memory, "QUOTA", file)
    monkeypatch.setattr(memory.os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)
    assert memory.available_cores() == cores


def test_the_price_of_a_page_is_the_first_quartile_of_several(monkeypatch):
    """The host of a virtual machine may make the first ones five times as dear."""
    prices = iter([5e-6] * 6 + [1e-6] * 10)
    monkeypatch.setattr(memory, "_touch", lambda threads: next(prices))
    memory.page_fault_seconds.cache_clear()
    assert memory.page_fault_seconds() == 1e-6
    memory.page_fault_seconds.cache_clear()


@pytest.mark.skipif(sys.platform != "linux", reason="the limits are glibc's")
@pytest.mark.parametrize("first", ["xh.prepare_tensorflow()", "pass"])
def test_a_large_array_is_no_new_mapping_and_its_memory_is_kept(first):
    """In the process that prepares, and in every child."""
    if not hasattr(ctypes.CDLL(None), "mallopt"):
        pytest.skip("another C library")
    code = f"""
        import xla_helpers as xh
        {first}
        import ctypes, numpy as np
        class Info(ctypes.Structure):
            _fields_ = [(name, ctypes.c_size_t) for name in "abcdefghij"]
        info = ctypes.CDLL(None).mallinfo2
        info.restype = Info
        before = info()  # e: bytes of mappings of their own; i: of the heap that are free
        array = np.ones(20 << 20, "uint8")
        mapped = info().e - before.e
        del array
        print(mapped, before.i < 20 << 20 <= info().i)
    """
    flags = {"GLIBC_TUNABLES": ""} if first != "pass" else {}
    assert xh.run_in_process(textwrap.dedent(code), flags=flags).stdout == "0 True\n"


@pytest.mark.parametrize("wrong", [{"faults": -1.0}, {"faults": 1e10}, {"fault_seconds": -1.0}])
def test_page_faults_that_no_process_has_are_not_written(examples, tmp_path, wrong):
    found = examples.comparison(graph=2.0, XLA=1.0)
    rows = found.measurements | {"graph": replace(found["graph"], **wrong)}
    with pytest.raises(ValueError, match="page faults"):
        write(examples.result(replace(found, measurements=rows)), tmp_path)
    assert not list(tmp_path.iterdir())
