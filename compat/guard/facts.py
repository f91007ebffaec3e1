"""The facts for a guard: whether each variant works on a release and target, in all its cases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from attrs import Factory, frozen
from packaging.version import Version

from compat import toolchains
from compat.config.selection import nothing_matches, select_specs
from compat.errors import SelectionError
from compat.history.account import Entry, class_of
from compat.history.verdict import Coordinate, Point, entries_of, points_of, release_of
from compat.model import Outcome, Specialization, Status
from compat.report.summary.compact import natural
from compat.report.summary.record import Report
from compat.text import group_by_key
from compat.toolchains.base import Guarding, Toolchain

WORKS = ""
"""The state of a variant that works. The state of a variant that does not work is the reason."""
T = TypeVar("T")
U = TypeVar("U")
Table = Mapping[str, Mapping[str, Mapping[str, T]]]
"""Kernel → variant → target → a row about its releases."""
States = Mapping[str, str]
"""Release → :data:`WORKS`, or the reason why not. An unknown release is missing."""


@frozen(kw_only=True)
class Request:
    """The input of :func:`compat.guard.make_guard`."""

    kernels: tuple[str, ...] = ()
    """Names of kernels, or globs. Empty: all."""
    variants: tuple[str, ...] = ()
    """Names of variants, or globs. Empty: all."""
    cases: tuple[str, ...] = ()
    """Names of cases, or globs. Empty: all."""
    prefer: tuple[str, ...] = ()
    """Variants, best first. The others follow in the order of their declaration."""
    policy: str = ""
    """Assumption for what was not tested, one of :attr:`Guarding.policies`. Empty: the first."""


@frozen(kw_only=True)
class GuardFacts:
    """The releases and targets on which the variants of kernels work, in all of their cases."""

    releases: tuple[str, ...]
    """The releases with facts and the existing ones between them, oldest first; then the forks."""
    targets: Mapping[str, tuple[str, int | str]]
    """Name → backend and architecture."""
    kernels: Table[States] = Factory(dict)
    """Kernel → variant, in order of preference → target → its states."""

    @property
    def rows(self) -> Iterator[States]:
        """The states of all variants on all targets."""
        for variants in self.kernels.values():
            for places in variants.values():
                yield from places.values()

    def row(self, kernel: str, variant: str, target: str) -> States:
        """Return the states of a variant on a target; empty if there are none."""
        return self.kernels.get(kernel, {}).get(variant, {}).get(target, {})


def convert_rows(table: Table[T], convert: Callable[[T], U]) -> dict[str, dict[str, dict[str, U]]]:
    """Return a table with each row converted."""
    return {
        kernel: {
            variant: {target: convert(row) for target, row in places.items()}
            for variant, places in variants.items()
        }
        for kernel, variants in table.items()
    }


def guarding_of(toolchain: Toolchain) -> Guarding:
    """Return a toolchain's support for guards. Raises SelectionError if it has none."""
    if toolchain.language.guarding is None:
        raise SelectionError(
            f"guards for kernels of {toolchain.title} are not supported",
            hint="Choose other kernels with --kernel.",
        )
    return toolchain.language.guarding


def toolchain_of(report: Report, request: Request) -> Toolchain:
    """Return the one toolchain of the chosen kernels. Raises SelectionError for none or several."""
    names = {spec.toolchain for spec in _requested_specs(report, request)}
    if len(names) > 1:
        hint = "Choose the kernels of one toolchain with --kernel, and write a guard for each."
        raise SelectionError(
            f"the chosen kernels are of several toolchains: {', '.join(sorted(names))}", hint=hint
        )
    if not names:
        raise SelectionError("the report has no kernels", hint="Compile some with `compat matrix`.")
    return toolchains.look_up(names.pop())


def find_facts(report: Report, request: Request, toolchain: Toolchain) -> GuardFacts:
    """Return the facts of a report about the chosen kernels of a toolchain.

    A variant works on a release if all of its cases are good there, deprecated or not, in every env
    that gave an answer. It does not work if a case fails, would fail in a launch, computed wrong
    numbers, or had different answers. Otherwise its state is unknown. Raises SelectionError for a
    name or glob that matches nothing.
    """
    specs = _requested_specs(report, request)
    _check_preferred(specs, request.prefer)
    states = _by_coordinate(report)
    kernels = {
        kernel: _variants(report, kernel, specs, states, request)
        for kernel in dict.fromkeys(spec.kernel for spec in specs)
    }
    rows = [places for variants in kernels.values() for places in variants.values()]
    known_releases = {release for places in rows for row in places.values() for release in row}
    targets_tried = {target for places in rows for target in places}
    targets = {
        target.name: target
        for result in report.results
        if (target := result.cell.target).toolchain == toolchain.name
    }
    return GuardFacts(
        releases=_in_order(report, known_releases, toolchain),
        targets={
            name: (targets[name].backend, targets[name].arch)
            for name in sorted(targets_tried, key=natural)
        },
        kernels=kernels,
    )


