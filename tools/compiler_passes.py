"""What each of XLA's passes changed in three programs, for the pass lens of the site.

XLA writes the program after each pass that changed it; here TensorFlow's compiles for this
processor, and JAX's for an H100 that is not there. Run it after an upgrade.
"""

import difflib
import json
import re
import sys
import tempfile
from collections import Counter
from datetime import date
from importlib import metadata
from pathlib import Path

import xla_helpers as xh
from xla_decide.gpu.stablehlo import as_compiled, stablehlo_of
from xla_decide.gpu.target_programs import compiler_in, packages_folder, run_compiler
from xla_decide.gpu.targets import target_named
from xla_helpers.calls import Call

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs" / "passes.json"
EVERY = "--xla_dump_hlo_pass_re=.*"  # XLA writes only after those that changed something
DUMPED = re.compile(r"^(.+)\.(\d{4})\.(.+)\.after_(.+?)\.before_.+\.txt$")
# What no pass is about, and names of TensorFlow's and JAX's that are longer than the program.
NOISE = re.compile(
    r", (?:metadata|frontend_attributes|origin|sharding)=\{[^}]*\}"
    r"|, (?:is_scheduled=true|parameter_replication=\{false\})"
)
CONFIG = re.compile(r", backend_config=(.+)$")
ENTRY = re.compile(r"^ENTRY %\S+")
SAYS = {
    "dynamic-dimension-simplifier": "Instructions that only deal with shapes that are not known "
    "go: here all shapes are, and the reshapes around the arguments are passed by.",
    "algsimp": "The algebraic simplifier. What changes nothing is removed, and what can be said "
    "more cheaply is: a division by a constant becomes a product.",
    "call-inliner": "The body of a called computation is put in the place of the call.",
    "dot-library-rewriter": "What a library for processors, YNNPACK, is to do is put into a fusion "
    "of its own, and handed over. Here these are reductions.",
    "fusion": "Fusion: neighbours become one kernel. What flows between them is never written to "
    "memory.",
    "priority-fusion": "Fusion for GPUs. A model of the card predicts what each pair would save, "
    "and the best pairs are joined first.",
    "fusion-wrapper": "An instruction that stayed alone becomes a fusion of one, so that code is "
    "made for it in the same way.",
    "cpu-parallel-task-assigner": "Loops that are long enough are cut into parts, one for each "
    "core.",
    "reduction-dimension-grouper": "Neighbouring dimensions that are summed together become one.",
    "tree-reduction-rewriter": "A long sum becomes two: the rows first, which many threads can add "
    "at once, and then what came of them.",
    "tree_reduction_rewriter": "A long reduction becomes two: pieces of a row first, and then what "
    "came of them.",
    "triton-gemm-rewriter": "A product becomes a kernel for Triton, with what comes just before "
    "and after it.",
    "gemm-fusion-swap-operands": "The factors of a product change places, because the card is "
    "faster that way round.",
    "triton-softmax-rewriter": "The maximum of a row, its exponentials and their sum become "
    "kernels for Triton, which keep the row on the chip.",
    "hoist-fused-bitcasts": "Changes of shape that move no number leave the kernel.",
    "dot_dimension_merger": "Two dimensions of a batch become one.",
    "dce": "Dead code elimination: what nobody reads any more goes.",
    "convert_triton_gemm_config": "The tiles of each product are noted beside it.",
}
# Here they rename, copy or reorder, and change nothing else.
UNSEEN = {"pipeline-start", "rename-instructions", "rename_fusions", "sanitize-constant-names"}
UNSEEN |= {"flatten-call-graph", "layout-assignment", "scheduling-instruction-annotator"}


def line():
    import tensorflow as tf

    return lambda x, y, z: tf.reduce_sum(x + y * z), [tf.ones([1024, 1024])] * 3


def dense():
    import tensorflow as tf

    def model(x, w, b, v):
        return tf.nn.relu(x @ w + b) @ v

    return model, [tf.ones(shape) for shape in ([16, 64], [64, 128], [128], [128, 10])]


