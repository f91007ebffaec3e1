"""Envs that a search asks for, built by nox where they are missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from attrs import define, field

from compat.envs.env import build_envs, read_env
from compat.errors import EnvError
from compat.model import BuiltEnv, Env
from compat.run import available_cores


@define(kw_only=True)
class Obtainer:
    """Call it with envs; it remembers all that it gave."""

    root: Path
    """The project, which has the noxfile."""
    matrix: Path
    """The file that declares the envs; what is known of them lies beside it."""
    build: bool = True
    envs: dict[str, BuiltEnv] = field(factory=dict)

    def __call__(self, wanted: Sequence[Env]) -> list[BuiltEnv]:
        """These envs as they are on disk, after nox had its chance with those that are missing, all at once."""
        home = self.matrix.parent
        found = {env.name: read_env(env, home) for env in wanted}
        missing = [built.env for built in found.values() if built.error is not None]
        if self.build and missing and (self.root / "noxfile.py").is_file():
            self._build([env.name for env in missing], None if self.matrix == self.root / "matrix.toml" else self.matrix)
            found |= {env.name: read_env(env, home) for env in missing}
        self.envs |= found
        return [found[env.name] for env in wanted]

    def _build(self, names: Sequence[str], matrix: Path | None) -> None:
        from rich.console import Console

        click.echo(f"building {', '.join(names)}", err=True)
        try:
            with Console(stderr=True).status("nox is building environments"):
                build_envs(names, self.root, jobs=min(len(names), available_cores()), matrix=matrix)
        except EnvError as error:  # what could be built is there; what could not is told with the answer
            click.echo(f"warning: {error}", err=True)
