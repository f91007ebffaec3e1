"""The driver's side of :mod:`compat.worker`: it starts workers, sends cells, watches and ends them.

In: a batch of attempts (:mod:`compat.workers.attempt`) for one env. Out: one
:class:`~compat.model.Evidence` per cell (:mod:`compat.workers.watch`).
"""
