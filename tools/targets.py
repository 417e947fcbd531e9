"""Compile known programs for GPUs that are not there, and write the table of docs/gpu.md."""

import sys
from datetime import date
from pathlib import Path

import xla_decide as xd
import xla_helpers as xh

xh.prepare_tensorflow()

import keras
import keras_hub
import tensorflow as tf
from overview import write_parts
from tensorflow.python.compiler.xla.experimental import xla_sharding

PAGE = Path(__file__).resolve().parents[1] / "docs/gpu.md"
OPENS = "<!-- Made by `make targets`: do not edit. -->"
CARDS = ["T4", "A100", "H100"]
L = keras.layers


def line():
    return (lambda x, y, z: tf.reduce_sum(x + y * z)), *[tf.TensorSpec([4096, 4096])] * 3


def softmax():
    return (lambda x: tf.nn.softmax(x)), tf.TensorSpec([4096, 4096])


def dense():
    model = keras.Sequential([L.Input([10]), L.Dense(10, activation="relu"), L.Dense(5)])
    return model, tf.TensorSpec([16, 10])


def attention():
    def attend(q, k, v):
        return tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 8.0) @ v

    return attend, *[tf.TensorSpec([4, 4, 256, 64])] * 3


def half():
    _, *given = attention()

    def attend(q, k, v):
        scores = tf.matmul(q, k, transpose_b=True) / tf.cast(8.0, q.dtype)
        return tf.nn.softmax(scores) @ v

    return attend, *[tf.TensorSpec(one.shape, tf.bfloat16) for one in given]


def depthwise():
    return L.DepthwiseConv2D(3, padding="same"), tf.TensorSpec([1, 14, 14, 960])


def convolution(*after, activation=None):
    layers = L.Conv2D(64, 3, padding="same", activation=activation), *after
    return keras.Sequential([L.Input([56, 56, 64]), *layers]), tf.TensorSpec([32, 56, 56, 64])


def normalized():
    return convolution(L.BatchNormalization(), L.ReLU())


def resnet50():
    return keras.applications.ResNet50(weights=None), tf.TensorSpec([32, 224, 224, 3])


def recurrent():
    return keras.Sequential([L.Input([100, 8]), L.LSTM(32, use_cudnn=False)]), tf.TensorSpec(
        [16, 100, 8]
    )


def training():
    model = keras.Sequential([L.Input([10]), L.Dense(10, activation="relu"), L.Dropout(0.2)])
    model.add(L.Dense(5))
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model.train_step, (tf.zeros([16, 10]), tf.zeros([16], tf.int32))


def token():
    """A token of GPT-2 with its cache, as KerasHub generates it; the weights are drawn."""
    sizes = {"num_layers": 12, "num_heads": 12, "hidden_dim": 768, "intermediate_dim": 3072}
    backbone = keras_hub.models.GPT2Backbone(vocabulary_size=50257, **sizes)
    model = keras_hub.models.GPT2CausalLM(backbone=backbone)

    def step(tokens, cache, index):
        logits, _, cache = model.call_with_cache(tokens, cache, index)
        return tf.argmax(logits[:, -1], -1), cache

    cache = tf.TensorSpec([1, 12, 2, 64, 12, 64])
    return step, tf.TensorSpec([1, 1], tf.int32), cache, tf.TensorSpec([], tf.int32)


def shared():
    """A training step of two layers whose batch is split over eight cards."""
    weights = [tf.Variable(tf.zeros([1024, 1024])), tf.Variable(tf.zeros([1024, 20]))]

    def step(x, y):
        x, y = (xla_sharding.split(part, 0, 8) for part in (x, y))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.nn.relu(x @ weights[0]) @ weights[1] - y) ** 2)
        for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
            weight.assign_sub(0.1 * gradient)
        return loss

    return step, tf.TensorSpec([4096, 1024]), tf.TensorSpec([4096, 20])


PROGRAMS = {
    "`reduce_sum(x + y * z)`, 4096 x 4096": line,
    "softmax, 4096 rows of 4096": softmax,
    "Dense model, width 10, batch of 16": dense,
    "attention, 4 x 4 heads of 256 x 64": attention,
    "the same in bfloat16": half,
    "depthwise convolution, 14 x 14 x 960": depthwise,
    'convolution with `activation="relu"`, 32 x 56 x 56 x 64': lambda: convolution(
        activation="relu"
    ),
    "the same with BatchNormalization between": normalized,
    "LSTM without cuDNN, 100 steps, batch of 16": recurrent,
    "ResNet50, 32 pictures": resnet50,
    "training step: Dense, Dropout, Adam, batch of 16": training,
    "GPT-2 of 124 million weights, one token": token,
    "training step over eight cards, on each": shared,
}


def main():
    rows = []
    for name, make in PROGRAMS.items():
        fn, *args = make()
        options = {"partitions": 8} if make is shared else {}
        programs = xd.compile_for(fn, args, target=CARDS, **options)
        rows.append([name, f"{programs[0].traced:,}", *map(cell, programs)])
        print(*(program.title for program in programs), sep="\n", flush=True)
    lines = [["program", "operations", *CARDS], ["---", "---:", *["---"] * len(CARDS)], *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    how = f"Compiled by {programs[0].compiler} on {date.today()}, from TensorFlow {tf.__version__}."
    write_parts(PAGE, [f"\n{how}\n\n{table}\n"], OPENS)


def cell(program):
    """The launches of a program, how they are started, their least time, and its memory."""
    exchanges = f", {len(program.exchanges)} exchange" if program.exchanges else ""
    choice = f" ({program.chosen} chosen)" if program.chosen else ""
    looped = f", {program.inside} more a round" if program.inside else ""
    starts = f", {program.starts_in_words}" if program.starts_in_words else ""
    counts = f"{program.launches_in_words}{choice}{starts}{looped}{exchanges}"
    return f"{counts}; {program.least}; {program.memory_in_words}"


if __name__ == "__main__":
    sys.exit(main())
