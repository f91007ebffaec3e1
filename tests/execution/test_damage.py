"""A database that is damaged, foreign, newer, locked or not a file.

The store puts it aside and starts a new one, or raises one clear error.
"""

from __future__ import annotations

import os
import random
import resource
import socket
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from compat.errors import CompatError, MachineError, StoreError
from compat.explain import artifact
from compat.model import Evidence
from compat.report.views.explanation import place_of
from compat.store import database
from compat.store.store import Store
from tests.commands import run
from tests.execution.test_store import CELL, EVIDENCE, read
from tests.sqlite import opened, recorded_connections
from tests.together import for_each

Damage = Callable[[Path], object]


def filled(folder: Path, rows: int = 200) -> Path:
    """Writes a store with rows on many pages, and returns the path of its database."""
    with Store(folder) as store:
        for number in range(rows):
            store.write(f"k{number}", CELL, (evolve(EVIDENCE, imported=("x" * 2000,)),))
    return folder / "results.sqlite"


def _truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 + 100)


def _scramble(path: Path) -> None:
    data, chance = bytearray(path.read_bytes()), random.Random(7)
    for _ in range(20_000):
        data[chance.randrange(100, len(data))] ^= 0xFF
    path.write_bytes(data)


def _as_another_programs(path: Path) -> None:
    path.unlink()
    with opened(path) as other:
        other.execute("CREATE TABLE notes (text TEXT)")
        other.execute("INSERT INTO notes VALUES ('mine')")
    other.close()


def _with_other_columns(path: Path) -> None:
    path.unlink()
    with opened(path) as other:
        other.execute("CREATE TABLE evidence (id INTEGER PRIMARY KEY, text TEXT)")
    other.close()


def _with_a_table_whose_name_is_no_text(path: Path) -> None:
    _replace(path, b"tablelaunchedlaunched", b"table\xffaunchedlaunched")


def _with_a_column_whose_name_is_no_text(path: Path) -> None:
    _replace(path, b"CREATE TABLE evidence (key", b"CREATE TABLE evidence (\xffey")


def _replace(path: Path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))


def _as_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "something").write_text("of the user's")


