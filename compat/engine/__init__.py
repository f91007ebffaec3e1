"""Turn cells into results: read the stored ones, and let an executor compile the rest.

The executor confirms failures, and the engine stores the evidence.

In: cells and the envs to compile them in (:mod:`compat.engine.run`). Out: one result per cell, the
same in any order, any batch and any executor.
"""
