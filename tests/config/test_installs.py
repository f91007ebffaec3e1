"""Projects and wheels that ``install`` names by their paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.config.matrix import load_matrix
from compat.envs.cache import fingerprint, install_arguments
from compat.errors import ConfigError


def matrix(folder: Path, install: str) -> Path:
    env = f'env = [{{ triton = "3.9.0", install = [{install}] }}]'
    text = (
        f'schema = 1\nkernels = ["k.toml"]\n{env}\n[defaults]\nenvs = ["*"]\ntargets = ["sm_90"]\n'
    )
    (folder / "matrix.toml").write_text(text)
    return folder / "matrix.toml"


@pytest.mark.parametrize("requirement", ["-e .", ".", "--editable=.", "./"])
def test_a_folder_is_installed_in_editable_mode_and_its_edits_count(
    tmp_path: Path, requirement: str
) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"\nversion = "1"\n')
    (env,) = load_matrix(matrix(tmp_path, f'"{requirement}", "einops<1"')).envs
    assert env.install == (f"-e {tmp_path}", "einops<1")
    assert install_arguments(env, "uv")[-3:] == ("-e", str(tmp_path), "einops<1")
    before = fingerprint(env)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"\nversion = "2"\n')
    assert fingerprint(env) != before


def test_the_fingerprint_changes_with_the_content_of_a_wheel(tmp_path: Path) -> None:
    (tmp_path / "x-1-py3-none-any.whl").write_bytes(b"one")
    (env,) = load_matrix(matrix(tmp_path, '"./x-1-py3-none-any.whl"')).envs
    before = fingerprint(env)
    (tmp_path / "x-1-py3-none-any.whl").write_bytes(b"another")
    assert fingerprint(env) != before


def test_a_link_to_a_wheel_keeps_its_name(tmp_path: Path) -> None:
    """Some tools keep large files under names that are hashes."""
    (tmp_path / "store").touch()
    for name in ("triton", "x"):
        (tmp_path / f"{name}-1-py3-none-any.whl").symlink_to("store")
    path = matrix(tmp_path, '"./x-1-py3-none-any.whl"')
    path.write_text(
        path.read_text().replace('triton = "3.9.0"', 'wheel = "triton-1-py3-none-any.whl"')
    )
    (env,) = load_matrix(path).envs
    assert env.wheel == f"{tmp_path}/triton-1-py3-none-any.whl"
    assert env.install == (f"{tmp_path}/x-1-py3-none-any.whl",)


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ("../gone", "env[0].install[0]: there is no project '../gone'"),
        ("-e .", "env[0].install[0]: the folder '.' has no pyproject.toml"),
        ("einops <", "env[0].install[0]: "),
    ],
)
def test_a_requirement_that_cannot_be_installed_is_an_error(
    tmp_path: Path, requirement: str, message: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        load_matrix(matrix(tmp_path, f'"{requirement}"'))
    assert message in str(raised.value)
