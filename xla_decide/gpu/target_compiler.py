"""Compile StableHLO for GPUs that are not there: a program of its own, without TensorFlow.

XLA's compiler for GPUs is in JAX's plug-in, which is not found in a process that holds TensorFlow.
Nothing here is imported by the helpers: `target_programs` runs this file.
"""

import dataclasses
import json
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.extend.mlir import serialize_portable_artifact
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

SPECIAL = {"i1": "bool", "complex<f32>": "complex64", "complex<f64>": "complex128"}
KINDS = {"bf": "bfloat", "ui": "uint", "f8": "float8_", "f": "float", "i": "int"}
TRITON = "__triton_"  # in the settings of what Triton compiles
STABLEHLO = "1.10.0"  # the release that the text is written in: older than both compilers


def dtype_of(name):
    """The NumPy type for StableHLO's name of one, such as "f32" or "complex<f32>"."""
    if name in SPECIAL:
        return np.dtype(SPECIAL[name])
    short = next(start for start in KINDS if name.startswith(start))
    return np.dtype((KINDS[short] + name.removeprefix(short)).lower())


def exported(text, arguments, results):
    """The program as JAX exports functions: one of the same shapes, whose text is replaced."""
    specs = [jax.ShapeDtypeStruct(one["shape"], dtype_of(one["dtype"])) for one in arguments]

    def call(*args):
        return [jnp.zeros(one["shape"], dtype_of(one["dtype"])) for one in results]

    found = jax.export.export(jax.jit(call), platforms=("cuda",))(*specs)
    return dataclasses.replace(
        found,
        mlir_module_serialized=serialize_portable_artifact(text, STABLEHLO),
        module_kept_var_idx=tuple(range(len(specs))),
    )


def placed(array, devices):
    """An argument on the devices, split as its program says."""
    parts = array["parts"] or [1] * len(array["shape"])
    names = [f"axis{number}" for number in range(len(parts) + 1)]
    mesh = Mesh(np.array(devices).reshape(*parts, -1), names)
    where = NamedSharding(mesh, PartitionSpec(*names[: len(array["shape"])]))
    return jax.ShapeDtypeStruct(array["shape"], dtype_of(array["dtype"]), sharding=where)


def compile_into(folder, lowered, with_triton):
    """Compile, write what came out into a folder, and return the optimized HLO."""
    folder.mkdir(parents=True)
    options = {
        "xla_gpu_enable_triton_gemm": with_triton,
        "xla_dump_to": str(folder),
        "xla_dump_hlo_as_text": True,
    }
    compiled = lowered.compile(compiler_options=options)
    (module,) = compiled.runtime_executable().hlo_modules()
    (folder / "module.pb").write_bytes(module.as_serialized_hlo_module_proto())
    text = compiled.as_text()
    (folder / "module.txt").write_text(text, encoding="utf-8")
    memory = compiled.memory_analysis()
    sizes = {
        "arguments": memory.argument_size_in_bytes,
        "results": memory.output_size_in_bytes,
        "temporary": memory.temp_size_in_bytes,
        "aliased": memory.alias_size_in_bytes,
    }
    (folder / "memory.json").write_text(json.dumps(sizes), encoding="utf-8")
    return text


def main(folder):
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_use_shardy_partitioner", False)  # TensorFlow marks as GSPMD reads
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    text = (folder / "program.mlir").read_text(encoding="utf-8")
    call = exported(text, job["arguments"], job["results"]).call
    for name, description in job["targets"].items():
        topology = topologies.get_topology_desc(
            platform="cuda",
            topology_name="",
            target_config=description,
            topology=f"1x1x{job['partitions']}",
        )
        specs = [placed(one, topology.devices) for one in job["arguments"]]
        # Without arguments only the results can say for which device it is.
        results = None if specs else SingleDeviceSharding(topology.devices[0])
        function = jax.jit(call, donate_argnums=job["donated"], out_shardings=results)
        lowered = function.trace(*specs).lower(lowering_platforms=("cuda",))
        if TRITON in compile_into(folder / name / "triton", lowered, True):
            compile_into(folder / name / "libraries", lowered, False)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
