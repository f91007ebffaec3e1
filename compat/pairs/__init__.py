"""Whether a PyTorch works with a release of the toolchain: what ``torch.compile`` makes is compiled
and launched, without a GPU.

In: a :class:`compat.project.Selection`, versions of PyTorch, and releases. Out:
:class:`compat.pairs.records.Grid`: of each pair what became of each program. One env with a PyTorch
serves every release, which is put before its own one on ``sys.path``.
"""
