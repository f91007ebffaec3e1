"""Pairs, and the results of the programs in each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import field, frozen
from packaging.version import InvalidVersion, Version

from compat.config.selection import PAIRS
from compat.model import DEFAULT_FRAMEWORK, Status
from compat.model.fields import KEY, Seconds, Text


@frozen(kw_only=True)
class PairProgram:
    """The result of one program in one pair."""

    name: Text
    """Name of the program."""
    status: Status
    """How it ended."""
    failure_class: str | None = field(default=None, metadata={KEY: "class"})
    """Class of the failure. ``None``: it did not fail."""
    message: str = ""
    """The exception, or the missing part, on one line."""
    stage: str = ""
    """The last stage: ``import``, ``compile``, ``launch`` or ``launched``."""
    launched: tuple[str, ...] = ()
    """Kernels that were launched, in order."""
    seconds: Seconds = 0.0
    """Wall time in seconds."""

    @property
    def ok(self) -> bool:
        """Whether every required kernel was launched."""
        return self.status is Status.OK


@frozen(kw_only=True)
class Pair:
    """A PyTorch and a Triton release."""

    framework_release: str = field(metadata={KEY: DEFAULT_FRAMEWORK})
    """Version of PyTorch without its build (``+cu128``)."""
    release: str
    """The Triton release."""
    env: Text
    """Name of the environment with this PyTorch."""
    own: bool = False
    """Whether PyTorch was installed with this release."""
    ok: bool = field(init=False, eq=False, repr=False)
    """Whether all programs are ok."""
    error: str | None = None
    """Why nothing could be tried."""
    static_launcher: bool | None = None
    """Whether PyTorch launches kernels itself instead of through the toolchain.

    ``None``: unknown.
    """
    cached: bool = False
    """Whether the result is from an earlier command."""
    seconds: Seconds = 0.0
    """Wall time in seconds."""
    programs: tuple[PairProgram, ...] = ()
    """One result per program."""

    def __attrs_post_init__(self) -> None:
        object.__setattr__(
            self, "ok", self.error is None and bool(self.programs) and not self.failed_programs
        )

    @property
    def name(self) -> str:
        """Name such as ``pair/2.9.1+3.6.0``."""
        return f"{PAIRS}/{self.framework_release}+{self.release}"

    @property
    def failed_programs(self) -> tuple[PairProgram, ...]:
        """Programs that are not ``ok``."""
        return tuple(program for program in self.programs if not program.ok)


@frozen(kw_only=True)
class Grid:
    """All pairs that one command tried."""

    pairs: tuple[Pair, ...]
    pins: Mapping[str, str | None] = field(factory=dict)
    """PyTorch → the Triton release that an installer installs with it. ``None``: unknown."""
    notes: tuple[str, ...] = ()
    """Facts that a reader should know, such as that the package index did not answer."""
    classes: Mapping[str, str] = field(factory=dict)
    """Failure class → its meaning."""
    title: str = ""
    """Title of the toolchain."""
    command: str = ""
    """The command line that tried them."""
    seconds: float = 0.0
    """Wall time in seconds."""

    @property
    def ok(self) -> bool:
        """Whether every pair is ok."""
        return all(pair.ok for pair in self.pairs)

    @property
    def releases(self) -> tuple[str, ...]:
        """Releases, oldest first."""
        return in_order(pair.release for pair in self.pairs)

    def at(self, framework_release: str, release: str) -> Pair | None:
        """Return the pair of these two versions. ``None``: it was not tried."""
        versions = (framework_release, release)
        return next(
            (pair for pair in self.pairs if (pair.framework_release, pair.release) == versions),
            None,
        )


def in_order(versions: Iterable[str]) -> tuple[str, ...]:
    """Versions, each once, oldest first; a text that is not a version comes last."""
    unique = dict.fromkeys(versions)
    return tuple(sorted(unique, key=_order))


def _order(text: str) -> tuple[int, Version, str]:
    try:
        return 0, Version(text), text
    except InvalidVersion:
        return 1, Version("0"), text
