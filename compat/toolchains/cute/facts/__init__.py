"""Facts about CuTe DSL's releases, targets, GPUs and environment variables, as TOML files.

:mod:`compat.config.env_tables` reads ``releases.toml`` like the declarations of any project.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from compat.model import Target
from compat.text import JsonObject
from compat.toolchains.base import GpuModel, Variables

NAME = "cute"
_FOLDER = Path(__file__).parent
RELEASES = _FOLDER / "releases.toml"
_KIB = 1024
_WARP = 32


def _read(name: str) -> JsonObject:
    return tomllib.loads((_FOLDER / name).read_text(encoding="utf-8"))


_targets = _read("targets.toml")
TARGETS = tuple(
    Target(
        name=table["name"],
        toolchain=NAME,
        backend="cuda",
        arch=table["arch"],
        warp_size=_WARP,
        shared_memory=table["shared_memory"] * _KIB,
    )
    for table in _targets["target"]
)
USUAL: tuple[str, ...] = tuple(_targets["usual"])
"""The names of the targets to compile for if nothing names a target."""
GPUS: Mapping[str, str] = {
    gpu: table["name"] for table in _targets["target"] for gpu in table["gpus"]
}
"""Name of a GPU → its target."""
MODELS = {
    table["name"]: GpuModel(**table["model"]) for table in _targets["target"] if "model" in table
}
"""Target → the GPU that the stand-in reports to programs without one."""


def private_variables(folder: str) -> dict[str, str]:
    """Return the environment variables that keep the toolchain's caches in a private folder."""
    return {"CUTE_DSL_CACHE_DIR": f"{folder}/cache", "CUTE_DSL_DUMP_DIR": folder}


_variables = _read("variables.toml")
VARIABLES = Variables(
    files=tuple(_variables["files"]),
    folders=tuple(_variables["folders"]),
    settings=tuple(_variables["settings"]),
    timing=_variables["timing"],
    withheld={table["why"]: tuple(table["names"]) for table in _variables["withheld"]},
    private=private_variables,
)
