"""The options that say which cells are meant, and the project they are chosen from; the same for every command."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import click
from attrs import frozen

from compat.config.kernel_files import load_kernels
from compat.config.matrix import MatrixConfig, load_matrix
from compat.config.selection import select_specs
from compat.engine.flight import Limits
from compat.errors import ConfigError, SelectionError
from compat.evidence import taxonomy
from compat.model import BuiltEnv, Cell, Env, Specialization, Target
from compat.run import Bench, available_cores
from compat.search import plan
from compat.store import Store

KEEP_WORKERS = "COMPAT_KEEP_WORKERS"
"""The environment variable that overrides ``keep_workers`` of ``matrix.toml``."""

STATE = ".compat"
"""The folder beside ``matrix.toml`` for what is kept between runs."""


@frozen(kw_only=True)
class Selection:
    """What the command line chose from ``matrix.toml``."""

    config: MatrixConfig
    envs: tuple[Env, ...]
    targets: tuple[Target, ...]
    specs: tuple[Specialization, ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every combination of what was chosen."""
        return plan.cross(self.envs, self.targets, self.specs)

    @property
    def root(self) -> Path:
        """The folder of ``matrix.toml``."""
        return self.config.base

    @property
    def state(self) -> Path:
        """The folder for what is kept between runs."""
        return self.root / STATE

    def bench(
        self, store: Store, envs: Mapping[str, BuiltEnv], *, deadline: float | None, jobs: int | None = None, again: bool = False
    ) -> Bench:
        """A bench as the options want it, and where they say nothing ``matrix.toml``, the environment and this machine do.

        Raises SelectionError where the environment says something that cannot be meant.
        """
        return Bench(
            envs=envs,
            store=store,
            limits=Limits(deadline=deadline or self.config.deadline, memory=self.config.memory),
            slots=jobs or available_cores(),
            again=again,
            idle_timeout=_idle_timeout(self.config.keep_workers, os.environ),
        )


_OPTIONS = (
    click.option(
        "--matrix",
        "matrix_path",
        type=click.Path(path_type=Path, dir_okay=False),
        default=Path("matrix.toml"),
        show_default=True,
        help="The file that declares envs, targets and kernels.",
    ),
    click.option("--envs", multiple=True, metavar="NAME|GROUP|GLOB", help="Envs to use (default: those matrix.toml names)."),
    click.option("--target", multiple=True, metavar="GLOB", help="Targets to compile for, such as sm_90 or 'gfx*'."),
    click.option("--kernel", multiple=True, metavar="GLOB", help="Kernels, such as 'sel_*'."),
    click.option("--variant", multiple=True, metavar="GLOB", help="Variants, such as block_ptr or 'as_written*'."),
    click.option("--case", multiple=True, metavar="GLOB", help="Named cases of a kernel."),
    click.option("--spec", multiple=True, metavar="PATH|GLOB", help="Kernel files to use in place of those matrix.toml names."),
)


def selection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that :func:`select` takes. Each may be repeated, and may list several, separated by commas."""
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)


def select(
    *,
    matrix_path: Path,
    envs: Sequence[str] = (),
    target: Sequence[str] = (),
    kernel: Sequence[str] = (),
    variant: Sequence[str] = (),
    case: Sequence[str] = (),
    spec: Sequence[str] = (),
) -> Selection:
    """What these options choose. Raises ConfigError for what the files say wrongly, SelectionError for what matches nothing."""
    config = read_matrix(matrix_path)
    kinds = frozenset(taxonomy.KINDS)
    if spec:
        specs = load_kernels(spec, Path.cwd(), kinds=kinds, where="--spec")
    else:
        specs = load_kernels(config.kernels, config.base, kinds=kinds)
    return Selection(
        config=config,
        envs=config.choose_envs(envs),
        targets=config.choose_targets(target),
        specs=select_specs(specs, kernel, variant, case),
    )


def _idle_timeout(declared: float, environ: Mapping[str, str]) -> float:
    """What the environment says, else 0 where nobody will give a second command, else what is declared."""
    said = environ.get(KEEP_WORKERS, "")
    if not said:
        return 0.0 if environ.get("CI") else declared
    try:
        return max(0.0, float(said))
    except ValueError:
        hint = "It is a number of seconds; with 0 no worker outlives its command."
        raise SelectionError(f"{said!r} is not a number", where=f"${KEEP_WORKERS}", hint=hint) from None


def read_matrix(path: Path) -> MatrixConfig:
    """Read ``matrix.toml``, with advice where there is none."""
    if not path.exists():
        raise ConfigError("there is no such file", where=str(path), hint="Run in the folder that has it, or say --matrix PATH.")
    return load_matrix(path)