def attention():
    import tensorflow as tf

    def attend(q, k, v):
        return tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 8.0) @ v

    return attend, [tf.ones([4, 4, 256, 64])] * 3


HERE = "a processor"
PROGRAMS = {
    "reduce_sum(x + y * z)": line,
    "Dense model": dense,
    "attention": attention,
}


def compiled_here(builder):
    """In a process of its own: compile what the builder of this name returns."""
    import tensorflow as tf

    fn, args = globals()[builder]()
    tf.function(fn, jit_compile=True)(*args)


def steps_here(builder):
    """The steps on this processor."""
    with tempfile.TemporaryDirectory() as folder:
        flags = {"XLA_FLAGS": f"--xla_dump_to={folder} {EVERY}", "CUDA_VISIBLE_DEVICES": "-1"}
        xh.run_in_process(compiled_here, (builder.__name__,), uses=[builder], flags=flags)
        return steps_in(Path(folder))


def steps_there(builder, card="H100"):
    """The steps for a card, as JAX's compiler writes them, with Triton's products."""
    fn, args = builder()
    module = stablehlo_of(as_compiled(Call(fn, tuple(args), None)))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        run_compiler(folder, module, [target_named(card)], packages_folder(), flags=EVERY)
        return steps_in(folder / card / "triton")


def steps_in(folder):
    """The program at first, then each pass that changed it: name, sentence, and marked lines."""
    found = [(DUMPED.match(path.name), path) for path in folder.glob("*.txt")]
    found = [(match.groups(), path) for match, path in found if match]
    ((module, _),) = Counter(parts[0] for parts, _ in found).most_common(1)  # not those of tries
    steps, before = [], None
    for (_, _, pipeline, name), path in sorted(x for x in found if x[0][0] == module):
        lines = lines_of(path.read_text(encoding="utf-8"))
        if before is None:
            steps.append({"pass": "", "pipeline": "", "says": "As XLA was given it.",
                "lines": [f" {line}" for line in lines]})  # fmt: skip
        elif name not in UNSEEN and sorted(lines) != sorted(before):
            steps.append({"pass": name, "pipeline": pipeline, "says": SAYS[name],
                "lines": marked(before, lines)})  # fmt: skip
        before = lines
    return steps


def lines_of(text):
    """The computations alone, without what no pass is about."""
    lines = [NOISE.sub("", one).rstrip() for one in text.splitlines()]
    start = next(n for n, one in enumerate(lines) if one.endswith("{") and one[0] in "%E")
    kept = [ENTRY.sub("ENTRY %main", CONFIG.sub(setting, one)) for one in lines[start:]]
    return [one for one in kept if one]


def setting(found):
    """Of a kernel's settings, who makes it, and into how many parts a loop is cut."""
    kinds = re.findall(r'"kind":"(__\w+)"', found[1])
    parts = re.findall(r'"outer_dimension_partitions":\["([^]]+)"\]', found[1])
    tiles = re.findall(r'"sizes":\["([^]]+)"\]', found[1])
    said = [*kinds, *(f"parts {x}" for x in parts), *(f"tiles {x}" for x in tiles)]
    return f", settings={{{'; '.join(said)}}}".replace('"', "") if said else ""


def marked(before, after):
    """All lines, each with " ", "-" or "+" before it."""
    found = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
        if kind == "equal":
            found += [f" {line}" for line in before[a:b]]
        else:
            found += [f"-{line}" for line in before[a:b]] + [f"+{line}" for line in after[c:d]]
    return found


def main():
    jax = compiler_in(packages_folder()).removeprefix("XLA in ")
    compilers = {HERE: f"TensorFlow {metadata.version('tensorflow')}", "H100": jax}
    programs = []
    for name, builder in PROGRAMS.items():
        steps = {HERE: steps_here(builder), "H100": steps_there(builder)}
        print(name, *(f"{device}: {len(found) - 1} passes" for device, found in steps.items()))
        programs.append({"name": name, "steps": steps})
    made = {"day": f"{date.today()}", "compilers": compilers, "programs": programs}
    DATA.write_text(json.dumps(made, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
