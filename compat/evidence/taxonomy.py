"""The failure classes, as data: what each means, whose fault it usually is, what to do, and how to recognise it.

A class is one entry of :data:`KINDS`, recognised by its *signs*; the first class with a matching sign wins, so the order matters:
what is certain (a deadline) before what is guessed, what names a cause (an assertion) before what only names a consequence (a
failed pass). Adding a class takes one entry here, one fixture in ``tests/classify/fixtures`` and one heading in
``docs/failure-classes.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from attrs import asdict, frozen

from compat.evidence.symptoms import Symptoms
from compat.model import Status

_NOT_KNOWN = "the toolchain does not know the target"
"""However it shows: which part notices first depends on what the kernel needs, and is no other defect."""


class Blame(StrEnum):
    """Whose fault a failure usually is."""

    KERNEL = "kernel"
    COMPILER = "compiler"
    TOOLCHAIN = "toolchain"
    ENV = "env"
    LIMIT = "limit"


@frozen(kw_only=True)
class Sign:
    """One way in which a class shows: every pattern given must be found in the symptom of its name."""

    error: str | None = None
    message: str | None = None
    source: str | None = None
    assertion: str | None = None
    diagnostic: str | None = None
    ptxas: str | None = None
    output: str | None = None
    stage: str | None = None
    words: str = "message"
    """The symptom that tells the defect: the fingerprint is made of it."""
    means: str | None = None
    """What the fingerprint is made of instead, where releases say the same in different words. May hold facts in braces."""

    def match(self, symptoms: Symptoms) -> dict[str, str] | None:
        """The facts that the patterns name (``(?P<name>…)``), or ``None`` if this is not it."""
        facts: dict[str, str] = {}
        for symptom, pattern in _patterns(self):
            found = re.search(pattern, getattr(symptoms, symptom), re.MULTILINE)
            if found is None:
                return None
            facts.update(found.groupdict())
        return facts

    def tell(self, symptoms: Symptoms, facts: Mapping[str, str]) -> str:
        """What this defect is told apart by; ``facts`` are those that :meth:`match` found."""
        return self.means.format_map(facts) if self.means else getattr(symptoms, self.words)


@frozen(kw_only=True)
class Kind:
    """A failure class."""

    name: str
    title: str
    meaning: str
    status: Status
    advice: str
    """What a kernel author can do. May hold facts in braces: those its signs name, and ``{target}``, ``{stage}``."""
    blame: Blame
    signs: tuple[Sign, ...] = ()
    """How it shows in an attempt's words; empty for classes that are told by limits, by the env, or by nothing else."""


@cache
def _patterns(sign: Sign) -> tuple[tuple[str, str], ...]:
    fields = asdict(sign, filter=lambda field, value: value is not None and field.name not in ("words", "means"))
    return tuple(fields.items())


_RUN_FAILED = r"PassManager::run failed|error encountered during parsing"
"""What Triton raises when a pass or the verifier fails. The second is of 3.5 on, which verify the front end's IR by parsing it."""
_SYNTAX = (
    r"^(?:custom op|expected |unexpected |use of undeclared|undefined symbol|operation being parsed|redefinition of|invalid SSA|"
    r"Dialect .* not found|unregistered|unknown )"
)
_LOWERING = r"failed to legalize|failed to convert|could not|cannot be|not supported|unsupported|unable to|failed to (?!verify)"
_MALFORMED = r"(?:'[\w.]+' op |must be|requires|failed to verify|expect)"
_FRONT_END = r"^(?:TypeError|ValueError|AssertionError|IncompatibleTypeErrorImpl)$"

