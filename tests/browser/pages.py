"""The reports whose pages the tests open, by name."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from attrs import evolve

from compat.report.document import dump, enclosing, matrix_document
from compat.report.loading import load_report
from compat.report.summary.record import Report
from compat.report.views.tune import record_of_answer
from tests.records import OK, RELEASES, TARGETS, env
from tests.report import factory
from tests.report.hostile import ATTACK, hostile
from tests.report.naming import naming
from tests.report.synthetic import TARGETS as ALL_TARGETS
from tests.report.synthetic import synthetic
from tests.tune.test_answers import measured

REAL = Path(__file__).parent / "fixtures" / "releases.json.gz"
"""The report of ``compat matrix --envs releases`` on this repository's own kernels."""


@cache
def real() -> Report:
    """The report of a real run over all releases."""
    return load_report(gzip.decompress(REAL.read_bytes()), REAL.name)


@cache
def large() -> Report:
    """A report with 20,000 cells."""
    return synthetic(20_000)


@cache
def various() -> Report:
    """A report with everything that can occur."""
    return evolve(synthetic(2_400), api=naming())


def few_alike() -> Report:
    """A report with everything that can occur, and few names and charts that are alike.

    Outcomes depend on the target only for these two targets.
    """
    return evolve(synthetic(960, ALL_TARGETS[:3:2]), api=naming(many=10))


def run() -> Report:
    """A report of kernels that compile and ran.

    One variant is unstable on one release, and another variant is slower on another release.
    """
    return factory.report(factory.checked_matrix(), existing=("3.0.0",))


def suspected() -> Report:
    """A report with a cell that compiles, and is likely slower than on the previous release."""
    return factory.report(factory.suspected_matrix())


def tuned() -> Report:
    """Two kernels were tuned over all releases on an H100, as in ``tests/tune/measured.json``."""
    envs = [env(release) for release in RELEASES]
    names = [("layer_norm", "whole_row", "n16384"), ("sel_varlen", "broadcast_2d", "few")]
    results = [
        result
        for kernel, variant, case in names
        for result in factory.results_of(
            kernel, variant, factory.always(OK), envs=envs, cases=[case], targets=TARGETS[1:2]
        )
    ]
    records = [
        evolve(
            record_of_answer(measured(f"{kernel}/{variant}/{case}")),
            kernel=kernel,
            variant=variant,
            workload=case,
        )
        for kernel, variant, case in names
    ]
    return evolve(factory.report(results), tuned=tuple(records))


def attacking() -> Report:
    """A report from a file that somebody sent. Every text in it is an attack."""
    with tempfile.TemporaryDirectory() as folder:
        report = evolve(hostile(Path(folder)), api=naming(ATTACK, many=0))
        report = enclosing(report, _text, lambda name: None if name == "constructor" else ATTACK)
    return load_report(dump(matrix_document(report)))


def _text(path: str) -> str | None:
    return (
        Path(path).read_text(encoding="utf-8", errors="replace") if Path(path).is_file() else None
    )


REPORTS: Mapping[str, Callable[[], Report]] = {
    "real": real,
    "large": large,
    "various": various,
    "few_alike": few_alike,
    "run": run,
    "suspected": suspected,
    "tuned": tuned,
    "two_toolchains": factory.two_toolchains,
    "attacking": attacking,
}
