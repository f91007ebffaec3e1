"""Envs that one command makes up, declared in a ``matrix.toml`` of their own: nox builds only what a file declares."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from compat.config.matrix import MatrixConfig, load_matrix
from compat.config.toml_reader import SCHEMA
from compat.config.toml_writer import toml_text


def declare(envs: Sequence[Mapping[str, str | list[str]]], folder: Path) -> MatrixConfig:
    """Declare envs in a file in ``folder``, each as ``matrix.toml`` has it. The same envs are in the same file every time."""
    defaults = {"envs": [env["name"] for env in envs]}
    text = toml_text({"schema": SCHEMA, "env": list(envs), "defaults": defaults})
    path = folder / f"matrix-{short_hash(text)}.toml"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return load_matrix(path)


def short_hash(text: str) -> str:
    """Eight characters that tell one made-up name from another."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]