def _as_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _as_a_link_in_a_circle(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


DAMAGES: dict[str, Damage] = {
    "no magic number": lambda path: path.write_bytes(b"SQLite format 4\0" + path.read_bytes()[16:]),
    "text": lambda path: path.write_text("this is no database, " * 100),
    "truncated": _truncate,
    "a header alone": lambda path: os.truncate(path, 100),
    "scrambled": _scramble,
    "another program's": _as_another_programs,
    "other columns": _with_other_columns,
    "a table's name": _with_a_table_whose_name_is_no_text,
    "a column's name": _with_a_column_whose_name_is_no_text,
    "a folder": _as_a_folder,
    "a pipe": _as_a_pipe,
    "a link in a circle": _as_a_link_in_a_circle,
    "a folder for a log": lambda path: path.with_name("results.sqlite-wal").mkdir(),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_or_foreign_database_is_put_aside_and_replaced(
    tmp_path: Path, damage: Damage
) -> None:
    path = filled(tmp_path)
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "triton-3.1.0.json").write_text("{}")
    damage(path)
    messages: list[str] = []
    with Store(tmp_path, messages.append) as store:
        read(store, *(f"k{number}" for number in range(200)))
        store.write("new", CELL, (EVIDENCE,))
        assert read(store, "new") == {"new": (EVIDENCE,)}
    (aside,) = [
        entry
        for entry in tmp_path.glob("results.sqlite.damaged-*")
        if not entry.name.endswith(("-wal", "-shm"))
    ]
    (message,) = messages
    assert aside.name in message
    assert (tmp_path / "envs" / "triton-3.1.0.json").exists()
    with Store(tmp_path, messages.append) as again:
        assert read(again, "new") == {"new": (EVIDENCE,)}
    assert len(messages) == 1, "said once"


def test_database_that_is_put_aside_keeps_its_content(tmp_path: Path) -> None:
    _as_another_programs(filled(tmp_path))
    Store(tmp_path).close()
    (aside,) = tmp_path.glob("results.sqlite.damaged-*")
    with opened(aside) as other:
        assert other.execute("SELECT text FROM notes").fetchall() == [("mine",)]
    other.close()


def test_store_continues_after_damage_during_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[str] = []
    path = filled(tmp_path)
    connections = recorded_connections(monkeypatch)
    with Store(tmp_path, messages.append) as store:
        with opened(path) as other:
            other.execute("DROP TABLE evidence")
        other.close()
        store.write("after", CELL, (EVIDENCE,))
        assert read(store, "after", "k1") == {"after": (EVIDENCE,)}
        connections[-1].execute("PRAGMA wal_checkpoint(TRUNCATE)")
        path.write_bytes(b"\0" * 40960)
        connections[-1].execute("PRAGMA cache_size = 0")
        read(store, *(f"k{number}" for number in range(300)))
        store.write("later", CELL, (EVIDENCE,))
        assert "later" in read(store, "later")
    with Store(tmp_path) as again:
        assert "later" in read(again, "later")


def test_rows_survive_a_log_of_garbage(tmp_path: Path) -> None:
    path = filled(tmp_path)
    path.with_name("results.sqlite-wal").write_bytes(os.urandom(100_000))
    with Store(tmp_path) as store:
        store.write("new", CELL, (EVIDENCE,))
        assert set(read(store, "k0", "k199", "new")) == {"k0", "k199", "new"}


@pytest.mark.parametrize("layout", [1, 99])
def test_database_of_another_layout_is_an_error_and_stays_unchanged(
    tmp_path: Path, layout: int
) -> None:
    path = tmp_path / "results.sqlite"
    with opened(path) as other:
        other.execute("CREATE TABLE evidence_2 (key TEXT)")
        other.execute(f"PRAGMA user_version = {layout}")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=f"layout {layout}") as caught:
        Store(tmp_path)
    assert "Use the triton-compat that wrote it" in (caught.value.hint or "")
    assert path.read_bytes() == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["artifacts", "results.sqlite"]


@for_each(
    "readings",
    [None, "", "[]", "[7]", '[{"stderr": 7}]', '[{"diagnosis": {"op": []}}]', b"\xff", 17],
)
def test_damaged_readings_are_read_again(tmp_path: Path, readings: object) -> None:
    path = filled(tmp_path, 1)
    with opened(path) as other:
        other.execute("UPDATE evidence SET readings = ?", (readings,))
    other.close()
    with Store(tmp_path) as store:
        (evidence,) = read(store, "k0")["k0"]
    assert evidence.stderr == EVIDENCE.printed


