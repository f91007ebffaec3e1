"""Classes of what MLIR, LLVM and the assemblers say and die of. What names a cause comes before what only names a consequence."""

from __future__ import annotations

from compat.evidence.kind import Blame, Kind, Sign
from compat.model import Status

_RUN_FAILED = r"PassManager::run failed|error encountered during parsing"
"""What Triton raises when a pass or the verifier fails. The second is of 3.5 on, which verify the front end's IR by parsing it."""
_SYNTAX = (
    r"^(?:custom op|expected |unexpected |use of undeclared|undefined symbol|operation being parsed|redefinition of|invalid SSA|"
    r"Dialect .* not found|unregistered|unknown )"
)
_LOWERING = r"failed to legalize|failed to convert|could not|cannot be|not supported|unsupported|unable to|failed to (?!verify)"
_MALFORMED = r"(?:'[\w.]+' op |must be|requires|failed to verify|expect)"


KINDS = (
    Kind(
        name="mlir-bitwidth-assert",
        title="A block where MLIR wants a scalar",
        meaning="MLIR was asked for the bit width of a type that has none, typically of a block used as a loop bound.",
        status=Status.CRASHED,
        advice="Make the bounds of `for` loops scalars: load them with a scalar pointer (`tl.load(ptr + i)`), not through "
        "`tl.arange(0, 1)`, or reduce the block first (`tl.max(x, 0)`).",
        blame=Blame.KERNEL,
        signs=(Sign(assertion=r"only integers and floats have a bitwidth|isIntOrFloat\(\)", words="assertion"),),
    ),
    Kind(
        name="compiler-assert",
        title="Compiler assertion",
        meaning="An assertion inside MLIR, LLVM or Triton failed, or LLVM gave up with a fatal error: a bug of the compiler.",
        status=Status.CRASHED,
        advice="A compiler bug. Vary `num_warps`, `num_stages`, block sizes or the order of operands to get around it, try the "
        "neighbouring releases, and report it with the reproducer.",
        blame=Blame.COMPILER,
        signs=(
            Sign(assertion=r".", words="assertion"),
            # An error in LLVM's back end ends the process with exit code 1: no exception, no answer, only this line.
            Sign(error=r"^$", diagnostic=r".", words="diagnostic"),
        ),
    ),
    Kind(
        name="ptxas",
        title="Assembler error",
        meaning="The assembler (ptxas, or AMD's) refused what the compiler or inline assembly gave it.",
        status=Status.REJECTED,
        advice="Check inline assembly first. Otherwise lower the register pressure (smaller blocks, more warps), or check that "
        "{target} has the instructions in question.",
        blame=Blame.COMPILER,
        signs=(
            Sign(ptxas=r".", words="ptxas"),
            Sign(message=r"failed to link hsaco|AMD assembler rejected", diagnostic=r".", words="diagnostic"),
            Sign(message=r"PTX codegen error|`ptxas` (?:failed|raised)"),
        ),
    ),
    Kind(
        name="ir-parse",
        title="IR that does not parse",
        meaning="The compiler could not read the IR text it was given.",
        status=Status.REJECTED,
        advice="IR text is not stable across releases: make it with the release that reads it, or compile from the Python source.",
        blame=Blame.KERNEL,
        signs=(
            Sign(message=rf"Parse MLIR file failed|{_RUN_FAILED}", diagnostic=_SYNTAX, words="diagnostic"),
            Sign(message=r"Parse MLIR file failed|error encountered during parsing", diagnostic=r"^$"),
        ),
    ),
    Kind(
        name="verifier",
        title="IR verifier failed",
        meaning="An operation is malformed, by the front end or by a pass, and MLIR's verifier noticed.",
        status=Status.CRASHED,
        advice="Look at the operation named below: give its operands equal shapes and dtypes explicitly (`tl.full`, `.to(…)`, "
        "`tl.broadcast_to`); if the kernel is right, it is a compiler bug to report.",
        blame=Blame.COMPILER,
        signs=(
            Sign(
                message=_RUN_FAILED,
                diagnostic=rf"^(?!.*(?:{_LOWERING})).*(?:'[\w.]+' op |must be|requires|failed to verify|expect)",
                words="diagnostic",
            ),
            Sign(message=r"error encountered during parsing", diagnostic=r".", words="diagnostic"),
        ),
    ),
    Kind(
        name="pass-failure",
        title="Compiler pass failed",
        meaning="A pass gave up, with or without a diagnostic, short of an assertion.",
        status=Status.CRASHED,
        advice="The kernel uses something that this release cannot lower for {target}. Rewrite the operation named below, vary "
        "`num_warps` or `num_stages`, or try the neighbouring releases.",
        blame=Blame.COMPILER,
        signs=(
            Sign(message=r"PassManager::run failed", diagnostic=r".", words="diagnostic"),
            Sign(message=r"PassManager::run failed|[Pp]ass(?:es)? failed|failed to (?:translate|run)"),
        ),
    ),
    Kind(
        name="shared-memory",
        title="Shared memory exceeded",
        meaning="The kernel needs more shared memory than a block may have on {target}.",
        status=Status.REJECTED,
        advice="Use smaller blocks or fewer `num_stages`: pipelining holds one copy of every staged tile per stage.",
        blame=Blame.KERNEL,
        signs=(
            Sign(message=r"out of resource: shared memory"),
            Sign(ptxas=r"uses too much shared data", words="ptxas"),
            Sign(output=r"local memory \(\d+\) exceeds limit", means="local memory exceeds limit"),
        ),
    ),
)
