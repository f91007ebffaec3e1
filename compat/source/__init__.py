"""Python sources as text: they are parsed and never imported.

No other package of the program parses sources: all readers of sources use this one.

In: files, texts and syntax trees. Out: trees, and the names that code binds and uses
(:mod:`compat.source.parsing`), top-level statements and the meaning of their names across files
(:mod:`compat.source.names`), the values of expressions that follow from literals
(:mod:`compat.source.constants`), and the files that a source imports, with a hash over them
(:mod:`compat.source.closure`).
"""
