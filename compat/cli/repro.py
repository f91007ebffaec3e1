"""``compat repro``: a failing cell as a script that anyone can run, and the issue that belongs to it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click
from attrs import evolve

from compat.cli import last_bisect
from compat.cli.invocation import command_line
from compat.cli.obtaining import Obtainer
from compat.cli.selecting import STATE, Selection, select, selection_options
from compat.config.matrix import MatrixConfig
from compat.config.selection import nothing_matches
from compat.envs.env import read_env
from compat.errors import ConfigError, EnvError, SelectionError, StoreError
from compat.model import BuiltEnv, Cell, Specialization, Target
from compat.repro import Request, Unverified, Written, write
from compat.run import Bench
from compat.source.bundle import Bundle, bundle
from compat.source.closure import read_source
from compat.store import Store

_RELEASES = "releases"
"""The group of envs that the table is about, unless others are asked for."""
_MOST = 12
"""Repros that one command makes at most: more are hardly meant."""


@click.command()
@click.argument("cell")
@selection_options
@click.option("--portable", is_flag=True, help="A script that runs on every release, not only on the one that fails.")
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), help="Folder for what is written [repro].")
@click.option(
    "--reduced", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="A smaller kernel to show in its place."
)
@click.option("--deadline", type=click.FloatRange(min=0, min_open=True), help="Seconds after which a compile counts as hanging.")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Compiles at the same time (default: the cores there are).")
def repro(
    *, cell: str, portable: bool, output: Path | None, reduced: Path | None, deadline: float | None, jobs: int | None, **chosen: Any
) -> None:
    """Write a standalone script that shows how CELL fails, and an issue for Triton's tracker.

    CELL is an id as `compat list cells` prints it, a glob, or `last-bisect`: the bad ends that the last bisect found. What is
    written was verified: the script was run in a fresh process in every release that the issue speaks of. Exits with 1 where
    that did not show what it should.
    """
    patterns: Sequence[str] = (cell,)
    if cell == last_bisect.WORD:
        ends = last_bisect.recall(chosen["matrix_path"].parent / STATE)
        patterns, chosen["spec"] = ends.cells, chosen["spec"] or ends.specs
    selection, everywhere = select(**chosen), select(**{**chosen, "envs": ("*",), "target": ("*",)})
    cells = [each for pattern in patterns for each in _cells(everywhere, selection, pattern)]
    envs = _envs(selection, everywhere, cells, asked=bool(chosen["envs"]))
    verified = True
    with Store(selection.state) as store:
        bench = selection.bench(store, envs, deadline=deadline, jobs=jobs)
        for each in cells:
            click.echo(f"{each.id}: compiled, and run as a script, in {len(envs)} envs", err=True)
            request = Request(
                cell=each,
                bundle=_bundle(each.spec, reduced),
                targets=_targets(selection, each, asked=bool(chosen["target"])),
                root=selection.root,
                folder=output or selection.root / "repro",
                portable=portable,
                command=command_line(),
            )
            verified &= _told(_write(request, bench))
    sys.exit(0 if verified else 1)


# --- what is meant -----------------------------------------------------------------------------------------------------------


def _cells(everywhere: Selection, narrowed: Selection, pattern: str) -> list[Cell]:
    """By its id; else all that the glob matches of what `compat matrix` would compile, or else of all there are."""
    by_id = {each.id: each for each in everywhere.cells}
    if pattern in by_id:
        return [by_id[pattern]]
    matching = ([each for each in those.cells if fnmatchcase(each.id, pattern)] for those in (narrowed, everywhere))
    found = next(filter(None, matching), [])
    if not found:
        raise nothing_matches("cell", pattern, by_id)
    if len(found) > _MOST:
        raise SelectionError(
            f"{pattern!r} matches {len(found):,} cells", hint=f"At most {_MOST} at a time; --envs and --target narrow it."
        )
    return found


def _envs(selection: Selection, everywhere: Selection, cells: Sequence[Cell], *, asked: bool) -> dict[str, BuiltEnv]:
    """The envs of the table, those of them that are built, and the cells' own, built where missing."""
    table = selection.envs if asked else _released(selection.config)
    own = tuple(env for env in everywhere.envs if any(each.env == env for each in cells))
    found = {built.env.name: built for built in Obtainer(root=selection.root, matrix=selection.config.path)(own)}
    for built in found.values():
        if built.error is not None:
            raise EnvError(f"{built.env.name} cannot be used: {built.error}", hint=f'nox -s "env({built.env.name})" builds it.')
    for env in table:
        if env.name not in found:
            built = read_env(env, selection.root)
            if built.error is None:
                found[env.name] = built
            else:
                click.echo(f"left out: {env.name}, {built.error}", err=True)
    return found


def _released(config: MatrixConfig) -> Iterator[Any]:
    return (env for env in config.envs if _RELEASES in env.groups)


def _targets(selection: Selection, cell: Cell, *, asked: bool) -> tuple[Target, ...]:
    """The columns of the table: those asked for, else those of every day; the cell's own always."""
    chosen = selection.targets if asked else selection.config.choose_targets(())
    return chosen if cell.target in chosen else (*chosen, cell.target)


def _bundle(spec: Specialization, reduced: Path | None) -> Bundle:
    """The kernel on its own, or the smaller one in ``reduced``, of which it takes what arguments are left."""
    if reduced is None:
        return bundle(spec)
    try:
        functions = read_source(reduced).functions
    except (SyntaxError, ValueError) as error:
        raise ConfigError(f"cannot be read: {error}", where=f"--reduced {reduced}") from error
    if spec.function not in functions:
        raise ConfigError(
            f"has no function {spec.function!r}", where=f"--reduced {reduced}", hint=f"It has: {', '.join(functions)}."
        )
    left = functions[spec.function].names
    smaller = evolve(
        spec,
        source=str(reduced.resolve()),
        signature={name: kind for name, kind in spec.signature.items() if name in left},
        constexprs={name: value for name, value in spec.constexprs.items() if name in left},
        divisible_by_16=tuple(name for name in spec.divisible_by_16 if name in left),
        equal_to_1=tuple(name for name in spec.equal_to_1 if name in left),
    )
    return bundle(smaller)


# --- what came of it ---------------------------------------------------------------------------------------------------------


def _write(request: Request, bench: Bench) -> Written | Unverified:
    try:
        return write(request, bench)
    except OSError as error:
        raise StoreError(f"cannot be written: {error}", where=str(request.folder), hint="Say --output DIR.") from error


def _told(outcome: Written | Unverified) -> bool:
    if isinstance(outcome, Written):
        click.echo(f"wrote {', '.join(os.path.relpath(path) for path in outcome.paths)}")
        return True
    click.echo("not verified, and so not written:")
    for reason in outcome.reasons:
        click.echo(f"  {reason}")
    click.echo(f"the evidence is in {os.path.relpath(outcome.evidence)}")
    return False
