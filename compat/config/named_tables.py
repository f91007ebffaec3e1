"""The tables of a kernel file by their names, and which of them counts where several say something."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

from compat.config.toml_reader import Table, did_you_mean
from compat.patterns import lazy_pattern

_NAME = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


def name_of(table: Table, key: str) -> str:
    """What a table names under a key: a kernel, a variant, a case. Raises ConfigError where it is no name."""
    name = table.string(key)
    if not _NAME.fullmatch(name):
        table.fail(f"{name!r} is not a name: letters, digits and . _ + - only", key)
    return name


def named(top: Table, key: str) -> dict[str, Table]:
    """The tables of the array ``key`` by their names, of which each is there once. Raises ConfigError."""
    tables: dict[str, Table] = {}
    for table in top.tables(key):
        name = name_of(table, "name")
        if name in tables:
            table.fail(f"the name {name!r} is taken by {tables[name].path}", "name")
        tables[name] = table
    return tables


def assumed(own: Table, **entries: str) -> Table:
    """What stands in the place of the variant or case of a kernel that declares none; what is wrong is said of the kernel."""
    return Table(file=own.file, path=own.path, data=entries)


def saying(key: str, layers: Sequence[Table]) -> Table:
    """The table whose word on a key counts: the last of the layers that has it, else the one before any variant."""
    return next((table for table in reversed(layers) if key in table), layers[0])


def matching(table: Table, key: str, names: Collection[str]) -> list[str]:
    """The names of cases that the globs under ``key`` match, all where there are none; a glob that matches nothing is refused."""
    globs = table.strings(key, ("*",))
    for index, pattern in enumerate(globs):
        if not any(fnmatchcase(name, pattern) for name in names):
            hint = did_you_mean(pattern, names) or f"Available: {', '.join(names)}."
            table.fail(f"no case matches {pattern!r}", f"{key}[{index}]", hint=hint)
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in globs)]
