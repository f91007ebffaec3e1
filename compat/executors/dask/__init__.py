"""An executor that compiles on the workers of a Dask cluster. Each batch is a Dask task.

In: batches, and a cluster. Out: attempts, as :mod:`compat.executors` describes them. Dask is
imported with the first batch.

- On the driver: :mod:`.executor` (from a batch to its attempts), :mod:`.gpus` (launches),
  :mod:`.work` (retries of both after the loss of a Dask worker), :mod:`.session` (a command's
  connection, and its tasks), :mod:`.cluster` (the choice of the cluster).
- On a Dask worker: :mod:`.remote`. :mod:`.parcel` has the data that pass between the two.
"""
