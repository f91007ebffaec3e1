"""The facts about a toolchain's targets, GPUs and environment variables, read from TOML files."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import frozen

from compat.errors import ConfigError
from compat.model import Target
from compat.text import JsonMapping, JsonObject
from compat.toolchains.base import GpuModel, Variables

_SCHEMA = 1
_KIB = 1024


def read(path: Path) -> JsonObject:
    """Return the tables of a file, without its schema.

    Raises ConfigError with the path if the file does not have this schema.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"it cannot be read: {error}", where=str(path)) from error
    if document.pop("schema", None) != _SCHEMA:
        raise ConfigError(f"schema: must be {_SCHEMA}", where=str(path))
    return document


@frozen(kw_only=True)
class TargetFacts:
    """The content of ``targets.toml``, a file that explains each key."""

    targets: tuple[Target, ...]
    usual: tuple[str, ...]
    """The names of the targets to compile for if no target is chosen."""
    models: Mapping[str, GpuModel]
    """Target → its assumed GPU, for questions that the architecture alone does not answer."""
    gpus: Mapping[str, str]
    """Name of a GPU → its target."""

    @classmethod
    def read(cls, path: Path, toolchain: str) -> TargetFacts:
        """Read the file of a toolchain."""
        document = read(path)
        tables = document["target"]
        return cls(
            targets=tuple(
                Target(
                    name=table["name"],
                    toolchain=toolchain,
                    backend=table["backend"],
                    arch=table["arch"],
                    warp_size=table["warp_size"],
                    shared_memory=table["shared_memory"] * _KIB,
                )
                for table in tables
            ),
            usual=tuple(document["usual"]),
            models={
                table["name"]: GpuModel(**table["model"]) for table in tables if "model" in table
            },
            gpus={gpu: table["name"] for table in tables for gpu in table.get("gpus", ())},
        )


def variables_of(document: JsonMapping, private: Callable[[str], Mapping[str, str]]) -> Variables:
    """Return the environment variables that ``variables.toml`` lists.

    ``private`` returns those that keep the toolchain's caches in a private folder.
    """
    return Variables(
        files=tuple(document["files"]),
        folders=tuple(document["folders"]),
        settings=tuple(document["settings"]),
        withheld={table["why"]: tuple(table["names"]) for table in document["withheld"]},
        programs={name: tuple(paths) for name, paths in document.get("programs", {}).items()},
        timing=document["timing"],
        private=private,
    )
