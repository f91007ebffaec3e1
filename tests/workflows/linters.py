"""The linters of `nox -s lint` for the files of CI systems, applied to files that tests make."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BIN = Path(sys.executable).parent
_SCHEMAS = {
    "workflow": ("--builtin-schema", "vendor.github-workflows"),
    "action": ("--builtin-schema", "vendor.github-actions"),
    "gitlab": ("--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"),
}


def lint(kind: str, *paths: Path) -> None:
    """Fail for an invalid file, and for an unsafe workflow or action.

    Does not use the network.
    """
    commands: list[list[str | Path]] = [[_BIN / "check-jsonschema", *_SCHEMAS[kind], *paths]]
    if kind != "gitlab":
        commands.append(
            [
                _BIN / "zizmor",
                "--offline",
                "--no-progress",
                "--config",
                Path(__file__).with_name("zizmor.yml"),
                *paths,
            ]
        )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
