"""From cells to results: what is known is read, the rest is compiled by workers, confirmed and kept.

In: cells and the envs to compile them in (:mod:`compat.execution.run`). Out: one result per cell, the same in any order,
any batch and any executor. Only here and in :mod:`compat.envs` are processes started.

- :mod:`compat.execution.plan`: which cells there are, and how they are shared out
- :mod:`compat.execution.executors`: where batches are compiled and failures confirmed; on this machine, so far
- :mod:`compat.execution.spawn`, ``client``, ``pool``, ``resident``: workers, one per env, and those that stay for the next command
- :mod:`compat.execution.watch`: a batch on a worker, and one piece of evidence per cell
- :mod:`compat.execution.machine`: what the machine refused, which is no evidence
- :mod:`compat.execution.facts`, ``printed``: what an attempt leaves behind, and the form in which it is kept
- :mod:`compat.execution.store`, ``rows``, ``database``, ``artifacts``: evidence that outlives a run
- :mod:`compat.execution.elsewhere`, ``obtaining``: artifacts that stayed on workers, and having them here
"""
