"""Six small programs in JAX or in TensorFlow, timed and held against NumPy: run by releases.py.

It stands alone, because it runs in environments that hold nothing else.
"""

import json
import sys
import time

import numpy as np

CALLS, WARM = 40, 3
DRAWS = np.random.default_rng(0)


def drawn(*shape):
    return DRAWS.normal(size=shape).astype("float32")


X, Y, Z = drawn(1024, 1024), drawn(1024, 1024), drawn(1024, 1024)
PICTURE, FILTERS = drawn(1, 14, 14, 256), drawn(3, 3, 256)
SMALL, _ = np.linalg.qr(drawn(32, 32))  # products of which neither grow nor vanish
HIDDEN, LAST, ROWS = drawn(10, 10), drawn(10, 5), drawn(16, 10)
EQUAL = np.full([2**24], 1.3, "float32")
RAMP = np.append(np.arange(32_767, dtype="float32")[::-1], np.float32(np.nan))


def depthwise_by_numpy():
    total = np.zeros([1, 12, 12, 256], "float32")
    for i in range(3):
        for j in range(3):
            total += PICTURE[:, i : i + 12, j : j + 12] * FILTERS[i, j]
    return total


def loop_by_numpy():
    state = SMALL
    for _ in range(200):
        state = state @ SMALL
    return state


RIGHT = {
    "line": lambda: np.sum(X + Y * Z, dtype="float64"),
    "depthwise": depthwise_by_numpy,
    "loop": loop_by_numpy,
    "dense": lambda: np.maximum(ROWS @ HIDDEN, 0) @ LAST,
    "sum": lambda: EQUAL.sum(dtype="float64"),
    "maximum": lambda: RAMP.max(),
}


def in_jax():
    """Name to a compiled function and its arguments."""
    import jax
    from jax import lax
    from jax import numpy as jnp

    def depthwise(x, w):
        names = "NHWC", "HWIO", "NHWC"
        return lax.conv_general_dilated(
            x, w[:, :, None], (1, 1), "VALID", dimension_numbers=names, feature_group_count=256
        )

    def loop(state):
        def step(carry, _):
            return carry @ state, None

        return lax.scan(step, state, None, length=200)[0]

    made = {
        "line": (lambda x, y, z: jnp.sum(x + y * z), (X, Y, Z)),
        "depthwise": (depthwise, (PICTURE, FILTERS)),
        "loop": (loop, (SMALL,)),
        "dense": (lambda x, a, b: jnp.maximum(x @ a, 0) @ b, (ROWS, HIDDEN, LAST)),
        "sum": (jnp.sum, (EQUAL,)),
        "maximum": (jnp.max, (RAMP,)),
    }
    return {
        name: (jax.jit(fn), [jax.device_put(array) for array in args])
        for name, (fn, args) in made.items()
    }


def in_tensorflow():
    """The same in TensorFlow."""
    import tensorflow as tf

    def loop(state):
        carry = state
        for _ in tf.range(200):
            carry = carry @ state
        return carry

    def depthwise(x, w):
        return tf.nn.depthwise_conv2d(x, w[..., None], [1, 1, 1, 1], "VALID")

    made = {
        "line": (lambda x, y, z: tf.reduce_sum(x + y * z), (X, Y, Z)),
        "depthwise": (depthwise, (PICTURE, FILTERS)),
        "loop": (loop, (SMALL,)),
        "dense": (lambda x, a, b: tf.nn.relu(x @ a) @ b, (ROWS, HIDDEN, LAST)),
        "sum": (tf.reduce_sum, (EQUAL,)),
        "maximum": (tf.reduce_max, (RAMP,)),
    }
    return {
        name: (tf.function(fn, jit_compile=True), list(map(tf.constant, args)))
        for name, (fn, args) in made.items()
    }


def wrong(result, right):
    """In what a result differs from NumPy's by more than rounding, in few words; "" for nothing."""
    if np.isnan(right).any():
        return "" if np.isnan(result).all() else f"{float(result):g} for NaN"
    error = float(np.max(np.abs(result - right)) / np.max(np.abs(right)))
    return f"off by {error:.1%}" if not error < 1e-3 else ""


def main(framework):
    made = in_jax() if framework == "jax" else in_tensorflow()
    found = {}
    for name, (fn, args) in made.items():
        seconds = []
        for _ in range(WARM + CALLS):
            start = time.perf_counter()
            result = np.asarray(fn(*args))
            seconds.append(time.perf_counter() - start)
        found[name] = {"seconds": min(seconds[WARM:]), "wrong": wrong(result, RIGHT[name]())}
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
