"""Facts about CuTe DSL's releases, targets, GPUs and environment variables, as TOML files.

:mod:`compat.config.env_tables` reads ``releases.toml`` like the declarations of any project.
"""

from __future__ import annotations

from pathlib import Path

from compat.toolchains.facts import TargetFacts, read, variables_of

NAME = "cute"
_FOLDER = Path(__file__).parent
RELEASES = _FOLDER / "releases.toml"
TARGETS = TargetFacts.read(_FOLDER / "targets.toml", NAME)


def private_variables(folder: str) -> dict[str, str]:
    """Return the environment variables that keep the toolchain's caches in a private folder."""
    return {"CUTE_DSL_CACHE_DIR": f"{folder}/cache", "CUTE_DSL_DUMP_DIR": folder}


VARIABLES = variables_of(read(_FOLDER / "variables.toml"), private_variables)
