"""Triton's failures: their classes, as data, in the order of precedence, and their wording.

Certain classes (a deadline) come before guessed ones. Classes that name a cause (an assertion) come
before those that only name a consequence (a failed pass). A new class needs one entry here and one
fixture in ``tests/diagnosis/fixtures``. With ``COMPAT_REGOLD=1``,
``tests/diagnosis/test_taxonomy.py`` writes the classes into ``docs/failure-classes.md``.
"""

from __future__ import annotations

import re

from compat.diagnosis import common
from compat.diagnosis.failure_class import Knowledge
from compat.diagnosis.symptoms import MessagePatterns
from compat.model import DEFAULT_TOOLCHAIN
from compat.text import lazy_pattern
from compat.toolchains.triton.failures import compiler, environment, gluon, kernel, operands
from compat.toolchains.triton.ir.dumps import READER

CLASSES = (
    *environment.CLASSES,
    *gluon.CLASSES,
    *compiler.CLASSES,
    *kernel.CLASSES,
    *operands.CLASSES,
    common.UNCLASSIFIED,
)

_FORGET = tuple(
    (lazy_pattern(pattern), replacement)
    for pattern, replacement in (
        (r"(?<![\w.-])([.-]*+)[\w.-]+\.(?:ttir|glir|ttgir|ptx)(?::\d+)+", r"\1<path>"),
        (r"\btriton\.language\.float(?=\d)", "fp"),  # triton.language.float32 is fp32
        (r"\btriton\.language\.bfloat(?=\d)", "bf"),
        (r"\btriton\.language\.(?=u?int\d)", ""),
        # Later releases append the whole text of the operation.
        (r"(?<=explicitly marked illegal)(?s:.*)", ""),
        (r"\bloc\((?:[^()]|\([^()]*\))*\)", ""),  # loc("kernel.py":12:3)
        (r"%[\w.$-]+(?:[:#]\d+)?", "%"),  # SSA names
        (r"\bt\d+(?=[:,])", "t"),  # nodes of LLVM's selection graph
        (r"#[a-z_]\w*", "#layout"),
        (r"""['"]?constexpr\[(\d+)\]['"]?""", r"\1"),
        # tl.float8e4nv is f8E4M3FNUZ in 3.0 and 3.1, and f8E4M3FN since.
        (
            r"(?<=unsupported conversion from )(\w+?)(?:fn(?:uz)?)? to (\w+?)(?:fn(?:uz)?)?\b",
            r"\1 to \2",
        ),
        # The hidden argument has the first name before 3.4, and the second one since.
        (r"\b_(?:builder|semantic)\b", "_semantic"),
    )
)

_COMPLAINT = lazy_pattern(
    r"^ptxas[^\n]*?\b(?:error|fatal) *: *(?:\(C\d+\) *)?(?P<words>(?![^\n]*Ptx assembly aborted due"
    r" to errors)[^\n]+)",
    re.MULTILINE,
)

_FATAL = (
    # The types are in the line before. Without them, conversions of all types would be one defect.
    lazy_pattern(
        r"(?P<words>Unsupported conversion from [^\n]+)(?=\nLLVM ERROR: Unsupported rounding)"
    ),
    lazy_pattern(r"LLVM ERROR: (?P<words>[^\n]+)"),
    lazy_pattern(r"cantFail wrapped call\n(?P<words>[^\n]+)"),
    lazy_pattern(r"^(?P<words>[^\n]+)\n{1,2}UNREACHABLE executed", re.MULTILINE),
    lazy_pattern(r"(?P<words>UNREACHABLE executed at [^\n]+)"),
    lazy_pattern(r"^ *what\(\): +(?P<words>[^\n]+)", re.MULTILINE),
)

KNOWLEDGE = Knowledge(
    toolchain=DEFAULT_TOOLCHAIN,
    classes=CLASSES,
    wording=MessagePatterns(
        package="triton",
        machine=r"(?:runtime/(?:driver|build)|backends/\w+/driver)\.py$",
        wrappers=(
            "CompilationError",
            "UnsupportedLanguageConstruct",
            "CompileTimeAssertionFailure",
        ),
        assembler=_COMPLAINT,
        assembler_name="ptxas",
        forget=_FORGET,
        fatal=_FATAL,
        empty_diagnostic=lazy_pattern(
            "Failures have been detected while processing an MLIR pass pipeline"
        ),
        reader=READER,
    ),
    programs={
        "source": "the kernel's file",
        "ast": "the front end",
        "ttir": "MLIR",
        "glir": "MLIR",
        "ttgir": "MLIR",
        "llir": "MLIR",
        "ptx": "LLVM",
        "amdgcn": "LLVM",
        "cubin": "the assembler",
        "hsaco": "the linker",
    },
)
