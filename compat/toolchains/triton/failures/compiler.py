"""Classes of messages and crashes of MLIR, LLVM and the assemblers.

Classes that name a cause come before those that only name a consequence.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import starmap
from typing import Any

from attrs import evolve

from compat.diagnosis import common
from compat.diagnosis.common import bare_assertion
from compat.diagnosis.failure_class import Blame, FailureClass, Prediction, Sign
from compat.model import Status, Target

_RUN_FAILED = r"PassManager::run failed|error encountered during parsing"
"""Triton's exceptions for a failed pass or verifier. The second is for 3.5 and later, which verify
the front end's IR by parsing it.
"""
_SYNTAX = (
    r"^(?:custom op|expected |unexpected |use of undeclared|undefined symbol|operation being"
    r" parsed|redefinition of|invalid SSA|"
    r"Dialect .* not found|unregistered|unknown )"
)
_LOWERING = (
    r"failed to legalize|failed to convert|could not|cannot be|not supported|unsupported|unable"
    r" to|failed to (?!verify)"
)

_OLD_PTX = r"^PTX \.?version \S+ does not support \.?target"
_OLD_PTX_ADVICE = (
    "The option `ptx_version` sets this version, else the assembler at TRITON_PTXAS_PATH. Leave the"
    " option out, or use a newer assembler."
)
_NO_WIDTH = r"only integers and floats have a bitwidth"

_NO_NAME = "a name that is not ASCII"
_BY_MISTAKE = {"SIGILL": 4, "SIGABRT": 6, "SIGBUS": 7, "SIGFPE": 8, "SIGSEGV": 11}
"""The signals that a program's own faults cause, with their numbers."""


def _assembler_died(name: str, number: int) -> Sign:
    """Return a sign for the messages of releases about an assembler that a signal ended.

    With a shell in between, the exit code is 128 plus the number of the signal.
    """
    pattern = (
        rf"`ptxas` failed with error code (?:-{number}|{128 + number})\b|died with"
        rf" <Signals\.{name}:"
    )
    if name == "SIGSEGV":
        pattern += r"|`ptxas` raised SIGSEGV|^Please run `ptxas .*` to confirm that this is a bug"
    return Sign(message=pattern, means=f"the assembler died of {name}", brief=True)


RETURNS = "failed to legalize operation 'tt.return'"
"""MLIR's message about a kernel that returns a value."""
_LIBRARY = "device library function {called} of {types}"

_FP8_ADVICE = (
    "Convert to a supported type (`.to(tl.float16)` and back), or compile for a target that has"
    " this one. On NVIDIA, fp8e4nv needs sm_89 or newer, and dots of fp8 need sm_89 or sm_90. AMD's"
    " gfx942 has fp8e4b8 and fp8e5b16. Newer releases support more types."
)

_MOST_THREADS = 1024
"""Maximum number of threads of a block, on every GPU of NVIDIA and AMD."""


_LARGEST_CLUSTER = 16
"""Maximum number of blocks of a cluster in every launcher."""

_TENSOR_MEMORY = 512
"""Columns of tensor memory that every launcher allows on Blackwell."""


def _threads(metrics: Mapping[str, Any], target: Target) -> int | None:
    """Return the threads of a block. AMD's builds have no metric for them, or specialized warps."""
    threads = _number(_occupancy(metrics), "threads")
    warps = _number(metrics, "num_warps")
    return warps * target.warp_size if threads is None and warps is not None else threads


def _registers(metrics: Mapping[str, Any]) -> int | None:
    """Return the registers of a thread, if the metrics show how many it may have."""
    spare = _number(_occupancy(metrics), "spare_registers")
    return None if spare is None else _number(metrics, "registers")


def _most_registers(metrics: Mapping[str, Any]) -> int:
    """Return the registers that a thread may have without the loss of a block.

    The metrics must show them.
    """
    return int(metrics["registers"] + metrics["occupancy"]["spare_registers"])


