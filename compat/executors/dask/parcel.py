"""The data that pass between the driver and a Dask worker.

All paths are those of the driver. A worker's program from another package is an exception: its path
must exist on the Dask worker.
"""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

from attrs import evolve, frozen

from compat import __version__
from compat.envs.worker_envs import PinnedEnv
from compat.executors.executor import Batch, CellAttempts
from compat.model import BuiltEnv, Specialization
from compat.source.tree import SourceOrigin, Tree
from compat.workers.attempt import Places, folders_of
from compat.workers.spawn import WORKER

PACKAGE = WORKER.parent
"""The folder of this package."""
_CODE = "code"


def about() -> dict[str, str]:
    """Return the facts that must be equal on the driver, its scheduler and its Dask workers.

    They include a hash of the code, because two versions with the same number may differ.
    """
    return {
        "version": __version__,
        "Python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "distributed": version("distributed"),
        _CODE: code_digest(),
    }


def difference_in(answer: object) -> str | None:
    """Return how a worker's or scheduler's answer differs from the facts of this process.

    Returns ``None`` if they are equal.
    """
    if not isinstance(answer, dict):
        return f"it cannot import this version of triton-compat ({type(answer).__name__}: {answer})"
    for name, here in about().items():
        if (there := answer.get(name)) != here:
            same = f"version {__version__} there too, but with different code"
            return same if name == _CODE else f"{name} {there} there, {here} here"
    return None


@cache
def code_digest() -> str:
    """SHA-256 over the Python files of this package."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


@frozen(kw_only=True)
class Parcel:
    """A batch with everything that a Dask worker on another machine needs to attempt it."""

    batch: Batch
    """The batch, with the paths of the driver."""
    tree: Tree
    """The source files that the batch imports. Without content if the Dask worker has it."""
    folders: tuple[str, ...]
    """Folders of the driver whose paths appear in evidence: of the env, of the Python that the env
    is made from, and of this package.
    """
    depends: dict[str, str]
    """The environment variables and programs outside of the env that results depend on. They must
    be equal on the Dask worker.
    """
    pinned_env: PinnedEnv | None
    """The env, which must be equal on the Dask worker. ``None`` if its path is valid on both
    machines, as with a worker program from another package.
    """
    worker: str | None = None
    """The folder of a worker program from another package, which must exist on the worker, too."""
    alone: bool = False
    """Whether the Dask worker must attempt nothing else meanwhile."""

    @property
    def light(self) -> Parcel:
        """The parcel without the content of its tree."""
        return evolve(self, tree=evolve(self.tree, content=b"", files=frozenset()))

    def unpack_batch(self, built: BuiltEnv, there: Path) -> Batch:
        """Return the batch with the paths of this machine.

        ``built`` is its env here, and ``there`` is the folder that its tree was written into.
        """
        assert built.python is not None
        copies = self.tree.places(there)
        to_here = Places.of(copies)
        mine = (*folders_of(built.python), str(PACKAGE))
        pairs = [
            (here, there) for there, here in zip(self.folders, mine, strict=True) if here and there
        ]
        return evolve(
            self.batch,
            built=built,
            cells=[
                evolve(cell, spec=_translate_paths(cell.spec, to_here)) for cell in self.batch.cells
            ],
            places=Places.of([*((copy, original) for original, copy in copies), *pairs]),
        )


def origins_of(batch: Batch) -> tuple[SourceOrigin, ...]:
    """Return the sources that a batch imports: of its kernels, and of the problems that it runs."""
    specs = [cell.spec for cell in batch.cells]
    sources = [SourceOrigin(source=spec.source, roots=spec.roots) for spec in specs]
    problems = [
        spec.problem for spec in specs if spec.problem is not None and batch.mode.interprets
    ]
    return tuple(
        dict.fromkeys((*sources, *(SourceOrigin(source=problem.source) for problem in problems)))
    )


def _translate_paths(spec: Specialization, places: Places) -> Specialization:
    """Return a specialization with the paths of this machine.

    Facts that only a report needs are left out.
    """
    problem = spec.problem and evolve(
        spec.problem, source=places.translate(os.path.normpath(spec.problem.source))
    )
    source = places.translate(os.path.normpath(spec.source))
    roots = tuple(places.translate(os.path.normpath(root)) for root in spec.roots)
    return evolve(
        spec, source=source, roots=roots, problem=problem, origin="", summary="", expectations=()
    )


@frozen(kw_only=True)
class ParcelResult:
    """A Dask worker's answer to a parcel. If cells are missing, it has the reason."""

    worker: str
    """The Dask worker's address."""
    attempts: tuple[CellAttempts, ...] = ()
    lacks_tree: bool = False
    """Whether this worker needs the tree's content."""
    unable: str | None = None
    """Why this worker cannot provide the env, such as its difference from the driver's. Another
    worker may be able to.
    """
    refused: str | None = None
    """The refusal of this worker's machine, such as a full disk."""
