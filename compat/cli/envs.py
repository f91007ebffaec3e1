"""``compat envs``: the environments that all projects share; ``compat workers``: those that have stayed for the next command; and
``compat pairs``: which PyTorch works with which release.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from compat import __version__
from compat.cli.answer import Answer, answer_options, command_line, relative, table, write_file
from compat.cli.commands import CommandGroup
from compat.cli.opening import CompileOptions, compile_options, env_provider
from compat.cli.progress import ProgressListener
from compat.cli.selecting import ENV, place_options, select_places
from compat.envs.cache import EnvCache
from compat.envs.record import kept_envs, read_env
from compat.envs.record import prune as prune_envs
from compat.errors import EnvError
from compat.project import read_matrix
from compat.report.render.blocks import TextLine
from compat.report.views.envs import (
    built_document,
    built_line,
    env_document,
    env_row,
    grid_document,
    pairs_grid_blocks,
    pairs_markdown,
    pruned_document,
    pruned_lines,
)
from compat.workers import pool
from compat.workers.pool import ResidentWorker

_DAY = 86400.0


def _matrix_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--matrix",
        "matrix_path",
        type=click.Path(path_type=Path, dir_okay=False),
        help="The file that declares envs and may say where they are kept, if there is one [matrix.toml].",
    )(command)


class _Envs(CommandGroup):
    """Without a subcommand, lists; options of that are taken, too."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        first = args[0] if args else "--"
        listing = first.startswith("-") and first not in context.help_option_names
        return super().parse_args(context, ["list", *args] if listing else args)


@click.group(
    cls=_Envs,
    subcommand_metavar="[COMMAND] [ARGS]...",
)
def envs() -> None:
    """List, build, remove and locate the environments that all projects share; without a subcommand, list them."""


@envs.command("list", short_help="What is in the cache.")
@_matrix_option
@answer_options(json_help="A JSON array instead of a table.")
def list_(*, answer: Answer, matrix_path: Path | None = None) -> None:
    """List what is in the cache, whichever project it was built for.

    Sizes are those on disk; installers may share files with their own caches by hard links.
    """
    cache = _cache(matrix_path)
    found = kept_envs(cache)
    rows = [env_row(each, time.time()) for each in found]
    answer.draw(
        lambda: table(rows) if rows else [TextLine(f"no environments are in {cache.folder}")],
        lambda: [env_document(each) for each in found],
    )


@envs.command(short_help="Build what is missing.")
@click.argument("names", nargs=-1, type=ENV, metavar="[ENV|RELEASE]...")
@_matrix_option
@click.option("--again", is_flag=True, help="Rebuild existing ones too, unless they are in use.")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Envs built at the same time (default: one more than cores).")
@answer_options(json_help="A JSON array, one object per env, instead of a line each.")
def build(*, names: Sequence[str], matrix_path: Path | None, again: bool, jobs: int | None, answer: Answer) -> None:
    """Build those of these envs that are missing; without names, those that `compat matrix` would use.

    They are named as --envs of other commands does: by name, group or glob, or by releases such as 3.9, '>=3.4' or newest.

    Exits with 4 where one cannot be built.
    """
    config = read_matrix(matrix_path)
    wanted = config.choose_envs(names)
    provide = env_provider(config, jobs=jobs)
    if again:
        provide.build_missing(config.path, wanted, again=True)
    found = provide(config.path, wanted)
    answer.give(lambda: map(built_line, found), lambda: [built_document(each) for each in found])
    broken = [each.env for each in found if each.error is not None]
    if broken:
        logs = [str(log) for log in (provide.cache.folder_of(env).log for env in broken) if log.is_file() and log.stat().st_size]
        hint = f"All that was printed while installing is in {' '.join(logs)}." if logs else None
        raise EnvError(f"{', '.join(env.name for env in broken)} cannot be used", hint=hint)


@envs.command(short_help="Remove what has not been used for a while.")
@click.option(
    "--older-than",
    type=click.FloatRange(min=0),
    default=30,
    show_default=True,
    metavar="DAYS",
    help="Remove envs unused for this many days.",
)
@click.option("--all", "everything", is_flag=True, help="Remove every env, even if it was used recently.")
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@_matrix_option
@answer_options(json_help="A JSON array, one object per env, instead of a line each.")
def prune(*, answer: Answer, older_than: float, everything: bool, dry_run: bool, matrix_path: Path | None) -> None:
    """Remove envs that have not been used for a while, whichever project they were built for.

    None is removed that a command is using or building. What is removed is built again when it is asked for.
    """
    if math.isnan(older_than):
        raise click.BadParameter("'nan' is not a number of days.", param_hint="--older-than")
    cache, now = _cache(matrix_path), time.time()
    pruned = prune_envs(cache, unused_since=math.inf if everything else now - older_than * _DAY, dry_run=dry_run)
    answer.follow(
        lambda: pruned_lines(pruned, cache.folder, now, dry_run=dry_run),
        lambda: [pruned_document(each, dry_run=dry_run) for each in pruned],
    )


