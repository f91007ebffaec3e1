"""Processes: started, spoken to, watched and ended.

In: commands and their environment. Out: what a process printed or answered, and how it ended. No
other room imports :mod:`subprocess`, :mod:`compat.envs` excepted.
"""
