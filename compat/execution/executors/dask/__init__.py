"""Compiling on the workers of a Dask cluster: an executor whose batches are tasks there.

In: batches, and which cluster. Out: attempts, as :mod:`compat.execution.executors` says. Nothing of Dask is imported before the
first batch. On the driver's side are :mod:`.executor` (a batch from here to its attempts), :mod:`.session` (the connection, for as
long as a command runs), :mod:`.cluster` (which cluster that is) and :mod:`.placement` (which worker takes what, decided without
touching anything); on a worker's :mod:`.there`. What passes between them is in :mod:`.parcel`. Large artifacts stay on the workers'
machines (:mod:`.worker_artifacts`) until somebody asks for them (:mod:`.fetching`).
"""
