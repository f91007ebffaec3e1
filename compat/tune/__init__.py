"""Which config of a kernel is best on which release, and what it costs to keep another config.

In: a :class:`compat.project.Selection` whose kernels have problems. Out: a folder for a GPU host
with every config on every release (:mod:`.tuning`); later, from the results in the store, a
:class:`.answers.TuningAnswer` for each workload and GPU. :mod:`.configs` makes the configs, and
:mod:`.answers` compares them.
"""
