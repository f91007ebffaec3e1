"""Values of a kernel file, where the edit is one of these: the TOML with other constexprs, and all else as it was."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compat.errors import ConfigError
from compat.model import Specialization


def with_values(path: Path, spec: Specialization, values: Mapping[str, Any]) -> tuple[str, str]:
    """The text of a kernel file, and the same with these constexprs for the case of ``spec``.

    A value is changed where the case, the variant or the file gives it, and added to the case where none of them does. Raises
    ConfigError where the file cannot be read.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        before = path.read_bytes().decode()
        document = tomlkit.parse(before)
    except (OSError, UnicodeError, TOMLKitError) as error:
        raise ConfigError(f"cannot be read: {error}", where=str(path)) from error
    case, variant = _named(document.get("case"), spec.case), _named(document.get("variant"), spec.variant)
    for name, value in values.items():
        tables = [table.get("constexprs") for table in (case, variant, document) if table is not None]
        holding = next((table for table in tables if table is not None and name in table), None)
        if holding is None:
            holding = (case if case is not None else document).setdefault("constexprs", tomlkit.inline_table())
        holding[name] = value
        _drop(name, document, variant, case)
    return before, tomlkit.dumps(document)


def _named(tables: Any, name: str) -> Any:
    return next((table for table in tables or () if table.get("name") == name), None)


def _drop(name: str, *tables: Any) -> None:
    """What is a constexpr now is no run-time argument any more."""
    for table in tables:
        if table is not None:
            hints = table.get("hints")
            for arguments in (table.get("signature"), table.get("launch")):
                if arguments is not None and name in arguments:
                    del arguments[name]
            for given in hints.values() if isinstance(hints, dict) else ():
                if name in given:
                    given.remove(name)
