"""What was exported, loaded by the runtimes that it was exported for.

The runtimes' own examples load and call a model in these ways. All get the same number of threads.
"""

from importlib import metadata

from xla_helpers.startup import prepare_tensorflow

from .worker import INPUTS, SAVED, Job, Loaded, read_arrays, runner

TYPES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16"}
"""OpenVINO's names of types, as NumPy's."""


@runner
def graph(job: Job) -> Loaded:
    """TensorFlow, as a graph."""
    return _tensorflow(job, None)


@runner
def compiled(job: Job) -> Loaded:
    """TensorFlow, compiled by XLA."""
    return _tensorflow(job, True)


def _tensorflow(job, jit_compile):
    prepare_tensorflow()
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(job.threads)
    saved = tf.saved_model.load(str(job.path(SAVED)))
    function = tf.function(lambda *arrays: saved.flat(*arrays), jit_compile=jit_compile)
    given = read_arrays(job.path(INPUTS))

    def call():
        return [one.numpy() for one in function(*given).values()]

    return Loaded(call, tf.__version__)


@runner
def lite_rt(job: Job) -> Loaded:
    """LiteRT, the runtime of TensorFlow Lite's files."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(str(job.path("model.tflite")), num_threads=job.threads)
    interpreter.allocate_tensors()
    signature = interpreter.get_signature_runner()
    inputs, outputs = (
        [details[name]["index"] for name in sorted(details)]
        for details in (signature.get_input_details(), signature.get_output_details())
    )
    given = list(zip(inputs, read_arrays(job.path(INPUTS)), strict=True))

    def call():
        for index, array in given:
            interpreter.set_tensor(index, array)
        interpreter.invoke()
        return [interpreter.get_tensor(index) for index in outputs]

    return Loaded(call, _version("ai-edge-litert"))


@runner
def onnx_runtime(job: Job) -> Loaded:
    """ONNX Runtime, on the processor."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = job.threads
    path = str(job.path("model.onnx"))
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]
    given = dict(zip(names, read_arrays(job.path(INPUTS)), strict=True))
    return Loaded(lambda: session.run(None, given), _version("onnxruntime"))


@runner
def openvino(job: Job) -> Loaded:
    """OpenVINO, in the type that it chooses itself."""
    return _openvino(job, {})


@runner
def openvino_float32(job: Job) -> Loaded:
    """OpenVINO, told to compute in float32."""
    return _openvino(job, {"INFERENCE_PRECISION_HINT": "f32"})


def _openvino(job, options):
    import openvino

    options |= {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": job.threads}
    model = openvino.Core().compile_model(str(job.path("model.xml")), "CPU", options)
    given = read_arrays(job.path(INPUTS))
    chosen = model.get_property("INFERENCE_PRECISION_HINT").get_type_name()
    note = f"{_version('openvino')}, computes in {TYPES.get(chosen, chosen)}"
    return Loaded(lambda: list(model(given).values()), note)


def _version(package):
    """The release of a package."""
    return metadata.version(package).partition("-")[0]
