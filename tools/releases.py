"""When did it get slow? Six small programs under several releases of XLA, each by itself.

Each release gets an environment of its own in build/releases. What was measured is written to
docs/releases.json, with the machine and the day, and the table of docs/versions.md is made anew.
"""

import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

from overview import write_parts

import xla_helpers as xh

ROOT = Path(__file__).resolve().parents[1]
FOUND, PAGE = ROOT / "docs/releases.json", ROOT / "docs/versions.md"
ENVIRONMENTS, PROGRAMS = ROOT / "build/releases", ROOT / "tools/release_programs.py"
OPENS = "<!-- Made by `make releases`: do not edit. -->"
NEWEST_NUMPY = {"0.4.31": "numpy<2.1", "0.4.38": "numpy<2.3"}
OLD_RUNTIME = (
    "--xla_cpu_use_thunk_runtime=false --xla_disable_hlo_passes=cpu-parallel-task-assigner"
)
RELEASES = [  # framework, version, flags of XLA
    ("jax", "0.4.31", ""),
    ("jax", "0.4.38", ""),
    ("jax", "0.4.38", OLD_RUNTIME),
    ("jax", "0.6.2", ""),
    ("jax", "0.6.2", OLD_RUNTIME),
    ("jax", "0.8.2", ""),
    ("jax", "0.10.2", ""),
    ("tensorflow", "2.20.0", ""),
    ("tensorflow", "2.20.0", OLD_RUNTIME),
    ("tensorflow", "2.21.0", ""),
    ("tensorflow", "2.21.0", OLD_RUNTIME),
]
SHOWN = {
    "line": "`sum(x + y * z)`",
    "depthwise": "depthwise 3 x 3",
    "loop": "200 small products",
    "dense": "Dense model",
    "sum": "sum of 16 million",
    "maximum": "maximum with NaN",
}


def python_of(framework, version):
    """The Python of an environment with this release alone, made if it is not there."""
    folder = ENVIRONMENTS / f"{framework}-{version}"
    python = folder / "bin/python"
    if not python.exists():
        uv = Path(sys.executable).with_name("uv")
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder], check=True)
        names = ("jax", "jaxlib") if framework == "jax" else (framework,)
        needed = [f"{name}=={version}" for name in names]
        needed += [NEWEST_NUMPY[version]] if version in NEWEST_NUMPY else []
        install = [uv, "pip", "install", "--quiet", "--python", python, *needed]
        subprocess.run(install, check=True)
    return python


def measured(framework, version, flags):
    """What the programs gave under a release; a text where it failed."""
    environment = os.environ | {"XLA_FLAGS": flags, "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment |= {"CUDA_VISIBLE_DEVICES": "-1", "JAX_PLATFORMS": "cpu"}
    command = [python_of(framework, version), PROGRAMS, framework]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no word"]
        return lines[-1][:200]
    return json.loads(done.stdout.splitlines()[-1])


def main():
    found = []
    for framework, version, flags in RELEASES:
        print(framework, version, flags and "with the older runtime", flush=True)
        result = measured(framework, version, flags)
        found.append({"of": framework, "version": version, "flags": flags, "programs": result})
    machine, *_ = xh.describe_machine().split(" · malloc")  # each release has its own versions
    about = {"day": f"{date.today()}", "machine": machine, "releases": found}
    FOUND.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    write_parts(PAGE, [f"\n{table_of(about)}\n"], OPENS)


def table_of(about):
    """The releases as rows: each program's time beside its best, and what is wrong."""
    ran = [one for one in about["releases"] if isinstance(one["programs"], dict)]
    lines = [["release", *SHOWN.values()], ["---", *["---:"] * len(SHOWN)]]
    for one in about["releases"]:
        flags = ", older runtime" if one["flags"] else ""
        name = f"{'jaxlib' if one['of'] == 'jax' else 'TensorFlow'} {one['version']}{flags}"
        if one not in ran:
            lines.append([name, f"ended: {one['programs']}", *[""] * (len(SHOWN) - 1)])
            continue
        cells = []
        for program in SHOWN:
            same = [x["programs"][program]["seconds"] for x in ran if x["of"] == one["of"]]
            mine = one["programs"][program]
            amiss = f", {mine['wrong']}" if mine["wrong"] else ""
            cells.append(f"{mine['seconds'] / min(same):.1f}{amiss}")
        lines.append([name, *cells])
    rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"Measured on {about['day']}: {about['machine']}.\n\n{rows}"


if __name__ == "__main__":
    main()
