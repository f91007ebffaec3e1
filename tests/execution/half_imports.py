"""Imports that fail half-way: kernels must have the same status, whichever is compiled first.

Python keeps the modules that a package has imported before its own import failed. A later import
of such a module finds it, and does not fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from compat.model import CompileSpec, Specialization
from compat.source.closure import LIBRARY, read_source
from tests.standin.packages import written

HEADER = "import triton\nimport triton.language as tl\n"
KERNEL = """
@triton.jit
def {name}(source, result, size, {parameters}):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, {value})
"""
OK, REJECTED, UNIMPORTABLE = "ok", "rejected", "source_broken"


def kernels(parameters: str = "BLOCK: tl.constexpr", **values: str) -> str:
    """The source of kernels by name, each storing a value."""
    return HEADER + "".join(
        KERNEL.format(name=name, value=value, parameters=parameters)
        for name, value in values.items()
    )


LOADED = "tl.load(source + at)"
TWO = kernels(first=LOADED, second=LOADED)
FINE_AND_BROKEN = kernels(fine=LOADED, broken="tl.no_such_function(source + at)")
FAILS = "from triton.no_such_module import Descriptor\n"
PACKAGE = {
    "tree/pkg/__init__.py": "from .good import first, second\nfrom .bad import Descriptor\n",
    "tree/pkg/good.py": TWO,
    "tree/pkg/bad.py": FAILS,
}
BESIDE = (
    "import os, sys\nsys.path.append(os.path.join(os.path.dirname(os.path.dirname(__file__)),"
    " 'elsewhere'))\n"
)
"""Makes a source import modules from a folder that is not a root of the tree."""
OUTSIDE = {path.replace("tree/pkg", "elsewhere/other"): text for path, text in PACKAGE.items()}
COMPILED = """
class Taken:
    @property
    def parse(self):
        from pkg.good import first
        raise ValueError("the import came through")


