"""The names of a toolchain's Python interface in each release, as the installed wheels show them.

In: a selection, and names, two releases, or a source. Out: the names of each env
(:mod:`.inspection`), the history of names (:mod:`.histories`), the differences between two envs
(:mod:`.comparing`), and the names that a source uses (:mod:`.needs`). The record of a name includes
its parameters. The feature compiles nothing and builds no env. It leaves out envs that were never
built.
"""
