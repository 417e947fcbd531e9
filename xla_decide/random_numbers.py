"""The same random numbers for a graph and XLA: stand-ins for the operations that draw them.

TensorFlow's kernels and XLA's draw other numbers from the same seed. Here a number is a hash of the
seed and of its place, which is the same in both, to the last bit. `stand_in` must come before the
reader's file is imported, because a function keeps the operations that it was traced with.
"""

import inspect
import math
from typing import Any
from weakref import WeakKeyDictionary

from xla_helpers import internals

HASH = 0x7FEB352D, 0x846CA68B  # multipliers of a hash of 32 bits (Wellons, 2018, "lowbias32")
GOLDEN = 0x9E3779B9  # the golden ratio in 32 bits, which keeps seeds apart
TWELVE = 12  # uniform numbers in a normal one, whose variance is then one


class Counter:
    """Counts the draws without a seed, so that each gives other numbers.

    Attributes:
        variable: The count, which must be the same before each of two calls that shall draw the
            same; None before the first draw, because a file may first choose its devices.
    """

    def __init__(self):
        self.variable: Any = None
        self._vectorized = WeakKeyDictionary[Any, int]()  # graph to how many of them it has

    def next(self) -> Any:
        """The number of a draw; of one that is vectorized, its number in the graph."""
        import tensorflow as tf

        if internals.is_vectorizing():  # which no variable can count
            graph = tf.compat.v1.get_default_graph()
            self._vectorized[graph] = self._vectorized.get(graph, 0) + 1
            return tf.constant(self._vectorized[graph], tf.int64)
        with tf.init_scope():
            if self.variable is None:
                name = "stand_in_counter"
                self.variable = tf.Variable(0, dtype=tf.int64, trainable=False, name=name)
        return self.variable.assign_add(1)


def stand_in() -> Counter:
    """Replace TensorFlow's draws of uniform, normal and full-range numbers by hashes.

    Returns:
        What counts the draws without a seed.
    """
    counter = Counter()
    for module in internals.modules_that_draw():
        for name, draw in DRAWS.items():
            if hasattr(module, name):
                setattr(module, name, _instead_of(getattr(module, name), draw, counter))
        if hasattr(module, GETS_KEY):
            setattr(module, GETS_KEY, _key_and_counter)
    return counter


def _instead_of(original, draw, counter):
    """A function that takes what TensorFlow's takes, by position or by name."""
    signature = inspect.signature(original)

    def drawn(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        has_state = "seed2" in signature.parameters or "resource" in signature.parameters
        if has_state:
            seeds = [counter.next()]
        else:
            seeds = [given[name] for name in ("seed", "key", "counter") if name in given]
        return draw(given, seeds)

    return drawn


def _key_and_counter(seed, name=None):
    """The seed itself, where TensorFlow scrambles it."""
    import tensorflow as tf

    seed = tf.cast(tf.reshape(seed, [2]), tf.uint64)
    return seed[:1], tf.stack([seed[1], tf.zeros([], tf.uint64)])


def bits(shape, seeds, stream=0):
    """Hashes of 32 bits in this shape, as int64; `stream` sets several of one seed apart."""
    import tensorflow as tf

    state = tf.constant(stream, tf.int64)
    for seed in seeds:
        for part in tf.unstack(tf.reshape(tf.cast(seed, tf.int64), [_count(seed)])):
            state = _mixed(state * GOLDEN + part)
    shape = tf.cast(shape, tf.int32)
    places = tf.cast(tf.range(tf.reduce_prod(shape)), tf.int64)
    return tf.reshape(_mixed(_mixed(places + GOLDEN) + state), shape)


def _count(seed):
    return math.prod(tuple(seed.shape)) if hasattr(seed, "shape") else len(seed)


def _mixed(values):
    """A hash of 32 bits of each whole number, in 64 bits, where no product overflows unseen."""
    import tensorflow as tf

    mask, shift = 0xFFFFFFFF, tf.bitwise.right_shift
    values = tf.bitwise.bitwise_and(values, mask)
    for bits_, factor in zip((16, 15), HASH, strict=True):
        values = tf.bitwise.bitwise_xor(values, shift(values, tf.constant(bits_, tf.int64)))
        values = tf.bitwise.bitwise_and(values * factor, mask)
    return tf.bitwise.bitwise_xor(values, shift(values, tf.constant(16, tf.int64)))


def uniform(given, seeds):
    """From zero to one, in as many steps as the type tells apart."""
    import tensorflow as tf
    from ml_dtypes import finfo

    dtype = tf.as_dtype(given.get("dtype", tf.float32))
    digits = min(24, finfo(dtype.as_numpy_dtype).nmant + 1)
    shift = tf.constant(32 - digits, tf.int64)
    steps = tf.bitwise.right_shift(bits(given["shape"], seeds), shift)
    return tf.cast(tf.cast(steps, tf.float32) * 2.0**-digits, dtype)


def normal(given, seeds):
    """The sum of twelve uniform numbers of 16 bits, less six: of whole numbers, so exact."""
    import tensorflow as tf

    words = [bits(given["shape"], seeds, stream) for stream in range(1, 1 + TWELVE // 2)]
    low = [tf.bitwise.bitwise_and(word, 0xFFFF) for word in words]
    high = [tf.bitwise.right_shift(word, tf.constant(16, tf.int64)) for word in words]
    total = tf.cast(tf.add_n([*low, *high]), tf.float32)
    return tf.cast(total * 2.0**-16 - 6.0, given.get("dtype", tf.float32))


def truncated(given, seeds):
    """Between minus two and two; not distributed as it should be, but the same in both."""
    import tensorflow as tf

    numbers = uniform({"shape": given["shape"]}, seeds)
    return tf.cast(numbers * 4.0 - 2.0, given.get("dtype", tf.float32))


def full_range(given, seeds):
    """Any whole number of the type."""
    import tensorflow as tf

    low, high = (bits(given["shape"], seeds, stream) for stream in (1, 2))
    both = tf.bitwise.left_shift(high, tf.constant(32, tf.int64)) + low
    return tf.cast(both, given.get("dtype", tf.uint64))


def between(given, seeds):
    """A whole number from `minval` on, and below `maxval`."""
    import tensorflow as tf

    low, high = (tf.convert_to_tensor(given[name]) for name in ("minval", "maxval"))
    width = tf.cast(high, tf.int64) - tf.cast(low, tf.int64)
    return low + tf.cast(tf.math.floormod(bits(given["shape"], seeds), width), low.dtype)


GETS_KEY = "stateless_random_get_key_counter"
DRAWS = {
    "random_uniform": uniform,
    "random_standard_normal": normal,
    "truncated_normal": truncated,
    "random_uniform_int": between,
    "stateful_uniform": uniform,
    "stateful_standard_normal_v2": normal,
    "stateful_truncated_normal": truncated,
    "stateful_uniform_int": between,
    "stateful_uniform_full_int": full_range,
    "stateless_random_uniform": uniform,
    "stateless_random_normal": normal,
    "stateless_truncated_normal": truncated,
    "stateless_random_uniform_int": between,
    "stateless_random_uniform_full_int": full_range,
    "stateless_random_uniform_v2": uniform,
    "stateless_random_normal_v2": normal,
    "stateless_truncated_normal_v2": truncated,
    "stateless_random_uniform_int_v2": between,
    "stateless_random_uniform_full_int_v2": full_range,
}
"""The functions with which TensorFlow makes its operations, to what stands in for them."""
