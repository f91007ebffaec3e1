"""Test whether a PyTorch works with a release of the toolchain, without a GPU.

Programs compile and launch code from ``torch.compile``. In: a :class:`compat.project.Selection`,
versions of PyTorch, and releases. Out: :class:`compat.pairs.records.Grid`, with the result of each
program for each pair. One env with a PyTorch serves every release: on ``sys.path``, the release
comes before the env's own one.
"""
