"""Generated programs in Triton's language (``compat hunt``).

:mod:`.program` has the records, :mod:`.operations` the grammar, :mod:`.generator` makes programs,
:mod:`.analysis` derives their ranges again, :mod:`.evaluator` computes what is right,
:mod:`.source` and :mod:`.problem` write them, :mod:`.shrinking` makes them smaller.
:mod:`.language` offers all that to a hunt. All of it needs NumPy.
"""
