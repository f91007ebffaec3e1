"""The Dask cluster that compiles cells: its settings, and the connection to it.

The settings come from ``--executor`` or the table ``[executor]``. Dask is imported when a cluster
is opened, and not when its settings are read.
"""

from __future__ import annotations

import importlib
import logging
import os
import signal
import socket
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any
from unittest import mock
from urllib.parse import parse_qsl

from attrs import Factory, evolve, frozen

from compat.config.toml import Table, quote_text
from compat.errors import ClusterError, ConfigError
from compat.executors import OPTION
from compat.text import JsonMapping, JsonObject, lazy_pattern

if TYPE_CHECKING:
    from compat.executors.executor import OpenExecutor

_LOCAL_CLUSTER, _LOCAL_CLASS = "dask:local", "distributed.LocalCluster"
_ADDRESS = lazy_pattern(r"(?P<protocol>dask|tcp|tls|ws|wss)://(?P<place>[\w.\-\[\]:]+:\d+)")
_CLASS = lazy_pattern(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_CLASS_EXAMPLE = 'the dotted name of a class, such as "dask_jobqueue.SLURMCluster"'
_NUMBER = lazy_pattern(r"[0-9]{1,5}")
_NUMBERS = ("workers", "threads", "in_flight")
_WAIT = 60.0


@frozen(kw_only=True)
class DaskSettings:
    """A Dask cluster: its scheduler's address, or the class that makes one, or local workers."""

    where: str
    """The origin of the settings: ``--executor``, or ``matrix.toml: executor``."""
    address: str | None = None
    """The scheduler's address; ``None`` if the command makes a cluster."""
    cluster: str | None = None
    """The dotted name of a class or function that makes a cluster; ``None`` for an address, and for
    local workers.
    """
    arguments: JsonMapping = Factory(dict)
    """The arguments of the class."""
    workers: int | None = None
    """Number of Dask workers to start. By default the class decides, and local workers together
    have one thread for each core.
    """
    threads: int = 1
    """Threads of each local worker."""
    in_flight: int | None = None
    """Number of batches in flight; by default two for each thread of the cluster."""
    wait: float = _WAIT
    """Seconds to wait for a Dask worker if there is none, and for a lost scheduler to return."""

    @classmethod
    def read_option(cls, text: str) -> DaskSettings:
        """The settings in the text of ``--executor``. Raises ValueError for another form."""
        if _ADDRESS.fullmatch(text):
            return cls(where=OPTION, address=_of_scheduler(text))
        name, _, query = text.partition("?")
        if name != _LOCAL_CLUSTER:
            raise ValueError(f"unknown executor {text!r}")
        return cls(where=OPTION, **_numbers(query))

    @classmethod
    def read_table(cls, table: Table) -> DaskSettings:
        """The settings in ``[executor]``. Raises ConfigError."""
        table.only("address", "class", "arguments", "workers", "in_flight", "wait")
        address = table.optional("address", example='"tcp://host:8786"')
        cluster = table.optional("class", example='"distributed.SSHCluster"')
        if (address is None) == (cluster is None):
            table.fail("give either `address` or `class`, not both", "class" if address else None)
        for key, text, pattern, what in (
            ("address", address, _ADDRESS, 'the address of a scheduler, such as "tcp://host:8786"'),
            ("class", cluster, _CLASS, _CLASS_EXAMPLE),
        ):
            if text is not None and not pattern.fullmatch(text):
                table.fail(f"{quote_text(text)} is not {what}", key)
        if cluster is None and ("arguments" in table or "workers" in table):
            table.fail(
                "only `class` takes this key", "arguments" if "arguments" in table else "workers"
            )
        return cls(
            where=table.where(),
            address=_of_scheduler(address) if address else None,
            cluster=cluster,
            arguments=dict(table.table("arguments").data),
            workers=table.integer("workers") if "workers" in table else None,
            in_flight=table.integer("in_flight") if "in_flight" in table else None,
            wait=table.number("wait", _WAIT, or_zero=True),
        )

    @contextmanager
    def executor_opener(
        self, in_flight: int | None, say: Callable[[str], None]
    ) -> Iterator[OpenExecutor]:
        """Return a context manager that yields the function to open the executor.

        The executor connects when the first batch is compiled. ``in_flight`` is the number of
        batches in flight, or ``None`` if the user did not set it. ``say`` is called with messages,
        such as those about failures.
        """
        from compat.executors.dask.executor import DaskExecutor
        from compat.executors.dask.session import DaskSession

        with DaskSession(
            self if in_flight is None else evolve(self, in_flight=in_flight), say
        ) as session:
            yield partial(DaskExecutor, session)


def _of_scheduler(address: str) -> str:
    """Return the address in Dask's form, with ``tcp://`` for ``dask://``."""
    return f"tcp://{address.removeprefix('dask://')}" if address.startswith("dask://") else address


def _numbers(query: str) -> JsonObject:
    """Return the numbers in a text such as ``workers=4&threads=2``. Raises ValueError."""
    try:
        numbers = dict(parse_qsl(query, strict_parsing=True)) if query else {}
    except ValueError:
        raise ValueError(f"expected name=number&…, found {query!r}") from None
    for name, value in numbers.items():
        if name not in _NUMBERS:
            raise ValueError(f"unknown parameter {name!r}; choose one of {', '.join(_NUMBERS)}")
        if not _NUMBER.fullmatch(value) or int(value) == 0:
            raise ValueError(f"{name}={value!r} is not a number from 1 to 99999")
    return {name: int(value) for name, value in numbers.items()}


INSTALL = "Install it beside this command: pip install 'triton-compat[dask]'."
_TICK = 0.1
ANSWER = 10.0
"""Seconds within which a scheduler that listens must answer."""
_OF_TERMINAL = (signal.SIGINT, signal.SIGHUP)
_TALKATIVE = ("distributed", "distributed.client")
"""Loggers of Dask that write to the terminal by default."""


def open_cluster(settings: DaskSettings) -> tuple[str, Any]:
    """Return the scheduler's address, and the cluster that was made for this command.

    The cluster is ``None`` if the settings have an address. Raises ConfigError if the class does
    not exist or makes no cluster, ClusterError if the cluster cannot be made.
    """
    quieten()
    if settings.address is not None:
        return settings.address, None
    with _unheard():
        cluster = _make_cluster(settings)
    return str(cluster.scheduler_address), cluster


def client_of(address: str, wait: float) -> object:
    """Return a connection to a scheduler.

    The connection waits up to ``wait`` seconds for a scheduler that is gone. Raises OSError, and
    ClusterError if the address needs TLS and Dask has no certificate.
    """
    from distributed import Client
    from distributed.comm.addressing import get_address_host_port
    from distributed.security import Security

    _wait_for(get_address_host_port(address), min(ANSWER, 1 + wait))
    encrypted = address.startswith(("tls://", "wss://"))
    # Without a certificate, a client fails later, and leaves a thread behind in this process.
    if encrypted and Security().get_connection_args("client").get("ssl_context") is None:
        raise ClusterError(
            "this machine has no certificate for the cluster",
            where=address,
            hint="Set `distributed.comm.tls` of Dask's configuration (docs/scale.md).",
        )
    return Client(address, set_as_default=False, timeout=max(ANSWER, wait), name="triton-compat")


def is_exposed(address: str) -> bool:
    """Whether a scheduler's address is reachable from the network without TLS.

    Other machines can then read the messages to it, and send their own.
    """
    from distributed.comm.addressing import get_address_host

    if not address.startswith(("tcp://", "ws://")):
        return False
    host = get_address_host(address)
    try:
        return not ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"


def _wait_for(place: tuple[str, int | None], patience: float) -> None:
    """Wait up to ``patience`` seconds until a scheduler listens at an address.

    Dask's client leaves a thread behind if it finds no scheduler. Raises OSError.
    """
    give_up = time.monotonic() + patience
    while True:
        try:
            socket.create_connection((place[0], place[1] or 0), patience).close()
        except OSError:
            if time.monotonic() > give_up:
                raise
            time.sleep(_TICK)
        else:
            return


@contextmanager
def _unheard() -> Iterator[None]:
    """Block the terminal's signals for child processes that are started meanwhile.

    Ctrl-C then does not reach them. This process ends them itself.
    """
    resource_tracker.ensure_running()  # its start would unblock the signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_TERMINAL)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _handlers_kept() -> Iterator[None]:
    """Keep imported packages from installing signal handlers.

    dask-jobqueue would install one for Ctrl-C, which is only possible in the main thread.
    """
    with mock.patch.object(signal, "signal", lambda number, handler: signal.getsignal(number)):
        yield


CALM = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "200ms",
    "distributed.admin.system-monitor.interval": "2s",
}
"""Dask settings that make local processes monitor themselves less often. The monitoring took 5 % of
a core for each idle worker.
"""


