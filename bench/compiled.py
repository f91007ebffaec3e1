"""Kernels of ``torch.compile``, without a GPU: ``python -m bench.compiled --python PYTHON``.

PYTHON belongs to an environment with PyTorch and the requirements of ``bench.operators.models``.
The models of PyTorch's own tests run forward and backward. ``compat capture`` compares the code of
their kernels with the program's own code, and ``compat matrix`` compiles them on every release.
Some kernels get PyTorch's results as references. An archive of these kernels shows on a GPU whether
their numbers equal PyTorch's.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import click

from bench.__main__ import ROOT

PROBLEMS = ROOT / "bench" / "operators" / "references.py"
REFERENCES = {
    "triton_per_fused_add_embedding_native_layer_norm_": "layer_norm",
    "triton_poi_fused_gelu_view_": "gelu",
    "triton_poi_fused_gelu_gelu_backward_view_": "gelu_backward",
}
"""A kernel's name up to its number → the function of its problem."""


@click.command()
@click.option("--python", required=True, help="The Python of an environment with PyTorch.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("compiled"), show_default=True)
def main(python: str, out: Path) -> None:
    """Capture, compile on every release, and build the archive."""
    out.mkdir(parents=True, exist_ok=True)
    captured = out / "captured"
    program = ["--", "-m", "bench.operators", "torch"]
    _compat(ROOT, "capture", "--output", str(captured.absolute()), "--python", python, *program)
    index = json.loads((captured / "index.json").read_text())
    cases = [case for kernel in index["kernels"] for case in kernel["cases"]]
    click.echo(f"{index['torch']}, Triton {index['release']}: {len(index['kernels'])} kernels,")
    click.echo(f"  {len(cases)} cases; code {dict(Counter(case['code'] for case in cases))};")
    click.echo(f"  not captured: {index['not_captured']}")
    _compat(out, "matrix", "--spec", "captured/*.toml", "--envs", "releases", "--target", "sm_90")
    _count(json.loads((out / "reports" / "matrix.json").read_text()))
    with_problems = _refer(captured)
    specs = [word for name in with_problems for word in ("--spec", f"captured/{name}.toml")]
    envs = ["--envs", "releases", "--target", "sm_90"]
    _compat(out, "build", *specs, *envs, "--out", "built", "--archive")


def _compat(folder: Path, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "compat.cli", *arguments], cwd=folder, check=False)


def _count(report: dict[str, list[dict[str, str]]]) -> None:
    by_release: dict[str, Counter[str]] = {}
    for result in report["cells"]:
        by_release.setdefault(result["env"], Counter())[result["status"]] += 1
    for env, statuses in by_release.items():
        click.echo(f"  {env}: {dict(statuses)}")


def _refer(captured: Path) -> list[str]:
    """Add the problems of :data:`REFERENCES` to kernel files; return the names of the kernels."""
    shutil.copy(PROBLEMS, captured / "references.py")
    names = []
    for beginning, function in REFERENCES.items():
        for path in sorted(captured.glob(f"{beginning}[0-9]*.toml")):
            table = f'\n[problem]\nsource = "references.py"\nfunction = "{function}"\n'
            path.write_text(path.read_text() + table)
            names.append(path.stem)
    return names


if __name__ == "__main__":
    main()
