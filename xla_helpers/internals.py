"""What TensorFlow and Keras keep to themselves: a function for each private name.

An upgrade that moves one of them is mended here, and nowhere else.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

GROUPED_CONVOLUTION = "_conv_xla"  # the function that Keras compiles by itself on a processor


def is_compiled(fn: Any) -> bool:
    """Whether a `tf.function` was made with ``jit_compile=True``."""
    return bool(getattr(fn, "_jit_compile", None))


def options_of(fn: Any) -> dict[str, Any]:
    """The options with which a `tf.function` was made, without `jit_compile`; none of another."""
    if not hasattr(fn, "experimental_get_tracing_count") or is_loaded(fn):
        return {}
    options = {"input_signature": fn.input_signature, "autograph": fn._autograph}
    options |= {"experimental_autograph_options": fn._experimental_autograph_options}
    return options | {"reduce_retracing": fn._reduce_retracing}


def owner_of(method: Any) -> Any:
    """The object of a bound method; None for another function.

    `tf.function` binds a method to a stand-in that holds the object weakly, as its `target`.
    """
    owner: Any = getattr(method, "__self__", None)
    return owner.target if type(owner).__name__ == "TfMethodTarget" else owner


def is_loaded(fn: Any) -> bool:
    """Whether it is a function of what `tf.saved_model.load` returned."""
    return type(fn).__name__ == "RestoredFunction"


def is_operation(name: str) -> bool:
    """Whether TensorFlow has an operation of this type."""
    from tensorflow.python.framework import op_def_registry

    return op_def_registry.get(name) is not None


def devices_of(operation: str) -> list[str]:
    """The types of devices, XLA's among them, for which an operation has a kernel."""
    from tensorflow.python.framework import kernels

    return [one.device_type for one in kernels.get_registered_kernels_for_op(operation).kernel]


def function_in(graph: Any, name: str) -> Any:
    """The function of this name that a graph can call; None where there is none."""
    return graph._get_function(name)


def modules_that_draw() -> tuple:
    """The modules whose functions make the operations that draw random numbers."""
    from tensorflow.python.ops import (
        gen_random_ops,
        gen_stateful_random_ops,
        gen_stateless_random_ops,
        gen_stateless_random_ops_v2,
    )

    stateless = gen_stateless_random_ops, gen_stateless_random_ops_v2
    return gen_random_ops, gen_stateful_random_ops, *stateless


@contextmanager
def operations_observed(observe: Callable) -> Iterator[None]:
    """In the block, `observe` is told of each operation that Python runs.

    It is given the type, the inputs and the outputs. What is traced is not run.
    """
    from tensorflow.python.framework import op_callbacks

    def on_operation(op_type, inputs, attributes, outputs, op_name=None, *, graph=None):
        if graph is None:
            observe(op_type, inputs, outputs)

    op_callbacks.add_op_callback(on_operation)
    try:
        yield
    finally:
        op_callbacks.remove_op_callback(on_operation)


def is_vectorizing() -> bool:
    """Whether the body of `tf.vectorized_map` is being traced."""
    import tensorflow as tf

    return "loop_body" in tf.get_current_name_scope().split("/")


def as_new(concrete: Any) -> Any:
    """A concrete function like this one that has not been called yet."""
    from tensorflow.python.eager.polymorphic_function.concrete_function import ConcreteFunction

    parts = concrete.graph, concrete.function_type, concrete.function_def.attr
    new = ConcreteFunction.from_func_graph(*parts)
    new._arg_keywords = concrete._arg_keywords  # how it may be called
    new._num_positional_args = concrete._num_positional_args
    return new


def frozen(concrete: Any) -> Any:
    """A concrete function whose variables, and the constants that it captured, are in its graph."""
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    return convert_variables_to_constants_v2(concrete)


def prepared_graphs(call: Callable) -> list:
    """The graphs (`GraphDef`) that TensorFlow prepares in a call, as its executor gets them.

    It hands a graph out only when it prepares it, which is in the first call of a function.
    """
    import tensorflow as tf
    from tensorflow.python.eager import context

    now = context.context()
    now.enable_graph_collection()
    try:
        tf.identity(0)  # hands out what is left of a call that failed
        now.export_run_metadata()
        call()
        found = now.export_run_metadata()
    finally:
        now.disable_graph_collection()
    return [part for one in found.function_graphs for part in one.partition_graphs]


def variable_type(handle: Any) -> Any:
    """The type of the elements of the variable that a handle stands for; None for no variable."""
    import tensorflow as tf

    data = getattr(handle, "_handle_data", None)
    return tf.as_dtype(data.shape_and_type[0].dtype) if data is not None and data.is_set else None


def fact_of(handle: Any, name: str) -> str:
    """What a handle says of its resource, such as its "name" or "type"; "" where it does not."""
    found = re.search(rf'\b{name}="([^"]*)"', repr(handle))
    return found.group(1) if found else ""


def layers_in(layer: Any, *, recursive: bool = True) -> Iterable:
    """The layers that a Keras layer or model holds."""
    return layer._flatten_layers(include_self=False, recursive=recursive)


def variables_in(layer: Any) -> list:
    """The variables of a layer, as TensorFlow has them, with those that Keras 3 does not know."""
    import tensorflow as tf

    known: list = []
    with suppress(ValueError):  # of Keras 2, where a part has none yet
        known = [getattr(variable, "_value", variable) for variable in layer.variables]
    held = [x for one in (layer, *layers_in(layer)) for x in vars(one).values()]
    return [*known, *(x for x in held if isinstance(x, tf.Variable))]


def has_own_call(layer: Any) -> bool:
    """Whether a layer or a model can be called; a GAN, say, may have a `train_step` alone."""
    defined = next(kind for kind in type(layer).__mro__ if "call" in vars(kind))
    return defined.__name__ != "Model"


def is_layer(thing: Any) -> bool:
    """Whether it is a layer or a model of Keras."""
    return hasattr(type(thing), "_flatten_layers")


def uses_onednn() -> bool:
    """Whether TensorFlow's own kernels are those of oneDNN; False also where nobody knows."""
    with suppress(ImportError):
        from tensorflow.python.util import _pywrap_util_port

        return _pywrap_util_port.IsMklEnabled()
    return False


def recording(data: bytes) -> Any:
    """A recording of the profiler (`XSpace` of tsl/profiler/protobuf)."""
    from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace

    return XSpace.FromString(data)


def hlo_of(data: bytes) -> Any:
    """The module (`HloModuleProto`) in a serialized `HloProto` of xla/service/hlo.proto."""
    from tensorflow.compiler.xla.service.hlo_pb2 import HloProto

    return HloProto.FromString(data).hlo_module


def hlo_module_of(data: bytes) -> Any:
    """The module in a serialized `HloModuleProto`."""
    from tensorflow.compiler.xla.service.hlo_pb2 import HloModuleProto

    return HloModuleProto.FromString(data)


def element_type(number: int) -> str:
    """The name of a type of elements of XLA, such as "f32"."""
    from tensorflow.compiler.xla.xla_data_pb2 import PrimitiveType

    return PrimitiveType.Name(number).lower()
