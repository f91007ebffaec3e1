"""Hunt for defects of compilers with generated programs.

In: seeds. Out: programs with which a release of a compiler shows a defect, grouped by defect. The
toolchain generates the programs (:mod:`compat.toolchains.programs`).
:class:`compat.hunt.hunting.HuntRun` tries them, :mod:`compat.hunt.oracles` judges results, and
:mod:`compat.hunt.examples` writes files.
"""
