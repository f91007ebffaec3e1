"""The common code of toolchains with PyTorch's tensors, for envs, programs and GPU hosts.

In: a target, and the release of PyTorch that belongs to a toolchain's release. Out: four folders of
code for Python 3.8 to 3.14 that needs only the standard library and PyTorch. ``standin/`` imports
kernels in envs without PyTorch. ``device/`` gives PyTorch a fake GPU. ``numerics/`` compares the
results of kernels with references. ``host/`` launches kernels on a GPU host.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
HOST_PACKAGES = {"compat_launch": FOLDER / "host", "compat_numerics": FOLDER / "numerics"}
"""The packages of the program that launches on a GPU host → their folders."""
GPU_LISTING = FOLDER / "host" / "cuda.py"
"""A program that prints the GPUs that a process sees, as JSON. Its docstring has the form."""
