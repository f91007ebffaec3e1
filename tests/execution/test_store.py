"""Evidence that outlives its process, and keys that change exactly when a result can."""

from __future__ import annotations

import multiprocessing
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from packaging.version import Version

from compat.errors import StoreError
from compat.files import folder_digest
from compat.model import (
    BuiltEnv,
    Cell,
    CompletedAction,
    Diagnosis,
    Env,
    Evidence,
    Problem,
    RaisedException,
    StageOutput,
    ToolchainWarning,
)
from compat.source.closure import read_source
from compat.store.keys import cell_key
from compat.store.store import Store
from compat.toolchains import DEFAULT
from compat.workers.attempt import INTERPRETING, PLAIN, Compile, Mode
from compat.workers.spawn import NUMERICS, STANDIN
from tests.cells import KERNELS, POINTERS, cell
from tests.sqlite import opened, recorded_connections
from tests.targets import TARGETS
from tests.together import for_each

ENV = Env(name="triton-3.1.0", release=Version("3.1.0"))
BUILT = BuiltEnv(env=ENV, python="/env/bin/python", digest="d1")
CELL = cell(ENV, "faces", "fine")
PROBLEM = Problem(source="/p.py", function="problem", dtype="fp32", parameters={"size": 7})
EVIDENCE = Evidence(
    answered=True,
    requested=("compile", "launch"),
    done=(
        CompletedAction(
            do="compile", outputs={"ttir": StageOutput(size=7, digest="0" * 16)}, requires=("cuda",)
        ),
    ),
    alone=True,
    stage="ttgir",
    entered=0.25,
    raised=(RaisedException(type="RuntimeError", message="PassManager::run failed"),),
    printed="k.py:3:1: error: 'tt.load' op …",
    in_flight="/k/k.py:3",
    in_passes=True,
    quoted={"/k/k.py:3": "    x"},
    artifacts={"reproducer": "a.mlir"},
    stderr="k.py:3:1: error: 'tt.load' op …",
    seconds=0.5,
    stages={"source": 0.1, "ast": 0.2},
    metrics={"shared": 1024, "artifacts": {"ttir": 10}},
    warnings=(ToolchainWarning(type="DeprecationWarning", message="old"),),
    diagnosis=Diagnosis(
        pass_="tritongpu-coalesce", op="tt.load", location="k.py:3", reproducer="a.mlir"
    ),
    protocol=("odd",),
)


def read(
    store: Store, *keys: str, deadline: float = 60, memory: int = 1 << 32
) -> dict[str, tuple[Evidence, ...]]:
    return store.read(keys, deadline=deadline, memory=memory)


