"""Where cells are compiled: an executor takes batches, and returns the result of each of their cells.

In: batches (:mod:`compat.executors.executor`), which can be pickled. Out: attempts, confirmed where the batch asks for it, with the
bytes of the artifacts that they name. An executor stores nothing: the driver does. The one of
:mod:`compat.executors.executor` compiles on this machine, and is the only module that has workers attempt cells; those of
:mod:`compat.executors.dask` compile on a cluster.
:mod:`compat.executors.registry` finds the one that is named.
"""
