"""Artifacts that a store knows to be elsewhere: what is fetched, what counts of what comes, and what is said of the rest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from attrs import evolve

from compat.execution.artifacts import name_of
from compat.execution.elsewhere import Elsewhere, Fetched, Lacking
from compat.execution.merging import merge_store
from compat.execution.obtaining import obtain, obtain_or_warn
from compat.execution.store import Store
from compat.model import Evidence
from compat.reduce.reproducers import write_reproducers
from tests.execution.test_store import CELL
from tests.reduce.test_passes import IR, WHOLE
from tests.report.factory import PASS, always, bad, env, tried
from tests.sqlite import opened

TEXT = b"module {}"
NAME = name_of(".mlir", TEXT)
LEFT = Elsewhere(name=NAME, digest=hashlib.sha256(TEXT).hexdigest(), size=len(TEXT), host="node7", scheduler="tcp://s:1")


class Cluster:
    """Fetches what it has."""

    def __init__(self, **has: bytes) -> None:
        self.has, self.asked = has, list[str]()

    def __call__(self, wanted: Sequence[Elsewhere]) -> Iterator[Fetched]:
        for each in {each.name: each for each in wanted}.values():
            self.asked.append(each.name)
            found = self.has.get(each.host)
            yield each, Lacking(known=each, why="it is gone") if found is None else found


def test_what_is_fetched_stays(tmp_path: Path) -> None:
    cluster = Cluster(node7=TEXT)
    with Store(tmp_path, fetch=cluster) as store:
        store.add_elsewhere([LEFT, evolve(LEFT, scheduler="tcp://t:1")])
        assert store.artifact(NAME) is None
        for _ in range(2):
            assert obtain(store, [NAME, None, "0123.mlir", NAME]) == ()
            assert store.artifact(NAME) == TEXT
    assert cluster.asked == [NAME]


@pytest.mark.parametrize(("came", "why"), [(b"module {} ", "what came is not what its hash says"), (None, "it is gone")])
def test_what_is_not_what_was_kept_does_not_count(tmp_path: Path, came: bytes | None, why: str) -> None:
    heard: list[str] = []
    with Store(tmp_path, heard.append, fetch=Cluster(**{"node7": came} if came else {})) as store:
        store.add_elsewhere([LEFT])
        (lacking,) = obtain(store, [NAME])
        assert (lacking.known, lacking.why, lacking.asked) == (LEFT, why, True)
        assert store.artifact(NAME) is None
        obtain_or_warn(store, [NAME], "the report")
    assert heard == [f"the report lacks {NAME} (9 bytes), left on node7, a worker's machine of tcp://s:1: {why}"]


def test_without_a_way_to_fetch_it_is_said_where_it_is(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add_elsewhere([LEFT])
        (lacking,) = obtain(store, [NAME])
        assert not lacking.asked
        assert "left on node7" in lacking.words


def test_what_is_too_large_is_left(tmp_path: Path) -> None:
    cluster = Cluster(node7=TEXT)
    with Store(tmp_path, fetch=cluster) as store:
        store.add_elsewhere([LEFT])
        assert obtain(store, [NAME], largest=8) == ()
    assert cluster.asked == []


def test_records_that_no_version_has_written_do_not_count(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add_elsewhere([LEFT, evolve(LEFT, host="b", digest="../x"), evolve(LEFT, host="c", digest="0" * 64)])
        store.add_elsewhere([evolve(LEFT, host="d", name="../x")])
        with opened(tmp_path / "results.sqlite") as file:
            file.execute("INSERT INTO elsewhere VALUES (?, 'e', 's', ?, 'many')", (NAME, LEFT.digest))
        file.close()
        assert store.elsewhere([NAME, "../x"]) == [LEFT]


def test_a_store_of_a_version_without_them(tmp_path: Path) -> None:
    for name in ("mine", "theirs"):
        with Store(tmp_path / name) as store:
            store.write("k", CELL, (Evidence(answered=False, kept={"printed": NAME}),))
            assert store.elsewhere([NAME]) == []
        with opened(tmp_path / name / "results.sqlite") as file:
            file.execute("DROP TABLE elsewhere")
        file.close()
    with Store(tmp_path / "mine") as store:
        assert merge_store(tmp_path / "theirs", store).known == 1
        store.add_elsewhere([LEFT])
        assert store.elsewhere([NAME]) == [LEFT]


def test_merging_takes_over_where_it_is(tmp_path: Path) -> None:
    """And counts as missing only what nobody knows of."""
    with Store(tmp_path / "theirs") as theirs:
        theirs.write("k", CELL, (Evidence(answered=False, kept={"printed": NAME, "reproducer": "0123456789abcdef.mlir"}),))
        theirs.add_elsewhere([LEFT])
    with Store(tmp_path / "mine") as mine:
        merged = merge_store(tmp_path / "theirs", mine)
        assert (merged.new, merged.artifacts) == (1, 1)
        assert mine.elsewhere([NAME]) == [LEFT]


def test_reproducers_are_fetched_to_be_cut_down(tmp_path: Path) -> None:
    texts = {"a": WHOLE.format(pipeline="builtin.module(a,b)").encode(), "b": IR.encode()}
    left = [
        Elsewhere(name=name_of(".mlir", text), digest=hashlib.sha256(text).hexdigest(), size=len(text), host=host, scheduler="s")
        for host, text in texts.items()
    ]
    failure = evolve(PASS, pass_="b", reproducer=left[0].name, ir=left[1].name)
    results = tried("z", "v", always(bad(failure)), envs=[env("3.9.0")])
    heard: list[str] = []
    for has, count in ((Cluster(**texts), 1), (Cluster(a=texts["a"]), 0)):
        with Store(tmp_path / str(count), heard.append, fetch=has) as store:
            store.add_elsewhere(left)
            written = write_reproducers(results[:1], store, tmp_path / f"{count}.py")
        assert [path.suffix for path in written] == [".mlir"] * count
    assert len(heard) == 1
    assert f"what is written lacks {left[1].name} (" in heard[0]
