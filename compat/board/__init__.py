"""The board: what each release of a toolchain does to the libraries that people use.

In: ``board.toml``, which names the libraries, and the package index. Out: a report for each version
of a library, one record of all reports, a site, and what an upgrade breaks for installed packages.

:mod:`~compat.board.running` compiles what is new. :mod:`~compat.board.gathering` makes the record.
:mod:`~compat.board.checking` and :mod:`~compat.board.site` answer from it.
"""
