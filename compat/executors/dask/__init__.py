"""Compiling on the workers of a Dask cluster: an executor whose batches are tasks there.

In: batches, and which cluster. Out: attempts, as :mod:`compat.executors` says. Nothing of Dask is
imported before the first batch.

- On the driver's side: :mod:`.executor` (from a batch to its attempts), :mod:`.gpus` (launches),
  :mod:`.work` (what both do where a worker is lost), :mod:`.session` (the connection for as long as
  a command runs, and one task to its end), :mod:`.cluster` (which cluster that is).
- On a worker's: :mod:`.remote`. What passes between the two is in :mod:`.parcel`.
"""
