"""Start processes, exchange lines with them, watch them, and end them.

In: commands and their environment. Out: the output or answers of a process, and how it ended. No
other package of the driver imports :mod:`subprocess`.
"""
