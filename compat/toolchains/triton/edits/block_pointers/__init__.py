"""Block pointers, which Triton 3.9.0 removed, written in another way.

In: a function that makes, moves and uses block pointers. Out: the same function with plain pointers
(:mod:`.plain`), or with tensor descriptors (:mod:`.descriptors`). Both go by the same steps:
:mod:`.normal` brings every use into one of five forms, :mod:`.flow` finds out which definitions of
a variable meet at a use, :mod:`.access` which parts of a block pointer have to be kept in
variables, and :mod:`.editing` writes the statements. :mod:`.handing` says which functions are
handed block pointers, and what these get and give in their place.
"""
