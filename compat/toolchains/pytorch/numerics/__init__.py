"""What it takes to say whether a kernel computed right numbers: problems, and what is held to their
references.

In: the path of a module of problems, and what a kernel left in its outputs. Out: ``ok`` or
``wrong``, with where and by how much.

Runs inside a foreign env, in Triton's interpreter and on a GPU: standard library and PyTorch only,
Python 3.8 to 3.14, imports nothing of ours. :mod:`.problems` loads problems and refuses what is
malformed; :mod:`.outputs` fills outputs before a launch and looks at them after it. Neither
launches anything.
"""
