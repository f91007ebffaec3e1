"""What a kernel's code loses from one release to the next."""

from __future__ import annotations

from attrs import evolve

from compat.history.account import Entry
from compat.history.running import losses
from tests.records import OK, SHAPE, bad


def entry(release: str, **code: int) -> Entry:
    return Entry(
        release=release, outcome=evolve(OK, metrics={"code": code}) if code else bad(SHAPE)
    )


def test_instructions_that_disappear_or_fall_below_half_are_losses() -> None:
    row = [
        entry("3.1.0", ldmatrix=40, wgmma=8, bar_sync=9),
        entry("3.2.0", ldmatrix=16, wgmma=0, bar_sync=1),
    ]
    assert [loss.sentence for loss in losses(row)] == [
        "fewer ldmatrix in 3.2.0: 40 → 16",
        "lost wgmma in 3.2.0: 8 → 0",
    ]
    assert {loss.since for loss in losses(row)} == {"3.1.0"}


def test_releases_that_do_not_compile_are_skipped() -> None:
    row = [
        entry("3.1.0", wgmma=8),
        entry("3.2.0"),
        Entry(release="3.2.1", tried=False),
        entry("3.3.0", wgmma=0),
    ]
    (loss,) = losses(row)
    assert (loss.since, loss.release) == ("3.1.0", "3.3.0")


def test_fall_to_half_is_no_loss() -> None:
    assert (
        losses(
            [entry("3.1.0", ldmatrix=40), entry("3.2.0", ldmatrix=20), entry("3.3.0", ldmatrix=44)]
        )
        == ()
    )
