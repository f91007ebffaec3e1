"""The board: what each release of a toolchain does to the libraries that people use.

``board.toml`` names the libraries. :mod:`~compat.board.running` compiles what is new and keeps a
report for each version of a library. :mod:`~compat.board.record` makes one record of all reports.
:mod:`~compat.board.checking` answers from that record for the packages of an interpreter, and
:mod:`~compat.board.site` draws it.
"""