@envs.command(short_help="The folder of an env, for scripts.")
@click.argument("name", type=ENV, required=False, metavar="[ENV|RELEASE]")
@_matrix_option
@click.option("--python", is_flag=True, help="The path of its interpreter instead of its folder.")
@answer_options(json_help="Both paths as a JSON object.")
def where(*, answer: Answer, name: str | None, matrix_path: Path | None, python: bool) -> None:
    """Print the folder of an env's virtual environment; without a name, the folder that all are in.

    Exits with 4 where the env is not built.
    """
    if name is None:
        folder = str(_cache(matrix_path).folder)
        answer.give(lambda: [folder], lambda: {"folder": folder})
        return
    config = read_matrix(matrix_path)
    env = config.one_env(name)
    found = read_env(env, config.env_cache())
    if found.error is not None or found.python is None:
        raise EnvError(f"{env.name} cannot be used: {found.error}", hint=f"`compat envs build {name}` builds it.")
    paths = {"folder": str(Path(found.python).parents[1]), "python": found.python}
    answer.give(lambda: [paths["python" if python else "folder"]], lambda: {"name": env.name, **paths})


def _cache(matrix_path: Path | None) -> EnvCache:
    """The cache that the project names; the user's where there is no project."""
    return read_matrix(matrix_path).env_cache()


@click.command
@click.option("--stop", is_flag=True, help="Stop them all; a busy one stops when it is done, one that does not answer is killed.")
@answer_options(json_help="A JSON array instead of a table; with --stop, an object.")
def workers(*, stop: bool, answer: Answer) -> None:
    """List the workers that wait for the next command, with their toolchains imported.

    They end by themselves: five minutes after they were last used, unless `keep_workers` in matrix.toml says otherwise.
    """
    if stop:
        ended = pool.stop_resident_workers()
        killed = f", and killed {_counted(ended.killed)} that did not answer" if ended.killed else ""
        answer.give(lambda: [f"told {_counted(ended.told)} to end{killed}"], lambda: {"told": ended.told, "killed": ended.killed})
        return
    found = pool.resident_workers()
    answer.draw(
        lambda: table([_row(each) for each in found]) if found else [TextLine("no workers are running")], lambda: _documents(found)
    )


def _row(each: ResidentWorker) -> dict[str, str]:
    return {
        "env": each.env,
        "toolchain": f"{each.toolchain} {each.version}",
        "pid": str(each.pid),
        "memory": f"{each.memory / 2**20:.0f} MiB",
        "idle": f"{each.idle:.0f} s",
    }


def _documents(found: Iterable[ResidentWorker]) -> list[dict[str, Any]]:
    return [
        {"env": w.env, "toolchain": w.toolchain, "version": w.version, "pid": w.pid, "memory": w.memory, "idle": round(w.idle, 1)}
        for w in found
    ]


def _counted(count: int) -> str:
    return "1 worker" if count == 1 else f"{count} workers"


@click.command
@click.option("--torch", "torches", multiple=True, metavar="VERSION", help="Versions of PyTorch: 2.9.1, or 2.4.1,2.9.1.")
@click.option("--triton", "releases", multiple=True, metavar="RELEASE", help="Releases to put beside it, as --envs takes them.")
@click.option("--all", "every", is_flag=True, help="Every PyTorch from 2.4 on with every release: 5 GB each, and hours.")
@place_options
@answer_options(file=False, json_help="The same for programs.")
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), help="Folder for pairs.md [reports].")
@compile_options(again="Try pairs even if nothing has changed since they were tried.", no_build=None)
def pairs(
    *,
    answer: Answer,
    torches: tuple[str, ...],
    releases: tuple[str, ...],
    every: bool,
    output: Path | None,
    compiling: CompileOptions,
    **chosen: Any,
) -> None:
    """Compile programs with torch.compile, launch them without a GPU, and write reports/pairs.md.

    Without options: the pairs of matrix.toml. With --torch: that PyTorch with every release, or with those of --triton.
    PyTorch is installed once; a release is put before the one that came with it.

    Exits with 0 if every pair is ok, and with 1 if one is not.
    """
    from compat.pairs.pairing import try_pairs

    selection = select_places(**chosen)
    found = try_pairs(
        selection,
        compiling.obtaining(selection),
        ProgressListener(),
        torches=torches,
        releases=releases,
        every=every,
        again=compiling.again,
        command=command_line(),
    )
    path = (output or selection.root / "reports") / "pairs.md"
    write_file(path, pairs_markdown(found, __version__), "--output")
    answer.draw(lambda: pairs_grid_blocks(found), lambda: grid_document(found))
    answer.add(f"wrote {relative(path)}")
    sys.exit(0 if found.ok else 1)
