"""What a machine can do: which matrices, which array, and the fastest block."""

from xla_helpers.deciding import peaks
from xla_helpers.deciding.peaks import BLOCKS, LEAST, MOST, SIDES


def test_the_copied_array_is_several_times_larger_than_the_caches(tf, monkeypatch):
    for caches, copied, within in (
        (30_000_000, 120_000_000, False),
        (1_000_000, LEAST, False),
        (800_000_000, MOST, True),
    ):
        monkeypatch.setattr(peaks, "cache_bytes", lambda caches=caches: caches)
        assert (peaks.copied_bytes(), peaks.in_cache()) == (copied, within)
    monkeypatch.setattr(peaks, "cache_bytes", lambda: None)
    assert LEAST < peaks.copied_bytes() < MOST and not peaks.in_cache()


def test_on_a_gpu_the_caches_of_the_processor_hold_nothing(tf, monkeypatch):
    monkeypatch.setattr(peaks, "cache_bytes", lambda: 800_000_000)
    monkeypatch.setattr(tf.config, "get_visible_devices", lambda kind: [kind])
    assert not peaks.in_cache()


def test_the_fastest_block_counts(monkeypatch):
    seconds = iter([0.3, 0.2, 0.1, *[0.4] * BLOCKS])
    monkeypatch.setattr(peaks, "calibrate", lambda call: 1)
    monkeypatch.setattr(peaks, "time_block", lambda call, calls: next(seconds))
    called = []
    assert peaks.fastest(lambda: called.append(1)) == 0.1 and called == [1]


def test_the_product_that_first_lasts_long_enough_is_taken(tf, monkeypatch):
    monkeypatch.setattr(peaks, "time_block", lambda call, calls: 1e-9 * call.args[0].shape[0] ** 2)
    monkeypatch.setattr(peaks, "LONG_ENOUGH", 2e-4)
    monkeypatch.setattr(peaks, "fastest", lambda call: call.args[0].shape[0])
    assert peaks.product_seconds() == (512, 512)
    monkeypatch.setattr(peaks, "SIDES", SIDES[:2])
    assert peaks.product_seconds() == (384, 384)


def test_both_are_operations_and_bytes_over_seconds(tf, monkeypatch):
    monkeypatch.setattr(peaks, "product_seconds", lambda: (1000, 0.5))
    monkeypatch.setattr(peaks, "copied_bytes", lambda: 4000)
    monkeypatch.setattr(peaks, "fastest", lambda call: 0.1)
    found = peaks.measure_peaks()
    assert (found.flops_per_second, found.bytes_per_second) == (4e9, 8000 / 0.1)


def test_a_machine_multiplies_and_copies(tf, monkeypatch):
    monkeypatch.setattr(peaks, "SIDES", SIDES[:1])
    monkeypatch.setattr(peaks, "copied_bytes", lambda: 1_000_000)
    found = peaks.measure_peaks()
    assert found.flops_per_second > 0 and found.bytes_per_second > 0
