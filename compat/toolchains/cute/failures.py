"""The failure classes of CuTe DSL, as data, in the order of precedence, and its wording.

Up to 4.5 an exception of CuTe DSL wraps the exception with the cause, and repeats its message. From
4.6 on, CuTe DSL prints errors of users like a compiler, with a code (``error[UNSUP_EARLY_EXIT]``),
the source and suggestions. Both forms contain the unchanged messages of MLIR, libNVVM and ptxas. So
the classes of causes come before those of wrappers. Signs extract facts from messages, because a
fingerprint is made of these facts. A new class needs one entry here, and one kernel in
``tests/kernels/cute_faces.py``.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePath

from attrs import evolve

from compat.diagnosis import common
from compat.diagnosis.failure_class import Blame, FailureClass, Knowledge, Sign
from compat.diagnosis.symptoms import MessagePatterns
from compat.model import Status
from compat.text import lazy_pattern
from compat.toolchains.cute.facts import NAME
from compat.toolchains.cute.ir import READER

_OBJECTS = (
    r"_?Tensor|_?Pointer|Layout|ComposedLayout|Atom|MmaAtom|CopyAtom|TiledMma|TiledCopy|ThrMma|ThrCopy|SmemAllocator|TmemAllocator|"
    r"Pipeline\w+|KernelLauncher|Swizzle|TensorSSA|Boolean|B?Float\d+\w*|U?[Ii]nt\d+|ArithValue"
)
_LAYOUT_WORDS = (
    r"size|shape|rank|layout|align|divis|stride|tiler|mode|profile|congruen|compatib|coalesc|swizzle|weakly|compact|element"
    r" type"
)
_EXPECTS = (
    r"expects argument #\d+ \((?P<name>\w+)\) to be (?:<class ')?(?:\w+\.)*(?P<type>\w+)[^\n]*?, "
    r"but got (?:<class ')?(?:\w+\.)*(?P<other>\w+)"
)
"""The message about an argument that does not fit its annotation.

