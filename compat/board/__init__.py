"""The board: what each release of a toolchain does to the libraries that people use.

In: ``board.toml``, which names the libraries, and the package index. Out: a report for each version
of a library, one record of all reports, a site, and the kernels of installed packages that an
upgrade breaks.

:mod:`~compat.board.running` compiles only new versions, releases and targets.
:mod:`~compat.board.gathering` makes the record. :mod:`~compat.board.checking` and
:mod:`~compat.board.site` read it.
"""
