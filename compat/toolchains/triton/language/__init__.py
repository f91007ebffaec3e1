"""Triton's language: types, options, names of its API, and calls in scripts and libraries."""

from pathlib import Path

from compat.toolchains.base import ApiNames, Guarding, Language
from compat.toolchains.language import Guessing
from compat.toolchains.triton.edits import EDITS
from compat.toolchains.triton.inside import guard
from compat.toolchains.triton.language.script import SCRIPT
from compat.toolchains.triton.language.types import CONSTANT, OPTIONS, SIMPLIFICATION, TYPES

API_NAMES = ApiNames(
    program=Path(__file__).parents[1] / "inside" / "names",
    short={
        "tl": "triton.language",
        "gl": "triton.experimental.gluon.language",
        "gluon": "triton.experimental.gluon",
    },
    packages={"triton": "triton", "tl": "triton.language"},
    makes_kernels=frozenset(
        {
            "triton.jit",
            "triton.runtime.jit",
            "triton.runtime.jit.jit",
            "triton.experimental.gluon.jit",
            "triton.experimental.gluon._runtime.jit",
        }
    ),
)

DECORATORS = frozenset({"jit", "constexpr_function", "aggregate", "dataclass"})

LANGUAGE = Language(
    types=TYPES,
    package="triton",
    decorators=DECORATORS,
    constant=CONSTANT,
    options=OPTIONS,
    api=API_NAMES,
    script=SCRIPT,
    guarding=Guarding(code=Path(guard.__file__), decide=guard.decide, policies=guard.POLICIES),
    guessing=Guessing(
        mark=b"triton", decorator="@triton.jit", where=f"{__name__}.guessing.modules"
    ),
    edits=EDITS,
    simplification=SIMPLIFICATION,
)
