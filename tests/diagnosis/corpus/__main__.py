"""Compile the corpus and tell how well its failures are classified.

    python -m tests.diagnosis.corpus [--targets sm_90,gfx942] [--releases 3.0.0,3.9.0] [--store
    FOLDER] [--show]

Run in a checkout whose releases are built (``nox -s "env(triton-3.9.0)"`` …). What was compiled is
kept in ``.compat/corpus``, so that asking again after a change of the classes compiles nothing.
"""

from __future__ import annotations

import argparse
import os
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from compat.config.matrix import load_matrix
from compat.diagnosis.classify import agree, classify
from compat.engine.plan import batches
from compat.engine.run import concurrently
from compat.envs.record import read_env
from compat.files import folder_digest
from compat.model import BuiltEnv, Cell, Evidence, Result
from compat.store.keys import cell_key
from compat.store.store import Store
from compat.toolchains.triton.failures import KNOWLEDGE
from compat.workers.attempt import DIAGNOSTIC, Limits
from compat.workers.pool import WorkerPool
from compat.workers.spawn import WORKER
from compat.workers.watch import attempt
from tests.diagnosis.corpus import RELEASES, cells
from tests.diagnosis.corpus._kept import keep

ROOT = Path(__file__).parents[3]
LIMITS = Limits(deadline=60, memory=4 << 30)
FRONT_END = ("source", "ast")


class Corpus:
    """The corpus on some releases and targets, compiled and kept.

    Unlike a run of the matrix this does not confirm what the front end refuses: there are
    thousands, and no pass to be named.
    """

    def __init__(self, releases: Sequence[str], targets: Sequence[str], store: Store) -> None:
        config = load_matrix(ROOT / "matrix.toml")
        self.envs = {
            f"triton-{release}": read_env(config.env(f"triton-{release}"), config.env_cache())
            for release in releases
        }
        self.cells, self.store = cells(releases, targets), store
        self.stop = threading.Event()

    def only_failing(self, others: Corpus) -> None:
        """Leave out the kernels that are known to compile wherever the other corpus has tried
        them.
        """
        failing = {_what(result.cell) for result in others.known() if result.outcome.failure}
        self.cells = [cell for cell in self.cells if _what(cell) in failing]

    def known(self) -> tuple[Result, ...]:
        """What was compiled before."""
        return tuple(self._result(cell, evidence) for cell, evidence in self.evidence())

    def evidence(self) -> list[tuple[Cell, tuple[Evidence, ...]]]:
        """The attempts at every cell that was compiled before."""
        keys = {self._key(cell): cell for cell in self.cells}
        return [
            (keys[key], attempts)
            for key, attempts in self.store.read(keys, deadline=0, memory=0).items()
        ]

    def results(self, slots: int) -> tuple[Result, ...]:
        """What becomes of every cell; what was compiled before is read."""
        keys = {self._key(cell): cell for cell in self.cells}
        stored_attempts = self.store.read(keys, deadline=0, memory=0)
        unknown = [cell for key, cell in keys.items() if key not in stored_attempts]
        with WorkerPool() as servers:

            def compile_batch(batch: Sequence[int]) -> None:
                for cell, evidence in self._attempts(
                    [unknown[position] for position in batch], servers
                ):
                    self.store.write(self._key(cell), cell, evidence)

            shares = batches(unknown, range(len(unknown)), slots).values()
            concurrently(
                compile_batch, (batch for share in shares for batch in share.batches), slots
            )
        return self.known()

    def _attempts(
        self, batch: Sequence[Cell], servers: WorkerPool
    ) -> Iterator[tuple[Cell, tuple[Evidence, ...]]]:
        server = servers.of(self.envs[batch[0].env.name])
        for cell, first in list(attempt(server, batch, LIMITS, stop=self.stop)):
            if first.has_binary or (first.answered and first.stage in FRONT_END):
                yield cell, (first,)
                continue
            ((_, second),) = attempt(server, [cell], LIMITS, stop=self.stop, mode=DIAGNOSTIC)
            if agree(first, second, target=cell.target, knowledge=KNOWLEDGE):
                yield cell, (first, second)
            else:
                ((_, third),) = attempt(server, [cell], LIMITS, stop=self.stop, mode=DIAGNOSTIC)
                yield cell, (first, second, third)

    def _key(self, cell: Cell) -> str:
        return cell_key(
            cell,
            self.envs[cell.env.name],
            os.environ.get("COMPAT_CORPUS_WORKER") or folder_digest(WORKER),
        )

    def _result(self, cell: Cell, evidence: tuple[Evidence, ...]) -> Result:
        built: BuiltEnv = self.envs[cell.env.name]
        return Result(
            cell=cell,
            built=built,
            outcome=classify(evidence, target=cell.target, knowledge=KNOWLEDGE),
        )


