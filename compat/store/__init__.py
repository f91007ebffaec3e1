"""Results that outlive a run: evidence by the key of its cell, and artifacts by their hash.

In: results and bytes (:mod:`compat.store.store`). Out: the same, for every later command, and for
the stores of other drivers (:mod:`compat.store.merging`).
"""
