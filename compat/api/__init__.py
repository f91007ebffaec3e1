"""Which names of a toolchain's Python interface, with which parameters, exist in which release, as
the installed wheels show it.

In: a selection, and names, two releases, or a source. Out: what each env has (:mod:`.looking`), the
history of names (:mod:`.histories`), what differs between two envs (:mod:`.comparing`), and what a
source uses of it (:mod:`.needing`). Nothing is compiled for that, no env is built, and of an env
that is not there nothing is said.
"""