Functions with the decorator ``@cute.jit`` or ``@cute.kernel`` raise it.
"""
_KIND = r"\w[\w.]*(?:<[^>\n]*>)?"
_MLIR_SAYS = r"^ *error: (?:unknown|(?:loc\()?\"[^\n]*?:\d+:\d+\)*|<module>)(?:: |\): )(?:error: )?"
"""The location before a message of MLIR."""

_IMPORT_ADVICE = (
    "This release has no `{name}`. Import a replacement (`try: … except ImportError: …`), or leave"
    " this release out."
)

TARGET_UNKNOWN = evolve(
    common.TARGET_UNKNOWN,
    signs=(
        Sign(error=r"^KeyError$", message=r"^'?sm_\w+'?$", means="no such architecture"),
        Sign(
            error=r"^ValueError$",
            message=r"^invalid arguments for Arch: \(\d+, \d+, '\w*'\)",
            means="no such architecture",
        ),
        Sign(
            message=(
                r"NVVM_ERROR_INVALID_OPTION[^\n]*-arch=compute_"
                r"|(?:[Uu]nknown|[Ii]nvalid|[Uu]nsupported) (?:GPU )?arch\w*[^\n]*sm_\d+"
            ),
            means="no such architecture",
        ),
    ),
)

CLASSES = (
    *(
        failure_class
        for failure_class in common.EVERYWHERE
        if failure_class not in (common.SOURCE_NEEDS_PACKAGE, common.TARGET_UNKNOWN)
    ),
    common.source_needs_package("cutlass", pairs=False),
    TARGET_UNKNOWN,
    FailureClass(
        name="kernel-file",
        title="Kernel file does not fit",
        meaning=(
            "The arguments in the kernel file do not fit the function. The kernel itself was not"
            " compiled."
        ),
        status=Status.SOURCE_BROKEN,
        advice=(
            "Compare `[signature]` and `[constexprs]` with the parameters of the function, and of"
            " the constructor if it is a class."
        ),
        blame=Blame.ENV,
        signs=(
            Sign(
                error=r"^KernelFileError$",
                message=_EXPECTS,
                means="{name}: {type} expected, {other} given",
                advice=(
                    "Give `{name}` another type in `[signature]`. The function declares it as"
                    " `{type}`."
                ),
            ),
            Sign(
                message=r"the function launches no kernel|error\[LAUNCH_NEVER_ISSUED\]",
                means="the function launches no kernel",
                advice=(
                    "Name a function that launches a kernel, with `kernel(…).launch(grid=…,"
                    " block=…)`."
                ),
            ),
            Sign(error=r"^KernelFileError$"),
        ),
    ),
    FailureClass(
        name="compiler-assert",
        title="Compiler aborted",
        meaning="The compiler aborted the process.",
        status=Status.CRASHED,
        advice=(
            "This is a bug of the compiler. Try the neighbouring releases, and report it (`compat"
            " repro`)."
        ),
        blame=Blame.COMPILER,
        signs=(
            Sign(assertion=r"^compile$", words="assertion", by_pass=True),
            Sign(assertion=r".", words="assertion"),
        ),
    ),
    FailureClass(
        name="ptxas",
        title="ptxas refuses the code",
        meaning=(
            "The assembler does not accept PTX of the compiler or inline assembly of the kernel."
        ),
        advice=(
            "If the message is about an instruction that is not inline assembly of the kernel, this"
            " is a defect of the release."
        ),
        blame=Blame.COMPILER,
        signs=(Sign(assembler=r".", words="assembler"),),
    ),
    FailureClass(
        name="arch-required",
        title="Operation of another architecture",
        meaning=(
            "The kernel uses an operation that {target} does not have. sm_90a has wgmma, and"
            " sm_100a and its variants have tcgen05."
        ),
        advice=(
            'Compile for an architecture that has it, with `targets = ["{first}"]` in the kernel'
            " file."
        ),
        signs=(
            Sign(
                message=r"expects arch to be (?:one of )?\W*(?:[\w.]*Arch\.)?(?P<first>sm_\w+)",
                means="needs {first}",
            ),
            Sign(
                message=r"libNVVM extra log: +error: (?P<name>[\w.]+) supported only on",
                means="{name}",
                advice=(
                    "`{name}` belongs to another architecture. Set `targets` in the kernel file to"
                    " one that has it."
                ),
            ),
        ),
    ),
    FailureClass(
        name="nvvm",
        title="libNVVM refuses the code",
        meaning=(
            "libNVVM, which makes PTX, does not accept the code that MLIR's passes made from the"
            " kernel."
        ),
        advice=(
            "The usual cause is an operation that the target does not have. Releases up to 4.5 name"
            " the operation, and later ones do not."
        ),
        blame=Blame.COMPILER,
        signs=(
            Sign(
                message=r"(?s:.*)libNVVM extra log: *(?:[Ee]rror: )?(?P<words>[^\n]+)",
                means="{words}",
            ),
            Sign(message=r"(?P<words>NVVM_ERROR_\w+)", means="{words}"),
            Sign(message=r"NVVM backend compilation failed: (?P<words>[^\n]+)", means="{words}"),
            Sign(message=r"NVVM backend compilation failed", means="no log"),
        ),
    ),
    FailureClass(
        name="api-missing",
        title="API missing",
        meaning="The kernel uses a name that this release does not have yet, or no longer has.",
        advice=(
            "This release has no `{name}`. Use a replacement, or let the kernel check for it with"
            " `hasattr` inside `cutlass.const_expr`."
        ),
        at_import=r".",
        missing_feature=True,
        signs=(
            Sign(
                error=r"^AttributeError$",
                message=r"module 'cutlass(?:\.[\w.]+)?' has no attribute '(?P<name>\w+)'",
                means="{name}",
            ),
            Sign(
                error=r"^AttributeError$",
                message=rf"^'(?:{_OBJECTS})' object has no attribute '(?P<name>\w+)'",
                means="{name}",
            ),
            Sign(
                error=r"^AttributeError$",
                message=r"^type object '(?P<owner>\w+)' has no attribute '(?P<name>\w+)'",
                means="{name}",
            ),
            Sign(
                error=r"^ImportError$",
                message=(
                    r"cannot import name '(?P<name>\w+)' from '(?:partially initialized module"
                    r" )?cutlass[\w.]*'"
                ),
                means="{name}",
                advice=_IMPORT_ADVICE,
            ),
            Sign(
                error=r"^ModuleNotFoundError$",
                message=r"No module named '(?P<name>cutlass(?:\.[\w.]+)?)'",
                means="{name}",
                advice=_IMPORT_ADVICE,
            ),
        ),
    ),
    FailureClass(
        name="api-changed",
        title="API call changed",
        meaning="The function exists, but does not take these arguments in this release.",
        advice="Compare the call with the definition of `{name}` in this release.",
        missing_feature=True,
        signs=(
            Sign(
                error=r"^TypeError$",
                message=(
                    r"^(?:\w+\.)*(?P<name>\w+)\(\) got an unexpected keyword argument"
                    r" '(?P<argument>\w+)'"
                ),
                means="{name} got {argument}",
                advice=(
                    "`{name}` takes no `{argument}` in this release. Leave it out, or pass it only"
                    " on releases that take it."
                ),
            ),
            Sign(
                error=r"^TypeError$",
                message=(
                    r"^(?:\w+\.)*(?P<name>\w+)\(\) missing \d+ required (?:\S+ )?arguments?:"
                    r" '(?P<argument>\w+)'"
                ),
                means="{name} lacks {argument}",
                advice="`{name}` also needs `{argument}` in this release. Pass it.",
            ),
            Sign(
                error=r"^TypeError$",
                message=r"^(?:\w+\.)*(?P<name>\w+)\(\) (?:takes .* given$|got multiple values)",
                means="{name} got too many arguments",
            ),
            Sign(
                message=r"^(?:DSLRuntimeError: )?Expect 3d (?P<name>grid|block)!",
                means="{name} of fewer than three numbers",
                advice="`launch` needs three numbers for `{name}` in this release.",
            ),
            Sign(
                error=r"^(?:SystemExit|DSLRuntimeError)$",
                output=r"unrecognized arguments: (?P<name>--\S+)",
                means="option {name}",
                advice="This release has no option `{name}`.",
            ),
        ),
    ),
    FailureClass(
        name="wrong-call",
        title="Call does not fit the function",
        meaning=(
            "The kernel calls one of its own functions with arguments that the function does not"
            " take."
        ),
        advice="Compare the call with the parameters of the function, and with their annotations.",
        signs=(
            Sign(message=_EXPECTS, means="{name}: {type} expected, {other} given"),
            Sign(
                error=r"^TypeError$",
                message=(
                    r"^(?:missing a required (?:keyword-only )?argument|got an unexpected keyword"
                    r" argument"
                    r"|too many positional arguments|multiple values for argument)"
                ),
            ),
            Sign(
                message=r"Missing required argument in|error\[CALL_MISSING_ARG\]",
                means="an argument is missing",
            ),
        ),
    ),
    FailureClass(
        name="undefined-name",
        title="Name not defined",
        meaning=(
            "The kernel uses a name that is defined nowhere, or not on every path that leads to its"
            " use."
        ),
        advice=(
            "Check the spelling of `{name}`. A variable that only one branch of a dynamic `if`"
            " defines does not exist after it. Define it before the `if`, or make the condition a"
            " constant (`cutlass.const_expr`)."
        ),
        signs=(
            Sign(
                error=r"^NameError$", message=r"name '(?P<name>\w+)' is not defined", means="{name}"
            ),
            Sign(
                error=r"^UnboundLocalError$",
                message=r"local variable '(?P<name>\w+)'",
                means="{name}",
            ),
            Sign(
                message=r"NameError in `\w+`: name '(?P<name>\w+)' is not defined", means="{name}"
            ),
        ),
    ),
    FailureClass(
        name="unsupported-syntax",
        title="Syntax not supported",
        meaning="The kernel uses a form of Python that CuTe DSL does not translate.",
        advice="Write the form that the message names in another way.",
        signs=(
            Sign(
                message=r"Early exit \((?P<what>\w+)\) is not allowed",
                means="early exit by {what}",
                advice=(
                    "CuTe DSL does not translate a `{what}` inside a dynamic `if`, `for` or"
                    " `while`. Make the condition a constant (`cutlass.const_expr`,"
                    " `cutlass.range_constexpr`), or carry a flag."
                ),
            ),
            Sign(
                message=r"could not get source code|error\[UNSUP_NO_SOURCE\]",
                means="no source",
                advice="Put the kernel into a file. CuTe DSL reads its source there.",
            ),
            Sign(
                message=(
                    r"callee is not a valid FunctionOpInterface|failed to legalize operation"
                    r" 'gpu\.launch_func'"
                ),
                means="a launch inside of a kernel",
                advice=(
                    "Launch kernels from a function below `@cute.jit`. A kernel cannot launch"
                    " another one."
                ),
            ),
            Sign(message=r"error\[(?P<code>UNSUP_\w+)\]", means="{code}"),
            Sign(
                error=r"^DSLAstPreprocessorError$",
                message=r"^(?:DSLAstPreprocessorError: )?(?P<words>[^\n]+)",
                means="{words}",
            ),
        ),
    ),
    FailureClass(
        name="loop-carried-type",
        title="Variable changes type",
        meaning=(
            "A variable has one type before a dynamic `for`, `while` or `if`, and another type"
            " inside."
        ),
        advice=(
            "Give `{name}` its final type before (`cutlass.Float32(0.0)` instead of `0`), or"
            " convert it back inside (`.to(…)`)."
        ),
        signs=(
            Sign(
                message=(
                    rf"`(?P<name>\w+)` is (?P<one>{_KIND}) prior to this `\w+`, and update to"
                    rf" (?P<two>{_KIND})"
                ),
                means="{one} becomes {two}",
            ),
            Sign(
                message=(
                    rf"`(?P<name>\w+)` has type `(?P<one>{_KIND})` on one path and"
                    rf" `(?P<two>{_KIND})` on another"
                ),
                means="{one} becomes {two}",
            ),
            Sign(
                message=(
                    r"expects \[(?P<one>[^\n\]]+)\] type for varible `(?P<name>\w+)`, but got"
                    r" \[(?P<two>[^\n\]]+)\]"
                ),
                means="{one} becomes {two}",
            ),
        ),
    ),
    FailureClass(
        name="constexpr-required",
        title="Compile-time constant required",
        meaning=(
            "A range, a condition or an argument that must be a compile-time constant depends on a"
            " run-time value."
        ),
        advice=(
            "Declare the parameter as `cutlass.Constexpr`. Or use the dynamic form, which is"
            " `range` for `range_constexpr` and a plain `if` for `const_expr`."
        ),
        signs=(
            Sign(
                message=r"`range_constexpr(?:\(\))?` requires",
                means="range_constexpr over a run-time value",
            ),
            Sign(
                message=r"`const_expr\(\??\)` (?:received a dynamic expression|requires)",
                means="const_expr of a run-time value",
            ),
            Sign(
                message=r"object cannot be interpreted as an integer|error\[PHASE_DYNAMIC_INDEX\]",
                means="a run-time value as an index or a range",
            ),
            Sign(
                message=(
                    r"Only constexpr \(Python Value\) is allowed here|Explicit boolean conversion"
                    r" requires a value|Unable to convert dynamic `?\w+`? value to bool"
                ),
                means="a run-time value as a condition of Python's",
                advice=(
                    "Write a plain `if` over the value itself. Python evaluates `bool`, `not` and"
                    " the conditions of comprehensions when it traces the kernel."
                ),
            ),
            Sign(
                message=r"error\[(?P<code>ARG_NON_CONSTANT|PHASE_REQUIRES_CONSTANT)\]",
                means="{code}",
            ),
        ),
    ),
    FailureClass(
        name="layout-mismatch",
        title="Layouts do not fit",
        meaning=(
            "The shapes, strides, ranks or alignments of tensors and atoms do not fit together in"
            " an operation."
        ),
        advice=(
            "Print the shapes with `print(tensor)` in the kernel, and compare them with the"
            " message. Later releases check more of this."
        ),
        signs=(
            Sign(
                message=(
                    r"'(?P<name>[\w.]+)' op [^\n]*ptr alignment [^\n]*does not meet requirement"
                ),
                means="{name}: alignment",
            ),
            Sign(
                message=(
                    r"'cute\.copy' op expects same size in rank|source and destination tensors to"
                    r" have the same size in mode"
                ),
                means="cute.copy: sizes differ",
            ),
            Sign(
                message=rf"'(?P<name>[\w.]+)' op (?P<words>[^\n]*(?:{_LAYOUT_WORDS})[^\n]*)",
                means="{name}: {words}",
            ),
            Sign(
                message=(
                    rf"{_MLIR_SAYS}(?P<words>[^\n]*?(?:{_LAYOUT_WORDS})[^\n]*?)(?:,? but got"
                    r" [^\n]*)?$"
                ),
                means="{words}",
            ),
            Sign(
                error=r"^ValueError$",
                message=r"^Operation creation failed$",
                diagnostic=r"^(?P<words>[^\n]*?)(?:,? but got [^\n]*)?$",
                means="{words}",
            ),
            Sign(
                error=r"^ValueError$",
                message=rf"^(?P<words>Expected [^\n]*(?:{_LAYOUT_WORDS})[^\n]*)",
                place=r"\.py: ",
                means="{words}",
            ),
            Sign(
                error=r"^ValueError$",
                message=r"^(?P<words>(?:not enough|too many) values to unpack \(expected \d+)",
                source=r"= *[\w.]+\.(?:shape|stride)\s*$",
                means="{words}",
            ),
        ),
    ),
    FailureClass(
        name="not-implemented",
        title="Not implemented",
        meaning="The release knows the feature that the kernel uses, but has no code for it.",
        advice="Write it in another way, or use a release that implements it.",
        missing_feature=True,
        signs=(Sign(error=r"^NotImplementedError$"),),
    ),
    FailureClass(
        name="operand-type",
        title="Operand of the wrong type",
        meaning="An operation got a value of a type that it does not take.",
        advice=(
            "Convert the value first (`.to(…)`, `.load()`), or use its elements. The message names"
            " its type."
        ),
        signs=(
            Sign(
                error=r"^ValueError$",
                message=r"^unsupported data type: <class '(?:\w+\.)*(?P<type>\w+)'>",
                means="a value of type {type}",
            ),
            Sign(
                error=r"^ValueError$",
                message=(
                    r"^Type mismatch, store (?P<type>\w+)[^\n]* to Tensor with element type"
                    r" (?P<other>\w+)"
                ),
                means="{type} stored to {other}",
            ),
            Sign(
                error=r"^TypeError$",
                message=r"^`(?P<name>\w+)` currently only supports (?P<words>[^\n]+)",
                means="{name}: {words}",
            ),
        ),
    ),
    FailureClass(
        name="verifier",
        title="Refused by MLIR's verifier",
        meaning=(
            "MLIR's verifier found an invalid operation in the IR of the kernel, and the reason is"
            " not a layout."
        ),
        advice=(
            "Compare the call of the operation that the message names with the requirement in the"
            " message."
        ),
        signs=(
            Sign(message=r"'(?P<name>[\w.]+)' op (?P<words>[^\n]+)", means="{name}: {words}"),
            Sign(message=rf"{_MLIR_SAYS}(?P<words>[^\n]+)", means="{words}"),
        ),
    ),
    FailureClass(
        name="static-assert",
        title="The kernel's own assertion",
        meaning="An `assert` or a `raise` in the kernel ended its tracing.",
        advice="The kernel does not support these arguments. Give it others.",
        signs=(
            Sign(error=r"^AssertionError$", raiser=r"^kernel$"),
            Sign(error=r"^AssertionError$", message=r".", source=r"^\s*assert\b"),
            Sign(message=r".", raiser=r"^kernel$", source=r"^\s*raise\b"),
        ),
    ),
    FailureClass(
        name="internal-error",
        title="Error inside CuTe DSL",
        meaning="Code of CuTe DSL failed without a message about the kernel.",
        advice=(
            "CuTe DSL failed in {where}. Check the arguments of the call in the kernel's line, and"
            " try the neighbouring releases."
        ),
        blame=Blame.COMPILER,
        signs=(
            Sign(
                message=(
                    r"Error during runtime code generation|^(?:DSLRuntimeError:"
                    r" )?\W*ICE\b|error\[INTERNAL\]"
                ),
                place=r"(?P<where>.+)",
                means="raised in {where}",
            ),
        ),
    ),
    FailureClass(
        name="coded",
        title="Refused with an error code",
        meaning="The release refuses the kernel with a diagnostic that has an error code.",
        advice="The message says what is wrong, and often how to fix it.",
        signs=(Sign(message=r"error\[(?P<code>(?!INTERNAL\b)[A-Z_]+)\]", means="{code}"),),
    ),
    common.UNCLASSIFIED,
)

_FORGET = tuple(
    (lazy_pattern(pattern), replacement)
    for pattern, replacement in (
        (r"[\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F]", ""),
        (r"(?m)^\s*(?:-->|\d* *\||> *\d+ \|).*$", ""),  # the kernel's source
        (r"(?m)^\s*(?:suggestion|= note|note):(?s:.*)", ""),
        (r"see current operation:(?s:.*)", ""),
        (r"kernel_cutlass_\w+", "<kernel>"),
        (r"\[(?:(?:'|[\w.]*arch\.)?sm_\w+'?(?:, )?)+\]", "<architectures>"),
        (r"%[\w.$-]+(?:[:#]\d+)?", "%"),
    )
)

_INNERMOST = lazy_pattern(r'cutlass/[\w/]+\.py", line \d+ in (?P<words>[a-z]\w*)')
"""The innermost named function of CuTe DSL in the stack that Python prints of an abort.

