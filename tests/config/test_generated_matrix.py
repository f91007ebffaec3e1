"""A command declares its own envs in a file, and the file is read as it was written."""

from __future__ import annotations

from pathlib import Path

from compat.config.matrix import declare


def test_a_wheel_in_a_folder_with_special_characters_is_declared(tmp_path: Path) -> None:
    wheel = str(tmp_path / '😀 "räder"' / "triton-3.9.0-cp311-cp311-linux_x86_64.whl")
    envs: list[dict[str, str | list[str]]] = [
        {"name": "ours-1", "wheel": wheel, "install": ["numpy<2"]},
        {"name": "ours-2", "triton": "3.9.0"},
    ]
    declared = declare(envs, tmp_path)
    assert [(env.name, env.install) for env in declared.envs] == [
        ("ours-1", ("numpy<2",)),
        ("ours-2", ()),
    ]
    assert declared.envs[0].wheel == wheel
    assert declare(envs, tmp_path).path == declared.path
