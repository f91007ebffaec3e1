"""What a hunt found: hits gathered by defect, and how far its programs came."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from attrs import frozen
from packaging.version import Version

from compat.hunt.known import KnownDefect, known_defect
from compat.hunt.oracles import Hit, Oracle, ProgramVerdict
from compat.model import Env, Status
from compat.toolchains.programs import OWN, ProgramLanguage


@frozen(kw_only=True)
class Defect:
    """Hits that are likely one defect."""

    fingerprint: str
    """That of its hits. For wrong numbers, with the first and the last release that has them."""
    oracle: Oracle
    hits: tuple[Hit, ...]
    known: KnownDefect | None = None
    """What it is known as upstream."""

    @property
    def name(self) -> str:
        """Its oracle and its fingerprint, which no other new defect has both of."""
        return f"{self.oracle}:{self.fingerprint}"

    @property
    def example(self) -> Hit:
        """The hit with the shortest program, on its newest release."""
        return min(
            self.hits,
            key=lambda hit: (
                hit.program.statements_count,
                hit.program.seed,
                hit.program.form != OWN,
                age(hit.result.cell.env),
            ),
        )

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of its programs."""
        return tuple(sorted({hit.program.seed for hit in self.hits}))

    @property
    def envs(self) -> tuple[str, ...]:
        """The names of the envs that show it, from the oldest release."""
        ages = {hit.result.cell.env.name: -age(hit.result.cell.env) for hit in self.hits}
        return tuple(sorted(ages, key=lambda name: ages[name]))

    def limits(self, answer: HuntAnswer) -> tuple[str | None, str | None]:
        """The names of the envs before the first and after the last one that shows it.

        They are the nearest that do its programs right. ``None``: none of the hunt does.
        """
        shown = {hit.result.cell.env for hit in self.hits}
        right = {
            result.cell.env
            for verdict in answer.verdicts
            if verdict.program.seed in self.seeds
            for result in verdict.informative
        } - shown
        ages = [age(env) for env in shown]
        before = [env for env in right if age(env) > max(ages)]
        after = [env for env in right if age(env) < min(ages)]
        return (
            min(before, key=age).name if before else None,
            max(after, key=age).name if after else None,
        )

    @property
    def targets(self) -> tuple[str, ...]:
        """The names of the targets that show it."""
        return tuple(sorted({hit.result.cell.target.name for hit in self.hits}))


def _releases(verdict: ProgramVerdict, hit: Hit) -> str:
    """For wrong numbers: the first and the last release that compute them for the program.

    They tell defects apart that have one pattern.
    """
    if not hit.oracle.compares_numbers:
        return ""
    envs = {
        other.result.cell.env
        for other in verdict.hits
        if (other.oracle, other.fingerprint) == (hit.oracle, hit.fingerprint)
    }
    ends = max(envs, key=age), min(envs, key=age)
    return ":" + "-".join(dict.fromkeys(str(env.release or env.name) for env in ends))


def age(env: Env) -> int:
    """A number that is smaller for newer releases."""
    release = env.release or Version("0")
    return -(release.major * 1_000_000 + release.minor * 1_000 + release.micro)


@frozen(kw_only=True)
class FamilyCoverage:
    """How far the programs with operations of one family came."""

    programs: int
    """The programs that were tried."""
    compiled: int
    """Those that some release compiles."""
    interpreted: int
    """Those that some release's interpreter ran."""
    launched: int
    """Those that were launched on a GPU as some release compiled them."""


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
        """Cells with a result."""
        return sum(len(verdict.results) for verdict in self.verdicts)

    @property
    def rate(self) -> float:
        """Programs per second."""
        return len(self.verdicts) / max(self.seconds, 0.001)

    @property
    def share_valid(self) -> float:
        """The part of the programs that were tried that is valid."""
        total = len(self.tried)
        return (total - len(self.invalid)) / total if total else 1.0

    @property
    def invalid(self) -> tuple[ProgramVerdict, ...]:
        """The programs that every release rejects."""
        return tuple(verdict for verdict in self.verdicts if not verdict.is_valid)

    @property
    def tried(self) -> tuple[ProgramVerdict, ...]:
        """The programs that some result says something of.

        No chosen release has the operations of the others.
        """
        return tuple(verdict for verdict in self.verdicts if verdict.informative)

    @property
    def defects(self) -> tuple[Defect, ...]:
        """What was found, the most frequent first."""
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
        """Family → how far the programs with it came, of those that were tried."""
        reached: dict[str, list[set[str]]] = defaultdict(list)
        for verdict in self.tried:
            stages = _reached(verdict)
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


def _reached(verdict: ProgramVerdict) -> set[str]:
    """What was done with a program in some form by some release."""
    stages = set()
    for result in verdict.results:
        if result.outcome.status is Status.OK:
            stages.add("compiled")
        if result.numbers.interpreter is not None:
            stages.add("interpreted")
        if result.numbers.gpu is not None:
            stages.add("launched")
    return stages