def _occupancy(metrics: Mapping[str, Any]) -> Mapping[str, Any]:
    occupancy = metrics.get("occupancy")
    return occupancy if isinstance(occupancy, Mapping) else {}


def _number(metrics: Mapping[str, Any], name: str) -> int | None:
    value = metrics.get(name)
    return value if isinstance(value, int) else None


CLASSES = (
    FailureClass(
        name="mlir-bitwidth-assert",
        title="A type without a bit width",
        meaning=(
            "The compiler asked MLIR for the bit width of a type that has none. It is a block that"
            " is the bound of a loop, or in a pass usually a pointer."
        ),
        status=Status.CRASHED,
        advice=(
            "Make the bounds of `for` loops scalars. Load them through a scalar pointer"
            " (`tl.load(ptr + i)`) instead of `tl.arange(0, 1)`, or reduce the block first"
            " (`tl.max(x, 0)`)."
        ),
        signs=(
            Sign(assertion=_NO_WIDTH, stage=r"^ast$", words="assertion"),
            # Such as a load, a reduction, a scan or a gather of pointers.
            Sign(
                assertion=_NO_WIDTH,
                means="a type without a bit width in a pass",
                advice=(
                    "The value is most likely a block of pointers. Load, reduce, scan or gather"
                    " integers instead, and make pointers of them afterwards."
                ),
            ),
        ),
    ),
    FailureClass(
        name="dtype-unsupported",
        title="Data type not supported",
        meaning=(
            "An operation, a conversion or the target does not support this data type in this"
            " release."
        ),
        advice=(
            "Convert to a type that the operation supports (`.to(tl.float32)` and back). Newer"
            " releases and targets support more types."
        ),
        missing_feature=True,
        signs=(
            Sign(
                message=r"type (?P<type>\w+) not supported in this architecture",
                means="{type} on this target",
                advice=_FP8_ADVICE,
            ),
            Sign(
                message=r"\b(?P<type>fp8\w*) (?:data type is not supported on|on CUDA arch)",
                means="{type} on this target",
                advice=_FP8_ADVICE,
            ),
            Sign(
                message=r"does not support (?P<type>fp8\w*) on CUDA arch",
                means="{type} on this target",
                advice=_FP8_ADVICE,
            ),
            Sign(
                assertion=r"only supported on compute capability >= 89",
                means="fp8e4nv on this target",
                advice=_FP8_ADVICE,
            ),
            Sign(
                message=r"^Expected dtype (?P<wanted>\[.*\]) but got (?P<type>(?!pointer)[\w<>]+)"
            ),
            Sign(
                message=r"^Only supports .* operand \((?P<type>\w+)\)$",
                means="{type} on this target",
                advice=_FP8_ADVICE,
            ),
            Sign(message=r"^Unsupported (?:lhs |rhs )?dtype (?P<type>\w+)$", means="dot of {type}"),
            Sign(
                message=(
                    r"^Both operands must be either int8 or uint8\. Operand type \((?P<type>\w+)\)"
                ),
                means="dot of {type}",
            ),
            Sign(message=r"^Unsupported dtype|target doesn't provide conversion"),
            Sign(message=r"\batomic_?\w* (?:does not support|not supported for|only supports)"),
            Sign(
                message=(
                    r"histogram only supports|Only floating point clamp|only supported for integers"
                )
            ),
            Sign(
                message=r"^both operands of fdiv must|^fdiv requires floating-point",
                means="fdiv of integers",
            ),
            Sign(
                message=(
                    r"approx division requires|index must be an integer|input to be integer type"
                )
            ),
            Sign(
                message=(
                    r"^cannot cast (?P<from>(?!pointer|void)\w+)\b.* to (?P<to>(?!.*pointer<).*)$"
                ),
                means="cast of {from} to {to}",
            ),
            Sign(
                message=r"^Cannot bitcast data-type of size",
                advice=(
                    "A bitcast keeps the bits. Use a type of the same width, or convert (`.to(…)`"
                    " without `bitcast=True`)."
                ),
            ),
            Sign(
                diagnostic=r"^Unsupported conversion from '(?P<from>\w+)' to '(?P<to>\w+)'",
                means="conversion from {from} to {to}",
            ),
            Sign(message=r"[Uu]nexpected (?:d?type) (?P<type>fp8\w+|int1)\b"),
            Sign(
                message=(
                    r"^Padding option `nan` is not supported for integer|16-bit float types require"
                    r" native tma"
                )
            ),
            Sign(
                message=r"input arg type does not match.*got [\[(](?P<types>.*?),?[\])]$",
                means=_LIBRARY,
            ),
            Sign(
                error=r"^KeyError$",
                message=r"^\((?P<types>.*?),?\)$",
                place=r": extern_elementwise$",
                means=_LIBRARY,
            ),
            common.bare_assertion(
                place=r": convert_custom_float8$", means="conversion to fp8e4b15"
            ),
        ),
    ),
    FailureClass(
        name="invalid-option",
        title="Compile option not allowed",
        meaning=(
            "A compile option (`num_warps`, `num_stages`, `num_ctas`, …) has a value that this"
            " release or the target does not allow."
        ),
        advice=(
            "Use a value that the message allows. `num_warps` is a power of two, and a block has at"
            " most 1,024 threads. `num_ctas` above 1 needs sm_90 or newer. `num_stages` is at least"
            " 2 on AMD in some releases."
        ),
        missing_feature=True,
        signs=(
            Sign(message=r"num_warps must be a power of 2", means="num_warps must be a power of 2"),
            Sign(
                message=r"^num_ctas > 1 (?:requires|not supported)",
                means="num_ctas > 1 on this target",
            ),
            Sign(
                message=r"^Triton AMD backend pipeliner has been updated|^gfx950 only accepts kpack"
            ),
            Sign(
                message=r"(?P<which>global|local) prefetch control must be in",
                means="{which} prefetch control",
            ),
            Sign(
                diagnostic=r"(?P<which>global|local) prefetch control must be in",
                means="{which} prefetch control",
                words="diagnostic",
            ),
            Sign(message=r"^clc=True requires|^wgp_cu_mode|^llvm_fn_attrs"),
            Sign(message=r"^TRITON_OVERRIDE_ARCH must have the form", means="arch"),
            Sign(assembler=_OLD_PTX, means="PTX version too old", advice=_OLD_PTX_ADVICE),
            Sign(assertion=_OLD_PTX, means="PTX version too old", advice=_OLD_PTX_ADVICE),
        ),
    ),
    FailureClass(
        name="inline-asm",
        title="Inline assembly refused",
        meaning=(
            "LLVM does not accept the inline assembly. Its constraints or its number of operands"
            " are wrong, or a register class belongs to another target."
        ),
        advice=(
            "Inline assembly is for one target. `=f,f` and `=r,r` are NVIDIA's constraints, `=v,v`"
            " and `=s,s` are AMD's. Write one constraint for each result and each argument. `$0`,"
            " `$1`, … count the results first. Choose the assembly by target with a constexpr."
        ),
        signs=(
            Sign(
                diagnostic=r"(?:output|input) reg\w* for constraint|asm constraint|inline asm",
                words="diagnostic",
            ),
            Sign(
                assertion=(
                    r"inline asm string|put constraints does not match|failed to parse"
                    r" constraints|Can only indirectify"
                ),
                words="assertion",
            ),
        ),
    ),
    FailureClass(
        name="target-feature",
        title="Target lacks a feature",
        meaning=(
            "The code needs an instruction that the target does not have, or that this assembler"
            " does not know yet."
        ),
        advice=(
            "{target} lacks the feature that the message names. Compile for a target that has it,"
            " or choose by target inside the kernel."
        ),
        missing_feature=True,
        signs=(
            Sign(
                assembler=r"^Feature '(?P<feature>[^' ]+).*(?:requires|not supported on) [.]target",
                means="feature {feature}",
            ),
            Sign(
                assembler=r"requires PTX ISA",
                words="assembler",
                advice=(
                    "The code needs a newer version of PTX than this one. Leave out the option"
                    " `ptx_version`, use a newer release, or write the operation in another way."
                ),
            ),
            Sign(assembler=r"requires \.target|not supported on \.target", words="assembler"),
            Sign(diagnostic=r"requires compute capability", words="diagnostic"),
            Sign(
                diagnostic=r"^instruction not supported on this GPU",
                words="diagnostic",
                means="instruction of another GPU",
                advice="{target} lacks an instruction. Choose inline assembly by target.",
            ),
            Sign(
                diagnostic=r"op requires (?P<feature>tcgen05) support",
                words="diagnostic",
                means="feature {feature}",
            ),
            # Kernels of Gluon call instructions themselves. If the target lacks one, LLVM notices
            # that after all passes, and ends the process.
            Sign(
                assertion=(
                    r"^Cannot select: intrinsic %llvm\.(?P<feature>nvvm\.(?:tcgen05|wgmma|fence"
                    r"|mbarrier|cp\.async|setmaxnreg)[\w.]*|amdgcn\.(?:mfma|smfmac|wmma)[\w.]*)"
                ),
                means="instruction {feature}",
                advice=(
                    "{target} has no instruction {feature}. If the kernel calls it, as kernels of"
                    " Gluon do, call the one of {target}, or compile for another target. If the"
                    " compiler chose it, report it as a bug."
                ),
            ),
            Sign(message=r"requires compute capability|smid is not supported on"),
        ),
    ),
    FailureClass(
        name="function-name",
        title="Name not in ASCII",
        meaning="The compiler cannot write the name of a function.",
        advice="Name the function with ASCII letters, digits and underscores.",
        signs=(
            Sign(message=r"^invalid function identifier", means=_NO_NAME),  # since 3.3
            Sign(assertion=r"^Symbol name with unsupported characters", means=_NO_NAME),
            # The only assertion on the names of the kernels in LLVM IR.
            bare_assertion(place=r": make_amdgcn$", statement=r"len\(names\) == 1", means=_NO_NAME),
        ),
    ),
    FailureClass(
        name="compiler-assert",
        title="Compiler assertion",
        meaning=(
            "An assertion inside MLIR, LLVM or Triton failed, or LLVM ended with a fatal error."
        ),
        status=Status.CRASHED,
        advice=(
            "This is a bug of the compiler. Vary `num_warps`, `num_stages`, the block sizes or the"
            " order of operands to avoid it. Try the neighbouring releases, and report it with the"
            " reproducer (`compat repro`)."
        ),
        blame=Blame.COMPILER,
        signs=(
            # MLIR prints the reason before.
            Sign(
                output=r"ConcreteT::verifyInvariants|LLVM ERROR: Fatal pipeliner error",
                diagnostic=r".",
                words="diagnostic",
            ),
            Sign(assertion=r".", words="assertion"),
            # An error in LLVM's back end ends the process with exit code 1: no exception, no
            # answer, only this line.
            Sign(error=r"^$", diagnostic=r"^(?!A signal was caught).", words="diagnostic"),
        ),
    ),
    FailureClass(
        name="assembler-crash",
        title="Assembler crashed",
        meaning="A signal that the assembler caused itself ended it, such as a segmentation fault.",
        status=Status.CRASHED,
        advice=(
            "This is a bug of the assembler. Vary `num_warps`, the block sizes or inline assembly"
            " to avoid it. Try another assembler with TRITON_PTXAS_PATH, or with `compat bisect"
            " --axis part --ptxas`. Report it to NVIDIA with the PTX."
        ),
        blame=Blame.TOOLCHAIN,
        signs=tuple(starmap(_assembler_died, _BY_MISTAKE.items())),
    ),
    evolve(
        common.COMPILER_CRASH,
        advice=(
            "This is a bug of the compiler. Vary `num_warps`, `num_stages`, the block sizes or the"
            " order of operands to avoid it. Try the neighbouring releases, and report it with the"
            " reproducer (`compat repro`)."
        ),
        # If MLIR writes reproducers, it catches the signal and prints this line, or nothing at all:
        # see compat.diagnosis.classify.
        signs=(
            Sign(
                output=r"A signal was caught while processing the MLIR module",
                means="a signal that MLIR caught",
                by_pass=True,
            ),
        ),
    ),
    FailureClass(
        name="device-library",
        title="Device library function missing",
        meaning=(
            "The kernel calls a function of a device library (libdevice, OCML) that the target's"
            " library does not have."
        ),
        advice=(
            "Use `triton.language.extra.libdevice`, which finds the target's own library."
            " `tl.extra.cuda.libdevice` is only for NVIDIA, and `tl.extra.hip.libdevice` only for"
            " AMD. Write a function out if the target's library lacks it."
        ),
        signs=(
            Sign(
                message=(
                    r"^Implicit conversion of CUDA (?P<name>\w+) device function has been dropped"
                ),
                means="{name}",
            ),
            Sign(assembler=r"[Uu]nresolved extern function '(?P<name>\w+)'", means="{name}"),
            Sign(
                output=(
                    r"undefined (?:hidden |protected )?symbol:"
                    r" (?P<name>__(?:nv|ocml|ockl|hip)_?\w+)"
                ),
                means="{name}",
            ),
            Sign(message=r"undefined (?:hidden |protected )?symbol: (?P<name>\w+)", means="{name}"),
        ),
    ),
    evolve(
        common.SHARED_MEMORY,
        advice=(
            "Use smaller blocks or fewer `num_stages`. Pipelining keeps one copy of every staged"
            " tile for each stage."
        ),
        signs=(
            Sign(message=r"out of resource: shared memory"),
            Sign(assembler=r"uses too much shared data", means="uses too much shared data"),
            Sign(output=r"local memory \(\d+\) exceeds limit", means="local memory exceeds limit"),
        ),
    ),
    FailureClass(
        name="ptxas",
        title="Assembler error",
        meaning="The assembler (ptxas, or AMD's) refused code of the compiler or inline assembly.",
        advice=(
            "Check inline assembly first. If the kernel has none, the compiler wrote what the"
            " assembler for {target} refuses. Write the operation in another way, and report it."
        ),
        blame=Blame.COMPILER,
        signs=(
            Sign(
                assembler=(
                    r"(?i)register (?:allocation|target|limit)|insufficient registers|too many"
                    r" (?:registers|active)|too much local|out of memory"
                ),
                words="assembler",
                advice=(
                    "Lower the register pressure with smaller blocks, more warps or fewer"
                    " `num_stages`."
                ),
            ),
            Sign(
                assembler=r"^Unexpected non-ASCII character",
                words="assembler",
                advice=(
                    "The assembler reads only ASCII. Use nothing else in inline assembly, and in"
                    " the name of the kernel's file, which PTX has in comments."
                ),
            ),
            Sign(
                assembler=r"^Unsupported \.version",
                means="PTX version too new for the assembler",
                advice=(
                    "The PTX has a newer version than the assembler knows. Leave out the option"
                    " `ptx_version`, or use a newer assembler."
                ),
            ),
            Sign(
                assembler=r"^Formal parameter space overflowed",
                means="too many parameters",
                advice="Pass fewer parameters. Together they have too many bytes.",
            ),
            Sign(assembler=r".", words="assembler"),
            Sign(
                message=r"failed to link hsaco|AMD assembler rejected",
                diagnostic=r"(?P<words>[^\n]+)",
                means="{words}",
            ),
            Sign(message=r"failed to link hsaco (?s:.*?)error: (?P<words>[^\n]+)", means="{words}"),
            Sign(message=r"PTX codegen error|`ptxas` (?:failed|raised)"),
        ),
    ),
    FailureClass(
        name="ir-parse",
        unreadable_ir=True,
        title="IR not readable",
        meaning="The compiler could not parse the text of the IR.",
        advice=(
            "IR text is not stable across releases. Make it with the release that reads it, or"
            " compile the Python source."
        ),
        at_import=r"",
        signs=(
            Sign(
                message=rf"Parse MLIR file failed|{_RUN_FAILED}",
                diagnostic=_SYNTAX,
                words="diagnostic",
            ),
            Sign(
                message=r"Parse MLIR file failed|error encountered during parsing", diagnostic=r"^$"
            ),
        ),
    ),
    FailureClass(
        name="verifier",
        title="IR verifier failed",
        meaning="MLIR's verifier found an invalid operation, which the front end or a pass made.",
        status=Status.CRASHED,
        advice=(
            "Give the operands of the operation that the message names the shapes and dtypes that"
            " it requires (`tl.full`, `.to(…)`, `tl.broadcast_to`). If the kernel is right, report"
            " it as a bug of the compiler."
        ),
        blame=Blame.COMPILER,
        signs=(
            Sign(
                message=_RUN_FAILED,
                diagnostic=r"'llvm\.f\w+' op .*got 'i8'",
                words="diagnostic",
                advice=(
                    "This release stores 8-bit floats but does not compute with them. Convert"
                    " before (`.to(tl.float16)`) and after the computation."
                ),
            ),
            Sign(
                message=_RUN_FAILED,
                diagnostic=r"'(?:tt|scf)\.\w+' op operand #\d+ must be 1-bit signless integer",
                words="diagnostic",
                advice=(
                    "A mask or a condition must be boolean, one value for a scalar and one for each"
                    " element of a block. Compare (`x != 0`), and use `tl.where` if a block"
                    " decides."
                ),
            ),
            Sign(
                message=_RUN_FAILED,
                diagnostic=r"'tt\.(?:reduce|scan)' op expects region",
                words="diagnostic",
                advice=(
                    "The function that combines two elements cannot contain a loop. Write it"
                    " without one."
                ),
            ),
            Sign(
                message=_RUN_FAILED,
                diagnostic=rf"^(?!.*(?:{_LOWERING}))'(?!tt\.|scf\.|arith\.|math\.)[\w.]+' op ",
                stage=r"^(?!ast$)",
                words="diagnostic",
                advice=(
                    "A pass made the operation that the message names. If a launch gives these"
                    " arguments, this is most likely a bug of the compiler. Vary `num_warps` or"
                    " `num_stages`, try the neighbouring releases, and report it."
                ),
            ),
            Sign(
                message=_RUN_FAILED,
                diagnostic=(
                    rf"^(?!.*(?:{_LOWERING})).*(?:'[\w.]+' op |must be|requires|failed to"
                    r" verify|expect)"
                ),
                words="diagnostic",
            ),
            Sign(message=r"error encountered during parsing", diagnostic=r".", words="diagnostic"),
            Sign(
                error=r"^AssertionError$",
                statement=r"\.verify\(\)",
                diagnostic=r".",
                words="diagnostic",
            ),
        ),
    ),
    FailureClass(
        name="pass-failure",
        of_pass=True,
        title="Compiler pass failed",
        meaning="A pass of the compiler failed without an assertion.",
        status=Status.CRASHED,
        advice=(
            "This release cannot lower an operation of the kernel for {target}. Rewrite the"
            " operation that the message names, vary `num_warps` or `num_stages`, or try the"
            " neighbouring releases."
        ),
        blame=Blame.COMPILER,
        signs=(
            Sign(
                message=r"PassManager::run failed",
                diagnostic=rf"^(?!{RETURNS}).",
                words="diagnostic",
            ),
            Sign(
                message=r"PassManager::run failed",
                diagnostic=r"^$",
                means="a pass failed silently",
                by_pass=True,
            ),
            Sign(message=r"[Pp]ass(?:es)? failed|failed to (?:translate|run)", by_pass=True),
        ),
    ),
    FailureClass(
        name="block-threads",
        title="Too many threads",
        meaning="The kernel compiles, but its block has more threads than {target} launches.",
        advice="Use fewer `num_warps`.",
        prediction=Prediction(
            number=_threads,
            most=lambda metrics, target: _MOST_THREADS,
            stage="launch",
            words="would exceed the threads of a block",
            excerpt="would exceed the threads of a block: has {found}, {target} allows {most}",
            script_text="threads in a block",
        ),
    ),
    FailureClass(
        name="block-registers",
        title="Too many registers",
        meaning=(
            "The kernel compiles, but the registers of all its threads are more than {target} has"
            " for a block."
        ),
        advice="Use fewer `num_warps`, or a smaller `maxnreg`.",
        prediction=Prediction(
            number=lambda metrics, target: _registers(metrics),
            most=lambda metrics, target: _most_registers(metrics),
            stage="launch",
            words="would exceed the registers of a block",
            excerpt=(
                "would exceed the registers of a block: has {found} a thread, {target} allows"
                " {most} with so many threads"
            ),
            script_text="registers a thread",
        ),
    ),
    FailureClass(
        name="cluster-size",
        title="Too many blocks in a cluster",
        meaning=(
            "The kernel compiles, but its cluster (`num_ctas`) has more blocks than this release"
            " launches: 8 up to 3.5, and 16 from 3.6 on."
        ),
        advice="Use a smaller `num_ctas`.",
        prediction=Prediction(
            number=lambda metrics, target: _number(metrics, "cluster"),
            most=lambda metrics, target: _number(metrics, "largest_cluster") or _LARGEST_CLUSTER,
            stage="launch",
            words="would exceed the blocks of a cluster",
            excerpt="would exceed the blocks of a cluster: has {found}, the release allows {most}",
            script_text="blocks in a cluster",
        ),
    ),
    FailureClass(
        name="tensor-memory",
        title="Tensor memory exceeded",
        meaning="The kernel compiles, but needs more tensor memory than {target} has.",
        advice="Use smaller blocks, or fewer accumulators of `tl.dot` at the same time.",
        prediction=Prediction(
            number=lambda metrics, target: _number(metrics, "tensor_memory"),
            most=lambda metrics, target: _TENSOR_MEMORY,
            stage="launch",
            words="would exceed tensor memory",
            excerpt="would exceed tensor memory: needs {found} columns, {target} has {most}",
            script_text="columns of tensor memory",
        ),
    ),
    FailureClass(
        name="sass-descriptor",
        title="Mixed-up wgmma descriptor",
        meaning=(
            "The kernel compiles, but its machine code makes the high word of a wgmma descriptor"
            " from the low word. This is a defect of ptxas 12.8. A launch would read the wrong"
            " shared memory and give wrong numbers or an illegal address."
        ),
        status=Status.WRONG,
        advice=(
            "Set TRITON_PTXAS_PATH to the `ptxas` of CUDA 12.9 or newer. The wheel"
            " `nvidia-cuda-nvcc-cu12` has it, and `nvidia-cuda-nvcc` for CUDA 13. Other block sizes"
            " or `num_warps` may avoid the defect."
        ),
        blame=Blame.COMPILER,
        prediction=Prediction(
            number=lambda metrics, target: metrics.get("mixed_descriptors"),
            most=lambda metrics, target: 0,
            stage="check",
            words="the high word of a wgmma descriptor is made of the low one",
            excerpt=(
                "would compute wrong numbers: sums that make the high word of a wgmma descriptor"
                " from the low word: {found}"
            ),
            script_text="sums that make the high word of a wgmma descriptor from the low word",
        ),
    ),
)
