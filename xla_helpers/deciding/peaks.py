"""What a machine can do: how fast it multiplies matrices, and how fast it copies memory."""

import functools
from collections.abc import Callable

from ..startup import cache_bytes
from ..timing import calibrate, time_block
from .findings import Peaks

SIDES = (256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192)
"""Numbers along a side of the matrices; the first that lasts long enough is taken."""

LONG_ENOUGH = 0.01  # seconds of a product, of which the start of a call is a small part

TIMES = 4  # how many times larger than all caches the copied array is
UNKNOWN = 64_000_000  # bytes of the caches where nobody says
LEAST, MOST = 64_000_000, 1_000_000_000  # bytes of the array
BLOCKS = 7  # of which the fastest counts


def measure_peaks() -> Peaks:
    """Measure both, each by TensorFlow and as the fastest of several blocks.

    The product is of two square matrices of float32, and counts twice the cube of their side. The
    copy is of one array, several times larger than the caches, which is read once and written
    once, as in notebook 01. Both are what was reached and no bound: a program can be faster, by
    numbers with fewer digits, or because its arrays stay in the cache.
    """
    import tensorflow as tf

    side, seconds = product_seconds()
    array = tf.zeros([copied_bytes() // 4])
    copy = fastest(lambda: tf.raw_ops.DeepCopy(x=array))
    return Peaks(2 * side**3 / seconds, 2 * 4 * int(array.shape[0]) / copy)


def product_seconds() -> tuple[int, float]:
    """The side of two square matrices whose product lasts long enough, and its seconds."""
    import tensorflow as tf

    for side in SIDES:
        matrix = tf.random.stateless_normal([side, side], seed=(1, 2))
        product = functools.partial(tf.linalg.matmul, matrix, matrix)
        product()
        if time_block(product, 3) >= LONG_ENOUGH:
            break
    return side, fastest(product)


def copied_bytes() -> int:
    """The bytes of an array that is several times larger than all caches, within reason."""
    return min(max(LEAST, TIMES * (cache_bytes() or UNKNOWN)), MOST)


def in_cache() -> bool:
    """Whether the copied array may lie in the processor's caches, because they are so large.

    On a GPU it lies in the memory of that.
    """
    import tensorflow as tf

    on_gpu = tf.config.get_visible_devices("GPU")
    return not on_gpu and copied_bytes() < 2 * (cache_bytes() or 0)


def fastest(call: Callable) -> float:
    """Seconds of a call, after one that is not timed."""
    call()
    calls = calibrate(call)
    return min(time_block(call, calls) for _ in range(BLOCKS))
