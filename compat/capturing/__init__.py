"""The kernels that a running program launches, as kernel files.

In: a program, as a command line in its own environment, or a block of this process. Out: a folder
of kernel files, each beside a source that holds the kernel and what it uses and nothing else, and
``index.json``, which says where each comes from.

A toolchain's recorder runs inside the program and writes records; everything else here works on
those, after the program has ended. The records remain, however the program ends.
"""
