"""Batches of cells: every cell once, in order, one env per batch, all slots used."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from compat.engine.plan import BATCH_LIMIT, batches, cross, newest_first
from compat.model import Env
from tests.cells import cell, spec
from tests.targets import TARGETS


@given(st.lists(st.integers(1, 100), max_size=5), st.integers(1, 8))
def test_batches_hold_every_cell_once_and_one_env_each(sizes: list[int], slots: int) -> None:
    one = cell(Env(name="e"), "faces", "fine")
    cells = [
        type(one)(env=Env(name=f"e{n}"), target=one.target, spec=one.spec)
        for n, size in enumerate(sizes)
        for _ in range(size)
    ]
    shares = batches(cells, range(len(cells)), slots)
    shared = [
        [cells[position] for position in batch]
        for share in shares.values()
        for batch in share.batches
    ]
    assert [share.cells for share in shares.values()] == [size for size in sizes if size]
    assert [member for batch in shared for member in batch] == cells
    assert all(1 <= len(batch) <= BATCH_LIMIT for batch in shared)
    assert all(len({member.env.name for member in batch}) == 1 for batch in shared)
    for n, size in enumerate(sizes):
        assert sum(batch[0].env.name == f"e{n}" for batch in shared) >= min(size, slots) // 2


def test_cross_goes_env_by_env_and_kernel_by_kernel() -> None:
    envs = [Env(name="a"), Env(name="b")]
    targets = [TARGETS["sm_80"], TARGETS["sm_90"]]
    specs = [spec("faces", "fine"), spec("faces", "looped")]
    assert [cell.id for cell in cross(envs, targets, specs)][:3] == [
        "fine/as_written/only/sm_80/a",
        "fine/as_written/only/sm_90/a",
        "looped/as_written/only/sm_80/a",
    ]
    assert len(cross(envs, targets, specs)) == 8


def test_newest_release_comes_first_then_the_oldest_then_the_others_downwards() -> None:
    releases = ["3.1.0", "3.9.0", "3.10.0", "3.0.0", None]
    envs = [
        Env(name=str(release), release=Version(release) if release else None)
        for release in releases
    ]
    pair = Env(name="pair", release=Version("3.10.0"))
    specs = [spec("faces", "fine"), spec("faces", "looped")]
    cells = cross([*envs, pair], [TARGETS["sm_80"]], specs)
    ordered = newest_first(cells)
    assert [cell.env.name for cell in ordered[::2]] == [
        "3.10.0",
        "pair",
        "3.0.0",
        "3.9.0",
        "3.1.0",
        "None",
    ]
    assert sorted(cell.id for cell in ordered) == sorted(cell.id for cell in cells)
    assert newest_first([]) == ()
