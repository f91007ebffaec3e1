"""Several processes with results in one folder.

One of them compiles each cell, and a process that is killed blocks no other.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compat import interruption
from compat.engine.run import run
from compat.files import folder_digest
from compat.interruption import Stopped
from compat.model import BuiltEnv, Status
from compat.store.keys import CellKeys, Claims
from compat.store.store import Store
from compat.workers.spawn import WORKER
from tests.cells import cell, context_of
from tests.claiming import holder

KEY, OTHER = "ab" * 32, "cd" * 32


def test_claim_of_a_key_is_exclusive_until_its_process_is_killed(tmp_path: Path) -> None:
    messages: list[str] = []
    mine = Claims(tmp_path, messages.append)
    with holder(tmp_path, KEY) as other:
        assert (mine.take(KEY), mine.take(OTHER)) == (False, True)
        assert (mine.holder(KEY), mine.holder(OTHER)) == (other.pid, None)
        mine.name_holder(KEY)
        mine.name_holder(KEY)
        mine.name_holder(OTHER)
        assert len(messages) == 1
        assert messages[0].startswith(f"waiting for process {other.pid} (-c ")
        other.kill()
        other.wait()
        assert (mine.holder(KEY), mine.take(KEY)) == (None, True)
    mine.close()


def test_released_and_closed_claims_are_free_for_other_processes(tmp_path: Path) -> None:
    mine = Claims(tmp_path, print)
    assert mine.take(KEY)
    assert mine.take(OTHER)
    mine.release(KEY)
    with holder(tmp_path, KEY):
        assert not mine.take(KEY)
    mine.close()
    with holder(tmp_path, KEY, OTHER):
        pass


def test_key_is_taken_without_a_lock_where_locking_is_impossible(tmp_path: Path) -> None:
    claims = Claims(tmp_path / "absent", print)
    assert (claims.take(KEY), claims.holder(KEY)) == (True, None)
    claims.release(KEY)


def test_waiting_for_several_keys_stops_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[str] = []
    mine = Claims(tmp_path, messages.append)
    with holder(tmp_path, OTHER) as other:
        monkeypatch.setattr(interruption, "REQUESTED", stop_event := threading.Event())
        threading.Timer(0.3, stop_event.set).start()
        with pytest.raises(Stopped), mine.all_of([KEY, OTHER]):
            raise AssertionError("another process has one of them")
        assert [str(other.pid) in message for message in messages] == [True]
        stop_event.clear()
        threading.Timer(0.3, other.kill).start()
        with mine.all_of([KEY, OTHER]):
            pass
    mine.close()
    with holder(tmp_path, KEY, OTHER):
        pass


@pytest.mark.wheels
@pytest.mark.parametrize("end", ["killed", "finished"])
def test_run_waits_for_a_cell_that_another_process_claims(
    built: Callable[[str], BuiltEnv], tmp_path: Path, end: str
) -> None:
    """If the other process kept a result, the run uses it.

    If the other process was killed, the run compiles the cell.
    """
    env = built("triton-3.9.0")
    cells = [cell(env, "faces", "fine", target) for target in ("sm_80", "sm_90")]
    messages: list[str] = []
    with Store(tmp_path / "other") as store:
        context = context_of(store, env)
        keys = [CellKeys(folder_digest(WORKER)).of(matrix_cell, env) for matrix_cell in cells]
        run(cells[1:], context)
        (row,) = store.rows(keys[1:])
    with (
        Store(tmp_path / "mine", say=messages.append) as store,
        holder(tmp_path / "mine", keys[1]) as other,
    ):
        context = context_of(store, env)

        def finish() -> None:
            while not messages:
                time.sleep(0.01)
            if end == "killed":
                other.kill()
            else:
                store.put([(row, cells[1].id)])
                assert other.stdin is not None
                print(keys[1], file=other.stdin, flush=True)

        thread = threading.Thread(target=finish)
        thread.start()
        results = run(cells, context)
        thread.join()
    assert [result.outcome.status for result in results] == [Status.OK, Status.OK]
    assert [result.cached for result in results] == [False, end == "finished"]
    assert [str(other.pid) in message for message in messages] == [True]
