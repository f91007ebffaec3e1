"""What releases of a toolchain made with MLIR name differently: dialects and passes. A toolchain says it (:class:`Dialects`)."""

from __future__ import annotations

import re

from attrs import frozen


@frozen(kw_only=True)
class Dialects:
    """How IR of different releases is brought to the same names."""

    renamed: tuple[tuple[re.Pattern[str], str], ...] = ()
    """Names of dialects and types as some releases have them → as all are compared."""
    affixes: re.Pattern[str] | None = None
    """What releases add to, change in and drop from the names of passes, in small letters."""

    def rename(self, ir: str) -> str:
        """IR with the names that are compared."""
        for pattern, name in self.renamed:
            ir = pattern.sub(name, ir)
        return ir

    def pass_key(self, name: str) -> str:
        """What is left of a pass's name: the name by which it is the same pass in every release."""
        name = name.lower()
        return re.sub(r"\W", "", self.affixes.sub("", name) if self.affixes else name)


NONE = Dialects()
