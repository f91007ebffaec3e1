"""The place of compiles: an executor takes batches, and returns the result of each of their cells.

In: batches (:mod:`compat.executors.executor`), which can be pickled. Out: attempts, confirmed if
the batch asks for it, with the bytes of the artifacts that they name. An executor stores nothing:
the driver does. The one of :mod:`compat.executors.executor` compiles on this machine, and is the
only module that has workers attempt cells. Those of :mod:`compat.executors.dask` compile on a
cluster.

The registry here lists the executors besides this machine, and finds the one that ``--executor`` or
``[executor]`` of ``matrix.toml`` names. An executor is one entry: the schemes of its addresses, and
its settings, which are read when it is named. The settings lie beside it, and open it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from attrs import frozen

from compat.errors import SelectionError

if TYPE_CHECKING:
    from compat.config.toml import Table
    from compat.executors.executor import OpenExecutor


LOCAL = "local"
"""The name of this machine."""
OPTION = "--executor"


class ExecutorSettings(Protocol):
    """The place where an executor compiles, and all its other settings."""

    def opened(
        self, in_flight: int | None, say: Callable[[str], None]
    ) -> AbstractContextManager[OpenExecutor]:
        """The executor, for as long as a command needs it.

        It connects when something has to be compiled. ``in_flight`` is the number of batches on
        their way at the same time, if the user sets it, and ``say`` hears of failures.
        """
        ...


class SettingsReader(Protocol):
    """Reads the settings of an executor: a class of settings, usually."""

    def named(self, text: str) -> ExecutorSettings | None:
        """The settings in the text of ``--executor``; ``None`` if its form is unknown.

        Raises ValueError with words for a reader.
        """
        ...

    def declared(self, table: Table) -> ExecutorSettings:
        """The settings in ``[executor]``. Raises ConfigError."""
        ...


@frozen(kw_only=True)
class ExecutorKind:
    """One kind of executor."""

    schemes: tuple[str, ...]
    """The schemes of its addresses, before the colon."""
    forms: Mapping[str, str]
    """How a command line names it, each with a remark about that."""
    reader: str
    """Its :class:`SettingsReader`: a module, and the name in it."""

    def read(self) -> SettingsReader:
        """Import it."""
        module, _, name = self.reader.partition(":")
        reader: SettingsReader = getattr(import_module(module), name)
        return reader


EXECUTORS: list[ExecutorKind] = [
    ExecutorKind(
        schemes=("dask", "tcp", "tls", "ws", "wss"),
        forms={"dask://HOST:PORT": " (or tcp://, tls://)", "dask:local?workers=4": ""},
        reader="compat.executors.dask.cluster:DaskSettings",
    ),
]
"""The first one reads tables without an address."""


def executor_named(text: str) -> ExecutorSettings | None:
    """The settings in ``--executor``; ``None`` for this machine. Raises SelectionError."""
    if text == LOCAL:
        return None
    try:
        kind = _kind_of(text)
        if kind and (settings := kind.read().named(text)):
            return settings
        raise ValueError(f"unknown executor {text!r}")
    except ValueError as error:
        forms = [
            f'"{LOCAL}"',
            *(f'"{form}"{remark}' for kind in EXECUTORS for form, remark in kind.forms.items()),
        ]
        raise SelectionError(
            str(error), where=OPTION, hint=f"Choose {', '.join(forms[:-1])}, or {forms[-1]}."
        ) from None


def executor_declared(table: Table) -> ExecutorSettings:
    """The settings in ``[executor]`` of a ``matrix.toml``. Raises ConfigError."""
    address = table.data.get("address")
    kind = (_kind_of(address) if isinstance(address, str) else None) or EXECUTORS[0]
    return kind.read().declared(table)


def _kind_of(address: str) -> ExecutorKind | None:
    scheme = address.partition(":")[0]
    return next((kind for kind in EXECUTORS if scheme in kind.schemes), None)
