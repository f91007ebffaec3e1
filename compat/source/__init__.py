"""Python sources as text: they are parsed and never imported.

No other room parses sources, and all readers of sources use this one.

In: files, texts and syntax trees. Out: trees, and which names code binds and uses
(:mod:`compat.source.parsing`), top-level statements and what their names mean across files
(:mod:`compat.source.names`), the values of expressions that follow from literals
(:mod:`compat.source.constants`), and the files that a source draws in, with a hash over them
(:mod:`compat.source.closure`).
"""