_ENTRIES = (
    Kind(
        name="install",
        title="Install failed",
        meaning="The env could not be made: no such release, no wheel for any interpreter here, or no answer from the index.",
        status=Status.ENV_BROKEN,
        advice="Read the installer's words below. Usual causes: no such release, wheels for other Pythons only, no network.",
        blame=Blame.ENV,
    ),
    Kind(
        name="import",
        title="Import failed",
        meaning="The env is there, but its toolchain cannot be imported.",
        status=Status.ENV_BROKEN,
        advice="Install what is missing into the env (`install = […]`); Triton 3.0 to 3.2 need setuptools without declaring it.",
        blame=Blame.ENV,
    ),
    Kind(
        name="timeout",
        title="Timeout",
        meaning="The compile outlived its deadline and was stopped.",
        status=Status.TIMED_OUT,
        advice="It hung in stage {stage}. Smaller blocks, fewer `static_range` iterations and fewer `num_stages` shorten compiles; "
        "if it is merely slow, raise the deadline.",
        blame=Blame.LIMIT,
    ),
    Kind(
        name="out-of-memory",
        title="Out of memory",
        meaning="The compile outgrew its memory limit, or could get no more memory.",
        status=Status.OUT_OF_MEMORY,
        advice="It happened in stage {stage}. Smaller blocks and less unrolling shrink the IR; if the machine has more to give, "
        "raise the limit.",
        blame=Blame.LIMIT,
        signs=(
            Sign(error=r"^MemoryError$", means="out of memory"),
            Sign(output=r"std::bad_alloc|LLVM ERROR: out of memory|Cannot allocate memory", means="out of memory"),
        ),
    ),
    Kind(
        name="static-assert",
        title="The kernel's own assertion",
        meaning="A `tl.static_assert` in the kernel does not hold for these constexprs.",
        status=Status.REJECTED,
        advice="The kernel itself refuses this configuration: change the constexprs that it speaks of, or leave the case out.",
        blame=Blame.KERNEL,
        signs=(Sign(error=r"^CompileTimeAssertionFailure$"),),
    ),
    Kind(
        name="toolchain-missing",
        title="Toolchain part missing",
        meaning="This toolchain needs a program for {target} that neither its wheel nor the machine has.",
        status=Status.UNSUPPORTED,
        advice="For AMD, take Triton 3.5 or later, whose wheels link by themselves, or install ROCm and point "
        "`TRITON_HIP_LLD_PATH` at its `ld.lld`.",
        blame=Blame.TOOLCHAIN,
        signs=(
            Sign(message=r"ROCm linker .*not found|ld\.lld.*(?:not found|No such file)", means="no ROCm linker"),
            Sign(message=r"[Cc]annot find (?P<program>ptxas|cuobjdump|nvdisasm|ld\.lld)"),
            Sign(error=r"^(?:FileNotFoundError|PermissionError)$", message=r"(?:ptxas|ld\.lld|clang)"),
        ),
    ),
    Kind(
        name="target-unknown",
        title="Target unknown to the toolchain",
        meaning="Part of this toolchain (Triton, LLVM or ptxas) has never heard of {target}, or no longer supports it.",
        status=Status.UNSUPPORTED,
        advice="Use a release whose toolchain knows {target}: `sm_100` and `sm_120` need Triton 3.3 or later.",
        blame=Blame.TOOLCHAIN,
        signs=(
            Sign(ptxas=r"is not defined for option 'gpu-name'", means=_NOT_KNOWN),
            # LLVM only warns, builds for its default processor, and stumbles over what that one does not have.
            Sign(output=r"^'\w+' is not a recognized processor for this target", means=_NOT_KNOWN),
            Sign(assertion=r"computeCapability not supported", means=_NOT_KNOWN),
            Sign(ptxas=r"(?:SM version|target).* (?:not supported|deprecated)", words="ptxas"),
            Sign(
                message=r"(?i)unsupported (?:target|arch\w*|gpu|gfx)|no (?:compatible )?backend|\d+ compatible backends for target"
            ),
            Sign(assertion=r"(?i)unknown (?:target|processor|gpu|arch)|unsupported (?:target|arch|gfx)", words="assertion"),
        ),
    ),
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
    Kind(
        name="unsupported-syntax",
        title="Python that Triton does not compile",
        meaning="The kernel uses a part of Python that this release does not compile.",
        status=Status.REJECTED,
        advice="Kernels are written in a part of Python: conditions, masks and `tl.where` in place of `break`, `continue` and "
        "`return` inside loops; helpers as `@triton.jit` functions of the module; no dicts, lambdas, `try` or list comprehensions.",
        blame=Blame.KERNEL,
        signs=(
            Sign(message=r"unsupported AST node type: (?:List|Set|Dict)Comp|only tuple comprehensions", means="comprehension"),
            Sign(message=r"^nested function definition", means="nested function"),
            Sign(error=r"^StopIteration$", source=r"^\s*def ", means="nested function"),
            Sign(message=r"__setitem__ is not supported", means="assignment into a block"),
            Sign(error=r"^AssertionError$", message=r"^$", source=r"^\s*\w+\[[^\]]*\]\s*=[^=]", means="assignment into a block"),
            Sign(message=r"the loop body should only have one block", means="return inside a loop"),
            Sign(error=r"^AssertionError$", message=r"^Not implemented$", source=r"^\s*while\b", means="while with an else"),
            Sign(error=r"^UnsupportedLanguageConstruct$", message=r"^(?!Boolean value)"),
        ),
    ),
    Kind(
        name="undefined-name",
        title="Name not defined",
        meaning="The kernel uses a name that is defined nowhere, or not on every way that leads to its use.",
        status=Status.REJECTED,
        advice="Check the spelling of `{name}`. A variable that only one branch of an `if` defines does not exist after it: define "
        "it before.",
        blame=Blame.KERNEL,
        signs=(Sign(error=r"^NameError$", message=r"\b(?P<name>\w+)'? is not defined$"),),
    ),
    Kind(
        name="unusable-global",
        title="Global that a kernel cannot use",
        meaning="The kernel uses something of its module that is neither a constexpr nor a `@triton.jit` function.",
        status=Status.REJECTED,
        advice="Make `{name}` a constexpr where it is a value (`{name} = tl.constexpr(…)`), decorate it with `@triton.jit` where "
        "it is a function, or pass it as a parameter.",
        blame=Blame.KERNEL,
        signs=(
            Sign(message=r"^Cannot access global variable (?P<name>\w+)", means="global {name}"),
            Sign(message=r'Function "(?P<name>\w+)" is being called from a Triton function', means="global {name}"),
            Sign(message=r"^Unsupported function referenced: <function (?P<name>\w+)", means="global {name}"),
        ),
    ),
    Kind(
        name="api-removed",
        title="API removed",
        meaning="The kernel uses something that this release says it has removed.",
        status=Status.REJECTED,
        advice="Port the kernel to what the message names in its place; block pointers (gone in 3.9) become tensor descriptors "
        "(since 3.4) or plain pointers (always).",
        blame=Blame.KERNEL,
        signs=(Sign(message=r"(?:has|have) been removed|(?:was|were) removed|no longer (?:supported|available)"),),
    ),
    Kind(
        name="api-missing",
        title="API missing",
        meaning="The kernel uses a name that this release does not have: not yet, or no more.",
        status=Status.REJECTED,
        advice="`{name}` is not in this release. If it came later, guard the variant by release or write it out; if it went, "
        "look for its successor in the release notes.",
        blame=Blame.KERNEL,
        signs=(
            Sign(error=r"^AttributeError$", message=r"module 'triton[\w.]*' has no attribute '(?P<name>\w+)'"),
            Sign(
                error=r"^AttributeError$",
                message=r"'(?:tensor|tensor_descriptor\w*|block_type|dtype)' object has no attribute '(?P<name>\w+)'",
            ),
            Sign(
                error=r"^ImportError$", message=r"cannot import name '(?P<name>\w+)' from '(?:partially initialized module )?triton"
            ),
            Sign(error=r"^ModuleNotFoundError$", message=r"No module named '(?P<name>triton[\w.]*)'"),
        ),
    ),
    Kind(
        name="api-changed",
        title="API call changed",
        meaning="The function is there, but does not take these arguments in this release.",
        status=Status.REJECTED,
        advice="Compare the call with this release's signature of `{name}`; leave out keywords that not all releases know.",
        blame=Blame.KERNEL,
        signs=(
            Sign(error=r"^TypeError$", message=r"(?P<name>[\w.<>]+)\(\) got an unexpected keyword argument"),
            Sign(error=r"^TypeError$", message=r"(?P<name>[\w.<>]+)\(\) (?:missing \d+ required|takes |got multiple values)"),
            Sign(error=r"^TypeError$", message=r"missing a required (?:\w+ )?argument: '(?P<name>\w+)'"),
            Sign(error=r"^KeyError$", message=r"(?P<name>Keyword argument .* was specified but unrecognised)"),
        ),
    ),
    Kind(
        name="constexpr-required",
        title="Compile-time constant required",
        meaning="A shape, a range or an option depends on a run-time value.",
        status=Status.REJECTED,
        advice="Declare the parameter `tl.constexpr`, and use masks for sizes that are known only at run time.",
        blame=Blame.KERNEL,
        signs=(
            Sign(message=r"^Shape element \d+ must have type `constexpr", means="shape element must be constexpr"),
            Sign(message=r"is not a constexpr$", source=r"static_range\(", means="static_range over a run-time value"),
            Sign(error=r"^AssertionError$", message=r"^$", source=r"static_range\(", means="static_range over a run-time value"),
            Sign(
                message=r"must be (?:of type )?(?:a )?`?(?:tl\.)?constexpr|(?:is|are) not (?:a )?constexpr|must be a compile.time"
            ),
            Sign(message=r"(?i)cannot .*(?:run.?time|non-constexpr) .*value"),
        ),
    ),
    Kind(
        name="loop-carried-type",
        title="Variable changes type in a loop",
        meaning="A variable enters a loop with one dtype or shape and leaves an iteration with another.",
        status=Status.REJECTED,
        advice="Give `{name}` its final type before the loop (`tl.zeros(shape, tl.float32)`, `0.0` in place of `0`), or convert it "
        "back inside (`.to(…)`).",
        blame=Blame.KERNEL,
        signs=(Sign(message=r"[Ll]oop-carried variable (?P<name>\w+)"),),
    ),
    Kind(
        name="shape-mismatch",
        title="Shapes do not fit",
        meaning="Two blocks cannot be broadcast against each other, or multiplied.",
        status=Status.REJECTED,
        advice="Give every term of a two-dimensional index its axis, `[:, None]` for rows and `[None, :]` for columns: a term "
        "without one is taken for columns. Compare the two sizes with your block sizes.",
        blame=Blame.KERNEL,
        signs=(
            Sign(
                message=r"not compatible for matmul|must have equal reduction dimensions|[Rr]eduction dimensions? of",
                means="dot operands differ in their inner dimension",
            ),
            Sign(message=r"make_shape_compatible|incompatible dimensions|[Cc]annot broadcast|[Rr]ank mismatch|[Ss]hape mismatch"),
            Sign(message=r"shapes? .*(?:do(?:es)? not match|must match|mismatch|incompatible)"),
            Sign(message=r"cannot view block of shape|reshape\(\) cannot change"),
        ),
    ),
    Kind(
        name="type-error",
        title="Operands of the wrong type",
        meaning="An operation does not take operands of these types, ranks, values or sizes.",
        status=Status.REJECTED,
        advice="Convert operands explicitly (`.to(…)`); mind that `tl.max` and `tl.min` reduce, where `tl.maximum` and "
        "`tl.minimum` compare.",
        blame=Blame.KERNEL,
        signs=(
            Sign(message=r"[Bb]oth operands must be same dtype|must have the same dtype", means="dot operands differ in dtype"),
            Sign(message=r"must be >= 16!|Input shapes should have M >=", means="dot operands too small"),
            Sign(message=r"[Mm]ismatched type for .* between then block"),
            Sign(message=r"^Boolean value of Tensor", means="a block as a condition"),
            Sign(error=_FRONT_END, message=r".", stage=r"^ast$"),
            Sign(error=r"^AttributeError$", message=r"^(?:type object )?'\w+' (?:object )?has no attribute", stage=r"^ast$"),
        ),
    ),
    Kind(
        name="unclassified",
        title="Not classified",
        meaning="None of the other classes. Rejected where an exception ended it, crashed where a signal did, lost without a word.",
        status=Status.REJECTED,
        advice="Read the excerpt; `compat explain` shows all that is known. If others will meet it too, it deserves a class.",
        blame=Blame.COMPILER,
    ),
)

KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in _ENTRIES})
"""Name → class: env and limits, toolchain, compiler, kernel; the last is for what fits none."""


def recognise(symptoms: Symptoms, kinds: Iterable[Kind] = _ENTRIES) -> tuple[Kind, Sign, dict[str, str]] | None:
    """The first class with a matching sign, that sign, and the facts it names; ``None`` if no class knows these symptoms."""
    for kind in kinds:
        for sign in kind.signs:
            facts = sign.match(symptoms)
            if facts is not None:
                return kind, sign, facts
    return None
