"""The places that compile: an executor takes batches, and returns the attempts at their cells.

In: batches (:mod:`compat.executors.executor`), which can be pickled. Out: attempts, confirmed if
the batch asks for it, with the bytes of the artifacts that they name. An executor stores nothing:
the driver does. :mod:`compat.executors.executor` compiles on this machine, and is the only module
that lets workers attempt cells. :mod:`compat.executors.dask` compiles on a cluster.

The registry in this module lists all executors except this machine. It finds the executor that
``--executor`` or ``[executor]`` of ``matrix.toml`` names. An entry has the schemes of the
executor's addresses, and the class of its settings. That class is imported when the executor is
named, and opens the executor.
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
"""The executor name for this machine."""
OPTION = "--executor"


class ExecutorSettings(Protocol):
    """The place where an executor compiles, and all its other settings."""

    def executor_opener(
        self, in_flight: int | None, say: Callable[[str], None]
    ) -> AbstractContextManager[OpenExecutor]:
        """Return a context manager that yields the function to open the executor.

        The executor connects when the first batch is compiled. ``in_flight`` is the number of
        batches in flight, or ``None`` if the user did not set it. ``say`` is called with messages,
        such as those about failures.
        """


class SettingsReader(Protocol):
    """Reads the settings of an executor. Usually it is the class of the settings."""

    def read_option(self, text: str) -> ExecutorSettings | None:
        """Return the settings in the text of ``--executor``; ``None`` if its form is unknown.

        Raises ValueError with a message for the user.
        """

    def read_table(self, table: Table) -> ExecutorSettings:
        """The settings in ``[executor]``. Raises ConfigError."""


@frozen(kw_only=True)
class ExecutorKind:
    """One kind of executor."""

    schemes: tuple[str, ...]
    """The schemes of its addresses, before the colon."""
    forms: Mapping[str, str]
    """Form of ``--executor`` → a remark about it, for messages."""
    reader: str
    """Its :class:`SettingsReader`, as ``module:name``."""

    def read(self) -> SettingsReader:
        """Import and return the settings reader."""
        module, _, name = self.reader.partition(":")
        reader: SettingsReader = getattr(import_module(module), name)
        return reader


EXECUTORS: list[ExecutorKind] = [
    ExecutorKind(
        schemes=("dask", "tcp", "tls", "ws", "wss"),
        forms={"dask://HOST:PORT": " (or tcp://, tls://)", "dask:local?workers=4": ""},
        reader="compat.executors.dask.cluster:DaskSettings",
    )
]
"""All kinds of executors. The first one reads tables without an address."""


def executor_named(text: str) -> ExecutorSettings | None:
    """The settings in ``--executor``; ``None`` for this machine. Raises SelectionError."""
    if text == LOCAL:
        return None
    try:
        kind = _kind_of(text)
        if kind and (settings := kind.read().read_option(text)):
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
    return kind.read().read_table(table)


def _kind_of(address: str) -> ExecutorKind | None:
    scheme = address.partition(":")[0]
    return next((kind for kind in EXECUTORS if scheme in kind.schemes), None)
