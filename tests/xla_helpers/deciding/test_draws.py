"""Random numbers that are the same in every mode, of the distributions that they stand for."""

import numpy as np
import pytest

from xla_helpers import check
from xla_helpers.deciding.draws import draws_aligned, draws_are_equal
from xla_helpers.operations import Draw

SEED = np.int32([1, 2])


def drawn(tf, name, dtype="float32"):
    """What each mode draws, aligned."""
    make = getattr(tf.random, name)
    with draws_aligned():
        return check(lambda seed: make([20_000], seed, dtype=dtype), SEED)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "mean", "deviation", "least", "most"),
    [
        ("stateless_uniform", 0.5, 12**-0.5, 0, 1),
        ("stateless_normal", 0, 1, -6, 6),
        ("stateless_truncated_normal", 0, 0.8796, -2, 2),
    ],
)
def test_the_same_numbers_in_every_mode(tf, name, mean, deviation, least, most, dtype):
    found = drawn(tf, name, dtype)
    numbers = found["XLA"].result
    assert found.agrees and found.draws == () and numbers.dtype == dtype
    assert numbers.mean() == pytest.approx(mean, abs=0.03)
    assert numbers.std() == pytest.approx(deviation, abs=0.02)
    assert least <= numbers.min() and numbers.max() <= most and len(set(numbers)) > 19_000


def test_uniform_numbers_are_equal_to_the_last_bit(tf):
    assert drawn(tf, "stateless_uniform")["XLA"].difference.absolute == 0
    assert not check(tf.random.stateless_uniform, [9], SEED).agrees  # without the block


def test_others_may_differ_in_the_last_bit():
    uniform, normal = (Draw(f"StatelessRandom{kind}V2", "", "") for kind in ("Uniform", "Normal"))
    assert draws_are_equal([uniform]) and not draws_are_equal([uniform, normal])


def test_draws_are_as_they_were_after_the_block(tf):
    before = tf.random.stateless_normal([4], SEED).numpy().tolist()
    with pytest.raises(KeyError), draws_aligned():
        assert tf.random.stateless_normal([4], SEED).numpy().tolist() != before
        raise KeyError
    assert tf.random.stateless_normal([4], SEED).numpy().tolist() == before
