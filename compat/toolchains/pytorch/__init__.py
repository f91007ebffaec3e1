"""The common code of toolchains with PyTorch's tensors, for envs, programs and GPU hosts.

In: a target, and the release of PyTorch that belongs to a toolchain's release. Out, with the
standard library and PyTorch only, for Python 3.8 to 3.14, each in a folder of its own: ``standin/``
imports kernels in envs without PyTorch, ``device/`` has a PyTorch believe in a GPU, ``numerics/``
compares what kernels computed with references, and ``host/`` launches kernels on a GPU host.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
GPU_LISTING = FOLDER / "host" / "cuda.py"
"""A program that tells which GPUs a process sees, as JSON (its documentation has the form)."""