def _what(cell: Cell) -> tuple[str, str, str]:
    return cell.spec.variant, cell.spec.kernel, cell.spec.case


def print_figures(results: Sequence[Result], show: bool) -> None:
    """Print the figures, and with ``show`` every failure."""
    failures = [(result, failure) for result in results if (failure := result.outcome.failure)]
    statuses = Counter(str(result.outcome.status) for result in results)
    classes = Counter(failure.failure_class for _, failure in failures)
    print(f"{len(results)} cells, {len(failures)} failures: {dict(statuses)}")
    for kind, number in classes.most_common():
        print(f"  {number:6} {kind}")
    print(f"unclassified: {classes['unclassified'] / max(1, len(failures)):.2%}")
    nowhere = sum(failure.stage in FRONT_END and not failure.location for _, failure in failures)
    print(f"front-end failures without a line: {nowhere}")
    if show:
        _show(failures)


def _show(failures: Sequence[tuple[Result, object]]) -> None:
    groups: dict[tuple[str, str, str], dict[str, list[str]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for result, _ in failures:
        failure, spec = result.outcome.failure, result.cell.spec
        assert failure is not None
        description = (
            f"{result.outcome.status} {failure.stage} {failure.pass_ or ''} |"
            f" {' / '.join(failure.excerpt.splitlines()[-2:])}"
        )
        key = (
            failure.failure_class,
            f"{spec.variant}.{spec.kernel}.{spec.case}",
            failure.fingerprint,
        )
        groups[key][description].append(
            f"{result.cell.env.name.removeprefix('triton-')}@{result.cell.target.name}"
        )
    for key in sorted(groups):
        print(" ".join(key))
        for description, where in groups[key].items():
            print(f"    {description[:300]}\n        {' '.join(sorted(where))[:400]}")


def main() -> None:
    """Compile, and tell."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--targets", default="")
    options.add_argument("--releases", default=",".join(RELEASES))
    options.add_argument("--store", type=Path, default=ROOT / ".compat" / "corpus")
    options.add_argument("--slots", type=int, default=2)
    options.add_argument("--only", default="*", help="a glob for FILE.KERNEL.SETTING")
    options.add_argument(
        "--failing", default="", help="only what fails on one of these releases, as far as is known"
    )
    options.add_argument("--known", action="store_true", help="tell of what was compiled before")
    options.add_argument(
        "--keep", action="store_true", help="write what tests need of what was compiled before"
    )
    options.add_argument("--show", action="store_true")
    arguments = options.parse_args()
    targets = tuple(filter(None, arguments.targets.split(",")))
    with Store(arguments.store) as store:
        corpus = Corpus(tuple(arguments.releases.split(",")), targets, store)
        corpus.cells = [
            cell for cell in corpus.cells if fnmatchcase(".".join(_what(cell)), arguments.only)
        ]
        if arguments.failing:
            corpus.only_failing(Corpus(tuple(arguments.failing.split(",")), targets, store))
        if arguments.keep:
            print(f"{keep(corpus.evidence())} captured failures")
        print_figures(
            corpus.known() if arguments.known else corpus.results(arguments.slots), arguments.show
        )


if __name__ == "__main__":
    main()
