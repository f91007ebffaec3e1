"""The check whether a kernel computed right numbers: problems, and comparisons with references.

In: the path of a module of problems, and a kernel's outputs. Out: ``ok`` or ``wrong``, with the
place and the size of the error.

The code runs inside an env, with Triton's interpreter, and on a GPU host. It runs on Python 3.8 to
3.14, needs only the standard library and PyTorch, and imports no code of the driver.
:mod:`.problems` loads problems and refuses malformed ones. :mod:`.outputs` fills outputs before a
launch and compares them after it. Neither launches anything.
"""
