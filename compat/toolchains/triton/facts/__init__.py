"""Facts about Triton's releases, targets, GPUs and environment variables, as TOML files.

:mod:`compat.config.env_tables` reads ``releases.toml`` like the declarations of any project. This
module reads only its pairs with PyTorch.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

from attrs import frozen
from packaging.version import Version

from compat.errors import ConfigError
from compat.model import Target
from compat.text import JsonMapping, JsonObject
from compat.toolchains.base import GpuModel, Variables

_FOLDER = Path(__file__).parent
RELEASES = _FOLDER / "releases.toml"
_SCHEMA = 1
_KIB = 1024

Record = TypeVar("Record")


@frozen(kw_only=True)
class _TargetTable:
    """One ``[[target]]`` of ``targets.toml``, a file that explains each key."""

    name: str
    backend: str
    arch: int | str
    warp_size: int
    shared_memory: int
    gpus: tuple[str, ...] = ()
    model: JsonMapping | None = None


@frozen(kw_only=True)
class _WithheldTable:
    """One ``[[withheld]]`` of ``variables.toml``."""

    why: str
    names: tuple[str, ...]


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


def _records(kind: type[Record], path: Path, document: JsonMapping, key: str) -> list[Record]:
    """Return the tables of one key as records.

    Raises ConfigError with the path and the table if a table has other keys than the record.
    """
    records = []
    for number, table in enumerate(document[key]):
        try:
            records.append(kind(**table))
        except TypeError as error:
            raise ConfigError(f"{key}[{number}]: {error}", where=str(path)) from error
    return records


# --- targets --------------------------------------------------------------------------------------

_TARGETS_FILE = _FOLDER / "targets.toml"
_targets = read(_TARGETS_FILE)
_target_tables = _records(_TargetTable, _TARGETS_FILE, _targets, "target")

TARGETS = tuple(
    Target(
        name=table.name,
        backend=table.backend,
        arch=table.arch,
        warp_size=table.warp_size,
        shared_memory=table.shared_memory * _KIB,
    )
    for table in _target_tables
)
USUAL: tuple[str, ...] = tuple(_targets["usual"])
"""The names of the targets to compile for if no target is chosen."""
MODELS = {table.name: GpuModel(**table.model) for table in _target_tables if table.model}
"""Target → its assumed GPU, for questions that the architecture alone does not answer."""
GPUS = {gpu: table.name for table in _target_tables for gpu in table.gpus}
"""Name of a GPU → its target. GeForce cards are found without ``rtx``, too."""
GPUS |= {
    gpu.removeprefix("rtx"): target
    for gpu, target in GPUS.items()
    if gpu.removeprefix("rtx")[0].isdigit()
}


# --- environment variables ------------------------------------------------------------------------


def private_variables(folder: str) -> dict[str, str]:
    """Return the variables that keep a worker's caches in ``folder``, and force every compile."""
    return {
        "TRITON_HOME": folder,
        "TRITON_CACHE_DIR": f"{folder}/cache",
        "TRITON_ALWAYS_COMPILE": "1",
    }


_VARIABLES_FILE = _FOLDER / "variables.toml"
_variables = read(_VARIABLES_FILE)

WITHOUT_LINES: Mapping[str, str] = _variables["without_lines"]
"""The variables that keep paths and line numbers out of assembly code and binaries."""
VARIABLES = Variables(
    files=tuple(_variables["files"]),
    folders=tuple(_variables["folders"]),
    settings=tuple(_variables["settings"]),
    withheld={
        table.why: tuple(table.names)
        for table in _records(_WithheldTable, _VARIABLES_FILE, _variables, "withheld")
    },
    programs={backend: tuple(paths) for backend, paths in _variables["programs"].items()},
    timing={"MLIR_ENABLE_TIMING": "1"},
    private=private_variables,
)


# --- PyTorch --------------------------------------------------------------------------------------


@cache
def _pairs(path: Path) -> Mapping[Version, str]:
    """Return release → the newest PyTorch with which a file declares an env."""
    tables = sorted(
        (table for table in read(path)["env"] if "torch" in table),
        key=lambda table: Version(table["torch"]),
    )
    return {Version(table["triton"]): table["torch"] for table in tables}


def pytorch_of(release: Version | None, path: Path = RELEASES) -> str | None:
    """Return the PyTorch that belongs to a release, or to a fork's release.

    This is its pair, or else the pair of the newest release of its series. Without a release, it is
    the newest PyTorch. Returns ``None`` if no pair is declared for the series.
    """
    pairs = _pairs(path)
    if release is None:
        return max(pairs.values(), key=Version)
    series = [version for version in pairs if version.release[:2] == release.release[:2]]
    return pairs.get(Version(release.base_version)) or (pairs[max(series)] if series else None)
