"""The records of a repro: the request, the facts that an issue states, and the result."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from compat import toolchains
from compat.bundle.bundle import Bundle
from compat.diagnosis.failure_class import Blame
from compat.history.account import class_of, is_good
from compat.history.verdict import NONE_KNOWN, Existing, Verdict, release_of, verdicts
from compat.model import BuiltEnv, Cell, Failure, Result, Status, Target
from compat.model.outcome import cell_document
from compat.report.summary.compact import natural
from compat.text import JsonObject

INLINE = 40_000
"""Characters of a reproducer that still go into an issue, which may have 65,536."""


@frozen(kw_only=True)
class ReproFinding:
    """A failing cell, and the facts that its issue states."""

    name: str
    """The name of the files, without suffix."""
    title: str
    cell: Cell
    """The cell of the extracted kernel, in the env that it is reported for."""
    built: BuiltEnv
    bundle: Bundle
    results: tuple[Result, ...]
    """The results of the extracted kernel in every env and for every target of the table."""
    original: tuple[Result, ...]
    """The results of the original kernel in every env of the table, for the cell's target. The
    issue states their history.
    """
    earlier_results: tuple[Result, ...] = ()
    """The results of earlier runs on other releases."""
    existing: Existing = NONE_KNOWN
    """Every existing release."""
    message: str
    """The compiler's message."""
    text: str
    """The script."""
    output: str
    """The output of the script in the cell's env."""
    command: str
    fixed: str = ""
    """The smallest edit that makes it compile, as a diff."""
    fixed_but: str = ""
    """The releases where it fails even with the edit."""
    fixed_notes: tuple[str, ...] = ()
    """The assumptions of the edit, or its changes to the meaning of the kernel."""
    reproducer: str = ""
    """The MLIR reproducer."""

    @property
    def result(self) -> Result:
        """The result of the cell itself."""
        return next(result for result in self.results if result.cell == self.cell)

    @property
    def failure(self) -> Failure:
        """The failure of the cell."""
        failure = self.result.outcome.failure
        assert failure is not None, "only what fails is reported"
        return failure

    @property
    def toolchain(self) -> str:
        """The title of the toolchain."""
        return toolchains.of(self.cell.env).title

    @property
    def own_error(self) -> bool:
        """Whether the compiler is right to refuse the kernel: then there is no bug to report."""
        return (
            toolchains.known_class(self.failure).blame is Blame.KERNEL
            and self.result.outcome.status is Status.REJECTED
            and not self.is_lapse
        )

    @property
    def is_lapse(self) -> bool:
        """Whether releases before and after this one compile the kernel."""
        column = self.targets.index(self.cell.target.name)
        marks = [(release, row[column].outcome.status is Status.OK) for release, row in self.rows]
        place = [release for release, _ in marks].index(release_of(self.result.built).label)
        return any(ok for _, ok in marks[:place]) and any(ok for _, ok in marks[place:])

    @property
    def reproducer_inline(self) -> bool:
        """Whether the reproducer fits into the issue."""
        return len(self.reproducer) <= INLINE

    @property
    def targets(self) -> tuple[str, ...]:
        """The columns of the table."""
        return tuple(sorted({result.cell.target.name for result in self.results}, key=natural))

    @property
    def rows(self) -> tuple[tuple[str, tuple[Result, ...]], ...]:
        """Each release with its results, oldest first.

        If a release has several envs, the env that the failure is reported for counts, or else the
        first one.
        """
        ordered = sorted(
            self.results,
            key=lambda result: (
                release_of(result.built).order,
                result.cell.env.name != self.cell.env.name,
            ),
        )
        rows: dict[str, dict[str, Result]] = {}
        for result in ordered:
            rows.setdefault(release_of(result.built).label, {}).setdefault(
                result.cell.target.name, result
            )
        return tuple(
            (release, tuple(row[target] for target in self.targets))
            for release, row in rows.items()
        )

    @property
    def verdict(self) -> Verdict:
        """The verdict on the original kernel over all releases, for the cell's target."""
        (verdict,) = verdicts(
            self.original, remembered=self.earlier_results, existing=self.existing
        )
        return verdict

    @property
    def differing(self) -> tuple[tuple[str, str, str], ...]:
        """The releases in which the shown kernel differs from the original, with both outcomes.

        The original's outcome comes first.
        """
        shown = {
            result.cell.env.name: result
            for result in self.results
            if result.cell.target == self.cell.target
        }
        pairs = [
            (original, shown[original.cell.env.name])
            for original in self.original
            if original.cell.env.name in shown
        ]
        ordered = sorted(pairs, key=lambda pair: release_of(pair[0].built).order)
        outcomes = [
            (release_of(one.built).label, self.fate(one), self.fate(other))
            for one, other in ordered
        ]
        return tuple(dict.fromkeys(outcome for outcome in outcomes if outcome[1] != outcome[2]))

    def fate(self, result: Result) -> str:
        """The outcome of a cell with respect to this failure."""
        if is_good(result.outcome):
            return "ok"
        return (
            "this failure" if self.same(result) else f"another failure ({class_of(result.outcome)})"
        )

    def same(self, result: Result) -> bool:
        """Whether a result has the same failure, by its fingerprint."""
        failure = result.outcome.failure
        return failure is not None and failure.fingerprint == self.failure.fingerprint

    def good_releases(self) -> list[str]:
        """Releases that compile it for the cell's target."""
        column = self.targets.index(self.cell.target.name)
        return [release for release, row in self.rows if is_good(row[column].outcome)]


