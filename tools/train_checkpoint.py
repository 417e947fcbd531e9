"""Rebuild the small GPT-2 that ships with xla_helpers from the text beside it, corpus.txt.

About a minute on two cores. Writes a byte-level tokenizer and the weights of a GPT-2 with two
layers, as safetensors.
"""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # the TensorFlow models of Transformers are Keras 2

import argparse
from pathlib import Path

import numpy as np
import tensorflow as tf
from tokenizers import ByteLevelBPETokenizer
from tqdm import tqdm
from transformers import GPT2Config, GPT2TokenizerFast, TFGPT2LMHeadModel

FOLDER = Path(__file__).parents[1] / "xla_helpers" / "data" / "tiny-gpt2"
CORPUS = FOLDER / "corpus.txt"
END = "<|endoftext|>"
SEED = 20
VOCABULARY = 900
LENGTH = 64  # tokens in a training sequence
BATCH = 16


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=900, help="training steps (default 900)")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder to write")
    options = parser.parse_args()

    tf.keras.utils.set_random_seed(SEED)
    tokenizer = train_tokenizer(CORPUS)
    model = build_model(len(tokenizer))
    loss = train(model, tokenizer, CORPUS.read_text(), options.steps)
    tokenizer.save_pretrained(options.out)
    model.save_pretrained(options.out, safe_serialization=True)
    print(f"loss {loss:.2f}, written to {options.out}")


def train_tokenizer(corpus):
    """A GPT-2 tokenizer whose vocabulary fits the corpus."""
    trained = ByteLevelBPETokenizer()
    trained.train(str(corpus), vocab_size=VOCABULARY, special_tokens=[END], show_progress=False)
    return GPT2TokenizerFast(
        tokenizer_object=trained._tokenizer, bos_token=END, eos_token=END, unk_token=END
    )


def build_model(vocabulary):
    """GPT-2 with two layers of width 160, built so that its weights have their final names."""
    end = 0  # the tokenizer's first entry is its special token
    model = TFGPT2LMHeadModel(
        GPT2Config(
            vocab_size=vocabulary,
            n_positions=128,
            n_embd=160,
            n_layer=2,
            n_head=4,
            bos_token_id=end,
            eos_token_id=end,
            attn_pdrop=0.0,
            embd_pdrop=0.0,
            resid_pdrop=0.0,
        )
    )
    model(model.dummy_inputs)
    return model


def train(model, tokenizer, text, steps):
    """Train on sequences that begin where sentences begin, as prompts do. Returns the last loss."""
    tokens, starts = encode(tokenizer, text)
    warm_up = steps // 10
    rate = tf.keras.optimizers.schedules.CosineDecay(
        0.0, steps - warm_up, warmup_target=1e-3, warmup_steps=warm_up
    )
    optimizer = tf.keras.optimizers.AdamW(rate, weight_decay=0.01, clipnorm=1.0)
    random = np.random.default_rng(SEED)

    @tf.function(jit_compile=True)
    def step(batch):
        with tf.GradientTape() as tape:
            logits = model(batch[:, :-1], training=True).logits
            loss = tf.reduce_mean(
                tf.keras.losses.sparse_categorical_crossentropy(
                    batch[:, 1:], logits, from_logits=True
                )
            )
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    optimizer.build(model.trainable_variables)
    with tqdm(range(steps), desc="training") as progress:
        for _ in progress:
            windows = random.choice(starts, BATCH)[:, None] + np.arange(LENGTH + 1)
            loss = float(step(tf.constant(tokens[windows])))
            progress.set_postfix(loss=f"{loss:.2f}")
    return loss


def encode(tokenizer, text):
    """The text as one row of tokens, paragraphs apart, and where its sentences start.

    Every sentence is encoded without the blank before it, as at the start of a prompt.
    """
    tokens, starts = [], []
    blank = tokenizer(" ")["input_ids"]
    for paragraph in text.splitlines():
        tokens.append(tokenizer.eos_token_id)
        for sentence in paragraph.removesuffix(".").split(". "):
            starts.append(len(tokens))
            tokens += tokenizer(sentence + ".")["input_ids"] + blank
    starts = [start for start in starts if start + LENGTH < len(tokens)]
    return np.array(tokens, np.int32), np.array(starts)


if __name__ == "__main__":
    main()