def test_evidence_is_read_back_as_written(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.write("k", CELL, (EVIDENCE, Evidence(answered=False, signal="SIGABRT")))
    with Store(tmp_path / "s") as again:
        assert read(again, "k", "other") == {
            "k": (EVIDENCE, Evidence(answered=False, signal="SIGABRT"))
        }


def test_more_keys_are_read_than_one_query_takes(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        for number in range(1203):
            store.write(f"k{number}", CELL, (evolve(EVIDENCE, seconds=float(number)),))
        evidence = read(store, *(f"k{number}" for number in range(1203)))
    assert {key: attempts[0].seconds for key, attempts in evidence.items()} == {
        f"k{n}": float(n) for n in range(1203)
    }


def test_rows_that_a_wider_limit_could_change_are_not_read(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.write(
            "slow",
            CELL,
            (Evidence(answered=False, deadline=10.0), Evidence(answered=False, deadline=2.0)),
        )
        store.write("fat", CELL, (Evidence(answered=False, memory=1 << 30),))
        assert set(read(store, "slow", "fat", deadline=10, memory=1 << 30)) == {"slow", "fat"}
        assert set(read(store, "slow", "fat", deadline=11, memory=1 << 30)) == {"fat"}
        assert set(read(store, "slow", "fat", deadline=10, memory=1 << 34)) == {"slow"}


def test_rows_of_another_form_count_as_absent(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.write("k", CELL, (EVIDENCE,))
    with opened(tmp_path / "results.sqlite") as database:
        database.execute("UPDATE evidence SET attempts = ?", ('[{"no": "answer"}]',))
    database.close()
    with Store(tmp_path) as store:
        assert read(store, "k") == {}


def with_changes(**changes: Any) -> Callable[[Cell], Cell]:
    """A function that changes fields of a cell's ``compile``."""
    return lambda cell: evolve(
        cell, spec=evolve(cell.spec, compile=evolve(cell.spec.compile, **changes))
    )


@for_each(
    "change",
    [
        lambda c: evolve(c, spec=evolve(c.spec, closure="other")),
        lambda c: evolve(c, spec=evolve(c.spec, function="other")),
        with_changes(signature={**POINTERS, "size": "i64"}),
        with_changes(constexprs={"BLOCK": 64}),
        with_changes(constexprs={"BLOCK": True}),
        with_changes(divisible_by_16=()),
        with_changes(equal_to_1=("size",)),
        with_changes(pointer_range_32=("source",)),
        with_changes(constexprs={"BLOCK": (128,)}),
        with_changes(constexprs={"BLOCK": {"function": "f"}}),
        with_changes(options={"num_warps": 8}),
        lambda c: evolve(c, target=TARGETS["sm_80"]),
        lambda c: evolve(c, target=evolve(c.target, shared_memory=1)),
    ],
)
def test_the_key_depends_on_all_that_a_result_depends_on(change: object) -> None:
    assert callable(change)
    assert cell_key(change(CELL), BUILT, "w") != cell_key(CELL, BUILT, "w")


def test_the_key_depends_on_env_and_worker_and_not_on_names(tmp_path: Path) -> None:
    key = cell_key(CELL, BUILT, "w")
    assert cell_key(CELL, evolve(BUILT, digest="d2"), "w") != key
    assert cell_key(CELL, BUILT, "v") != key
    renamed = evolve(
        CELL,
        spec=evolve(
            CELL.spec, kernel="k", variant="v", case="c", summary="s", origin="elsewhere.toml"
        ),
    )
    assert cell_key(renamed, evolve(BUILT, env=evolve(ENV, name="n")), "w") == key


def test_the_key_depends_on_variables_and_on_the_files_that_they_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ptxas, mir = tmp_path / "ptxas", tmp_path / "mir"
    mir.mkdir()
    steps: tuple[Callable[[], object], ...] = (
        lambda: None,
        lambda: monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "0"),
        lambda: monkeypatch.setenv("TRITON_PTXAS_PATH", str(ptxas)),
        lambda: ptxas.write_text("one"),
        lambda: ptxas.write_text("another"),
        lambda: monkeypatch.setenv("TRITON_SWAP_MIR", str(mir)),
        lambda: (mir / "kernel.txt").write_text("one"),
        lambda: (mir / "kernel.txt").write_text("another"),
    )
    keys = set[str]()
    for step in steps:
        step()
        keys.add(cell_key(CELL, BUILT, "w"))
    assert len(keys) == len(steps)


@pytest.mark.parametrize(
    ("mode", "folders"), [(PLAIN, STANDIN), (INTERPRETING, (*STANDIN, NUMERICS))]
)
def test_key_depends_on_every_folder_of_code_that_runs_in_the_env(
    mode: Mode, folders: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = set[str]()
    for edited in (None, DEFAULT.adapter, *folders):
        digests = {edited: "edited"}
        monkeypatch.setattr(
            "compat.store.keys.folder_digest",
            lambda folder, digests=digests: digests.get(folder, "as before"),
        )
        keys.add(cell_key(CELL, BUILT, "w", mode))
    assert len(keys) == 2 + len(folders)


def test_key_depends_on_the_mode() -> None:
    assert cell_key(CELL, BUILT, "w", Mode()) == cell_key(CELL, BUILT, "w")
    keeping = (Compile(keep_ir=True),)
    modes = (
        Mode(),
        Mode(actions=(Compile(ir="a.ttir"),), action_files={"a.ttir": b"module {}"}),
        Mode(actions=keeping),
        Mode(actions=keeping, stages=("ttir",)),
        Mode(actions=keeping, stages=("ttir",), tells_problem=True),
        Mode(variables={"MLIR_ENABLE_TIMING": "1"}),
    )
    solved = evolve(CELL, spec=evolve(CELL.spec, problem=PROBLEM))
    assert len({cell_key(solved, BUILT, "w", mode) for mode in modes}) == len(modes)


@for_each(
    "change",
    [
        lambda c: evolve(c, spec=evolve(c.spec, closure="other:relevant")),
        lambda c: evolve(c, spec=evolve(c.spec, function="other")),
        lambda c: evolve(c, spec=evolve(c.spec, problem=PROBLEM)),
        with_changes(signature={**POINTERS, "size": "i64"}),
        with_changes(launch={"size": 1}),
        with_changes(constexprs={"BLOCK": 64}),
    ],
)
def test_key_of_an_interpreter_depends_on_the_whole_source_and_the_problem(
    change: Callable[[Cell], Cell],
) -> None:
    cell_there = evolve(CELL, spec=evolve(CELL.spec, closure="all:relevant"))

    def key(cell: Cell, env: BuiltEnv = BUILT) -> str:
        return cell_key(cell, env, "w", INTERPRETING)

    assert key(change(cell_there)) != key(cell_there)
    assert key(cell_there, evolve(BUILT, digest="d2")) != key(cell_there)
    assert key(evolve(cell_there, target=TARGETS["sm_80"])) == key(cell_there)


def test_key_does_not_depend_on_the_folder_of_the_project(tmp_path: Path) -> None:
    keys = []
    for name in ("here", "there"):
        folder = tmp_path / name
        shutil.copytree(KERNELS, folder / "kernels")
        env = evolve(BUILT, python=str(folder / ".nox" / "bin" / "python"))
        source = folder / "kernels" / "faces.py"
        moved = evolve(
            CELL, spec=evolve(CELL.spec, source=str(source), closure=read_source(source).closure)
        )
        keys.append(cell_key(moved, env, "w"))
    assert keys[0] == keys[1] == cell_key(CELL, BUILT, "w")


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
        processes = [
            context.Process(target=_write_many, args=(tmp_path, start)) for start in (0, 50)
        ]
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


def test_full_disk_is_a_store_error_and_keeps_earlier_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections = recorded_connections(monkeypatch)
    with Store(tmp_path) as store:
        store.write("before", CELL, (EVIDENCE,))
        (pages,) = connections[-1].execute("PRAGMA page_count").fetchone()
        # SQLite treats this like a full disk.
        connections[-1].execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match="cannot save"):
            store.write("more", CELL, (evolve(EVIDENCE, stderr="x" * 100_000),))
    with Store(tmp_path) as again:
        assert read(again, "before") == {"before": (EVIDENCE,)}
