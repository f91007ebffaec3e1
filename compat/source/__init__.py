"""Python sources, read as text and never imported: the one place that parses, and what all readers
of sources stand on.

In: files, texts and syntax trees. Out: trees, and which names code binds and uses
(:mod:`compat.source.parsing`), top-level statements and what their names mean across files
(:mod:`compat.source.names`), the values of expressions that follow from literals
(:mod:`compat.source.constants`), and the files that a source draws in, with a hash over them
(:mod:`compat.source.closure`).
"""
