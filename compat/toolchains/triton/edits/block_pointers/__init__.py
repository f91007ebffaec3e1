"""Edits that replace block pointers, which Triton 3.9.0 removed.

Input: a function that makes, moves and uses block pointers. Output: the same function with plain
pointers (:mod:`.plain_pointers`), or with tensor descriptors (:mod:`.descriptors`). Both edits take
the same steps: :mod:`.normal_form` brings every use into one of five forms, :mod:`.flow` finds
which definitions of a variable meet at a use, :mod:`.access` finds which parts of a block pointer
need variables, and :mod:`.editing` writes the statements. :mod:`.pointer_passing` finds which
functions get or return block pointers, and what they get and return instead.
"""
