"""Real environments for tests that compile with real wheels, built by nox in this checkout on first use; golden files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.config.matrix import MatrixConfig, load_matrix
from compat.envs.env import build_envs, read_env
from compat.model import BuiltEnv

ROOT = Path(__file__).parent.parent

os.environ["COMPAT_KEEP_WORKERS"] = "0"  # no worker outlives a test, except in the tests of that


@pytest.fixture(scope="session")
def config() -> MatrixConfig:
    """This repository's own matrix.toml."""
    return load_matrix(ROOT / "matrix.toml")


@pytest.fixture(scope="session")
def built(config: MatrixConfig) -> Callable[[str], BuiltEnv]:
    """Env by name, built if it is not there. ``built("triton-3.1.0")``."""

    def build(name: str) -> BuiltEnv:
        env = config.env(name)
        found = read_env(env, ROOT)
        if found.error is not None:
            build_envs([name], ROOT)
            found = read_env(env, ROOT)
        assert found.error is None, found.error
        return found

    return build


@pytest.fixture(scope="session")
def pair_python(built: Callable[[str], BuiltEnv]) -> str:
    """The interpreter of an env with Triton, PyTorch and a numpy that Triton's interpreter can work with."""
    python = built("triton-3.5.1-torch-2.9.1").python
    assert python is not None
    return python


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with the golden file of that name beside the test; ``COMPAT_REGOLD=1`` writes it anew instead."""

    def compare(name: str, text: str) -> None:
        path = request.path.parent / "golden" / name
        if os.environ.get("COMPAT_REGOLD") == "1":
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{name} has changed; if that is meant, run again with COMPAT_REGOLD=1"

    return compare
