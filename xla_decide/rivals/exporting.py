"""From a call to the files that other runtimes load: each by its converter's own call.

All converters read one function of arrays alone, whose inputs and outputs are numbered, so that
every file has them in one order.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from xla_helpers import internals
from xla_helpers.calls import Call

from .worker import SAVED, Job


class Inputs:
    """The arrays among the arguments of a call, in their order; all else stays as it is."""

    def __init__(self, args: tuple, kwargs: dict, nest: Any):
        """nest: What takes arguments apart: `tf.nest`, or `keras.tree`, for any backend."""
        self._nest, self._given = nest, (args, kwargs)
        self._leaves = nest.flatten(self._given)
        is_array = [hasattr(leaf, "dtype") and hasattr(leaf, "shape") for leaf in self._leaves]
        self._places = [place for place, one in enumerate(is_array) if one]

    @property
    def arrays(self) -> list:
        """The arrays."""
        return [self._leaves[place] for place in self._places]

    def packed(self, arrays: Sequence) -> tuple[tuple, dict]:
        """The arguments with other arrays in place of theirs."""
        leaves = list(self._leaves)
        for place, array in zip(self._places, arrays, strict=True):
            leaves[place] = array
        return self._nest.pack_sequence_as(self._given, leaves)


def flat_function(call: Call, inputs: Inputs) -> Any:
    """A `tf.function` from arrays to a dictionary of arrays, which calls a function.

    Args:
        call: The function, with its arguments.
        inputs: The arrays among these.
    """
    import tensorflow as tf

    tensors = [tf.convert_to_tensor(array) for array in inputs.arrays]
    specs = [
        tf.TensorSpec(tensor.shape, tensor.dtype, name=numbered("input", place))
        for place, tensor in enumerate(tensors)
    ]

    @tf.function(input_signature=specs)
    def flat(*arrays):
        args, kwargs = inputs.packed(arrays)
        returned = tf.nest.flatten(call.fn(*args, **kwargs), expand_composites=True)
        outputs = [tf.identity(one) for one in returned if tf.is_tensor(one)]
        return {numbered("output", place): one for place, one in enumerate(outputs)}

    return flat


def numbered(what: str, place: int) -> str:
    """The name of an input or an output. Converters sort names as text, so they have zeros."""
    return f"{what}_{place:03}"


def save(flat: Any, owner: Any, job: Job) -> int:
    """Write such a function as a SavedModel.

    Variables are kept by themselves. What else it uses, such as a table, its owner keeps; but where
    Keras keeps variables, LiteRT's converter writes them without their values.

    Args:
        flat: The function.
        owner: The model or the function that it calls.
        job: Where to.

    Returns:
        Bytes on disk.
    """
    import tensorflow as tf

    module, path = tf.Module(), str(job.path(SAVED))
    module.flat = flat
    module.kept = list(flat.get_concrete_function().graph.variables)
    try:
        tf.saved_model.save(module, path, signatures=flat)
    except AssertionError:  # "Tried to export a function which references an 'untracked' resource"
        module.owner = owner
        tf.saved_model.save(module, path, signatures=flat)
    return bytes_on_disk(job.path(SAVED))


def saved_function(job: Job) -> Any:
    """The function that was saved, from arrays to a dictionary of arrays; None where none was."""
    import tensorflow as tf

    if not job.path(SAVED).exists():
        return None
    saved = tf.saved_model.load(str(job.path(SAVED)))
    _, named = saved.signatures["serving_default"].structured_input_signature
    signature = [named[name] for name in sorted(named)]
    return tf.function(lambda *arrays: saved.flat(*arrays), input_signature=signature)


def _to_lite_rt(flat, job):
    import tensorflow as tf

    converter = tf.lite.TFLiteConverter.from_saved_model(str(job.path(SAVED)))
    job.path("model.tflite").write_bytes(converter.convert())


def _to_onnx(flat, job):
    """Frozen first: the converter would make an input of each constant that was captured."""
    import tf2onnx

    whole = internals.frozen(flat.get_concrete_function())
    tf2onnx.convert.from_graph_def(
        whole.graph.as_graph_def(),
        input_names=[one.name for one in whole.inputs],
        output_names=[one.name for one in whole.outputs],
        output_path=str(job.path("model.onnx")),
    )


def _to_openvino(flat, job):
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # counts users
    import openvino

    model = openvino.convert_model(str(job.path(SAVED)))
    openvino.save_model(model, str(job.path("model.xml")), compress_to_fp16=False)


EXPORTERS: dict[str, tuple[Callable, tuple[str, ...]]] = {
    "LiteRT": (_to_lite_rt, ("model.tflite",)),
    "ONNX": (_to_onnx, ("model.onnx",)),
    "OpenVINO": (_to_openvino, ("model.xml", "model.bin")),
}
"""Format to what writes it, and to its files."""


def export(to: str, flat: Any, job: Job) -> int:
    """Write such a function in a format. Returns: bytes on disk."""
    write, files = EXPORTERS[to]
    write(flat, job)
    return sum(job.path(name).stat().st_size for name in files)


def bytes_on_disk(folder: Path) -> int:
    """Of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
