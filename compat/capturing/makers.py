"""Functions beside a captured kernel that make the arguments that no type describes.

In a recorded launch such an argument is a tree of types, constants, and the classes whose objects
hold them. The module reads and writes no files.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define, field

from compat.bundle.frozen import FrozenForm
from compat.model import constexprs
from compat.text import JsonMapping

MADE = "made"
"""The key of the tree in a recorded argument."""


@define(kw_only=True)
class Makers:
    """The functions of one kernel."""

    form: FrozenForm
    _names: dict[str, str] = field(factory=dict)
    """Expression → the function that returns it."""

    def type_of(self, argument: str, tree: JsonMapping) -> str:
        """The entry of a kernel file that replaces a type: a call of a function that makes a value.

        If no function makes this value yet, it adds one.
        """
        expression = self._source(tree)
        if expression not in self._names:
            plain = f"make_{argument}"
            others = set(self._names.values())
            names = (plain, *(f"{plain}_{number}" for number in range(2, len(others) + 3)))
            self._names[expression] = next(name for name in names if name not in others)
        return f"{self._names[expression]}()"

    @property
    def text(self) -> str:
        """The definitions of the functions, for the text below the kernel."""
        return "".join(
            f"\n\ndef {name}(make):\n    return {expression}\n"
            for expression, name in self._names.items()
        )

    def _source(self, tree: JsonMapping) -> str:
        if "type" in tree:
            return f'make("{tree["type"]}")'
        if "constant" in tree:
            return self._constant(tree["constant"])
        if "member" in tree:
            return f"{tree['member']['function']}.{tree['of']}"
        if "call" in tree:
            inner = ", ".join(
                f"{name}={self._source(argument)}" for name, argument in tree["with"].items()
            )
            return f"{tree['call']['function']}({inner})"
        items = [self._source(element) for element in tree["items"]]
        if tree["list"]:
            return f"[{', '.join(items)}]"
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"

    def _constant(self, value: object) -> str:
        if isinstance(value, list):
            items = [self._constant(element) for element in value]
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        if isinstance(value, Mapping) and "dtype" in value:
            return self.form.dtype(value["dtype"])
        return constexprs.source(constexprs.read(value))
