"""The files of facts: a release is one entry, and an error names the path of its file."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version

from compat.config.env_tables import env_declarations
from compat.config.toml import read_toml
from compat.errors import ConfigError
from compat.toolchains.facts import read
from compat.toolchains.triton import facts

NEXT = Version("3.10.0")


def with_entry(entry: str, folder: Path) -> Path:
    path = folder / "releases.toml"
    path.write_text(
        facts.RELEASES.read_text(encoding="utf-8").replace("env = [", f"env = [\n  {entry},", 1),
        encoding="utf-8",
    )
    return path


def test_a_release_is_one_entry(tmp_path: Path) -> None:
    path = with_entry('{ triton = "3.10.0", groups = ["releases"] }', tmp_path)
    (env,) = (
        env
        for env in env_declarations(read_toml(path, tmp_path), tmp_path).envs
        if env.release == NEXT
    )
    assert (env.name, env.groups) == ("triton-3.10.0", ("releases",))
    assert facts.pytorch_of(NEXT, path) is None, "no PyTorch asks for it yet: the newest is assumed"
    path = with_entry('{ triton = "3.9.1", groups = ["releases"] }', tmp_path)
    assert facts.pytorch_of(Version("3.9.1"), path) == facts.pytorch_of(Version("3.9.0")), (
        "another of its series has one"
    )


def test_a_pair_is_one_entry(tmp_path: Path) -> None:
    path = with_entry('{ triton = "3.10.0", torch = "2.17.0", groups = ["pairs"] }', tmp_path)
    for release in (NEXT, Version("3.10.0+git1"), None):
        assert facts.pytorch_of(release, path) == "2.17.0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema = 1\nenv = [", "it cannot be read: "),
        ("env = []", "schema: must be 1"),
    ],
)
def test_error_in_a_facts_file_names_its_path(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "releases.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        read(path)
    assert message in str(raised.value)
    assert raised.value.where == str(path)
