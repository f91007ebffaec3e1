"""The commands ``compat envs``, ``compat workers`` and ``compat pairs``."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Unpack

import click
from attrs import asdict

from compat import __version__
from compat.cli.answer import (
    Answer,
    FilePath,
    answer_options,
    command_line,
    relative,
    table,
    write_file,
)
from compat.cli.commands import CommandGroup
from compat.cli.help import Command
from compat.cli.logs import say, show_task
from compat.cli.progress import ProgressListener
from compat.cli.resources import CompileOptions, compile_options, env_provider
from compat.cli.selecting import (
    ENV,
    DecimalNumber,
    PlaceOptions,
    WholeNumber,
    place_options,
    select_places,
)
from compat.envs.cache import EnvCache
from compat.envs.record import kept_envs, read_env
from compat.envs.record import prune as prune_envs
from compat.errors import EnvError
from compat.project import libraries_of, read_matrix
from compat.report.render.blocks import TextLine
from compat.report.views.envs import (
    built_env_document,
    built_env_line,
    env_document,
    env_row,
    grid_document,
    new_release_document,
    pairs_grid_blocks,
    pairs_markdown,
    pruned_env_document,
    pruned_env_lines,
)
from compat.text import amount
from compat.workers import pool
from compat.workers.pool import ResidentWorker

_DAY = 86400.0


def _matrix_option(command: Callable[..., object]) -> Callable[..., object]:
    return click.option(
        "--matrix",
        "matrix_path",
        type=FilePath(dir_okay=False),
        help="The file that declares envs and their folder.  [default: matrix.toml]",
    )(command)


class _Envs(CommandGroup):
    """Runs ``list`` if there is no subcommand, also with the options of ``list``."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        first = args[0] if args else "--"
        listing = first.startswith("-") and first not in context.help_option_names
        return super().parse_args(context, ["list", *args] if listing else args)


@click.group(cls=_Envs, subcommand_metavar="[COMMAND] [ARGS]...")
def envs() -> None:
    """List, build, lock, remove and locate the envs that all projects share.

    Without a subcommand, list them.
    """


@envs.command("list", short_help="List the envs in the cache.")
@_matrix_option
@answer_options(json_help="Print a JSON array instead of a table.")
def list_(*, answer: Answer, matrix_path: Path | None = None) -> None:
    """List the envs in the cache, for all projects.

    $ compat envs list

    Sizes are those on disk. An installer may share files with its own cache by hard links.
    """
    cache = _cache(matrix_path)
    cached_envs = kept_envs(cache)
    answer.draw(
        lambda: (
            table([env_row(record, time.time()) for record in cached_envs])
            if cached_envs
            else [TextLine(f"no environments in {cache.folder}")]
        ),
        lambda: [env_document(record) for record in cached_envs],
    )


@envs.command(short_help="Build envs that are missing.")
@click.argument("names", nargs=-1, type=ENV, metavar="[ENV|RELEASE]...")
@_matrix_option
@click.option("--again", is_flag=True, help="Also rebuild envs that exist and are not in use.")
@click.option(
    "--jobs",
    "-j",
    type=WholeNumber(min=1),
    metavar="N",
    help="Envs built at the same time.  [default: one more than cores]",
)
@answer_options(json_help="Print a JSON array with one object per env.")
def build(
    *, names: Sequence[str], matrix_path: Path | None, again: bool, jobs: int | None, answer: Answer
) -> None:
    """Build envs that are missing.

    $ compat envs build triton-3.9.0 '>=3.7'

    ENV is a name, a group, a glob or a release. Without ENV, the
    command builds the envs that `compat matrix` would use.

    Exits with 4 if an env cannot be built.
    """
    config = read_matrix(matrix_path)
    chosen_envs = config.choose_envs(names)
    provide = env_provider(config, jobs=jobs)
    if again:
        provide.build_missing(config.path, chosen_envs, again=True)
    built_envs = provide(config.path, chosen_envs)
    answer.give(
        lambda: map(built_env_line, built_envs),
        lambda: [built_env_document(built) for built in built_envs],
    )
    broken = [built.env for built in built_envs if built.error is not None]
    if broken:
        logs = [
            str(log)
            for log in (provide.cache.folder_of(env).log for env in broken)
            if log.is_file() and log.stat().st_size
        ]
        hint = f"The installer's output is in {' '.join(logs)}." if logs else None
        raise EnvError(f"{', '.join(env.name for env in broken)} cannot be used", hint=hint)


