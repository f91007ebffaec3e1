"""A project with a kernel that the stand-in for the driver launches.

The stand-in takes the place of this machine's GPU.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from compat.launch import hosting
from compat.launch.hosting import Gpu
from compat.project import Selection
from tests.launch.archives import built_standin, with_pytorch

KERNELS = Path(__file__).parent / "kernels"


def project(folder: Path, *releases: str) -> Path:
    """Write a ``matrix.toml`` beside the kernel, with envs of these releases only."""
    for path in KERNELS.glob("by_code*"):
        shutil.copy(path, folder)
    matrix = folder / "matrix.toml"
    envs = "".join(f'[[env]]\ntriton = "{release}"\n' for release in releases)
    matrix.write_text(f'schema = 1\nkernels = ["by_code.toml"]\n{envs}')
    return matrix


def stand_in(
    folder: Path, python: str, monkeypatch: pytest.MonkeyPatch, *, breaks: str, how: str
) -> None:
    """Make the stand-in the GPU that ``find_gpu`` returns.

    It breaks the builds that ``breaks`` names, in the way that ``how`` names (see ``standin.c``).
    """
    python = with_pytorch(folder, python)
    options = ("--device", "cpu", "--library", str(built_standin(folder)))

    def find_this_python(selection: Selection, interpreter: str | None = None) -> Gpu:
        target = next(target for target in selection.targets if target.name == "sm_90")
        return Gpu(target=target, python=interpreter or python, options=options)

    monkeypatch.setattr(hosting, "find_gpu", find_this_python)
    monkeypatch.setenv("STANDIN_BREAKS", breaks)
    monkeypatch.setenv("STANDIN_AS", how)
