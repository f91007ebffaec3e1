"""Launch binaries on a GPU host without toolchains, to check their numbers and measure latency.

In: a :class:`compat.project.Selection` whose kernels have problems; later the file of results that
the host has written. Out: a folder for the host (:mod:`.building`, :mod:`.archive`), and results in
the store, which the matrix adds to its own (:mod:`.merging`). If this machine has a GPU, features
launch on it (:mod:`.hosting`). If workers of a cluster have GPUs, they launch (:mod:`.sharing`).
The program that launches is separate, in ``compat/toolchains/pytorch/host``. It needs the standard
library, PyTorch and the GPU's driver.
"""
