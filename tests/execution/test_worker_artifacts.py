"""The folder of artifacts on a worker's machine: what is in it is whole, and stays within a size."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from compat.errors import EnvError
from compat.execution.executors.base import CellAttempts
from compat.execution.executors.dask import worker_artifacts as module
from compat.execution.executors.dask.worker_artifacts import WorkerArtifacts, staying, worker_artifacts
from compat.model import Evidence


def artifacts(folder: Path, budget: int = 1000, spare: int = 0) -> WorkerArtifacts:
    return WorkerArtifacts(folder=folder, budget=budget, spare=spare)


def data(number: int, size: int = 100) -> bytes:
    return bytes([number]) * size


def aged(mine: WorkerArtifacts, digest: str, seconds: float) -> None:
    os.utime(mine.folder / digest[:2] / digest, (seconds, seconds))


def test_what_is_kept_is_found_by_its_hash(tmp_path: Path) -> None:
    mine = artifacts(tmp_path / "not" / "there" / "yet")
    digest = mine.keep(b"text")
    assert digest == hashlib.sha256(b"text").hexdigest()
    assert mine.has(digest)
    assert mine.read(digest) == b"text"
    other = hashlib.sha256(b"other").hexdigest()
    assert not mine.has(other)
    assert mine.read(other) is None
    assert mine.keep(b"text") == digest
    assert (mine.folder / "taken").read_text() == "4"


def test_what_was_used_least_recently_makes_room(tmp_path: Path) -> None:
    """One that was fetched stays, and so does one that was made again."""
    mine = artifacts(tmp_path)
    kept = [mine.keep(data(number)) for number in range(10)]
    digests = [digest for digest in kept if digest]
    assert len(digests) == 10
    for number, digest in enumerate(digests):
        aged(mine, digest, 1000.0 + number)
    assert mine.read(digests[0]) == data(0)
    assert mine.keep(data(1)) == digests[1]
    new = mine.keep(data(10))
    assert new
    assert [mine.has(digest) for digest in digests] == [True, True, False, *[True] * 7]
    assert sum(path.stat().st_size for path in tmp_path.glob("*/*")) <= 1000


def test_what_others_removed_does_not_count(tmp_path: Path) -> None:
    mine = artifacts(tmp_path)
    for number in range(10):
        mine.keep(data(number))
    for path in list(tmp_path.glob("*/*"))[:5]:
        path.unlink()
    before = {path.name for path in tmp_path.glob("*/*")}
    new = mine.keep(data(10))
    assert {path.name for path in tmp_path.glob("*/*")} == before | {new}
    (tmp_path / "taken").write_text("nonsense")
    assert mine.keep(data(11))
    assert (tmp_path / "taken").read_text() == "700"


def test_what_is_larger_than_all_is_not_kept(tmp_path: Path) -> None:
    assert artifacts(tmp_path).keep(data(0, 1001)) is None
    assert not tmp_path.exists() or not list(tmp_path.glob("*/*"))


def test_what_is_damaged_is_removed(tmp_path: Path) -> None:
    mine = artifacts(tmp_path)
    digest = mine.keep(b"text") or ""
    (tmp_path / digest[:2] / digest).write_bytes(b"tent")
    with pytest.raises(ValueError, match="damaged"):
        mine.read(digest)
    assert not mine.has(digest)
    assert mine.keep(b"text") == digest
    assert mine.read(digest) == b"text"


def test_several_at_once_stay_within_the_size(tmp_path: Path) -> None:
    mine = artifacts(tmp_path)

    def some(first: int) -> None:
        for number in range(first, first + 20):
            mine.keep(data(number))

    threads = [threading.Thread(target=some, args=(first,)) for first in (0, 20, 40, 60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = list(tmp_path.glob("*/*"))
    assert 0 < sum(path.stat().st_size for path in found) <= 1000
    assert all(hashlib.sha256(path.read_bytes()).hexdigest() == path.name for path in found)


def attempts(*texts: bytes) -> tuple[CellAttempts, ...]:
    made = {f"{hashlib.sha256(text).hexdigest()[:16]}.mlir": text for text in texts}
    return (CellAttempts(position=0, attempts=(Evidence(answered=False),), artifacts=made),)


@pytest.mark.parametrize("spare", [0, 40 << 10])
def test_what_a_full_disk_does_not_take_comes_back(full: Path, monkeypatch: pytest.MonkeyPatch, spare: int) -> None:
    """Whether it is seen beforehand that there is no room, or only by the write that fails."""
    monkeypatch.setattr(module, "worker_artifacts", lambda: artifacts(full, 1 << 20, spare))
    if not spare:
        monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1 << 30))
    texts = [data(number, 20_000) for number in range(5)]
    (told,) = staying(attempts(*texts), 1000)
    stayed = {record.digest: record.size for record in told.elsewhere}
    assert 0 < len(stayed) < 4
    assert len(told.artifacts) == 5 - len(stayed)
    assert set(told.artifacts.values()) | {artifacts(full).read(digest) for digest in stayed} == set(texts)
    assert {path.name for path in full.glob("*/*")} == stayed.keys(), "nothing half-written is left"


def test_only_what_is_larger_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(module.FOLDER, str(tmp_path))
    (told,) = staying(attempts(b"short", b"longer"), 5)
    assert list(told.artifacts.values()) == [b"short"]
    assert [(record.name[:16], record.size) for record in told.elsewhere] == [(hashlib.sha256(b"longer").hexdigest()[:16], 6)]
    (none,) = staying(attempts(b"short"), 5)
    assert none.elsewhere == ()


def test_the_environment_of_the_worker_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = worker_artifacts({"COMPAT_WORKER_ARTIFACTS": str(tmp_path), "COMPAT_WORKER_ARTIFACTS_SIZE": "1 MiB"})
    assert (mine.folder, mine.budget) == (tmp_path, 1 << 20)
    usual = worker_artifacts({"HOME": str(tmp_path)})
    assert (usual.folder.name, usual.budget) == ("worker-artifacts", 4 << 30)
    with pytest.raises(EnvError, match="COMPAT_WORKER_ARTIFACTS_SIZE: 4GB is not a size"):
        worker_artifacts({"COMPAT_WORKER_ARTIFACTS_SIZE": "4GB"})
    monkeypatch.setenv("COMPAT_WORKER_ARTIFACTS_SIZE", "4GB")
    (told,) = staying(attempts(b"longer"), 5)
    assert list(told.artifacts.values()) == [b"longer"], "everything comes back"
