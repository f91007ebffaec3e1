"""Hunt for defects of compilers with generated programs.

In: seeds. Out: programs that some release of a compiler gets wrong, gathered by defect. The
programs are the toolchain's (:mod:`compat.toolchains.programs`).
:class:`compat.hunt.hunting.HuntRun` tries them, :mod:`compat.hunt.oracles` judges results, and
:mod:`compat.hunt.examples` writes files.
"""
