"""The resources of a command: the store, the executor, envs and the GPU, and their options."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from attrs import evolve, fields, frozen

from compat.cli import logs
from compat.cli.answer import FilePath, gather_options
from compat.cli.help import add_options
from compat.cli.logs import say, show_task
from compat.cli.selecting import SECONDS, WholeNumber
from compat.executors import FORMS
from compat.text import JsonMapping, printable

if TYPE_CHECKING:
    from compat.config.matrix import MatrixConfig
    from compat.engine.run import RunContext
    from compat.envs.provider import EnvProvider
    from compat.launch.hosting import Gpu
    from compat.project import Obtain, Selection
    from compat.store.store import Store

_Command = TypeVar("_Command", bound=Callable[..., object])

_OPTIONS: Mapping[str, tuple[tuple[str, ...], JsonMapping]] = {
    "jobs": (
        ("--jobs", "-j"),
        {
            "type": WholeNumber(min=1),
            "metavar": "N",
            "help": "Cells compiled at the same time.  [default: number of cores]",
        },
    ),
    "deadline": (("--deadline",), {"type": SECONDS, "help": "Seconds that one cell may take."}),
    "again": (
        ("--again",),
        {"is_flag": True, "help": "Compile cells again even if nothing has changed."},
    ),
    "no_build": (("--no-build",), {"is_flag": True, "help": "Do not build missing envs."}),
}
"""The options of commands that compile, as :func:`compile_options` adds them."""


@frozen(kw_only=True)
class CompileOptions:
    """How a command compiles cells, from its options."""

    executor: str | None = None
    """The executor; ``None`` for the one of ``matrix.toml``."""
    jobs: int | None = None
    deadline: float | None = None
    again: bool = False
    no_build: bool = False

    @contextmanager
    def open_context(self, selection: Selection) -> Iterator[RunContext]:
        """Open the store and the executor, and yield the context for compiling cells.

        Raises StoreError, and SelectionError for an unknown executor.
        """
        with (
            open_project_store(selection) as store,
            selection.open_executor(self.executor, in_flight=self.jobs, say=say) as where,
        ):
            yield selection.context(
                store, deadline=self.deadline, jobs=self.jobs, again=self.again, executor=where
            )

    def obtaining(self, selection: Selection) -> Obtain:
        """Return the function that gives a feature its envs and builds missing ones.

        It builds none with ``--no-build``.
        """
        return lambda matrix, envs: env_provider(  # noqa: PLW0108 - only where an env is asked for
            selection.config, build=not self.no_build
        )(matrix, envs)


def compile_options(
    **helps: str | None,
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Give a command the compile options that ``helps`` names. A text replaces an option's help.

    The command is called with a :class:`CompileOptions`, which also has the values of
    :func:`executor_option`.
    """
    names = [field.name for field in fields(CompileOptions)]

    def compiling(values: dict[str, Any]) -> CompileOptions:
        return CompileOptions(**{name: values.pop(name) for name in names if name in values})

    options = [
        click.option(*spellings, name, **{**facts, **({"help": text} if text else {})})
        for name, text in helps.items()
        for spellings, facts in (_OPTIONS[name],)
    ]
    return gather_options("compiling", options, compiling)


def open_project_store(selection: Selection, *, only_read: bool = False) -> Store:
    """Open the store.

    It prints a warning once about damaged files that it moved away. The log of this run goes beside
    the store. A command that compiles nothing sets ``only_read``, and needs no writable folder.
    Raises StoreError.
    """
    logs.keep(selection.state)

    def warn(message: str) -> None:
        click.echo(f"warning: {printable(message)}", err=True)

    return selection.open_store(warn, say=say, only_read=only_read)


def executor_option(
    command: Callable[..., object],
    what: str = "compile",
    otherwise: str = "as in matrix.toml, else local",
) -> Callable[..., object]:
    """Give a command ``--executor``, the place of its compiles or of other work.

    :func:`compile_options` reads it.
    """
    forms = ", ".join(map(shlex.quote, FORMS))
    text = f"The place to {what}: {forms}.  [default: {otherwise}]"
    return click.option("--executor", metavar="EXECUTOR", help=text)(command)


def env_provider(
    config: MatrixConfig, *, build: bool = True, jobs: int | None = None
) -> EnvProvider:
    """Return the provider that gives features their envs and builds missing ones.

    It builds none without ``build``.
    """
    from compat.envs.provider import EnvProvider

    return EnvProvider(
        cache=config.env_cache(),
        project=config.path,
        known_names=config.declared_names,
        build=build,
        jobs=jobs,
        echo=say,
        busy=partial(show_task, "building envs"),
    )


# --- launches -------------------------------------------------------------------------------------


def launched_option(use: str) -> Callable[[_Command], _Command]:
    """Adds the option that names results from a GPU host.

    ``use`` is the purpose of the results, for the help.
    """
    return click.option(
        "--launched",
        multiple=True,
        type=FilePath(exists=True, dir_okay=False),
        help=f"Results that launch.py wrote on a GPU host, to store and {use}.",
    )


def keep_launched(files: Sequence[Path], store: Store) -> None:
    """Store the results of ``--launched``, and print how many there are and how many are lost.

    Raises StoreError if a file does not contain results.
    """
    from compat.launch import merging

    if merged := [merging.merge(path, store) for path in files]:
        say(merging.merge_summary(merged))


def build_options(help_text: str) -> Callable[[_Command], _Command]:
    """Adds the options that write a folder for a GPU host.

    ``help_text`` is the help of the folder.
    """
    path = FilePath(file_okay=False)
    options = (
        click.option("--build", "folder", type=path, metavar="FOLDER", help=help_text),
        click.option("--archive", is_flag=True, help="With --build: also write FOLDER.tar.xz."),
    )
    return partial(add_options, options=options)


def launch_options(help_text: str) -> Callable[[_Command], _Command]:
    """Adds the options that launch on this machine. ``help_text`` is the help of ``--launch``."""
    launch = click.option("--launch", "is_launching", is_flag=True, help=help_text)
    return partial(add_options, options=(launch, python_option))


def python_option(command: _Command) -> _Command:
    """Adds the option that names an interpreter with PyTorch."""
    text = "The interpreter with PyTorch that launches.  [default: this one, else one of the envs]"
    return click.option("--python", metavar="PATH", help=text)(command)


def use_gpu(
    selection: Selection, is_launching: bool, python: str | None
) -> tuple[Selection, Gpu | None]:
    """The selection with only the target of this machine's GPU, and the GPU.

    The selection stays unchanged if the command does not launch. Raises SelectionError if there is
    no usable GPU.
    """
    if not is_launching:
        return selection, None
    from compat.launch import hosting

    gpu = hosting.find_gpu(selection, python)
    return evolve(selection, targets=(gpu.target,)), gpu
