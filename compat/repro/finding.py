"""What is known of a failure once it has been looked at everywhere: the record that the text of an issue is made from."""

from __future__ import annotations

from attrs import frozen

from compat import toolchains
from compat.bundle.bundle import Bundle
from compat.diagnosis.failure_class import Blame
from compat.history.verdict import NONE_KNOWN, Existing, Verdict, class_of, is_good, release_of, verdicts
from compat.model import BuiltEnv, Cell, Failure, Result, Status
from compat.report.compact import natural

INLINE = 40_000
"""Characters of a reproducer that still go into an issue, which may have 65,536."""


@frozen(kw_only=True)
class Finding:
    """A failing cell, and all that its issue says."""

    name: str
    """Of the files, without suffix."""
    title: str
    cell: Cell
    """The kernel on its own, in the env that it is reported for."""
    built: BuiltEnv
    bundle: Bundle
    results: tuple[Result, ...]
    """The kernel on its own in every env and for every target of the table."""
    original: tuple[Result, ...]
    """The kernel as it was found, in every env of the table and for the cell's target: its history is the one that is told."""
    remembered: tuple[Result, ...] = ()
    """What earlier runs found of it on other releases."""
    existing: Existing = NONE_KNOWN
    """Releases that are known to exist."""
    words: str
    """What the compiler says."""
    text: str
    """The script."""
    output: str
    """What it printed in the cell's env."""
    command: str
    fixed: str = ""
    """The smallest edit that makes it compile, as a diff."""
    fixed_but: str = ""
    """Where it does not compile even so."""
    fixed_notes: tuple[str, ...] = ()
    """What that edit takes for granted, or changes in what the kernel does."""
    reproducer: str = ""
    """The MLIR reproducer."""

    @property
    def result(self) -> Result:
        """What became of the cell itself."""
        return next(each for each in self.results if each.cell == self.cell)

    @property
    def failure(self) -> Failure:
        """Why."""
        failure = self.result.outcome.failure
        assert failure is not None, "only what fails is reported"
        return failure

    @property
    def toolchain(self) -> str:
        """What a reader calls the toolchain."""
        return toolchains.of(self.cell.env).title

    @property
    def own_error(self) -> bool:
        """Whether the compiler is right to refuse the kernel: then there is no bug to report."""
        return (
            toolchains.failure_classes()[self.failure.failure_class].blame is Blame.KERNEL
            and self.result.outcome.status is Status.REJECTED
        )

    @property
    def reproducer_inline(self) -> bool:
        """Whether the reproducer fits into the issue."""
        return len(self.reproducer) <= INLINE

    @property
    def targets(self) -> tuple[str, ...]:
        """The columns of the table."""
        return tuple(sorted({each.cell.target.name for each in self.results}, key=natural))

    @property
    def rows(self) -> tuple[tuple[str, tuple[Result, ...]], ...]:
        """Release and its results, oldest first; of several envs of a release the one that it is reported for, else the first."""
        ordered = sorted(self.results, key=lambda each: (release_of(each.built).order, each.cell.env.name != self.cell.env.name))
        rows: dict[str, dict[str, Result]] = {}
        for each in ordered:
            rows.setdefault(release_of(each.built).label, {}).setdefault(each.cell.target.name, each)
        return tuple((release, tuple(row[target] for target in self.targets)) for release, row in rows.items())

    @property
    def verdict(self) -> Verdict:
        """What the releases together say of the original kernel, for the cell's target."""
        (found,) = verdicts(self.original, remembered=self.remembered, existing=self.existing)
        return found

    @property
    def differing(self) -> tuple[tuple[str, str, str], ...]:
        """Releases in which the kernel that is shown differs from the original: the original's outcome, and its own."""
        shown = {each.cell.env.name: each for each in self.results if each.cell.target == self.cell.target}
        pairs = [(each, shown[each.cell.env.name]) for each in self.original if each.cell.env.name in shown]
        ordered = sorted(pairs, key=lambda pair: release_of(pair[0].built).order)
        found = [(release_of(one.built).label, self.fate(one), self.fate(other)) for one, other in ordered]
        return tuple(dict.fromkeys(each for each in found if each[1] != each[2]))

    def fate(self, result: Result) -> str:
        """The outcome of a cell with respect to this failure."""
        if is_good(result.outcome):
            return "ok"
        return "this failure" if self.same(result) else f"another failure ({class_of(result.outcome)})"

    def same(self, result: Result) -> bool:
        """Whether a result is this very failure."""
        failure = result.outcome.failure
        return failure is not None and failure.fingerprint == self.failure.fingerprint

    def good_releases(self) -> list[str]:
        """Releases that compile it for the cell's target."""
        column = self.targets.index(self.cell.target.name)
        return [release for release, row in self.rows if is_good(row[column].outcome)]
