"""Imports of frozen modules: only a name that some releases lack may be missing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from compat.bundle.frozen import FrozenDefinition, FrozenForm, module_of_frozen

FORM = FrozenForm(imports=("import math",), decorators={"python": ""})


def frozen(name: str, *, uses: str, **names: Mapping[str, Any]) -> FrozenDefinition:
    return FrozenDefinition(
        id=name,
        kind="python",
        name=name,
        qualname=name,
        module=f"library.{name}",
        source=f"def {name}():\n    return {uses}\n",
        names=names,
    )


def loaded(folder: Path, *functions: FrozenDefinition, optional: bool) -> dict[str, Any]:
    """The names in the module of the first function after its import."""
    text = module_of_frozen(
        functions[0].id,
        {},
        {function.id: function for function in functions},
        folder,
        FORM,
        optional=lambda function, name: optional,
    )
    module: dict[str, Any] = {}
    exec(text, module)
    return module


def test_a_missing_optional_name_fails_only_where_it_is_used(tmp_path: Path) -> None:
    first = frozen("first", uses="gather", gather={"installed": ("math", "gather")})
    with pytest.raises(ImportError, match="gather"):
        loaded(tmp_path, first, optional=False)
    module = loaded(tmp_path, first, optional=True)
    with pytest.raises(NameError, match="gather"):
        module["first"]()


def test_an_existing_optional_name_is_imported(tmp_path: Path) -> None:
    first = frozen("first", uses="sqrt(9)", sqrt={"installed": ("math", "sqrt")})
    assert loaded(tmp_path, first, optional=True)["first"]() == 3.0


def test_default_and_annotation_of_several_lines_are_replaced(tmp_path: Path) -> None:
    source = (
        "def first(\n    x: missing[\n        'int'\n    ] = other(\n        1,\n    ),\n    y=2,\n"
        "):\n    return x + y\n"
    )
    first = evolve(frozen("first", uses=""), source=source, defaults={"x": {"value": 40}})
    assert loaded(tmp_path, first, optional=False)["first"]() == 42


def test_a_missing_optional_name_does_not_fall_back_to_a_builtin(tmp_path: Path) -> None:
    """The import raises, because otherwise the module would call another function."""
    first = frozen("first", uses="sum", sum={"installed": ("math", "sum")})
    with pytest.raises(ImportError, match="sum"):
        loaded(tmp_path, first, optional=True)