It shows the place of an abort without a message.
"""
_STACK = lazy_pattern(
    r"^Fatal Python error: [^\n]*\n+[^\n]*\(most recent call first\):\n(?P<frames>(?:  File"
    r" .*\n?)+)",
    re.MULTILINE,
)
_FRAME = lazy_pattern(r'  File "(?P<path>[^"\n]+)", line (?P<line>\d+) in ')
_INSTALLED = ("/site-packages/", "/lib/python3")
_ADAPTER = "/cute/inside/adapter/"
"""The caller of the tracer. If it is the innermost frame, no function of the kernel was running."""


def _line_in_stack(output: str) -> str | None:
    """The kernel's line in the stack that Python prints of an abort, as ``file.py:12``."""
    stack = _STACK.search(output)
    frames = _FRAME.finditer(stack["frames"]) if stack else ()
    outside = next(
        (frame for frame in frames if not any(part in frame["path"] for part in _INSTALLED)), None
    )
    if outside is None or _ADAPTER in outside["path"]:
        return None
    return f"{PurePath(outside['path']).name}:{outside['line']}"


KNOWLEDGE = Knowledge(
    toolchain=NAME,
    classes=CLASSES,
    wording=MessagePatterns(
        package="cutlass",
        wrappers=(
            "DSLRuntimeError",
            "DSLUserCodeError",
            "CompilationError",
            "CompilerDiagnosticError",
        ),
        assembler=lazy_pattern(r"log: *ptxas[^\n]*?\b(?:error|fatal) *: *(?P<words>[^\n]+)"),
        assembler_name="ptxas",
        forget=_FORGET,
        fatal=(
            lazy_pattern(r"LLVM ERROR: (?P<words>[^\n]+)"),
            lazy_pattern(r"what\(\): +(?P<words>[^\n]+)"),
            _INNERMOST,
        ),
        reader=evolve(
            READER, kernel_line=_line_in_stack, sources=(*READER.sources, Path(__file__))
        ),
    ),
    programs={
        "source": "the kernel's file",
        "trace": "the tracer",
        "mlir": "MLIR",
        "binary": "libNVVM or ptxas",
        "ptx": "libNVVM",
        "cubin": "ptxas",
    },
)
