"""The ``[tune]`` tables of kernel files: the settings that ``compat tune`` may change.

Like the other tables, they may be in the file, the kernel, a variant and a case. The last table
that has a setting decides its values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence

from compat.config.argument_tables import check_constexpr, check_option
from compat.config.toml import Table, describe, did_you_mean, quote_text
from compat.model import CompileSpec, TuningRanges
from compat.text import JsonObject
from compat.toolchains.base import Toolchain

TUNED = ("constexprs", "options")
"""The tables of a ``[tune]`` table, each a field of :class:`TuningRanges`."""
MOST = 1024
"""The most combinations of values for one case."""


def tuning_of(
    tables: Sequence[Table], spec: CompileSpec, constexprs: Collection[str], toolchain: Toolchain
) -> TuningRanges:
    """The ranges that ``[tune]`` tables declare for a case. Later tables override earlier ones.

    Constexprs that only other cases have do not count. ``constexprs`` are those of all cases.
    Raises ConfigError.
    """
    declared_ranges: dict[str, JsonObject] = {name: {} for name in TUNED}
    for table in (table.table("tune") for table in tables):
        table.only(*TUNED)
        for name in table.mapping("constexprs"):
            _check_known(table.table("constexprs"), name, constexprs)
        ranges = _ranges(table.table("constexprs"), _check_constexpr)
        declared_ranges["constexprs"] |= {
            name: values for name, values in ranges.items() if name in spec.constexprs
        }
        declared_ranges["options"] |= _ranges(
            table.table("options"),
            lambda ranges, name, value: check_option(ranges, name, value, toolchain),
        )
        _check_size(table, declared_ranges)
    return TuningRanges(**declared_ranges)


def _check_known(table: Table, name: str, constexprs: Collection[str]) -> None:
    if name not in constexprs:
        hint = (
            did_you_mean(name, constexprs)
            or f"Its constexprs are: {', '.join(constexprs) or 'none'}."
        )
        table.fail(f"{quote_text(name)} is not a constexpr of the kernel", name, hint=hint)


def _check_constexpr(table: Table, name: str, value: object) -> None:
    check_constexpr(table, name, value)
    if not isinstance(value, int | float | str):
        table.fail(f"expected numbers, strings or booleans, found {describe(value)}", name)


def _ranges(table: Table, check: Callable[[Table, str, object], None]) -> JsonObject:
    """Setting → the values to try, each once and checked."""
    ranges: JsonObject = {}
    for name, values in table.data.items():
        items = table.expect(values, list, name, example="[64, 128]")
        for value in items:
            check(table, name, value)
        ranges[name] = tuple({repr(value): value for value in items}.values())
    return ranges


def _check_size(table: Table, ranges: dict[str, JsonObject]) -> None:
    lengths = [len(values) or 1 for group in ranges.values() for values in group.values()]
    if math.prod(lengths) > MOST:
        table.fail(
            f"has {math.prod(lengths):,} combinations, and at most {MOST:,} are allowed",
            hint="Leave out values that are never the best.",
        )
