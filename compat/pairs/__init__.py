"""Whether a PyTorch works with a release of the toolchain, without a GPU.

The code from ``torch.compile`` is compiled and launched. In: a :class:`compat.project.Selection`,
versions of PyTorch, and releases. Out: :class:`compat.pairs.records.Grid`, with the result of each
program for each pair. One env with a PyTorch serves every release, which is put before its own one
on ``sys.path``.
"""
