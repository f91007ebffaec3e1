"""The kernels of installed packages that an upgrade would break, by a board's record."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from compat.board.record import BoardFailure, BoardLibraryRecord, BoardRecord, BoardVersion
from compat.errors import EnvError, SelectionError
from compat.processes.supervisor import run
from compat.text import read_json
from compat.toolchains import DEFAULT

_LIST = """\
import sys
sys.path[:] = filter(None, sys.path)  # files of the current folder may have these names
import json
from importlib.metadata import distributions
found = [(d.metadata["Name"], d.version) for d in distributions()]
print(json.dumps([pair for pair in found if all(pair)]))
"""
_DEADLINE = 60.0


@frozen(kw_only=True)
class LostKernel:
    """A kernel that works before the upgrade, and not after it."""

    kernel: str
    failure: BoardFailure


@frozen(kw_only=True)
class CheckedLibrary:
    """An installed library, and the effect of the upgrade on its kernels."""

    name: str
    installed: str
    """The version that is installed."""
    version: str
    """The version of the board that the answer is from."""
    guessed: int
    """The kernels of that version with guessed arguments."""
    kernels: int
    """The kernels that were compiled on both releases."""
    works: int
    """How many of them work before the upgrade."""
    lost: tuple[LostKernel, ...]
    mended: tuple[str, ...]
    """Kernels that work only after the upgrade."""
    unknown: int
    """Kernels that have no answer on one of the releases."""

    @property
    def is_exact(self) -> bool:
        """Whether the answer is from exactly the installed version."""
        return Version(self.installed) == Version(self.version)

    @property
    def classes(self) -> Mapping[str, int]:
        """Failure class → lost kernels that show it, the most frequent first."""
        return dict(Counter(lost.failure.failure_class for lost in self.lost).most_common())


@frozen(kw_only=True)
class BoardCheck:
    """The answer of a board for a set of installed packages."""

    toolchain: str
    before: str
    after: str
    libraries: tuple[CheckedLibrary, ...]

    @property
    def breaks(self) -> bool:
        """Whether a kernel of an installed library is lost."""
        return any(library.lost for library in self.libraries)


def installed_packages(python: Path | None = None) -> Mapping[str, str]:
    """Name → version of the packages that an interpreter has.

    Args:
        python: The interpreter. ``None``: the one that runs this.

    Raises:
        EnvError: The interpreter cannot be run, or does not answer.
    """
    path = python or Path(sys.executable)
    program = str(path.absolute() if path.is_file() else path)  # else a name on PATH
    with EnvError.for_os_errors("cannot be run", where=program):
        ended = run([program, "-c", _LIST], timeout=_DEADLINE)
    try:
        pairs = read_json(ended.output.strip().rpartition("\n")[2])
        return {canonicalize_name(name): str(version) for name, version in pairs}
    except (ValueError, TypeError) as error:
        raise EnvError("does not list its packages", where=program) from error


def check_board(
    record: BoardRecord,
    installed: Mapping[str, str],
    *,
    before: str | None = None,
    after: str | None = None,
) -> BoardCheck:
    """Find the kernels that an upgrade of the toolchain would break.

    Args:
        record: The record of a board.
        installed: Name → version of the installed packages.
        before: The release to upgrade from. ``None``: the installed one.
        after: The release to upgrade to. ``None``: the newest one of the board.

    Raises:
        SelectionError: The board has no such release, or the toolchain is not installed.
        StoreError: The board has no data yet.
    """
    record.check_has_data("--record")
    distribution = DEFAULT.distribution
    if before is None and distribution not in installed:
        raise SelectionError(
            f"{distribution} is not installed",
            where="--from",
            hint="Name the release to upgrade from: --from 3.6.",
        )
    places = (
        _place(record, before or installed[distribution], "--from"),
        _place(record, after or record.releases[-1], "--to"),
    )
    pairs = (
        (library, installed[library.name])
        for library in record.libraries
        if library.name in installed
    )
    return BoardCheck(
        toolchain=record.toolchain,
        before=record.releases[places[0]],
        after=record.releases[places[1]],
        libraries=tuple(
            _check_library(record, library, version, places) for library, version in pairs
        ),
    )


def _place(record: BoardRecord, text: str, option: str) -> int:
    """The position of the newest release that has a name, or a name that begins so."""
    named = [
        place
        for place, release in enumerate(record.releases)
        if release == text or release.startswith(f"{text}.")
    ]
    if not named:
        raise SelectionError(
            f"the board has no {record.toolchain} {text}",
            where=option,
            hint=f"It has {', '.join(record.releases)}.",
        )
    return named[-1]


def _check_library(
    record: BoardRecord, library: BoardLibraryRecord, installed: str, places: tuple[int, int]
) -> CheckedLibrary:
    version, (before, after) = _nearest(library.versions, installed), places
    marks = {
        kernel: (version.mark(kernel, before), version.mark(kernel, after))
        for kernel in version.kernels
    }
    known_marks = {kernel: pair for kernel, pair in marks.items() if min(pair) >= 0}
    return CheckedLibrary(
        name=library.name,
        installed=installed,
        version=version.version,
        guessed=version.guessed,
        kernels=len(known_marks),
        works=sum(one == 0 for one, _ in known_marks.values()),
        lost=tuple(
            LostKernel(kernel=kernel, failure=record.failures[other - 1])
            for kernel, (one, other) in known_marks.items()
            if one == 0 and other
        ),
        mended=tuple(kernel for kernel, (one, other) in known_marks.items() if one and not other),
        unknown=len(marks) - len(known_marks),
    )


def _nearest(versions: Sequence[BoardVersion], installed: str) -> BoardVersion:
    """The installed version, else the newest one before it, else the oldest.

    If ``installed`` is not a version, it is the newest.
    """
    try:
        installed_version = Version(installed)
    except InvalidVersion:
        return versions[-1]
    older = [version for version in versions if Version(version.version) <= installed_version]
    return older[-1] if older else versions[0]
