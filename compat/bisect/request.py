"""The request of a bisect, and the sequence of releases to search."""

from __future__ import annotations

from enum import StrEnum

from attrs import evolve, field, frozen
from packaging.utils import canonicalize_version
from packaging.version import Version

from compat import toolchains
from compat.bisect import candidates
from compat.bisect.candidates import CandidateLine, CandidateQuery, ReleaseCandidate
from compat.bisect.criterion import Criterion, parse_criterion
from compat.envs import interpreters
from compat.errors import IndexUnavailable, SelectionError
from compat.launch.hosting import Gpu
from compat.project import Selection
from compat.text import split_at_commas
from compat.toolchains.base import Toolchain

FEW = 16
"""The most candidates that are all tried unless the user asks for a search. With warm workers, this
takes seconds, and no result is assumed.
"""

_DIGITS = 18
"""Digits that a value of a setting may have. Python converts no number with thousands of them."""

ASSEMBLER_OPTION = "--ptxas"
"""The option of the command that names another assembler."""


class Axis(StrEnum):
    """The line along which a bisection searches."""

    RELEASES = "releases"
    """Since which release a kernel fails."""
    PART = "part"
    """The part of the toolchain that changed between two releases."""
    PASS = "pass"  # noqa: S105 - of the compiler
    """The compiler pass that fails, or the pass after which the IR of two compiles differs."""
    CONFIG = "config"
    """Which constexpr, option or hint the failure needs."""


@frozen(kw_only=True)
class GrowingSetting:
    """A setting whose values are tried."""

    name: str
    values: tuple[int, ...] = ()
    """The requested values. Empty: halves of the present value."""

    @classmethod
    def parse(cls, text: str) -> GrowingSetting:
        """Read ``N`` or ``N=32,64,128``. Raises SelectionError."""
        name, _, values = text.partition("=")
        numbers = split_at_commas([values])
        if not name.strip() or (
            "=" in text
            and (
                len(numbers) < 2
                or not all(n.isdecimal() and len(n) <= _DIGITS and int(n) > 0 for n in numbers)
            )
        ):
            raise SelectionError(
                f"{text!r} names no setting and its sizes",
                where="--grow",
                hint="For example N or N=32,64,128,256.",
            )
        return cls(name=name.strip(), values=tuple(sorted({int(number) for number in numbers})))


@frozen(kw_only=True)
class BisectRequest:
    """The question of a bisection."""

    selection: Selection
    """The kernels.

    Each case on each target is one question. If environments were named, they are the candidates;
    otherwise the releases of an index are.
    """
    axis: Axis = Axis.RELEASES
    """The axis of the search."""
    criterion: Criterion = field(factory=lambda: parse_criterion("ok"))
    """The definition of good."""
    good: Version | None = None
    """A release that the user names as good. It is tried first, to verify that."""
    bad: Version | None = None
    """A release that the user names as bad."""
    fixed: bool = False
    """Search for a fix instead of a regression. Also set if the good release is newer than the bad
    one.
    """
    every: bool | None = None
    """Try every release, or as few as possible. ``None``: every release if there are few."""
    query: CandidateQuery = field(factory=CandidateQuery)
    """Which releases of an index are candidates, and which index or folder of wheels to search."""
    against: str | None = None
    """Axis of passes: the case to compare with, instead of another release."""
    assemblers: tuple[str, ...] = ()
    """Axis of parts: further assemblers to try, each a CUDA release such as ``12.9`` or a path."""
    budget: float | None = None
    """Axis of settings: seconds for the whole search."""
    grow: tuple[GrowingSetting, ...] = ()
    """Axis of settings: measure compile time over these settings, and do not search for the ones
    that the failure needs.
    """
    gpu: Gpu | None = None
    """For a criterion about numbers or latency: where to launch cells that were not launched yet.

    The kernels are those for its target.
    """


