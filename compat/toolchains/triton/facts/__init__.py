"""Facts about Triton's releases, targets, GPUs and environment variables, as TOML files.

:mod:`compat.config.env_tables` reads ``releases.toml`` like the declarations of any project. This
module reads only its pairs with PyTorch.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from packaging.version import Version

from compat.model import DEFAULT_TOOLCHAIN
from compat.toolchains.facts import TargetFacts, read, variables_of

_FOLDER = Path(__file__).parent
RELEASES = _FOLDER / "releases.toml"

# --- targets --------------------------------------------------------------------------------------

_FACTS = TargetFacts.read(_FOLDER / "targets.toml", DEFAULT_TOOLCHAIN)
TARGETS, USUAL, MODELS = _FACTS.targets, _FACTS.usual, _FACTS.models
GPUS = {
    **_FACTS.gpus,
    **{
        gpu.removeprefix("rtx"): target
        for gpu, target in _FACTS.gpus.items()
        if gpu.removeprefix("rtx")[0].isdigit()
    },
}
"""Name of a GPU → its target. GeForce cards are found without ``rtx``, too."""


# --- environment variables ------------------------------------------------------------------------


def private_variables(folder: str) -> dict[str, str]:
    """Return the variables that keep a worker's caches in ``folder``, and force every compile."""
    return {
        "TRITON_HOME": folder,
        "TRITON_CACHE_DIR": f"{folder}/cache",
        "TRITON_ALWAYS_COMPILE": "1",
    }


_variables = read(_FOLDER / "variables.toml")
WITHOUT_LINES: Mapping[str, str] = _variables["without_lines"]
"""The variables that keep paths and line numbers out of assembly code and binaries."""
VARIABLES = variables_of(_variables, private_variables)


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