first, second = Taken(), Taken()
"""


@frozen(kw_only=True)
class HalfImport:
    """Kernels of one source that lead to an import which fails half-way."""

    files: Mapping[str, str]
    source: str = "tree/pkg/good.py"
    cells: tuple[tuple[str, Mapping[str, Any], str], ...] = (
        ("first", {}, REJECTED),
        ("second", {}, REJECTED),
    )
    """Each function, its constexprs, and its status, alone and together with the others."""
    package: str = ""
    """The requirement of a library, whose package is imported once for all of its kernels."""


def _in(folder: str) -> dict[str, str]:
    """The package, at another place of the tree."""
    return {path.replace("pkg", folder): text for path, text in PACKAGE.items()}


HALF_IMPORTS: Mapping[str, HalfImport] = {
    "package": HalfImport(files=PACKAGE),
    "subpackage": HalfImport(
        files={"tree/pkg/__init__.py": "", **_in("pkg/sub")}, source="tree/pkg/sub/good.py"
    ),
    "raises": HalfImport(
        files={**PACKAGE, "tree/pkg/bad.py": "raise RuntimeError('not today')\n"},
        cells=(("first", {}, UNIMPORTABLE), ("second", {}, UNIMPORTABLE)),
    ),
    "exits": HalfImport(
        files={**PACKAGE, "tree/pkg/bad.py": "raise SystemExit(0)\n"},
        cells=(("first", {}, UNIMPORTABLE), ("second", {}, UNIMPORTABLE)),
    ),
    "circle": HalfImport(
        files={
            "tree/pkg/__init__.py": "from . import good\nWIDTH = good.WIDTH\nfrom . import bad\n",
            "tree/pkg/good.py": "import pkg\nfrom . import base\nWIDTH = base.WIDTH\n" + TWO,
            "tree/pkg/base.py": "from pkg import good\nWIDTH = 4\n",
            "tree/pkg/bad.py": "import pkg.good\nassert pkg.good.WIDTH == pkg.WIDTH\n" + FAILS,
        }
    ),
    "user": HalfImport(
        files={**PACKAGE, "tree/uses.py": "from pkg.good import first as other\n" + TWO},
        source="tree/uses.py",
    ),
    # The package continues without its subpackage, and is imported in a server of its own.
    "library": HalfImport(
        files={
            f"tree/{LIBRARY}": '{"requirement": "pkg==1"}',
            "tree/pkg/__init__.py": "",
            "tree/pkg/ops/__init__.py": (
                "try:\n    from . import sub\nexcept ImportError:\n    pass\n"
            ),
            **_in("pkg/ops/sub"),
        },
        source="tree/pkg/ops/sub/good.py",
        package="pkg==1",
    ),
    "outside": HalfImport(
        files={**OUTSIDE, "tree/uses.py": BESIDE + "from other.good import first as other\n" + TWO},
        source="tree/uses.py",
    ),
    # The import is tried in several ways, one after the other.
    "outside, without PyTorch": HalfImport(
        files={
            "tree/uses.py": (
                BESIDE
                + "import torch\nfrom other.good import helper\n"
                + kernels(first=f"helper({LOADED})", second=f"helper({LOADED})")
            ),
            "elsewhere/other/__init__.py": (
                "from .good import helper\nraise RuntimeError('not today')\n"
            ),
            "elsewhere/other/good.py": HEADER + "@triton.jit\ndef helper(x):\n    return x\n",
        },
        source="tree/uses.py",
        cells=(("first", {}, UNIMPORTABLE), ("second", {}, UNIMPORTABLE)),
    ),
    "factory": HalfImport(
        files={
            **PACKAGE,
            "tree/makes.py": (
                "def make(number):\n    from pkg.good import first\n    return first\n"
            ),
        },
        source="tree/makes.py",
        cells=(
            ("make(1)", {}, REJECTED),
            ("make(1)", {"BLOCK": 128}, REJECTED),
            ("make(2)", {}, REJECTED),
        ),
    ),
    "factory that goes on": HalfImport(
        files={
            **PACKAGE,
            "tree/makes.py": (
                FINE_AND_BROKEN
                + "def make(number):\n    try:\n        from pkg.good import first\n    except"
                " ImportError:\n        return fine\n    return broken\n"
            ),
        },
        source="tree/makes.py",
        cells=(("make(1)", {}, OK), ("make(2)", {}, OK)),
    ),
    "factory that counts": HalfImport(
        files={
            "tree/makes.py": (
                FINE_AND_BROKEN
                + "calls = []\ndef make(number):\n    calls.append(number)\n    return broken if"
                " len(calls) > 1 else fine\n"
            )
        },
        source="tree/makes.py",
        cells=(
            ("make(1)", {}, OK),
            ("make(1)", {"BLOCK": 128}, OK),
            ("make(2)", {}, OK),
            ("fine", {}, OK),
        ),
    ),
    "while it is compiled": HalfImport(
        files={**PACKAGE, "tree/acts.py": COMPILED},
        source="tree/acts.py",
    ),
    "patch while it is compiled": HalfImport(
        files={
            "tree/acts.py": (
                kernels(first="tl.my_new_api(tl.load(source + at))")
                + COMPILED.replace("from pkg.good import first", "import patches").replace(
                    "first, second = Taken(), Taken()", "second = Taken()"
                )
            ),
            "tree/patches.py": (
                HEADER + "@triton.jit\ndef same(x):\n    return x\n\ntl.my_new_api = same\n"
            ),
        },
        source="tree/acts.py",
    ),
    # PyTorch is absent, and the source handles that. If a constexpr is a dtype of PyTorch, a
    # stand-in replaces PyTorch.
    "dtype": HalfImport(
        files={
            "tree/asks.py": (
                "try:\n    import torch\nexcept ImportError:\n    torch = None\n"
                + kernels(
                    "DTYPE: tl.constexpr, BLOCK: tl.constexpr",
                    fine=LOADED,
                    broken="tl.no_such_function(source + at)",
                )
                + "first = fine if torch is None else broken\n"
            )
        },
        source="tree/asks.py",
        cells=(
            ("first", {"DTYPE": {"torch_dtype": "float16"}}, REJECTED),
            ("first", {"DTYPE": 1}, OK),
        ),
    ),
}


def half_imports(folder: Path) -> list[tuple[Specialization, str]]:
    """Writes the half imports into a folder; returns the kernels with the expected statuses."""
    expectations: list[tuple[Specialization, str]] = []
    for name, half_import in HALF_IMPORTS.items():
        place = written(folder / name, half_import.files)
        source, root = place / half_import.source, place / "tree"
        for number, (function, constexprs, status) in enumerate(half_import.cells):
            spec = Specialization(
                kernel=name.replace(",", "").replace(" ", "_"),
                variant=function.strip(")").replace("(", "_"),
                case=f"case_{number}",
                source=str(source),
                roots=(str(root),),
                package=half_import.package,
                function=function,
                compile=CompileSpec(
                    signature={"source": "*fp32", "result": "*fp32", "size": "i32"},
                    constexprs={"BLOCK": 64, **constexprs},
                ),
                closure=read_source(source, (root,)).closure,
            )
            expectations.append((spec, status))
    return expectations
