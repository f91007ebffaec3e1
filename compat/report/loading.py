"""``matrix.json`` read back: the :class:`Report` that it was made from, of which every output can be made again.

Cells and verdicts become records as they are read, and what many of them have alike is in memory once.

What a file says is data, whoever wrote it: it is checked, and made safe to show. Files of older schemas are read; where they lack
something, so does the report (the sources of kernels, for one). What the releases together say is worked out again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache

from attrs import frozen
from packaging.version import InvalidVersion, Version

from compat import toolchains
from compat.errors import StoreError
from compat.history.verdict import Coordinate, Existing, verdicts
from compat.model import (
    BuiltEnv,
    Cell,
    Env,
    Expectation,
    Failure,
    Noticed,
    Outcome,
    Result,
    Specialization,
    Status,
    Target,
)
from compat.records import RecordError
from compat.report import enclosed
from compat.report.joining import joined
from compat.report.reading import HINT, Content, stored_matrix
from compat.report.stored import (
    StoredCell,
    StoredEnv,
    StoredExpectation,
    StoredFailure,
    StoredInterval,
    StoredKernel,
    StoredMatrix,
    StoredVerdict,
)
from compat.report.summary import Report

_REMEMBERED = Noticed(type="DeprecationWarning", message="deprecated, as an earlier run found")

_UNSTEADY = Outcome(status=Status.REJECTED, stage="", flaky=True)
"""Earlier runs found one thing and another, of which nothing is concluded."""


def load_report(text: Content, where: str = "matrix.json") -> Report:
    """The report that a ``matrix.json`` was made from; ``where`` is what errors call the file.

    Raises StoreError, with the place in the file, for what is no such file, and for one of a newer version.
    """
    return load_reports([(where, text)])


def load_reports(texts: Iterable[tuple[str, Content]], *, overlapping: bool = False) -> Report:
    """One report of several files, each with what errors call it: runs that tried other envs, targets or kernels.

    They may only be ``overlapping``, having the same cells, where that is said. Raises StoreError as :func:`load_report` does, and
    where files do not go together.
    """
    parts = [(where, stored_matrix(text, where)) for where, text in texts]
    where = ", ".join(where for where, _ in parts)
    whole = joined(parts, overlapping=overlapping)
    del parts
    return _report(where, whole)


def _report(where: str, matrix: StoredMatrix) -> Report:
    try:
        return _Loading(matrix).report()
    except RecordError as error:
        raise StoreError(str(error), where=where, hint=HINT) from error


@frozen
class _Loading:
    """Records of a file as they become those of a report. Raises RecordError for what does not fit together."""

    matrix: StoredMatrix

    def report(self) -> Report:
        results = self._results()
        existing = self._existing()
        return Report(
            results=results,
            verdicts=verdicts(results, remembered=self._remembered(results), existing=existing),
            envs=tuple(self.envs.values()),
            command=self.matrix.command,
            seconds=self.matrix.seconds,
            existing=existing,
            api=self.matrix.api,
            options=self.matrix.options,
            limits=self.matrix.limits,
            shards=self.matrix.shards,
            earlier=self.matrix.earlier,
            version=self.matrix.tool.version,
            sources={source.path: source.text for source in self.matrix.sources},
            attachments={each.name: each.gzip for each in self.matrix.attachments if enclosed.is_packed(each.gzip)},
            variants=self.matrix.variants,
            helpers=self.matrix.helpers,
            pairs=self.matrix.pairs,
        )

    @cached_property
    def envs(self) -> Mapping[str, BuiltEnv]:
        """By name."""
        for place, env in enumerate(self.matrix.envs):
            _know(env.toolchain, f"envs[{place}]")
        return {env.name: _built(env) for env in self.matrix.envs}

    @cached_property
    def kernels(self) -> Mapping[tuple[str, str, str], StoredKernel]:
        """By kernel, variant and case."""
        for place, each in enumerate(self.matrix.kernels):
            _know(each.toolchain, f"kernels[{place}]")
        return {(each.kernel, each.variant, each.case): each for each in self.matrix.kernels}

    @cached_property
    def targets(self) -> Mapping[str, Target]:
        """By name: as the file has them, else as they are known here."""
        stored = {
            each.name: Target(
                name=each.name,
                backend=each.backend,
                arch=each.arch,
                warp_size=each.warp_size,
                shared_memory=each.shared_memory,
            )
            for each in self.matrix.targets
        }
        return {**toolchains.targets(), **stored}

    def _results(self) -> tuple[Result, ...]:
        specs: dict[tuple[str, str, str, bool], Specialization] = {}
        seen: dict[tuple[str, str, str], set[tuple[str, str]]] = defaultdict(set)
        places: dict[tuple[str, str], tuple[str, str]] = {}
        found: list[Result] = []
        for place, stored in enumerate(self.matrix.cells):
            if stored.env not in self.envs:
                raise RecordError(f"cells[{place}].env: there is no {stored.env!r} in envs")
            named = (stored.kernel, stored.variant, stored.case, stored.guessed)
            if (spec := specs.get(named)) is None:
                spec = specs[named] = self._spec(stored)
            result = _result(stored, spec, self._target(stored.target), self.envs[stored.env])
            where = places.setdefault((stored.target, stored.env), (stored.target, stored.env))
            if where in seen[named[:3]]:
                raise RecordError(f"cells[{place}]: {result.cell.id} is there twice")
            seen[named[:3]].add(where)
            found.append(result)
        return tuple(found)

    def _spec(self, cell: StoredCell) -> Specialization:
        """An older file says nothing of a kernel but its names."""
        unknown = StoredKernel(kernel=cell.kernel, variant=cell.variant, case=cell.case)
        stored = self.kernels.get((cell.kernel, cell.variant, cell.case), unknown)
        return Specialization(
            kernel=stored.kernel,
            variant=stored.variant,
            case=stored.case,
            toolchain=stored.toolchain,
            source=stored.source,
            function=stored.function,
            package=stored.package,
            origin=stored.origin,
            summary=stored.summary,
            compile=stored.compile,
            guessed=cell.guessed,
        )

    def _target(self, name: str) -> Target:
        """An older file says nothing of a target but its name."""
        unknown = Target(name=name, backend="", arch=name, warp_size=0, shared_memory=0)
        return self.targets.get(name, unknown)

    def _existing(self) -> Existing:
        """The releases that exist; an older file names only those that were not tried."""
        if self.matrix.existing:
            return self.matrix.existing
        found = {version for verdict in self.matrix.verdicts for version in (*verdict.not_tried, *verdict.remembered)}
        return {toolchains.DEFAULT.name: tuple(sorted(found))} if found else {}

    def _remembered(self, results: tuple[Result, ...]) -> tuple[Result, ...]:
        """What earlier runs found, as far as the verdicts tell it."""
        cells: dict[Coordinate, Cell] = {}
        for result in results:
            spec, target = result.cell.spec, result.cell.target
            cells.setdefault((spec.kernel, spec.variant, spec.case, target.name), result.cell)
        return tuple(
            _earlier(verdict, version, cell)
            for verdict in self.matrix.verdicts
            if (cell := cells.get((verdict.kernel, verdict.variant, verdict.case, verdict.target)))
            for version in verdict.remembered
        )


def _know(toolchain: str, where: str) -> None:
    if toolchain not in {each.name for each in toolchains.every()}:
        raise RecordError(f"{where}.toolchain: no toolchain called {toolchain!r} is installed here")


def _built(stored: StoredEnv) -> BuiltEnv:
    env = Env(
        name=stored.name,
        toolchain=stored.toolchain,
        release=stored.release,
        torch=stored.torch,
        distribution=stored.distribution or _distribution(stored),
    )
    return BuiltEnv(env=env, python_version=stored.python, packages=stored.packages, error=stored.error, digest=stored.digest)


def _distribution(stored: StoredEnv) -> str:
    """What the toolchain was installed as, where the file does not say it: a fork must not pass for a release."""
    own = toolchains.named(stored.toolchain).distribution
    installed = [package.name for package in stored.packages if package.version == str(stored.release)]
    alike = [name for name in installed if own in name]
    return own if own in installed or not alike else alike[0]


def _result(stored: StoredCell, spec: Specialization, target: Target, built: BuiltEnv) -> Result:
    outcome = Outcome(
        status=stored.status,
        stage=stored.stage,
        failure=_failure(stored.failure) if stored.failure else None,
        flaky=stored.flaky,
        attempts=stored.attempts,
        warnings=stored.warnings,
        metrics=stored.metrics,
        stages=stored.stages,
        seconds=stored.seconds,
        stood_in=stored.stood_in,
    )
    return Result(
        cell=Cell(env=built.env, target=target, spec=spec),
        built=built,
        outcome=outcome,
        expectation=_expectation(stored.expectation, stored) if stored.expectation else None,
        cached=stored.cached,
        numbers=stored.numbers,
        latency=stored.latency,
    )


def _expectation(declared: StoredExpectation, cell: StoredCell) -> Expectation:
    """What was declared. Where a file does not say whether it had to happen, it had not if a cell is ok and expected."""
    strict = not (cell.expected and cell.status is Status.OK and cell.failure is None)
    return _declared(declared, strict if declared.strict is None else declared.strict)


@lru_cache(maxsize=4096)
def _declared(declared: StoredExpectation, strict: bool) -> Expectation:
    return Expectation(status=declared.status, failure_class=declared.class_, reason=declared.reason, strict=strict)


@lru_cache(maxsize=4096)
def _failure(stored: StoredFailure) -> Failure:
    return Failure(
        failure_class=stored.class_,
        stage=stored.stage,
        fingerprint=stored.fingerprint,
        excerpt=stored.excerpt,
        advice=stored.advice,
        pass_=stored.pass_,
        op=stored.op,
        location=stored.location,
        reproducer=stored.reproducer,
        ir=stored.ir,
        prediction=stored.prediction,
    )


# --- earlier runs ----------------------------------------------------------------------------------------------------------------


def _earlier(verdict: StoredVerdict, version: Version, cell: Cell) -> Result:
    """What an earlier run found on a release: what its interval says, nothing certain where it is in none."""
    label = str(version)
    interval = next((each for each in verdict.intervals if _holds(each, version)), None)
    env = Env(name=label, toolchain=cell.spec.toolchain, release=version)
    return Result(
        cell=Cell(env=env, target=cell.target, spec=cell.spec),
        built=BuiltEnv(env=env),
        outcome=_told(interval, deprecated=label in verdict.deprecated) if interval else _UNSTEADY,
        cached=True,
    )


def _told(interval: StoredInterval, *, deprecated: bool) -> Outcome:
    return Outcome(
        status=interval.status,
        stage="",
        failure=_known(interval.class_, interval.fingerprint or "") if interval.class_ is not None else None,
        warnings=(_REMEMBERED,) if deprecated else (),
    )


def _known(failure_class: str, fingerprint: str) -> Failure:
    """A failure of which no more is known."""
    return Failure(failure_class=failure_class, fingerprint=fingerprint, stage="", excerpt="", advice="")


def _holds(interval: StoredInterval, version: Version) -> bool:
    try:
        return Version(interval.first) <= version <= Version(interval.last)
    except InvalidVersion:  # a fork, which stands for itself
        return False
