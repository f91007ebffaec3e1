"""``compat list``: the envs, targets, kernels and cells there are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

from compat.cli.selecting import Selection, select, selection_options
from compat.cli.table import show_table
from compat.envs.env import read_env
from compat.envs.record import read_record
from compat.model import BuiltEnv

Rows = Iterable[Mapping[str, Any]]


@click.command("list")
@click.argument("what", type=click.Choice(["envs", "targets", "kernels", "cells"]))
@selection_options
@click.option("--json", "as_json", is_flag=True, help="A JSON array in place of a table.")
def list_(*, what: str, as_json: bool, **chosen: Any) -> None:
    """List envs, targets, kernels or cells.

    Without options that narrow them, all envs, targets and kernels there are; of cells, those that `compat matrix` would compile.
    """
    if what != "cells":
        chosen["envs"] = chosen["envs"] or ("*",)
        chosen["target"] = chosen["target"] or ("*",)
    rows = list(_LISTERS[what](select(**chosen)))
    if as_json:
        click.echo(json.dumps(rows, indent=2))
    elif what == "cells":
        for row in rows:
            click.echo(row["id"])
    else:
        show_table(rows)


def _envs(selection: Selection) -> Rows:
    for env in selection.envs:
        built = read_env(env, selection.root)
        yield {
            "name": env.name,
            "triton": built.triton,
            "torch": built.torch,
            "python": built.python_version,
            "groups": list(env.groups),
            "state": _state(built, selection),
        }


def _state(built: BuiltEnv, selection: Selection) -> str:
    if built.error is None:
        return "built"
    return "broken" if read_record(built.env, selection.root) else "not built"


def _targets(selection: Selection) -> Rows:
    for target in selection.targets:
        yield {
            "name": target.name,
            "backend": target.backend,
            "arch": target.arch,
            "warp_size": target.warp_size,
            "shared_memory": target.shared_memory,
        }


def _kernels(selection: Selection) -> Rows:
    for spec in selection.specs:
        yield {
            "kernel": spec.kernel,
            "variant": spec.variant,
            "case": spec.case,
            "function": spec.function,
            "declared": [f"{e.status} {e.kind or ''} {e.releases}".strip() for e in spec.expectations],
            "origin": spec.origin,
        }


def _cells(selection: Selection) -> Rows:
    for cell in selection.cells:
        spec = cell.spec
        yield {
            "id": cell.id,
            "kernel": spec.kernel,
            "variant": spec.variant,
            "case": spec.case,
            "target": cell.target.name,
            "env": cell.env.name,
        }


_LISTERS: Mapping[str, Callable[[Selection], Rows]] = {"envs": _envs, "targets": _targets, "kernels": _kernels, "cells": _cells}
