"""Launching what was compiled on a GPU host that has none of the toolchains: right numbers, and how
long it takes.

In: a :class:`compat.project.Selection` whose kernels have problems; later the file of results that
the host has written. Out: a folder to carry there (:mod:`.building`, :mod:`.archive`), and results
in the store, by which the matrix knows them (:mod:`.merging`). Where this machine has a GPU,
features launch on it what they ask for (:mod:`.hosting`); where workers of a cluster have some,
these launch (:mod:`.sharing`). ``host/`` is the program that launches, apart: it needs the standard
library, PyTorch and the GPU's driver.
"""
