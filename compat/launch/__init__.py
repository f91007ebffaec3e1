"""Launching binaries on a GPU host that has none of the toolchains: right numbers, and latency.

In: a :class:`compat.project.Selection` whose kernels have problems; later the file of results that
the host has written. Out: a folder for the host (:mod:`.building`, :mod:`.archive`), and results in
the store, in the matrix's form (:mod:`.merging`). If this machine has a GPU, features launch on it
(:mod:`.hosting`). If workers of a cluster have some, these launch (:mod:`.sharing`). ``host/`` is
the program that launches, apart: it needs the standard library, PyTorch and the GPU's driver.
"""
