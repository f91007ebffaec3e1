"""The check whether a kernel computed right numbers: problems, and comparisons with references.

In: the path of a module of problems, and a kernel's outputs. Out: ``ok`` or ``wrong``, with where
and by how much.

It runs inside a foreign env, in Triton's interpreter and on a GPU: standard library and PyTorch
only, Python 3.8 to 3.14, no imports of ours. :mod:`.problems` loads problems and refuses malformed
ones. :mod:`.outputs` fills outputs before a launch and looks at them after it. Neither launches
anything.
"""
