"""One task of a worker: given to it, waited for, and what became of it. Used by batches and launches alike."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import Any, TypeVar

from compat.errors import ClusterError, MachineError
from compat.execution.executors.dask.placement import Place
from compat.execution.executors.dask.session import DaskSession

_TICK = 0.5
_PATIENCE = 5.0
"""Seconds to wait for a result that a worker has, before looking whether that is still there."""
_CLOSING = ("closing", "closed")
"""What a connection says of itself that will tell nothing any more."""

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


class Fate(Enum):
    """What becomes of a task that returns nothing."""

    GONE = "the worker has gone"
    TAKEN_AWAY = "it was taken away by no fault of the worker, as when a connection breaks"


def ask(
    session: DaskSession,
    place: Place,
    function: Callable[[_Given], _Made],
    given: _Given,
    *,
    key: str,
    check: Callable[[], None],
    **options: Any,
) -> _Made | Fate:
    """What a function returns on a worker, once it does.

    ``check`` is called now and then, and what it raises ends the task. ``options`` are those of Dask's ``submit``. Raises
    MachineError where the function does, and ClusterError for whatever else it raises.
    """
    client = session.client
    done = threading.Event()
    where = {"workers": [place.known.address], "allow_other_workers": False, "pure": False, "retries": 0}
    try:
        future = client.submit(function, given, key=key, **where, **options)
        future.add_done_callback(lambda _: done.set())
    except Exception:  # its own, and those of the thread that it has
        if client.status not in _CLOSING:
            raise
        return Fate.TAKEN_AWAY
    try:
        while not done.wait(_TICK):
            check()
            if client.status in _CLOSING:  # it forgets what it was given meanwhile, and calls nobody
                session.look_first()
                return Fate.TAKEN_AWAY
            if not session.is_there(place) and future.status != "cancelled":
                return Fate.GONE
        found: _Made | Fate = _result(future, session, place, check)
        return found
    finally:
        if future.status != "finished":
            with suppress(Exception):  # a scheduler that is gone has nothing to cancel
                client.cancel([future], asynchronous=False)
        future.release()


def _result(future: Any, session: DaskSession, place: Place, check: Callable[[], None]) -> Any:
    while True:
        check()
        if future.status == "cancelled":  # with the connection; whoever asks for the next place finds it again
            session.look_first()
            return Fate.TAKEN_AWAY
        if future.status == "lost":
            session.look_soon()
            return Fate.GONE
        if future.status == "error":
            return _of_error(future.exception(timeout=_PATIENCE))
        try:
            return future.result(timeout=_PATIENCE)
        except TimeoutError:
            if not session.is_there(place):
                return Fate.GONE
            session.look_soon()
        except (Exception, asyncio.CancelledError):
            if future.status == "finished":
                raise


def _of_error(error: BaseException | None) -> Fate:
    """What it means that a task failed: its worker has ended, or something of ours is wrong, which is raised."""
    if type(error).__name__ == "KilledWorker":
        return Fate.GONE
    if isinstance(error, MachineError):
        raise error
    raise ClusterError(f"a Dask worker failed: {type(error).__name__}: {error}") from error
