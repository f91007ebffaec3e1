"""CuTe DSL's language: types and options, kernels guessed from sources, and calls in scripts."""

from compat.toolchains.base import Language
from compat.toolchains.cute.language.script import SCRIPT
from compat.toolchains.cute.language.types import OPTIONS, SIMPLIFICATION, TYPES
from compat.toolchains.language import Guessing

LANGUAGE = Language(
    types=TYPES,
    decorators=frozenset({"jit", "kernel", "dataclass"}),
    hints=False,
    options=OPTIONS,
    script=SCRIPT,
    guessing=Guessing(mark=b"cutlass", decorator="@cute.jit", where=f"{__name__}.guessing.modules"),
    simplification=SIMPLIFICATION,
)
