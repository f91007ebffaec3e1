"""Classes of what the front end says of a kernel; the last two take what the others left."""

from __future__ import annotations

from compat.evidence.kind import Blame, Kind, Sign
from compat.model import Status

_FRONT_END = r"^(?:TypeError|ValueError|AssertionError|IncompatibleTypeErrorImpl)$"

KINDS = (
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
        name="unsupported-syntax",
        title="Unsupported Python",
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