def quieten() -> None:
    """Keep Dask's logs off standard error; important events are reported as progress.

    Raises ClusterError if Dask is not installed.
    """
    try:
        import dask
        import distributed  # noqa: F401
    except ImportError as error:
        raise ClusterError(f"cannot import Dask: {error}", hint=INSTALL) from error
    # Tasks are large because they contain the source trees of kernels.
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"})
    # In this case Dask takes another port, and reports it.
    warnings.filterwarnings("ignore", r"\s*Port \d+ is already in use")
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _make_cluster(settings: DaskSettings) -> Any:
    make = cluster_class(settings)
    is_local = settings.cluster is None
    try:
        cluster = make(**(_local_arguments(settings) if is_local else settings.arguments))
    except Exception as error:  # a foreign class may raise anything
        where = settings.where if is_local else f"{settings.where}.arguments"
        message = (
            f"cannot start {settings.cluster or _LOCAL_CLASS}: {type(error).__name__}: {error}"
        )
        raise ClusterError(message, where=where) from error
    if not hasattr(cluster, "scheduler_address") or not hasattr(cluster, "close"):
        raise ConfigError(
            f"{settings.cluster} did not return a Dask cluster", where=f"{settings.where}.class"
        )
    if settings.workers is not None and not is_local:
        cluster.scale(settings.workers)
    return cluster


def _local_arguments(settings: DaskSettings) -> JsonObject:
    import dask

    dask.config.set(CALM)
    return {
        "n_workers": settings.workers or max(1, len(os.sched_getaffinity(0)) // settings.threads),
        "threads_per_worker": settings.threads,
        "processes": True,
        "memory_limit": 0,  # cells have limits of their own, in processes of their own
        "dashboard_address": "127.0.0.1:0",
        "silence_logs": logging.CRITICAL,
    }


def cluster_class(settings: DaskSettings) -> Callable[..., Any]:
    """Return the class that the settings name, or Dask's local cluster. Raises ConfigError."""
    module, _, name = (settings.cluster or _LOCAL_CLASS).rpartition(".")
    where = f"{settings.where}.class"
    try:
        with _handlers_kept():
            factory = getattr(importlib.import_module(module), name, None)
    except ImportError as error:
        package = module.partition(".")[0].replace("_", "-")
        raise ConfigError(
            f"cannot import {module}: {error}", where=where, hint=f"pip install {package}"
        ) from error
    if not callable(factory):
        raise ConfigError(f"{module} has no class {name!r}", where=where)
    return factory  # type: ignore[no-any-return]