def test_error_says_that_the_database_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = filled(tmp_path, 3)
    monkeypatch.setattr(database, "TIMEOUT", 0.1)
    with Store(tmp_path) as store, opened(path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked") as caught:
            store.write("k", CELL, (EVIDENCE,))
        other.execute("ROLLBACK")
    other.close()
    assert "Another program" in (caught.value.hint or "")
    assert not list(tmp_path.glob("*.damaged-*"))


@pytest.mark.parametrize("place", ["the folder", "the artifacts"])
def test_file_in_place_of_a_folder_is_a_store_error(tmp_path: Path, place: str) -> None:
    folder = tmp_path / ".compat"
    wrong = folder if place == "the folder" else folder / "artifacts"
    wrong.parent.mkdir(exist_ok=True)
    wrong.write_text("not a folder")
    with pytest.raises(StoreError) as caught:
        Store(folder)
    assert str(folder) in str(caught.value)
    assert "--store" not in (caught.value.hint or "")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
@pytest.mark.parametrize("mode", [0o500, 0o000])
def test_folder_without_permission_is_a_store_error(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "store"
    filled(folder)
    folder.chmod(mode)
    try:
        with pytest.raises(StoreError) as caught, Store(folder) as store:
            store.write("k", CELL, (EVIDENCE,))
        assert "writable" in (caught.value.hint or "")
    finally:
        folder.chmod(0o700)
    assert not list(folder.glob("*.damaged-*"))


def test_read_only_database_is_a_store_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path)
    connections = recorded_connections(monkeypatch)
    with Store(tmp_path) as store:
        # SQLite treats this like a read-only file, also for root.
        connections[-1].execute("PRAGMA query_only = 1")
        with pytest.raises(StoreError, match="cannot save") as caught:
            store.write("k", CELL, (EVIDENCE,))
    assert "writable" in (caught.value.hint or "")
    assert not list(tmp_path.glob("*.damaged-*"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nul\0l",
        "null",
        "[]",
        "{}",
        "[" * 100_000,
        '[{"answered": "false"}]',
        '[{"answered": 1}]',
        '[{"answered": true, "seconds": NaN}]',
        '[{"answered": true, "seconds": 1e999}]',
        '[{"answered": true, "memory": ' + "9" * 5000 + "}]",
        '[{"answered": true, "stage": "../../etc"}]',
        '[{"answered": true, "stage": ["ast"]}]',
        '[{"answered": true, "raised": [["a", "b"]]}]',
        '[{"answered": true, "metrics": 5}]',
        '[{"answered": true, "at": 7}]',
        '[{"answered": true, "quoted": ["a"]}]',
        b"\xff\xfe",
        None,
        17,
    ],
)
def test_row_that_no_version_has_written_counts_as_absent(tmp_path: Path, text: object) -> None:
    path = filled(tmp_path, 2)
    with opened(path) as other:
        other.execute("UPDATE evidence SET attempts = ? WHERE key = 'k0'", (text,))
    other.close()
    with Store(tmp_path) as store:
        assert set(read(store, "k0", "k1")) == {"k1"}


def test_row_whose_text_is_not_utf_8_counts_as_absent(tmp_path: Path) -> None:
    path = filled(tmp_path, 2)
    with opened(path) as other:
        other.execute("UPDATE evidence SET attempts = CAST(x'ff' AS TEXT) WHERE key = 'k0'")
    other.close()
    with Store(tmp_path) as store:
        assert set(read(store, "k0", "k1")) == {"k1"}


def test_unusual_evidence_is_read_back_with_surrogates_escaped(tmp_path: Path) -> None:
    odd = Evidence(
        answered=True, stderr="\x1b[31m \0 \ud800 \u202e 😀", metrics={"shared": 1, "x": {"y": 2.5}}
    )
    with Store(tmp_path) as store:
        store.write("k", CELL, (odd,))
        (back,) = read(store, "k")["k"]
    assert back == evolve(odd, stderr="\x1b[31m \0 \\ud800 \u202e 😀")


def test_stores_that_find_the_same_damage_put_it_aside_once(tmp_path: Path) -> None:
    path = filled(tmp_path)
    path.write_text("this is no database, " * 100)
    messages: list[str] = []
    stores: list[Store] = []
    with ExitStack() as opened_stores:
        threads = [
            threading.Thread(
                target=lambda: stores.append(
                    opened_stores.enter_context(Store(tmp_path, messages.append))
                )
            )
            for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number, store in enumerate(stores):
            store.write(f"n{number}", CELL, (EVIDENCE,))
        for store in stores:
            assert len(read(store, *(f"n{number}" for number in range(6)))) == 6
    assert len(messages) == 1


def test_deleted_cut_or_replaced_artifacts_count_as_absent(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        name = store.keep(".mlir", b"module {}")
        assert store.artifact(name) == b"module {}"
        path = store.artifacts / name
        path.write_bytes(b"module")
        assert store.artifact(name) is None
        assert store.keep(".mlir", b"module {}") == name
        assert store.artifact(name) == b"module {}"
        path.unlink()
        assert store.artifact(name) is None
        os.mkfifo(path)
        assert store.artifact(name) is None
        assert store.artifact("../results.sqlite") is None
        assert store.artifact("\0") is None


def test_store_opens_despite_a_socket_in_place_of_the_database(tmp_path: Path) -> None:
    # A socket's path has to be short.
    folder = Path(f"/tmp/compat-test-{os.getpid()}-{time.monotonic_ns()}")
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "results.sqlite"))
        messages: list[str] = []
        Store(folder, messages.append).close()
    assert len(messages) == 1
    for entry in sorted(folder.rglob("*"), reverse=True):
        entry.rmdir() if entry.is_dir() else entry.unlink()
    folder.rmdir()


def test_explain_says_that_an_artifact_is_gone(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        name = store.keep(".mlir", b"module {}")
        assert place_of(artifact(name, store)) == str(store.artifacts / name)
        (store.artifacts / name).write_bytes(b"module")
        assert "deleted" in place_of(artifact(name, store))


def test_a_command_says_once_that_it_put_a_database_aside_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").write_text(
        'schema = 1\nkernels = ["k.toml"]\nenv = [{ triton = "3.1.0", groups = ["default"]'
        ' }]\n[defaults]\ntargets = ["sm_90"]\n'
    )
    (tmp_path / "k.toml").write_text(
        'schema = 1\nkernel = "k"\nsource = "k.py"\n[signature]\nx = "*fp32"\n[[case]]\nname ='
        ' "c"\n[[variant]]\nname = "v"\nfunction = "kernel"\n'
    )
    (tmp_path / "k.py").write_text("def kernel(x): pass\n")
    (tmp_path / ".compat").mkdir()
    (tmp_path / ".compat" / "results.sqlite").write_text("this is no database, " * 100)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    ran = run("matrix", "--no-build", cwd=tmp_path, env=environment)
    assert ran.returncode == 1, ran.stdout + ran.stderr  # the env is not built
    assert ran.stderr.count("results.sqlite.damaged-") == 1
    assert "Traceback" not in ran.stderr
    again = run("matrix", "--no-build", cwd=tmp_path, env=environment)
    assert "damaged" not in again.stderr


def test_store_waits_for_a_database_that_others_switch_to_wal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two connections can switch a file to WAL at the same time.

    SQLite then reports at once that the file is locked, whatever its timeout.
    """
    connect, tries = sqlite3.connect, list[str]()

    class Locked(sqlite3.Connection):
        """Fails twice to switch to WAL."""

        def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
            if "journal_mode" in sql:
                tries.append(sql)
                if len(tries) <= 2:
                    error = sqlite3.OperationalError("database is locked")
                    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
                    raise error
            return super().execute(sql, *parameters)

    monkeypatch.setattr(sqlite3, "connect", partial(connect, factory=Locked))
    with Store(tmp_path) as store:
        store.write("k", CELL, (EVIDENCE,))
        assert len(read(store, "k")) == 1
    assert len(tries) == 3


@pytest.mark.parametrize(
    ("code", "limit", "expected"),
    [
        (sqlite3.SQLITE_IOERR_SHMMAP, 200 << 20, MachineError),
        (sqlite3.SQLITE_IOERR_SHMMAP, resource.RLIM_INFINITY, StoreError),
        (sqlite3.SQLITE_IOERR_NOMEM, resource.RLIM_INFINITY, MachineError),
        (sqlite3.SQLITE_IOERR_WRITE, 200 << 20, StoreError),
    ],
)
def test_lack_of_memory_is_a_machine_error_and_not_a_store_error(
    code: int,
    limit: int,
    expected: type[CompatError],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SQLite reports an I/O error of a kind that occurs under `ulimit -v`."""

    def connect(*_: object, **__: object) -> sqlite3.Connection:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = code
        raise error

    monkeypatch.setattr(sqlite3, "connect", connect)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    with pytest.raises(expected, match="cannot open the results: disk I/O error") as caught:
        Store(tmp_path)
    says_limit = "RLIMIT_AS allows a process" in str(caught.value)
    assert says_limit is (expected is MachineError and limit != resource.RLIM_INFINITY)
