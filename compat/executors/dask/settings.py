"""Which Dask cluster cells are compiled on, as ``--executor`` or the table ``[executor]`` of ``matrix.toml`` says it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from attrs import Factory, evolve, frozen

from compat.config.toml import Table, quoted
from compat.executors.registry import OPTION
from compat.text import lazy_pattern

if TYPE_CHECKING:
    from compat.executors.executor import OpenExecutor

_LOCAL_CLUSTER = "dask:local"
_ADDRESS = lazy_pattern(r"(?P<protocol>dask|tcp|tls|ws|wss)://(?P<place>[\w.\-\[\]:]+:\d+)")
_CLASS = lazy_pattern(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_NUMBERS = ("workers", "threads", "in_flight")
_WAIT = 60.0


@frozen(kw_only=True)
class DaskSettings:
    """A Dask cluster: the address of its scheduler, or the class that makes one, or else workers of this machine."""

    where: str
    """Who says so: ``--executor``, or ``matrix.toml: executor``."""
    address: str | None = None
    cluster: str | None = None
    """The dotted name of a class, or of a function, that makes a cluster."""
    arguments: Mapping[str, Any] = Factory(dict)
    """What it is given."""
    workers: int | None = None
    """How many workers are asked for; by default as many as the class gives, and on this machine one for each core."""
    threads: int = 1
    """Threads of each worker of this machine."""
    in_flight: int | None = None
    """How many batches are on their way at the same time; by default two for each thread of the cluster."""
    wait: float = _WAIT
    """Seconds to wait for a worker where there is none, and for a scheduler that is gone to come back."""

    @classmethod
    def named(cls, text: str) -> DaskSettings | None:
        """See :class:`compat.executors.registry.SettingsReader`."""
        if _ADDRESS.fullmatch(text):
            return cls(where=OPTION, address=_of_scheduler(text))
        name, _, query = text.partition("?")
        return cls(where=OPTION, **_numbers(query)) if name == _LOCAL_CLUSTER else None

    @classmethod
    def declared(cls, table: Table) -> DaskSettings:
        """See :class:`compat.executors.registry.SettingsReader`."""
        table.only("address", "class", "arguments", "workers", "in_flight", "wait")
        address = table.optional("address", example='"tcp://host:8786"')
        cluster = table.optional("class", example='"distributed.SSHCluster"')
        if (address is None) == (cluster is None):
            table.fail("either `address` or `class` has to be there, and not both", "class" if address else None)
        if address is not None and not _ADDRESS.fullmatch(address):
            table.fail(f'{quoted(address)} is not the address of a scheduler, such as "tcp://host:8786"', "address")
        if cluster is not None and not _CLASS.fullmatch(cluster):
            table.fail(f'{quoted(cluster)} is not the dotted name of a class, such as "dask_jobqueue.SLURMCluster"', "class")
        if cluster is None and ("arguments" in table or "workers" in table):
            table.fail("belongs to `class`", "arguments" if "arguments" in table else "workers")
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
    def opened(self, in_flight: int | None, say: Callable[[str], None]) -> Iterator[OpenExecutor]:
        """See :class:`compat.executors.registry.ExecutorSettings`."""
        from compat.executors.dask.executor import DaskExecutor
        from compat.executors.dask.session import DaskSession

        with DaskSession(self if in_flight is None else evolve(self, in_flight=in_flight), say) as session:
            yield partial(DaskExecutor, session)


def _of_scheduler(address: str) -> str:
    """The address as Dask has it."""
    return f"tcp://{address.removeprefix('dask://')}" if address.startswith("dask://") else address


def _numbers(query: str) -> dict[str, Any]:
    """``workers=4&threads=2`` as numbers. Raises ValueError."""
    try:
        numbers = dict(parse_qsl(query, strict_parsing=True)) if query else {}
    except ValueError:
        raise ValueError(f"{query!r} is not name=number&…") from None
    for name, value in numbers.items():
        if name not in _NUMBERS:
            raise ValueError(f"{name!r} is none of {', '.join(_NUMBERS)}")
        if not value.isascii() or not value.isdigit() or not 0 < int(value[:6]) < 100_000 or len(value) > 5:
            raise ValueError(f"{name}={value!r} is not a number from 1 to 99999")
    return {name: int(value) for name, value in numbers.items()}
