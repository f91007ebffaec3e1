"""Boards of made-up libraries."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from compat.board.data import BoardData, BoardIndex, CompiledVersion
from compat.board.declaration import BoardDeclaration
from compat.board.gathering import board_record
from compat.board.record import BoardRecord
from compat.hunt.known_defects import KnownDefect
from compat.model import Result, Status
from compat.report.summary.record import Report
from tests.records import ASSERT, LOST, OK, REMOVED, SHAPE, UNKNOWN_TARGET, bad, env
from tests.report.factory import Fate, always, report, results_of, since

RELEASES = ("3.7.0", "3.8.0", "3.9.0")


def of_library(requirement: str, kernels: Mapping[str, Fate]) -> Report:
    """A report of a library's version, with these kernels."""
    envs = [env(release) for release in RELEASES]
    results = [
        _of_package(result, requirement)
        for kernel, fate in kernels.items()
        for result in results_of(kernel, requirement.replace("==", "-"), fate, envs=envs)
    ]
    return evolve(report(results), options=("--package", requirement))


def _of_package(result: Result, requirement: str) -> Result:
    spec = evolve(result.cell.spec, package=requirement)
    return evolve(result, cell=evolve(result.cell, spec=spec))


REPORTS = {
    "waves==1.0": {"add": always(OK), "blocks": since("3.9.0", bad(REMOVED), OK)},
    "waves==2.0": {
        "add": always(OK),
        "blocks": since("3.8.0", OK, bad(SHAPE)),
        "lost": since("3.9.0", LOST, OK),
        "other": always(bad(UNKNOWN_TARGET, Status.UNSUPPORTED)),
    },
    "rays==0.1": {"cast": since("3.9.0", bad(REMOVED), bad(ASSERT, Status.CRASHED))},
}


def build_record(known_defects: tuple[KnownDefect, ...] = ()) -> BoardRecord:
    index = BoardIndex()
    for requirement in REPORTS:
        name, version = requirement.split("==")
        index = index.with_version(name, version, CompiledVersion(columns={"triton-3.9.0": ()}))
    index = index.with_version("broken", "1.0", CompiledVersion(problem="no wheel"))
    reports = [
        (name, version, of_library(f"{name}=={version}", kernels))
        for (name, _, version), kernels in (
            (requirement.partition("=="), kernels) for requirement, kernels in REPORTS.items()
        )
    ]
    return board_record(reports, index, known_defects)


def keep(board: BoardDeclaration, without: str = "") -> None:
    """Write the reports of the made-up libraries, perhaps without one, as data of a board."""
    data, index = BoardData(board.folder), BoardIndex()
    for requirement, kernels in REPORTS.items():
        if requirement != without:
            name, _, version = requirement.partition("==")
            data.write(name, version, of_library(requirement, kernels))
            compiled = CompiledVersion(columns={"triton-3.9.0": ()})
            index = index.with_version(name, version, compiled)
    data.write_index(index)
