"""The driver's side of :mod:`compat.worker`: workers are started, handed cells, watched, and ended.

In: a batch of attempts (:mod:`compat.workers.attempt`) for one env. Out: one
:class:`~compat.model.Evidence` per cell (:mod:`compat.workers.watch`).
"""
