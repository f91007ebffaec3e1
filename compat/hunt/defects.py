"""The result of a hunt: hits grouped by defect, and the coverage of its programs."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from attrs import frozen
from packaging.version import Version

from compat.hunt.known_defects import KnownDefect, known_defect
from compat.hunt.oracles import Hit, Oracle, ProgramVerdict
from compat.model import Env, Status
from compat.toolchains.programs import OWN, ProgramLanguage


@frozen(kw_only=True)
class Defect:
    """Hits that likely have the same defect as their cause."""

    fingerprint: str
    """The fingerprint of its hits. For wrong numbers, the first and the last release with them are
    added.
    """
    oracle: Oracle
    hits: tuple[Hit, ...]
    known: KnownDefect | None = None
    """The known upstream defect that it is; ``None`` for a new one."""

    @property
    def name(self) -> str:
        """Oracle and fingerprint, which together are unique among new defects."""
        return f"{self.oracle}:{self.fingerprint}"

    @property
    def example(self) -> Hit:
        """The hit with the shortest program, on its newest release."""
        newest_first = sorted(
            self.hits, key=lambda hit: _release(hit.result.cell.env), reverse=True
        )
        return min(
            newest_first,
            key=lambda hit: (
                hit.program.statements_count,
                hit.program.seed,
                hit.program.form != OWN,
            ),
        )

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of its programs."""
        return tuple(sorted({hit.program.seed for hit in self.hits}))

    @property
    def envs(self) -> tuple[str, ...]:
        """The names of the envs that show it, from the oldest release."""
        releases = {hit.result.cell.env.name: _release(hit.result.cell.env) for hit in self.hits}
        return tuple(sorted(releases, key=lambda name: releases[name]))

    def limits(self, answer: HuntAnswer) -> tuple[str | None, str | None]:
        """Return the names of the nearest good envs before and after those that show the defect.

        A good env has an informative result for one of the defect's programs, and no hit of this
        defect. ``None`` means that the hunt has no such env on that side.
        """
        shown = {hit.result.cell.env for hit in self.hits}
        right = {
            result.cell.env
            for verdict in answer.verdicts
            if verdict.program.seed in self.seeds
            for result in verdict.informative
        } - shown
        releases = [_release(env) for env in shown]
        ordered = sorted(right, key=lambda env: env.name)  # of several envs, the first one counts
        before = [env for env in ordered if _release(env) < min(releases)]
        after = [env for env in ordered if _release(env) > max(releases)]
        return (
            max(before, key=_release).name if before else None,
            min(after, key=_release).name if after else None,
        )

    @property
    def targets(self) -> tuple[str, ...]:
        """The names of the targets that show it."""
        return tuple(sorted({hit.result.cell.target.name for hit in self.hits}))


def _releases(verdict: ProgramVerdict, hit: Hit) -> str:
    """Return the first and the last release that compute the wrong numbers of a hit; else nothing.

    They distinguish defects whose wrong numbers have the same pattern.
    """
    if not hit.oracle.compares_numbers:
        return ""
    envs = {
        other.result.cell.env
        for other in verdict.hits
        if (other.oracle, other.fingerprint) == (hit.oracle, hit.fingerprint)
    }
    line = sorted(envs, key=lambda env: (_release(env), env.name))
    ends = dict.fromkeys(str(env.release or env.name) for env in (line[0], line[-1]))
    return f":{'-'.join(ends)}"


def _release(env: Env) -> Version:
    """The release of an env; the oldest one if it is unknown."""
    return env.release or Version("0")


@frozen(kw_only=True)
class FamilyCoverage:
    """The numbers of programs with operations of one family, by the steps that they reached."""

    programs: int
    """Number of tried programs."""
    compiled: int
    """Number of programs that at least one release compiles."""
    interpreted: int
    """Number of programs that at least one release's interpreter ran."""
    launched: int
    """Number of programs that were launched on a GPU, as compiled by at least one release."""


@frozen(kw_only=True)
class HuntAnswer:
    """The result of a hunt."""

    seeds: tuple[int, int]
    """The first seed, and the one after the last."""
    verdicts: tuple[ProgramVerdict, ...]
    seconds: float
    envs: tuple[str, ...]
    targets: tuple[str, ...]
    language: ProgramLanguage[Any]
    interrupted: bool = False
    """Whether the user ended it. Programs that were not finished have no verdict."""
    known: tuple[KnownDefect, ...] = ()

    @property
    def cells(self) -> int:
        """Number of cells with a result."""
        return sum(len(verdict.results) for verdict in self.verdicts)

    @property
    def rate(self) -> float:
        """Programs per second."""
        return len(self.verdicts) / max(self.seconds, 0.001)

    @property
    def share_valid(self) -> float:
        """The share of valid programs among the tried ones, from 0 to 1."""
        total = len(self.informative_verdicts)
        return (total - len(self.invalid)) / total if total else 1.0

    @property
    def invalid(self) -> tuple[ProgramVerdict, ...]:
        """The programs that every release rejects."""
        return tuple(verdict for verdict in self.verdicts if not verdict.is_valid)

    @property
    def informative_verdicts(self) -> tuple[ProgramVerdict, ...]:
        """The programs with an informative result.

        For the others, no chosen release has their operations.
        """
        return tuple(verdict for verdict in self.verdicts if verdict.informative)

    @property
    def defects(self) -> tuple[Defect, ...]:
        """The defects, the one with the most seeds first."""
        by_print: dict[tuple[Oracle, str, KnownDefect | None], list[Hit]] = defaultdict(list)
        for verdict in self.verdicts:
            for hit in verdict.hits:
                fingerprint = hit.fingerprint + _releases(verdict, hit)
                text = self.language.kernel_source(hit.program)
                known_as = known_defect(self.known, hit, text, fingerprint)
                by_print[hit.oracle, fingerprint, known_as].append(hit)
        defects = [
            Defect(fingerprint=fingerprint, oracle=oracle, hits=tuple(hits), known=known_as)
            for (oracle, fingerprint, known_as), hits in by_print.items()
        ]
        return tuple(sorted(defects, key=lambda defect: (-len(defect.seeds), defect.fingerprint)))

    @property
    def coverage(self) -> dict[str, FamilyCoverage]:
        """Family → the coverage of the tried programs with its operations."""
        reached: dict[str, list[set[str]]] = defaultdict(list)
        for verdict in self.informative_verdicts:
            stages = _reached_steps(verdict)
            for family in self.language.families_of(verdict.program):
                reached[family].append(stages)
        return {
            family: FamilyCoverage(
                programs=len(programs),
                **{stage: sum(stage in stages for stages in programs) for stage in _STAGES},
            )
            for family, programs in sorted(reached.items())
        }


_STAGES = ("compiled", "interpreted", "launched")


def _reached_steps(verdict: ProgramVerdict) -> set[str]:
    """Return the steps that a program reached, in any form and on any release."""
    stages = set()
    for result in verdict.results:
        if result.outcome.status is Status.OK:
            stages.add("compiled")
        if result.numbers.interpreter is not None:
            stages.add("interpreted")
        if result.numbers.gpu is not None:
            stages.add("launched")
    return stages
