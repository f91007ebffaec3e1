"""Compiling on the workers of a Dask cluster: an executor whose batches are tasks there.

In: batches, and a cluster. Out: attempts, as :mod:`compat.executors` says. Dask is imported with
the first batch.

- On the driver's side: :mod:`.executor` (from a batch to its attempts), :mod:`.gpus` (launches),
  :mod:`.work` (what both do if a worker is lost), :mod:`.session` (the connection for as long as
  a command runs, and one task to its end), :mod:`.cluster` (the choice of the cluster).
- On a worker's: :mod:`.remote`. :mod:`.parcel` has the data that pass between the two.
"""