@frozen(kw_only=True)
class Line:
    """The candidate releases of a request, and the positions of the given ends among them."""

    candidates: CandidateLine
    good: int | None
    bad: int | None
    fixed: bool

    @property
    def span(self) -> range:
        """The positions to search. Raises SelectionError if there are none."""
        span = in_range(len(self.candidates.chosen), self.good, self.bad, fixed=self.fixed)
        if not span:
            raise SelectionError(
                "there is no release between the given endpoints", where="--good and --bad"
            )
        return span

    @property
    def newest_bad(self) -> ReleaseCandidate:
        """The release in which to look for a failure: the one given as bad, else the newest."""
        return self.candidates.chosen[-1 if self.bad is None else self.bad]


def line_of(request: BisectRequest) -> Line:
    """The candidate releases of a request, all of the kernels' toolchain.

    Raises SelectionError if there are none, or if the kernels are for several toolchains. Raises
    IndexUnavailable without an index.
    """
    candidates_there = _candidates(request, _toolchain_of(request.selection))
    good = _position(candidates_there, request.good, "--good")
    bad = _position(candidates_there, request.bad, "--bad")
    if good is not None and good == bad:
        chosen = candidates_there.chosen[good]
        names = ", ".join(env.name for env in chosen.envs)
        raise SelectionError(
            f"both name release {chosen.label}, which has these envs: {names}",
            where="--good and --bad",
            hint="Name two releases. A search cannot tell two envs of one release apart; `compat"
            " matrix` compares them.",
        )
    turned = good is not None and bad is not None and good > bad
    return Line(candidates=candidates_there, good=good, bad=bad, fixed=request.fixed or turned)


def _toolchain_of(selection: Selection) -> Toolchain:
    names = dict.fromkeys(spec.toolchain for spec in selection.specs)
    if len(names) > 1:
        first = {
            name: next(spec.kernel for spec in selection.specs if spec.toolchain == name)
            for name in names
        }
        kernels = ", ".join(
            f"{kernel} for {toolchains.look_up(name).title}" for name, kernel in first.items()
        )
        hint = "Choose kernels of one toolchain with --kernel."
        raise SelectionError(
            f"the kernels are for several toolchains: {kernels}", where="--kernel", hint=hint
        )
    (toolchain,) = (toolchains.look_up(name) for name in names)
    if not selection.kernels:  # without a cell, an answer would look like a good one
        hint = f"Its targets: {', '.join(target.name for target in toolchain.device.targets)}."
        raise SelectionError(
            f"none of the chosen targets is one of {toolchain.title}", where="--target", hint=hint
        )
    return toolchain


def _candidates(request: BisectRequest, toolchain: Toolchain) -> CandidateLine:
    selection = request.selection
    if selection.patterns.envs:
        envs = [env for env in selection.envs if env.toolchain == toolchain.name]
        if not envs:
            raise SelectionError(
                f"none of these envs has {toolchain.title}, which the kernels are for",
                where="--envs",
            )
        return candidates.from_envs(envs, selection.config.path)
    named = tuple(end for end in (request.good, request.bad) if end is not None)
    query = evolve(request.query, named_releases=named)
    try:
        return candidates.from_index(
            query, toolchain, selection.config, selection.state, list(interpreters.present())
        )
    except IndexUnavailable as error:
        error.hint = (
            f"{error.hint or ''} --envs releases bisects over known releases without asking an"
            " index.".strip()
        )
        raise


def _position(line: CandidateLine, end: Version | None, option: str) -> int | None:
    if end is None:
        return None
    at = line.position(end)
    if at is None:
        reason = next(
            (
                why
                for why, releases in line.left_out.items()
                if canonicalize_version(end) in map(canonicalize_version, releases)
            ),
            None,
        )
        there = f"Available: {', '.join(candidate.label for candidate in line.chosen)}."
        raise SelectionError(
            f"{end} is not a candidate{f': {reason}' if reason else ''}", where=option, hint=there
        )
    return at


def in_range(count: int, good: int | None, bad: int | None, *, fixed: bool) -> range:
    """The positions to search.

    They lie between two given ends, or else from the given one to the side where the change must
    be. A regression lies after a good position and before a bad one. A fix lies after a bad
    position and before a good one.
    """
    if good is not None and bad is not None:
        return range(min(good, bad), max(good, bad) + 1)
    oldest, newest = (bad, good) if fixed else (good, bad)
    return range(oldest or 0, count if newest is None else newest + 1)
