"""Assemblers from elsewhere: a ``ptxas`` on disk, or that of a release of CUDA, which NVIDIA publishes as a wheel."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import frozen
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from compat.config.made_up import declare
from compat.envs.env import INDEX
from compat.errors import EnvError, SelectionError
from compat.index.listing import index_urls, list_files
from compat.model import BuiltEnv, Env

_OPTION = "--ptxas"
_PTXAS = "lib/python*/site-packages/nvidia/*/bin/ptxas"
_FIRST_WITHOUT_SUFFIX = 13
"""The first CUDA whose wheel is called ``nvidia-cuda-nvcc``; before, it is ``nvidia-cuda-nvcc-cu12``."""


@frozen(kw_only=True)
class Assembler:
    """A ``ptxas`` to put under a release."""

    name: str
    """What a reader knows it by: ``CUDA 12.9.86``, or its path."""
    path: Path


Obtain = Callable[[Path, Sequence[Env]], Sequence[BuiltEnv]]
"""Gives envs that a file declares as they are on disk, having built what is missing."""


def find(asked: str, state: Path, root: Path, obtain: Obtain) -> Assembler:
    """The assembler at a path, or of a release of CUDA (``12.9`` is the newest 12.9).

    Raises SelectionError where there is none, EnvError where its wheel cannot be had, IndexUnavailable without an index.
    """
    if os.sep in asked or Path(asked).is_file():
        return _at(Path(asked))
    distribution, version = _release(asked, root)
    name = f"{distribution}-{version}"
    config = declare([{"name": name, "triton": str(version), "distribution": distribution}], state / "elsewhere" / "cuda")
    (built,) = obtain(config.path, [config.env(name)])
    if built.error is not None or built.python is None:
        raise EnvError(f"{distribution} {version} cannot be had: {built.error}")
    path = next(Path(built.python).parent.parent.glob(_PTXAS), None)
    if path is None:
        raise EnvError(f"{distribution} {version} holds no ptxas", hint="Give the path of one.")
    return Assembler(name=f"CUDA {version}", path=path)


def _at(path: Path) -> Assembler:
    if not path.is_file():
        raise SelectionError(f"there is no file {path}", where=_OPTION)
    if not os.access(path, os.X_OK):
        raise SelectionError(f"{path} cannot be executed", where=_OPTION)
    return Assembler(name=str(path), path=path.absolute())


def _release(asked: str, root: Path) -> tuple[str, Version]:
    """The distribution that has a release of CUDA, and the newest version that is asked for."""
    try:
        major, among = Version(asked).major, SpecifierSet(f"=={asked}.*")
    except (InvalidVersion, ValueError):
        hint = "For example 12.9, or /usr/local/cuda/bin/ptxas."
        raise SelectionError(f"{asked!r} is neither a file nor a release of CUDA", where=_OPTION, hint=hint) from None
    distribution = "nvidia-cuda-nvcc" if major >= _FIRST_WITHOUT_SUFFIX else f"nvidia-cuda-nvcc-cu{major}"
    versions = list_files(distribution, index_urls(), cache=root / INDEX).versions()
    fitting = list(among.filter(versions))
    if not fitting:
        there = ", ".join(map(str, versions)) or "none"
        raise SelectionError(f"there is no {distribution} {asked}", where=_OPTION, hint=f"There are: {there}.")
    return distribution, max(fitting)
