"""Envs for a command: read from disk, and those that are missing built by nox first."""

from __future__ import annotations

import click
from rich.console import Console

from compat.cli.selecting import Selection
from compat.envs.env import build_envs, missing_envs, read_env
from compat.errors import EnvError
from compat.model import BuiltEnv
from compat.run import available_cores

_SHOWN = ("Installing ", "cannot be used", "no interpreter")


def built_envs(selection: Selection, *, build: bool = True) -> list[BuiltEnv]:
    """Every chosen env as it is on disk, after nox had its chance (unless ``build`` is false) with those that are missing."""
    root = selection.root
    missing = missing_envs(selection.envs, root) if build else ()
    if missing and (root / "noxfile.py").is_file():
        click.echo(f"building {', '.join(env.name for env in missing)}", err=True)
        try:
            with Console(stderr=True).status("nox is building environments"):
                build_envs([env.name for env in missing], root, jobs=min(len(missing), available_cores()))
        except EnvError as error:  # what could be built is there; what could not is told in the report
            click.echo(f"warning: {error}", err=True)
    return [read_env(env, root) for env in selection.envs]
