"""What kernel files say that a launch passed: the table ``launch``, in the place of ``signature`` and ``hints``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compat import arguments
from compat.config.toml_reader import DROP, Table, describe
from compat.toolchains import Toolchain

KEY = "launch"
NO_HINTS_HERE = "hints are of the arguments of a [signature], and this is a [launch]"
WHAT_HAS_NO_HINTS = 'A launch says what was passed: n = 4096, or x_ptr = { tensor = "fp16", aligned = false }.'


def check_launch(table: Table, toolchain: Toolchain) -> None:
    """Check every argument that a table says. Raises ConfigError."""
    for name, value in table.data.items():
        if not toolchain.language.types.elements:
            table.fail(f"kernels for {toolchain.title} have a [signature] and no [launch]")
        if value != DROP:
            try:
                arguments.read(value, toolchain.language.types.elements, describe)
            except arguments.UnknownArgumentForm as error:
                table.fail(str(error), f"{name}{error.path}", hint=error.hint)


def launch_of(said: Mapping[str, Any], toolchain: Toolchain) -> dict[str, Any]:
    """The arguments of a table that was checked, in the forms of :mod:`compat.arguments`."""
    return {name: arguments.read(value, toolchain.language.types.elements) for name, value in said.items()}


def check_alone(tables: Sequence[Table], signature: Mapping[str, str], named: str) -> None:
    """Check that what a launch is said of has no signature and no hints in any of its tables. Raises ConfigError."""
    table = next(each for each in reversed(tables) if each.mapping(KEY))
    if signature:
        table.fail(
            f"{named} has both a launch and a signature ({', '.join(signature)})",
            KEY,
            hint="Say either which types the arguments have, or what a launch passes.",
        )
    for each in tables:
        if "hints" in each:
            each.fail(NO_HINTS_HERE, "hints", hint=WHAT_HAS_NO_HINTS)