def _requested_specs(report: Report, request: Request) -> tuple[Specialization, ...]:
    return select_specs(report.specs, request.kernels, request.variants, request.cases)


def _check_preferred(specs: Sequence[Specialization], prefer: Sequence[str]) -> None:
    variants = dict.fromkeys(spec.variant for spec in specs)
    for name in prefer:
        if name not in variants:
            raise nothing_matches("variant", name, variants)


def _variants(
    report: Report,
    kernel: str,
    specs: Sequence[Specialization],
    states: Mapping[Coordinate, Sequence[States]],
    request: Request,
) -> dict[str, dict[str, States]]:
    """Return the facts about a kernel's variants, in order of preference."""
    cases = group_by_key((spec.variant, spec.case) for spec in specs if spec.kernel == kernel)
    order = (*request.prefer, *report.variants.get(kernel, ()), *cases)
    return {
        variant: _targets(kernel, variant, cases[variant], states)
        for variant in dict.fromkeys(order)
        if variant in cases
    }


def _targets(
    kernel: str, variant: str, cases: Collection[str], states: Mapping[Coordinate, Sequence[States]]
) -> dict[str, States]:
    places = {target for one, other, _, target in states if (one, other) == (kernel, variant)}
    return {
        target: _together(
            [
                row
                for case in dict.fromkeys(cases)
                for row in states.get((kernel, variant, case, target), [{}])
            ]
        )
        for target in sorted(places, key=natural)
    }


def _together(rows: Sequence[States]) -> States:
    """Return the joint state of several cases by release. All of them must work.

    A release is missing if no case fails on it, and the state of a case is unknown.
    """
    states: dict[str, str] = {}
    for release in {release for row in rows for release in row}:
        reasons = [row[release] for row in rows if row.get(release, WORKS) != WORKS]
        if reasons or all(release in row for row in rows):
            states[release] = reasons[0] if reasons else WORKS
    return states


def _by_coordinate(report: Report) -> Mapping[Coordinate, Sequence[States]]:
    """Return the states of each coordinate by release, forks included.

    Different kernels with the same name have separate states. Releases that only earlier runs
    tested are unknown, because the report has no numbers of them.
    """
    states: dict[Coordinate, list[States]] = defaultdict(list)
    for verdict in report.verdicts:
        states[verdict.coordinate].append(dict(_states(verdict.entries)))
    for coordinate, results in report.by_coordinate.items():
        points = points_of(results)
        forks = entries_of([point for point in points if point.release.fork])
        wrong = dict(_wrong(points))
        states[coordinate] = [
            {
                release: state or wrong.get(release, WORKS)
                for release, state in {**row, **dict(_states(forks))}.items()
            }
            for row in states[coordinate]
        ]
    return states


def _wrong(points: Iterable[Point]) -> Iterator[tuple[str, str]]:
    """Yield each release with wrong numbers, and their reason."""
    for point in points:
        for result in point.answers:
            if (check := result.numbers.decisive) and check.right is False:
                device = f"on {check.device}" if check.device else "in the interpreter"
                yield point.release.label, f"{check.status} {device}"


def _states(entries: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    for entry in entries:
        if entry.remembered:
            continue
        if entry.unsteady:
            yield entry.release, "its answers differ"
        elif entry.outcome is not None and entry.is_known:
            yield entry.release, WORKS if entry.good else _reason(entry.outcome)


def _reason(outcome: Outcome) -> str:
    failure = outcome.failure
    predicted = failure is not None and failure.prediction and outcome.status is not Status.WRONG
    word = "a launch would fail" if predicted else str(outcome.status)
    return f"{word}: {class_of(outcome)}" if failure else word


def _in_order(
    report: Report, known_releases: Collection[str], toolchain: Toolchain
) -> tuple[str, ...]:
    """Return the known releases and the existing ones between them, oldest first, then forks."""
    plain = sorted((release for release in known_releases if not is_fork(release)), key=Version)
    own = {
        release_of(result.built).label
        for result in report.results
        if result.cell.env.toolchain == toolchain.name
    }
    own |= {str(version) for version in report.existing.get(toolchain.name, ())}
    line = [release for release in report.line if release in own]
    between = {
        release
        for release in line
        if plain and Version(plain[0]) < Version(release) < Version(plain[-1])
    }
    forks = sorted(filter(is_fork, known_releases), key=natural)
    return (*sorted({*plain, *between}, key=Version), *forks)


def is_fork(release: str) -> bool:
    """Whether a label is that of a fork: ``3.1.0+ours``, ``their-triton 3.1.0``."""
    return "+" in release or " " in release
