"""Where cells are compiled: an executor takes batches, and gives back what happened to each of their cells.

In: batches (:mod:`compat.execution.executors.base`), which can be pickled. Out: attempts, confirmed where that is asked for, with
the bytes of the artifacts that they name. Nothing is stored here: that is for the driver.
:mod:`compat.execution.executors.local` compiles on this machine, and is the only module that has workers attempt cells.
"""
