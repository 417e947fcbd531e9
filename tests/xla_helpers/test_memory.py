"""Page faults are counted and priced, and shown where they cost."""

import ctypes
import mmap
import sys
import textwrap

import pytest

import xla_helpers as xh
from xla_helpers import memory

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
    assert 0.2 < found.fault_share <= 1  # it does nothing else


def test_memory_that_is_used_again_costs_nothing():
    fresh = bytearray(SIZE)
    found = xh.measure(lambda: fresh.find(b"x"), rounds=5)
    assert found.faults < 20 and found.new_memory == "" and "new memory" not in str(found)


def test_a_system_that_counts_none_is_not_known(monkeypatch):
    monkeypatch.setattr(memory, "page_fault_seconds", lambda: 0.0)
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
def test_a_large_array_is_no_new_mapping(first):
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
        before = info().e  # bytes in mappings of their own
        array = np.ones(20 << 20, "uint8")
        print(info().e - before)
    """
    flags = {"GLIBC_TUNABLES": ""} if first != "pass" else {}
    assert int(xh.run_in_process(textwrap.dedent(code), flags=flags).stdout) == 0