@frozen(kw_only=True)
class ReproRequest:
    """The input of :func:`compat.repro.writing.write_repro`."""

    cell: Cell
    """The failing cell."""
    targets: tuple[Target, ...]
    """Columns of the issue's table, the cell's own target included."""
    bundle: Bundle | None = None
    """A smaller kernel with the same failure. ``None``: the cell's own."""
    earlier_results: tuple[Result, ...] = ()
    """Results of earlier runs on releases without an environment in the context."""
    existing: Existing = NONE_KNOWN
    """Existing releases."""
    root: Path
    """The project's folder, which keeps answers of package indexes."""
    folder: Path
    """Where files are written."""
    name: str = ""
    """Name of the files without suffix. Empty: made from the cell."""
    portable: bool = False
    """Write a script that runs on every release, not only on the cell's."""
    command: str = "compat repro"
    """The command line that the issue names as its origin."""


@frozen(kw_only=True)
class WrittenRepro:
    """The files of a verified repro."""

    finding: ReproFinding
    """The failure and its places."""
    paths: tuple[Path, ...]
    """The files."""

    @property
    def cell(self) -> Cell:
        """The failing cell."""
        return self.finding.result.cell


@frozen(kw_only=True)
class UnverifiedCell:
    """A cell whose script did not show the failure. Only evidence was written."""

    cell: Cell
    """The cell."""
    reasons: tuple[str, ...]
    """The differences from the expected results, such as those of the script in some env."""
    evidence: Path
    """The file with the evidence."""


def name_of(cell: Cell) -> str:
    """The name of the files about a cell: ``sel_dense-as_written-d64-sm_90-3.9.0``."""
    return cell.id.replace(f"/{cell.env.toolchain}-", "/").replace("/", "-")


def outcome_document(outcome: WrittenRepro | UnverifiedCell, command: str) -> JsonObject:
    """The written files and the cell that they are about, or why no repro was written, as JSON.

    The reasons come with the path of the evidence. ``command`` repeats the repro for this cell
    alone.
    """
    if isinstance(outcome, WrittenRepro):
        finding = outcome.finding
        files = [str(path) for path in outcome.paths]
        return {
            "verified": True,
            "title": finding.title,
            "files": files,
            "cell": cell_document(finding.result),
            "command": command,
        }
    return {
        "verified": False,
        "reasons": list(outcome.reasons),
        "evidence": str(outcome.evidence),
        "command": command,
    }