@envs.command(short_help="List releases of the package index that no env is declared with.")
@click.argument("names", nargs=-1, type=ENV, metavar="[ENV|RELEASE]...")
@_matrix_option
@click.option(
    "--add",
    "files",
    type=FilePath(exists=True, dir_okay=False),
    multiple=True,
    help="Also add them to the envs that this TOML file declares, each like the one before it.",
)
@answer_options(json_help="Print a JSON array with one object per release.")
def new(
    *, names: Sequence[str], matrix_path: Path | None, files: tuple[Path, ...], answer: Answer
) -> None:
    """List releases of the package index that no env is declared with, on one line, as --envs
    takes them.

    $ compat matrix --envs "newest,$(compat envs new)"

    The command lists releases of ENV's toolchain, or of PyTorch if ENV has one. Without ENV, it
    takes the envs that `compat matrix` would use. It ignores pre-releases.
    """
    from compat.new_releases import add_releases, new_releases

    config = read_matrix(matrix_path)
    undeclared = new_releases(config, config.choose_envs(names))
    for note in undeclared.notes:
        say(f"note: {note}")
    if not undeclared.releases:
        say("note: every release of the package index is declared")
    added = {path: add_releases(path, undeclared.releases) for path in files}
    answer.give(
        lambda: (
            [",".join(release.env.name for release in undeclared.releases)]
            * bool(undeclared.releases)
        ),
        lambda: [new_release_document(release) for release in undeclared.releases],
    )
    for path, releases in added.items():
        added_names = ", ".join(release.env.name for release in releases)
        say(f"{relative(path)}: added {added_names or 'none'}")


@envs.command(short_help="Pin the packages of envs, with the hashes of their files.")
@click.argument("names", nargs=-1, type=ENV, metavar="[ENV|RELEASE]...")
@click.option(
    "--package",
    "packages",
    multiple=True,
    metavar="LIBRARY",
    help="A library: gemlite (the newest version), or gemlite==0.4.8,0.6.0.",
)
@_matrix_option
@answer_options(json_help="Print the packages as JSON.")
def lock(
    *, names: Sequence[str], packages: Sequence[str], matrix_path: Path | None, answer: Answer
) -> None:
    """Pin the packages of envs in matrix.lock, with the hashes of their files.

    $ compat envs lock triton-3.9.0

    Commands build a locked env from exactly these files, and refuse a file with another hash.
    ENV is a name, a group, a glob or a release. Without ENV and --package, the command locks the
    envs that `compat matrix` would use and the libraries of the kernel files, and removes all other
    locks.

    Exits with 4 if an env or a library cannot be locked.
    """
    config = read_matrix(matrix_path, locked=False)
    keep = bool(names or packages)
    chosen_envs = () if packages and not names else config.choose_envs(names)
    libraries = () if names and not packages else libraries_of(config, packages)
    with show_task("locking") as show:
        locks = config.locks.renew_locks(chosen_envs, libraries, show, keep=keep)
    locks.write()
    envs = [locks.envs[env.name] for env in chosen_envs]
    hashes = {library: locks.libraries[library] for library in libraries}
    answer.give(
        lambda: [
            *(
                f"{env.name}: {amount(len(env.packages), 'package')} for Python {env.python}"
                for env in envs
            ),
            *(f"{library}: {amount(len(files), 'file')}" for library, files in hashes.items()),
        ],
        lambda: [
            *map(asdict, envs),
            *({"name": library, "sha256": digests} for library, digests in hashes.items()),
        ],
    )
    answer.add(f"wrote {relative(locks.path)}")


@envs.command(short_help="Remove envs that no command has used for a while.")
@click.option(
    "--older-than",
    type=DecimalNumber(min=0),
    default=30,
    show_default=True,
    metavar="DAYS",
    help="Remove envs unused for this many days.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Remove every env, even if it was used recently."
)
@click.option("--dry-run", is_flag=True, help="Show which envs would be removed. Remove nothing.")
@_matrix_option
@answer_options(json_help="Print a JSON array with one object per env.")
def prune(
    *, answer: Answer, older_than: float, everything: bool, dry_run: bool, matrix_path: Path | None
) -> None:
    """Remove envs that no command of any project has used for a while.

    $ compat envs prune --older-than 7 --dry-run

    Envs that a command is using or building stay. A command that needs a removed env builds it
    again.
    """
    if math.isnan(older_than):
        raise click.BadParameter("'nan' is not a number of days.", param_hint="--older-than")
    cache, now = _cache(matrix_path), time.time()
    pruned = prune_envs(
        cache, unused_since=math.inf if everything else now - older_than * _DAY, dry_run=dry_run
    )
    answer.follow(
        lambda: pruned_env_lines(pruned, cache.folder, now, dry_run=dry_run),
        lambda: [pruned_env_document(record, dry_run=dry_run) for record in pruned],
    )


