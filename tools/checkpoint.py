"""Train the small GPT-2 that ships with the package, and write it into a folder."""

import argparse
import os
import sys
import time
from pathlib import Path

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # TensorFlow's models of Transformers are of Keras 2

import xla_helpers as xh

xh.prepare_tensorflow()

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tf_keras  # noqa: E402
import transformers  # noqa: E402

SHIPPED = Path(xh.__file__).parent / "data" / "tiny-gpt2"
SEED = 20
LENGTH = 64  # tokens to read, each with a successor to predict
END = "<|endoftext|>"  # where a text begins and ends, and what the vocabulary lacks


def main():
    top = argparse.ArgumentParser(prog="checkpoint", description=__doc__)
    top.add_argument("folder", nargs="?", type=Path, default=SHIPPED, help="default: the shipped")
    top.add_argument("--steps", type=int, default=900, help="default: %(default)s")
    options = top.parse_args()
    if options.steps < 1 or options.folder.is_file():
        top.error("give at least one step, and a folder that is no file")
    transformers.logging.set_verbosity_error()
    tf_keras.utils.set_random_seed(SEED)
    paragraphs = (SHIPPED / "corpus.txt").read_text(encoding="utf-8").splitlines()
    tokenizer = train_tokenizer(paragraphs)
    model, batches = new_model(tokenizer), draw_batches(*encode(paragraphs, tokenizer))
    train(training_step(model, options.steps), batches, options.steps)
    tokenizer.save_pretrained(options.folder)
    model.save_pretrained(options.folder, safe_serialization=True)
    read_back(options.folder, model, tokenizer, next(batches))


def train_tokenizer(paragraphs):
    """Begins with single bytes, and joins again and again the pair that is most frequent."""
    existing = transformers.GPT2TokenizerFast.from_pretrained(SHIPPED)  # it cuts words, as always
    trained = existing.train_new_from_iterator(paragraphs, vocab_size=900, show_progress=False)
    special = {"bos_token": END, "eos_token": END, "unk_token": END}
    return transformers.GPT2TokenizerFast(tokenizer_object=trained.backend_tokenizer, **special)


def encode(paragraphs, tokenizer):
    """The text as one row of tokens, and where its sentences start.

    Each is encoded as a prompt would be: the blank between two belongs to the one before.
    """
    blank, tokens, starts = tokenizer(" ")["input_ids"], [], []
    for paragraph in paragraphs:
        tokens.append(tokenizer.eos_token_id)
        for sentence in paragraph.removesuffix(".").split(". "):
            starts.append(len(tokens))
            tokens += tokenizer(sentence + ".")["input_ids"] + blank
    return np.array(tokens, np.int32), [start for start in starts if start + LENGTH < len(tokens)]


def draw_batches(row, starts):
    """Sixteen windows a batch, all of one length: one shape, and one compilation."""
    random = np.random.default_rng(SEED)
    while True:
        yield tf.constant(row[random.choice(starts, 16)[:, None] + np.arange(LENGTH + 1)])


def new_model(tokenizer):
    no_dropout = {"attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}  # it learns by heart
    ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    shape = {"n_positions": 128, "n_embd": 160, "n_layer": 2, "n_head": 4}
    config = transformers.GPT2Config(vocab_size=len(tokenizer), **shape, **ends, **no_dropout)
    model = transformers.TFGPT2LMHeadModel(config)
    model(model.dummy_inputs)  # now its weights have their final names
    return model


def loss_of(model, windows):
    scores = model(windows[:, :-1], training=True).logits
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(windows[:, 1:], scores)
    return tf.reduce_mean(losses)


def training_step(model, steps):
    """Forward pass, gradient and update in one program, as in 11 Train with XLA."""
    variables, rising = model.trainable_variables, steps // 10
    rate = tf_keras.optimizers.schedules.CosineDecay(
        0.0, steps - rising, warmup_target=1e-3, warmup_steps=rising
    )
    optimizer = tf_keras.optimizers.AdamW(rate, weight_decay=0.01, clipnorm=1.0)
    optimizer.build(variables)

    @tf.function(jit_compile=True)
    def step(windows):
        with tf.GradientTape() as tape:
            loss = loss_of(model, windows)
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return loss

    return step


def train(step, batches, steps):
    start = time.perf_counter()
    for number in range(1, steps + 1):
        loss = float(step(next(batches)))
        if number in (1, steps) or number % 50 == 0:
            passed = xh.format_si(time.perf_counter() - start, "s")
            print(f"step {number:>3} of {steps}: loss {loss:.2f}, after {passed}", flush=True)


def read_back(folder, model, tokenizer, windows):
    """Was nothing lost? And what does it write?"""
    read = transformers.TFGPT2LMHeadModel.from_pretrained(folder)
    its_tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert its_tokenizer.get_vocab() == tokenizer.get_vocab()
    assert abs(float(loss_of(read, windows)) - float(loss_of(model, windows))) < 1e-4
    ids = its_tokenizer("XLA is", return_tensors="tf")
    written = read.generate(**ids, max_new_tokens=12, pad_token_id=its_tokenizer.eos_token_id)
    print(f"It writes {its_tokenizer.decode(written[0])!r}, and is in {folder}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
