"""Page faults are counted and priced, and shown where they cost."""

import mmap
from dataclasses import replace

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


def test_a_decision_says_what_new_memory_costs():
    cost = xh.Cost(1e-3, 1e-3, 1e-3, 0.0, 1, 1, 0)
    paying = replace(cost, faults=500.0, fault_share=0.3)
    found = xh.Finding("M", {"float32[1]": 1.0}, {"graph": paying, "XLA": cost}, {"XLA": ""})
    (note,) = [x for x in xh.Decision((found,), 9, 1.05, {}, (), {}).notes if "memory" in x]
    assert note.startswith("New memory: graph 500 pages a call, about 30%") and "XLA" not in note
