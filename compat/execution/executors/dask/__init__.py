"""Compiling on the workers of a Dask cluster: an executor whose batches are tasks there.

In: batches, and which cluster. Out: attempts, as :mod:`compat.execution.executors` says. Nothing of Dask is imported before the
first batch.

- On the driver's side: :mod:`.executor` (a batch from here to its attempts), :mod:`.task` (one task of a worker, to its end),
  :mod:`.session` (the connection, for as long as a command runs), :mod:`.cluster` (which cluster that is), :mod:`.placement` (which
  worker takes what, decided without touching anything).
- On a worker's: :mod:`.there`. What passes between the two is in :mod:`.parcel`.
- Launches: :mod:`.gpus` and :mod:`.seats` (which GPU takes what) on the driver's side, :mod:`.launching` on a worker's.
- Large artifacts stay on the workers' machines (:mod:`.worker_artifacts`) until somebody asks for them (:mod:`.fetching`).
"""
