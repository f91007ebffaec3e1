"""Evidence that outlives its process, and keys that change exactly when a result may."""

from __future__ import annotations

import multiprocessing
import sqlite3
import threading
from pathlib import Path

import pytest
from attrs import evolve
from packaging.version import Version

from compat.config.targets import TARGETS
from compat.errors import StoreError
from compat.model import BuiltEnv, Diagnosis, Env, Evidence, Noticed, Raised
from compat.store import Store, cell_key, folder_digest
from tests.cells import cell

ENV = Env(name="triton-3.1.0", triton=Version("3.1.0"))
BUILT = BuiltEnv(env=ENV, python="/env/bin/python", digest="d1")
CELL = cell(ENV, "faces", "fine")
EVIDENCE = Evidence(
    answered=True,
    built=False,
    alone=True,
    stage="ttgir",
    entered=0.25,
    raised=(Raised(type="RuntimeError", message="PassManager::run failed"),),
    stderr="error: …",
    seconds=0.5,
    stages={"import": 0.1, "ast": 0.2},
    metrics={"shared": 1024, "artifacts": {"ttir": 10}},
    warnings=(Noticed(type="DeprecationWarning", message="old"),),
    diagnosis=Diagnosis(pass_="tritongpu-coalesce", op="tt.load", location="k.py:3", reproducer="a.mlir"),
    protocol=("odd",),
)


def read(store: Store, *keys: str, deadline: float = 60, memory: int = 1 << 32) -> dict[str, tuple[Evidence, ...]]:
    return store.read(keys, deadline=deadline, memory=memory)


def test_evidence_comes_back_as_it_was(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.write("k", CELL, (EVIDENCE, Evidence(answered=False, signal="SIGABRT")))
    with Store(tmp_path / "s") as again:
        assert read(again, "k", "other") == {"k": (EVIDENCE, Evidence(answered=False, signal="SIGABRT"))}


def test_more_keys_than_one_query_takes(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        for number in range(1203):
            store.write(f"k{number}", CELL, (evolve(EVIDENCE, seconds=float(number)),))
        found = read(store, *(f"k{number}" for number in range(1203)))
    assert {key: attempts[0].seconds for key, attempts in found.items()} == {f"k{n}": float(n) for n in range(1203)}


def test_what_a_wider_limit_could_change_is_tried_again(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.write("slow", CELL, (Evidence(answered=False, deadline=10.0), Evidence(answered=False, deadline=2.0)))
        store.write("fat", CELL, (Evidence(answered=False, memory=1 << 30),))
        assert set(read(store, "slow", "fat", deadline=10, memory=1 << 30)) == {"slow", "fat"}
        assert set(read(store, "slow", "fat", deadline=11, memory=1 << 30)) == {"fat"}
        assert set(read(store, "slow", "fat", deadline=10, memory=1 << 34)) == {"slow"}


def test_rows_of_another_form_are_as_good_as_absent(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.write("k", CELL, (EVIDENCE,))
    with sqlite3.connect(tmp_path / "results.sqlite") as database:
        database.execute("UPDATE evidence SET attempts = ?", ('[{"no": "answer"}]',))
    database.close()
    with Store(tmp_path) as store:
        assert read(store, "k") == {}


@pytest.mark.parametrize(
    "change",
    [
        lambda c: evolve(c, spec=evolve(c.spec, closure="other")),
        lambda c: evolve(c, spec=evolve(c.spec, function="other")),
        lambda c: evolve(c, spec=evolve(c.spec, signature={**c.spec.signature, "size": "i64"})),
        lambda c: evolve(c, spec=evolve(c.spec, constexprs={"BLOCK": 64})),
        lambda c: evolve(c, spec=evolve(c.spec, constexprs={"BLOCK": True})),
        lambda c: evolve(c, spec=evolve(c.spec, divisible_by_16=())),
        lambda c: evolve(c, spec=evolve(c.spec, equal_to_1=("size",))),
        lambda c: evolve(c, spec=evolve(c.spec, options={"num_warps": 8})),
        lambda c: evolve(c, target=TARGETS["sm_80"]),
    ],
)
def test_the_key_depends_on_all_that_a_result_depends_on(change: object) -> None:
    assert callable(change)
    assert cell_key(change(CELL), BUILT, "w") != cell_key(CELL, BUILT, "w")


def test_the_key_depends_on_env_and_worker_and_not_on_names(tmp_path: Path) -> None:
    key = cell_key(CELL, BUILT, "w")
    assert cell_key(CELL, evolve(BUILT, digest="d2"), "w") != key
    assert cell_key(CELL, BUILT, "v") != key
    renamed = evolve(CELL, spec=evolve(CELL.spec, kernel="k", variant="v", case="c", summary="s", origin="elsewhere.toml"))
    assert cell_key(renamed, evolve(BUILT, env=evolve(ENV, name="n")), "w") == key


def test_the_worker_digest_covers_its_files(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1")
    before = folder_digest(tmp_path)
    folder_digest.cache_clear()
    (tmp_path / "a.py").write_text("2")
    assert folder_digest(tmp_path) != before
    folder_digest.cache_clear()


def _write_many(folder: Path, start: int) -> None:
    with Store(folder) as store:
        for number in range(start, start + 50):
            store.write(f"k{number}", CELL, (EVIDENCE,))


def test_several_processes_and_threads_write_at_once(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        context = multiprocessing.get_context("spawn")
        processes = [context.Process(target=_write_many, args=(tmp_path, start)) for start in (0, 50)]
        for process in processes:
            process.start()

        def write(start: int) -> None:
            for n in range(start, start + 50):
                store.write(f"k{n}", CELL, (EVIDENCE,))

        threads = [threading.Thread(target=write, args=(start,)) for start in (100, 150)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for process in processes:
            process.join()
            assert process.exitcode == 0
        assert len(read(store, *(f"k{n}" for n in range(200)))) == 200


def test_artifacts_are_kept_once_under_their_content(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        name = store.keep(".mlir", b"module {}")
        assert store.keep(".mlir", b"module {}") == name
        assert name.endswith(".mlir")
        assert (store.artifacts / name).read_bytes() == b"module {}"
        assert [path.name for path in store.artifacts.iterdir()] == [name]


def test_a_foreign_file_is_refused_with_advice(tmp_path: Path) -> None:
    (tmp_path / "results.sqlite").write_text("this is no database, " * 100)
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        Store(tmp_path)
    assert caught.value.hint
    assert str(tmp_path) in str(caught.value)


def test_a_store_of_a_later_layout_is_left_alone(tmp_path: Path) -> None:
    Store(tmp_path).close()
    with sqlite3.connect(tmp_path / "results.sqlite") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(StoreError, match="layout 99"):
        Store(tmp_path)


def test_a_full_disk_is_an_error_that_keeps_what_was_finished(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.write("before", CELL, (EVIDENCE,))
        (pages,) = store._database.execute("PRAGMA page_count").fetchone()
        store._database.execute(f"PRAGMA max_page_count = {pages}")  # what a full disk looks like from here
        with pytest.raises(StoreError, match="could not be kept"):
            store.write("more", CELL, (evolve(EVIDENCE, stderr="x" * 100_000),))
    with Store(tmp_path) as again:
        assert read(again, "before") == {"before": (EVIDENCE,)}
