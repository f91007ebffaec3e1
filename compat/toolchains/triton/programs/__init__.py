"""Generated programs in Triton's language (``compat hunt``).

:mod:`.program` has the records, and :mod:`.operations` the grammar. :mod:`.generator` makes
programs, :mod:`.analysis` derives their ranges again, and :mod:`.evaluator` computes the right
results. :mod:`.source` and :mod:`.problem` write the files of a program. :mod:`.shrinking` makes
programs smaller. :mod:`.language` offers all of this to a hunt. The package needs NumPy.
"""
