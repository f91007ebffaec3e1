"""Pairs, and what became of the programs in each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import field, frozen
from packaging.version import InvalidVersion, Version

from compat.config.selection import PAIRS
from compat.model import DEFAULT_FRAMEWORK, Status
from compat.model.fields import KEY, Seconds, Text


@frozen(kw_only=True)
class PairProgram:
    """One program in one pair."""

    name: Text
    status: Status
    failure_class: str | None = field(default=None, metadata={KEY: "class"})
    """In which way it failed; ``None`` where it did not."""
    message: str = ""
    """What was raised, or what is missing, on one line."""
    stage: str = ""
    """How far it came: ``import``, ``compile``, ``launch``, ``launched``."""
    launched: tuple[str, ...] = ()
    """The kernels that were launched, in order."""
    seconds: Seconds = 0.0

    @property
    def ok(self) -> bool:
        """Whether every kernel was launched that must be."""
        return self.status is Status.OK


@frozen(kw_only=True)
class Pair:
    """A PyTorch and a release."""

    framework_release: str = field(metadata={KEY: DEFAULT_FRAMEWORK})
    """Version, without what it was built for (``+cu128``)."""
    release: str
    env: Text
    """The name of the env that has the PyTorch."""
    own: bool = False
    """Whether the release is the one that was installed with the PyTorch."""
    ok: bool = field(init=False, eq=False, repr=False)
    """Whether all programs are ok."""
    error: str | None = None
    """Why nothing could be tried: the env or the release cannot be had."""
    static_launcher: bool | None = None
    """Whether PyTorch launches by itself, and not through the toolchain; ``None`` where that is not known."""
    cached: bool = False
    """Whether it was known from before."""
    seconds: Seconds = 0.0
    programs: tuple[PairProgram, ...] = ()

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "ok", self.error is None and bool(self.programs) and not self.failed)

    @property
    def name(self) -> str:
        """As in ``pair/2.9.1+3.6.0``."""
        return f"{PAIRS}/{self.framework_release}+{self.release}"

    @property
    def failed(self) -> tuple[PairProgram, ...]:
        """The programs that are not ``ok``."""
        return tuple(program for program in self.programs if not program.ok)


@frozen(kw_only=True)
class Grid:
    """All pairs that one command tried."""

    pairs: tuple[Pair, ...]
    pins: Mapping[str, str | None] = field(factory=dict)
    """PyTorch → the release that an installer takes with it; ``None`` where it is not known."""
    notes: tuple[str, ...] = ()
    """What a reader should know of how it came about: that the package index did not answer."""
    classes: Mapping[str, str] = field(factory=dict)
    """Failure class → what it means."""
    title: str = ""
    """What the toolchain is called."""
    command: str = ""
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether every pair is."""
        return all(pair.ok for pair in self.pairs)

    @property
    def torches(self) -> tuple[str, ...]:
        """The versions of PyTorch, oldest first."""
        return in_order(pair.framework_release for pair in self.pairs)

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases, oldest first."""
        return in_order(pair.release for pair in self.pairs)

    def at(self, framework_release: str, release: str) -> Pair | None:
        """The pair of these two, where it was tried."""
        wanted = (framework_release, release)
        return next((pair for pair in self.pairs if (pair.framework_release, pair.release) == wanted), None)


def in_order(versions: Iterable[str]) -> tuple[str, ...]:
    """Versions, each once, oldest first; what is no version comes last."""
    unique = dict.fromkeys(versions)
    return tuple(sorted(unique, key=_order))


def _order(text: str) -> tuple[int, Version, str]:
    try:
        return 0, Version(text), text
    except InvalidVersion:
        return 1, Version("0"), text