@envs.command(short_help="Print the folder of an env.")
@click.argument("name", type=ENV, required=False, metavar="[ENV|RELEASE]")
@_matrix_option
@click.option(
    "--python",
    "is_interpreter",
    is_flag=True,
    help="Print the path of the interpreter instead of the folder.",
)
@answer_options(json_help="Print both paths as a JSON object.")
def where(
    *, answer: Answer, name: str | None, matrix_path: Path | None, is_interpreter: bool
) -> None:
    """Print the folder of an env, or the folder that holds all of them.

    $ $(compat envs where --python triton-3.9.0) -c 'import triton'

    Exits with 4 if the env is not built.
    """
    if name is None:
        folder = str(_cache(matrix_path).folder)
        answer.give(lambda: [folder], lambda: {"folder": folder})
        return
    config = read_matrix(matrix_path)
    env = config.one_env(name)
    built = read_env(env, config.env_cache())
    if built.error is not None or built.python is None:
        raise EnvError(
            f"{env.name} cannot be used: {built.error}",
            hint=f"Build it with `compat envs build {env.name}`.",
        )
    paths = {"folder": str(Path(built.python).parents[1]), "python": built.python}
    answer.give(
        lambda: [paths["python" if is_interpreter else "folder"]],
        lambda: {"name": env.name, **paths},
    )


def _cache(matrix_path: Path | None) -> EnvCache:
    """The cache of the project, or the user's if there is no project."""
    return read_matrix(matrix_path).env_cache()


@click.command(cls=Command)
@click.option(
    "--stop",
    is_flag=True,
    help=(
        "Stop all workers. A busy worker stops when it is done. The command kills a worker that"
        " does not answer."
    ),
)
@answer_options(json_help="Print a JSON array; with --stop, an object.")
def workers(*, stop: bool, answer: Answer) -> None:
    """List the workers that wait for the next command with their toolchain imported.

    $ compat workers --stop

    A worker ends five minutes after its last use, unless `keep_workers` in matrix.toml says
    otherwise.
    """
    if stop:
        ended = pool.stop_resident_workers()
        killed = (
            f", and killed {amount(ended.killed, 'worker')} that did not answer"
            if ended.killed
            else ""
        )
        answer.give(
            lambda: [f"stopped {amount(ended.stopped, 'worker')}{killed}"],
            lambda: {"stopped": ended.stopped, "killed": ended.killed},
        )
        return
    residents = pool.resident_workers()
    answer.draw(
        lambda: (
            table([_row(worker) for worker in residents])
            if residents
            else [TextLine("no workers are running")]
        ),
        lambda: list(map(_document, residents)),
    )


def _row(worker: ResidentWorker) -> dict[str, str]:
    return {
        "env": worker.env,
        "toolchain": f"{worker.toolchain} {worker.version}",
        "pid": str(worker.pid),
        "memory": f"{worker.memory / 2**20:.0f} MiB",
        "idle": f"{worker.idle:.0f} s",
    }


def _document(worker: ResidentWorker) -> dict[str, object]:
    facts = asdict(worker, filter=lambda field, _: field.name != "python")
    return {**facts, "idle": round(worker.idle, 1)}


@click.command(cls=Command)
@click.option(
    "--torch",
    "torches",
    multiple=True,
    metavar="VERSION",
    help="Versions of PyTorch: 2.9.1, or 2.4.1,2.9.1.",
)
@click.option(
    "--triton",
    "releases",
    multiple=True,
    metavar="RELEASE",
    help="Triton releases to test with it: 3.9, '>=3.4', newest.",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help=(
        "Test every PyTorch from 2.4 on with every release. This takes hours, and 5 GB per PyTorch."
    ),
)
@place_options
@answer_options(file=False, json_help="Print the answer as JSON.")
@click.option(
    "--output", type=FilePath(file_okay=False), help="Folder for pairs.md.  [default: reports]"
)
@compile_options(again="Test pairs again even if nothing has changed.", no_build=None)
def pairs(
    *,
    answer: Answer,
    torches: tuple[str, ...],
    releases: tuple[str, ...],
    every: bool,
    output: Path | None,
    compiling: CompileOptions,
    **values: Unpack[PlaceOptions],
) -> None:
    """Test which PyTorch works with which Triton release, without a GPU, and write
    reports/pairs.md.

    $ compat pairs --torch 2.9.1 --triton 3.5.1,3.6.0

    The command compiles programs with torch.compile and launches them into a library that replaces
    the GPU driver. Without options it tests the pairs of matrix.toml. With --torch it installs that
    PyTorch once and puts each release of --triton before the one that came with it.

    Exits with 0 if every pair works, and with 1 if one does not.
    """
    from compat.pairs.pairing import try_pairs

    selection = select_places(**values)
    grid = try_pairs(
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
    write_file(path, pairs_markdown(grid, __version__), "--output")
    answer.draw(lambda: pairs_grid_blocks(grid), lambda: grid_document(grid))
    answer.add(f"wrote {relative(path)}")
    sys.exit(0 if grid.ok else 1)
