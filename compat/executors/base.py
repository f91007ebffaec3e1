"""What an executor takes and gives. All of it can be pickled, and nothing in it leads back to the driver."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, Self

from attrs import Factory, frozen

from compat.executors.gpus import Gpus
from compat.model import BuiltEnv, Cell, Env, Evidence, Package, Specialization, Target
from compat.workers.attempt import PLAIN, Limits, Mode
from compat.workers.places import NOWHERE_ELSE, Places


@frozen(kw_only=True)
class Batch:
    """Cells of one env and one target, and what is to be done with them."""

    env: Env
    python: str
    """Path of its interpreter."""
    digest: str
    """What is installed there (``BuiltEnv.digest``)."""
    packages: tuple[Package, ...] = ()
    python_version: str | None = None
    target: Target
    specs: tuple[Specialization, ...]
    limits: Limits
    mode: Mode = PLAIN
    confirm: bool = False
    """Attempt what did not come out again, alone and with diagnostics on. All specializations must be of one source then."""

    keep: bool = True
    """Give the artifacts, too: what was printed, reproducers, IR."""
    places: Places = NOWHERE_ELSE
    """Folders of the machine that compiles, as whoever asked calls them: attempts have their names."""

    @classmethod
    def of(
        cls,
        cells: Sequence[Cell],
        built: BuiltEnv,
        limits: Limits,
        *,
        mode: Mode = PLAIN,
        confirm: bool = False,
        keep: bool = True,
    ) -> Self:
        """A batch of cells, which must have the env ``built``, and one target."""
        assert built.python is not None, "an env without an interpreter is broken, and nothing is compiled in a broken env"
        assert len({cell.target for cell in cells}) == 1
        return cls(
            env=built.env,
            python=built.python,
            digest=built.digest,
            packages=built.packages,
            python_version=built.python_version,
            target=cells[0].target,
            specs=tuple(cell.spec for cell in cells),
            limits=limits,
            mode=mode,
            confirm=confirm,
            keep=keep,
        )

    @property
    def built(self) -> BuiltEnv:
        """The env as it is where the batch was made."""
        return BuiltEnv(
            env=self.env, python=self.python, python_version=self.python_version, packages=self.packages, digest=self.digest
        )

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Its cells, in order."""
        return tuple(Cell(env=self.env, target=self.target, spec=spec) for spec in self.specs)


@frozen(kw_only=True)
class CellAttempts:
    """What happened to one cell of a batch."""

    position: int
    """Which one: a position in ``Batch.specs``."""
    attempts: tuple[Evidence, ...]
    """One, and those that confirm it."""
    artifacts: Mapping[str, bytes] = Factory(dict)
    """The artifacts that they name."""


@frozen
class EnvLeft:
    """An env that has cells which nobody has taken."""

    digest: str
    cells: int
    """How many."""


class Executor(Protocol):
    """Compiles batches somewhere. May be used from several threads, as many as batches are to be compiled at the same time."""

    @property
    def slots(self) -> int | None:
        """How many batches it takes at the same time; ``None`` for as many as the run has slots on this machine."""
        ...

    @property
    def gpus(self) -> Gpus | None:
        """GPUs of other machines that launch; ``None`` where that is for this machine's."""
        ...

    def submit(self, batch: Batch) -> Generator[CellAttempts]:
        """What happens to each cell of a batch, as it is known; all of them are told of once, in any order.

        The work is done while this is iterated, and ends where the iterator is closed. Raises Stopped where everything is to end,
        MachineError where a machine refuses what compiling needs, and UnknownAction where a worker cannot do what is asked.
        """
        ...

    def next_env(self, envs: Sequence[EnvLeft]) -> int:
        """Of which of these envs, in the order of the run, the next batch is best: its position."""
        ...

    def release(self, env: str) -> None:
        """No further batches of this env will come."""
        ...

    def close(self) -> None:
        """End what was started."""
        ...


class OpenExecutor(Protocol):
    """How an executor is had: its class, usually."""

    def __call__(self, *, worker: Path, idle_timeout: float, stop: threading.Event) -> Executor:
        """An executor that runs the worker's program in this folder, and ends what is under way once ``stop`` is set.

        Workers that were let go wait for the next command for ``idle_timeout`` seconds; with 0 they end.
        """
        ...
