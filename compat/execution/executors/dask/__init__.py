"""Compiling on the workers of a Dask cluster: an executor whose batches are tasks there.

In: batches, and which cluster. Out: attempts, as :mod:`compat.execution.executors` says. Nothing of Dask is imported before the
first batch. On the driver's side are :mod:`.executor` (a batch from here to its attempts), :mod:`.session` (the connection, for as
long as a command runs), :mod:`.cluster` (which cluster that is) and :mod:`.placement` (which worker takes what, decided without
touching anything); :mod:`.task` is one task, from being given to a worker to its end; on a worker's side is :mod:`.there`. What passes
between them is in :mod:`.parcel`. Launches have :mod:`.gpus` and :mod:`.seats` on the driver's side, :mod:`.launching` on a worker's.
Large artifacts stay on the workers' machines (:mod:`.worker_artifacts`) until somebody asks for them (:mod:`.fetching`).
"""
