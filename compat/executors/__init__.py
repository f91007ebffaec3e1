"""The places that compile: an executor takes batches, and returns the attempts at their cells.

In: batches (:mod:`compat.executors.executor`), which can be pickled. Out: attempts, confirmed if
the batch asks for it, with the bytes of the artifacts that they name. An executor stores nothing:
the driver does. :mod:`compat.executors.executor` compiles on this machine, and is the only module
that lets workers attempt cells. :mod:`compat.executors.dask` compiles on a cluster.

``--executor`` or ``[executor]`` of ``matrix.toml`` names the executor. Only then, the settings of a
cluster are imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.errors import SelectionError

if TYPE_CHECKING:
    from compat.config.toml import Table
    from compat.executors.dask.cluster import DaskSettings


LOCAL = "local"
"""The executor name for this machine."""
OPTION = "--executor"
FORMS = (LOCAL, "dask://HOST:PORT", "dask:local?workers=4")
"""The forms of the option."""
_HINT = 'Choose "{}", "{}" (or tcp://, tls://), or "{}".'.format(*FORMS)


def executor_named(text: str) -> DaskSettings | None:
    """The settings in ``--executor``; ``None`` for this machine. Raises SelectionError."""
    if text == LOCAL:
        return None
    from compat.executors.dask.cluster import DaskSettings

    try:
        return DaskSettings.read_option(text)
    except ValueError as error:
        raise SelectionError(str(error), where=OPTION, hint=_HINT) from None


def executor_declared(table: Table) -> DaskSettings:
    """The settings in ``[executor]`` of a ``matrix.toml``. Raises ConfigError."""
    from compat.executors.dask.cluster import DaskSettings

    return DaskSettings.read_table(table)
