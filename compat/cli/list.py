"""``compat list`` shows envs, targets, kernels and cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Unpack

import click
from attrs import asdict

from compat.cli.answer import Answer, answer_options, table
from compat.cli.help import Command
from compat.cli.selecting import (
    PlaceOptions,
    SelectionOptions,
    kernel_arguments,
    select,
    select_places,
    selection_options,
    shard_option,
)
from compat.envs.record import read_record
from compat.model import BuiltEnv
from compat.project import Selection, gpus_of, no_cells
from compat.text import JsonMapping

Rows = Iterable[JsonMapping]


class _Kind(click.Choice[str]):
    """The kind of things to list."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"Choose one, such as `compat list {self.choices[0]}`."


@click.command(cls=Command, name="list")
@click.argument("what", type=_Kind(["envs", "targets", "kernels", "cells"]))
@kernel_arguments
@selection_options
@shard_option
@answer_options(json_help="Print a JSON array instead of a table.")
def list_(*, what: str, answer: Answer, **values: Unpack[SelectionOptions]) -> None:
    """List envs, targets, kernels or cells.

    $ compat list cells --envs releases --variant block_ptr

    Without options it lists all envs, targets and kernels, and the cells that `compat matrix` would
    compile.
    """
    if what != "cells":
        values["envs"] = values["envs"] or ("*",)
        values["targets"] = values["targets"] or ("*",)
    rows = list(_LISTERS[what](_selection(what, values)))
    if what == "cells":
        answer.give(lambda: (row["id"] for row in rows), lambda: rows)
    else:
        answer.draw(lambda: table(rows), lambda: rows)


def _selection(what: str, values: SelectionOptions) -> Selection:
    """The selection; for envs and targets without kernels, unless an option chooses kernels.

    An error in a kernel file does not affect envs and targets.
    """
    named = (
        values["kernels"],
        values["variants"],
        values["cases"],
        values["spec"],
        values["files"],
        values["shard"],
    )
    if any(named) or what in _OF_KERNELS:
        return select(**values)
    places: PlaceOptions = values
    return select_places(**places)


_OF_KERNELS = ("kernels", "cells")
"""The lists that need kernels."""


def _envs(selection: Selection) -> Rows:
    for env in selection.envs:
        built = selection.look_at(env)
        yield {
            "name": env.name,
            built.env.toolchain: built.release,
            built.env.framework: built.framework_release,
            "python": built.python_version,
            "groups": list(env.groups),
            "state": _state(built, selection),
        }


def _state(built: BuiltEnv, selection: Selection) -> str:
    if built.error is None:
        return "built"
    return (
        "broken" if read_record(selection.config.env_cache().folder_of(built.env)) else "not built"
    )


def _targets(selection: Selection) -> Rows:
    for target in selection.targets:
        yield {**asdict(target), "gpus": list(gpus_of(target))}


def _kernels(selection: Selection) -> Rows:
    for spec in selection.specs:
        yield {
            "kernel": spec.kernel,
            "variant": spec.variant,
            "case": spec.case,
            "function": spec.function,
            "declared": [
                f"{e.status} {e.failure_class or ''} {e.releases}".strip()
                for e in spec.expectations
            ],
            "origin": spec.origin,
        }


def _cells(selection: Selection) -> Rows:
    if not selection.cells and not selection.shard:
        raise no_cells(selection)
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


_LISTERS: Mapping[str, Callable[[Selection], Rows]] = {
    "envs": _envs,
    "targets": _targets,
    "kernels": _kernels,
    "cells": _cells,
}
