"""Classes of what the front end says of a kernel's language and of its use of Triton's API."""

from __future__ import annotations

import ast
import builtins

from compat.diagnosis.failure_class import FailureClass, Sign
from compat.toolchains.triton.failures.compiler import RETURNS

_NODES = "|".join(name for name, each in vars(ast).items() if isinstance(each, type) and issubclass(each, ast.AST))
"""Python's names for parts of a program: Triton met one where it expected another."""
_BUILTINS = "|".join(name for name, each in vars(builtins).items() if callable(each) and name.islower())
_CALLED = r"(?<![\w.<>])(?P<name>[\w.<>]+)\(\) "
_FUNCTION = f"(?:{_CALLED})?"
_NO_BLOCK = "a loop changes what is no block"
_NO_BLOCK_ADVICE = (
    "A variable that a loop changes must be a number or a block before the loop and after each iteration: not a constexpr, "
    "not `None`, not a tuple of another length. Copy a constexpr into a variable before the loop "
    "(`x = tl.full((), N, tl.int32)`), or unroll the loop with `tl.static_range`."
)
_NAMES_NO_ARGUMENT = "{argument} of autotune names no argument"
_NAMES_NO_ARGUMENT_ADVICE = (
    "`{argument}` of `@triton.autotune` may only name parameters of the kernel: Triton 3.0 and 3.1, and 3.9 again, refuse others "
    "while the module is imported."
)

_OPERATOR_ADVICE = (
    "Write out what the operator means: `x * x` for `x ** 2`, `tl.dot(a, b)` for `a @ b`, `x == 1 or x == 2` for `x in (1, 2)`; "
    "`and` and `or` of three terms in parentheses, two at a time."
)
_NESTED_ADVICE = "Move the function to the top of the module and decorate it with `@triton.jit`."
_ASSIGNMENT_ADVICE = (
    "Blocks and their attributes cannot be changed in place: make a new block, `x = tl.where(at == 3, value, x)`, or store through "
    "a pointer."
)
_RETURN_ADVICE = (
    "Carry a flag through the loop and choose by it (`tl.where`, or an `if` around the rest of the body) instead of leaving it."
)
_LOOP_ADVICE = (
    "Loop over `range` or `tl.static_range` with numbers, written in the `for` itself and without an `else`, and take what is "
    "wanted by its index."
)
_UNROLL_ADVICE = "Write the elements out, or fill them in a loop over `tl.static_range`."
_GUARD_ADVICE = (
    "Put the import into a `try`, with an `except ImportError` that takes what this release has in its place "
    "(`compat api` tells which releases have a name), or leave these releases out."
)
_ANNOTATION_ADVICE = (
    "The annotation of a parameter names `{name}`, which Triton takes for a global that the kernel uses: put it in quotes, or "
    "leave it out. Only `tl.constexpr` means anything there."
)
_OF_FRONT_END = "_semantic|_builder|_generator"
"""Arguments that Triton's front end passes to its own functions."""

CLASSES = (
    FailureClass(
        name="static-assert",
        title="Static assertion",
        meaning="A `tl.static_assert` does not hold for these constexprs: one of the kernel's own, or of a function that it calls.",
        advice="The line named, or the function of Triton's that it calls, asserts something that these constexprs and shapes do "
        "not fulfil: change them, or leave the case out.",
        signs=(Sign(error=r"^CompileTimeAssertionFailure$"),),
    ),
    FailureClass(
        name="unsupported-syntax",
        title="Unsupported Python",
        meaning="The kernel uses a feature of Python that this release does not compile.",
        advice="Kernels are written in a subset of Python: conditions, masks and `tl.where` instead of `break`, `continue` and "
        "`return` inside loops; helpers as `@triton.jit` functions of the module; no dicts, lambdas, `try` or list comprehensions.",
        lacks=True,
        signs=(
            Sign(
                message=r"unsupported AST node type: (?:List|Set|Dict)Comp|only tuple comprehensions",
                means="comprehension",
                advice=_UNROLL_ADVICE,
            ),
            Sign(message=r"^nested function definition", means="nested function", advice=_NESTED_ADVICE),
            Sign(error=r"^StopIteration$", source=r"^\s*def ", means="nested function", advice=_NESTED_ADVICE),
            Sign(message=r"__setitem__ is not supported", means="assignment into a block", advice=_ASSIGNMENT_ADVICE),
            Sign(
                error=r"^AssertionError$",
                message=r"^$",
                source=r"^\s*\w+\[[^\]]*\]\s*=[^=]",
                means="assignment into a block",
                advice=_ASSIGNMENT_ADVICE,
            ),
            Sign(message=r"the loop body should only have one block", means="return inside a loop", advice=_RETURN_ADVICE),
            Sign(
                message=r"^(?P<else>Don't know what to do with else after for|Not implemented)$",
                means="loop with an else",
                advice=_LOOP_ADVICE,
            ),
            Sign(
                message=r"^Only `range` and `static_range` iterators",
                means="loop over something else than a range",
                advice=_LOOP_ADVICE,
            ),
            Sign(
                error=r"^AttributeError$",
                message=r"^'(?:List|Tuple|Name|Subscript|Attribute|Constant)' object has no attribute 'func'",
                means="loop over something else than a range",
                advice=_LOOP_ADVICE,
            ),
            Sign(
                error=r"^AttributeError$",
                message=rf"^'(?P<node>{_NODES})' object has no attribute",
                means="{node}",
                advice=_OPERATOR_ADVICE,
            ),
            Sign(
                message=r"'tensor' object has no attribute '__pow__'|for \*\*.*: 'tensor'",
                means="operator **",
                advice=_OPERATOR_ADVICE,
            ),
            Sign(
                diagnostic=RETURNS,
                means="kernel returns a value",
                advice="A kernel returns nothing: store the value through a pointer parameter.",
            ),
            Sign(message=r"AST node type: Starred|starred assignment targets", means="starred"),
            Sign(message=r"Attribute assignment is not supported", means="attribute assignment", advice=_ASSIGNMENT_ADVICE),
            Sign(
                error=r"^AssertionError$",
                message=r"^$",
                source=r"^\s*\w+\.\w+\s*=[^=]",
                place=r": assignTarget$",
                means="attribute assignment",
                advice=_ASSIGNMENT_ADVICE,
            ),
            Sign(error=r"^AssertionError$", message=r"^$", place=r": (?:visit_Starred|assignTarget)$", means="starred"),
            Sign(
                message=r"^Cannot have `return` statements inside `(?:while|for)",
                means="return inside a loop",
                advice=_RETURN_ADVICE,
            ),
            Sign(
                error=r"^AttributeError$",
                message=r"^'tensor' object has no attribute '(?P<node>__\w+__)'",
                means="operator {node}",
                advice=_OPERATOR_ADVICE,
            ),
            Sign(message=r"^JIT functions do not support", means="variable keyword arguments"),
            Sign(message=r"constexpr cannot be reassigned", means="constexpr reassigned"),
            Sign(
                message=r"^Cannot call @triton\.jit'd outside",
                means="a jit function called by Python",
                advice="Call it as a function of `tl` (`tl.sum(x, 0)` instead of `x.sum(0)`), from a `@triton.jit` function.",
            ),
            Sign(
                error=r"^NameError$",
                message=rf"^(?P<name>{_BUILTINS}) is not defined$",
                advice="Kernels do not have Python's `{name}`: take Triton's where there is one (`tl.abs`, `tl.sum`, `tl.floor`), "
                "and `range` or `tl.static_range` with an index in the place of other iterators.",
            ),
            Sign(
                message=r"AST (?:binary|unary|boolean|comparison) operator '(?P<node>\w+)' is not",
                means="{node}",
                advice=_OPERATOR_ADVICE,
            ),
            Sign(
                message=r"[Ss]imultaneous multiple assignment",
                means="chained assignment",
                advice="Write one assignment for each variable: `b = …`, `a = b`.",
            ),
            Sign(message=r"chained boolean operators", advice=_OPERATOR_ADVICE),
            Sign(message=r"^Cannot evaluate f-string", advice="Hand values to `tl.device_print` as arguments of their own."),
            Sign(error=r"^UnsupportedLanguageConstruct$", message=r"^(?!Boolean value|`if` conditionals)"),
        ),
    ),
    FailureClass(
        name="recursion",
        title="Recursion",
        meaning="A kernel's function calls itself, directly or through others, without end or in a way that this "
        "release does not support.",
        advice="Write it as a loop. Recursion works only where constexprs end it, and not in every release.",
        signs=(
            Sign(error=r"^RecursionError$", means="recursion"),
            Sign(error=r"^KeyError$", place=r": call_JitFunction$", means="recursion"),
        ),
    ),
    FailureClass(
        name="undefined-name",
        title="Name not defined",
        meaning="The kernel uses a name that is defined nowhere, or not on every path that leads to its use.",
        advice="Check the spelling of `{name}`. A variable that only one branch of an `if` defines does not exist after it, nor "
        "where a constexpr leaves out the branch that defines it: define it before, or give that constexpr a value that the kernel "
        "knows.",
        signs=(Sign(error=r"^NameError$", message=r"\b(?P<name>\w+)'? is not defined$"),),
    ),
    FailureClass(
        name="unusable-global",
        title="Global that a kernel cannot use",
        meaning="The kernel uses something of its module that is neither a constexpr nor a `@triton.jit` function.",
        advice="Make `{name}` a constexpr where it is a value (`{name} = tl.constexpr(…)`), decorate it with `@triton.jit` where "
        "it is a function of yours, take Triton's in the place of Python's (`tl.sqrt` for `math.sqrt`), or pass it as a parameter.",
        signs=(
            Sign(
                message=r"^Cannot access global variable (?P<name>\w+)",
                source=r"^\s*(?:def .*)?\w+\s*:\s*[\w.]+",
                means="global {name}",
                advice=_ANNOTATION_ADVICE,
            ),
            Sign(message=r"^Cannot access global variable (?P<name>\w+)", means="global {name}"),
            Sign(message=r'Function "(?P<name>\w+)" is being called from a Triton function', means="global {name}"),
            Sign(message=r"^Unsupported function referenced: <function (?P<name>\w+)", means="global {name}"),
        ),
    ),
    FailureClass(
        name="api-removed",
        title="API removed",
        meaning="The kernel uses something that this release says it has removed.",
        advice="Port the kernel to what the message names in its place; block pointers (gone in 3.9) become tensor descriptors "
        "(since 3.4) or plain pointers (always).",
        lacks=True,
        signs=(Sign(message=r"(?:has|have) been removed|(?:was|were) removed|no longer (?:supported|available)"),),
    ),
    FailureClass(
        name="api-missing",
        title="API missing",
        meaning="The kernel uses a name that this release does not have: not yet, or no longer.",
        advice="`{name}` is not in this release: it came later, or went, or never was there (`compat api` tells which releases "
        "have a name). Take what this release has in its place, or write out what it does.",
        at_import=r".",
        lacks=True,
        signs=(
            Sign(error=r"^AttributeError$", message=r"module 'triton(?:\.[\w.]+)?' has no attribute '(?P<name>\w+)'"),
            Sign(
                error=r"^AttributeError$",
                message=r"'(?:tensor|tensor_descriptor\w*|block_type|dtype)' object has no attribute '(?P<name>\w+)'",
                place=r": (?:visit|get)_Attribute$|^$",
                advice="Blocks have no `{name}` in this release: take a function of `tl` (`tl.sum(x, 0)`), or write out what it "
                "does.",
            ),
            Sign(
                error=r"^ImportError$",
                message=r"cannot import name '(?P<name>\w+)' from '(?:partially initialized module )?(?P<module>triton[\w.]*)'",
                advice="This release has no `{name}` in `{module}`. " + _GUARD_ADVICE,
            ),
            Sign(
                error=r"^ModuleNotFoundError$",
                message=r"No module named '(?P<name>triton(?:\.[\w.]+)?)'",
                advice="This release has no module `{name}`. " + _GUARD_ADVICE,
            ),
            # A dtype that the front end has a name for, and the IR of this release no constant of.
            Sign(error=r"^AttributeError$", message=r"ir\.builder' object has no attribute 'get_(?P<name>\w+)'"),
            Sign(
                error=r"^KeyError$",
                message=r"^'?(?P<name>tensordesc)\b",
                means="tensor descriptors as arguments",
                advice="This release takes no tensor descriptors as arguments, which came with Triton 3.4: make the descriptor in "
                "the kernel where there is a way, or use plain pointers.",
            ),
            Sign(
                error=r"^AttributeError$",
                message=r"^'tuple' object has no attribute 'dtype'$",
                place=r": mangle_type$|^$",
                means="tuples as arguments",
                advice="Launchers of this release take no tuples as arguments, which came with Triton 3.3: make each element a "
                "parameter.",
            ),
        ),
    ),
    FailureClass(
        name="api-changed",
        title="API call changed",
        meaning="The function is there, but does not take these arguments in this release.",
        advice="Compare the call with the definition of `{name}` in this release (`compat api` tells what a name of Triton's "
        "takes).",
        at_import=r"^(?:jit|autotune|heuristics|constexpr\w*|(?:Autotuner|Heuristics|Config|JITFunction|constexpr)\.__init__)$",
        lacks=True,
        signs=(
            Sign(
                error=r"^TypeError$",
                message=rf"{_FUNCTION}got an unexpected keyword argument '(?P<argument>{_OF_FRONT_END})'",
                means="{name} got {argument}",
                advice="A defect of this release: its front end hands `{name}` an argument that it does not take. Do without "
                "`{name}` here, or leave this release out.",
            ),
            Sign(
                error=r"^TypeError$",
                message=rf"{_FUNCTION}got an unexpected keyword argument '(?P<argument>\w+)'",
                means="{name} got {argument}",
                advice="`{name}` takes no `{argument}` in this release: leave it out, or pass it only where the release takes it "
                "(`compat api` tells which do, where `{name}` is Triton's).",
            ),
            Sign(
                error=r"^TypeError$",
                message=rf"{_FUNCTION}missing (?:\d+|a) required (?:\S+ )?arguments?: '(?P<argument>\w+)'",
                means="{name} lacks {argument}",
                advice="`{name}` needs `{argument}`, too: pass it.",
            ),
            Sign(
                error=r"^TypeError$",
                message=rf"{_FUNCTION}(?:takes .* given$|too many positional|got multiple values for argument "
                r"'_(?:builder|semantic|generator)')",
                means="{name} got too many arguments",
            ),
            Sign(error=r"^TypeError$", message=rf"{_CALLED}(?:takes |got multiple values)"),
            Sign(
                error=r"^ValueError$",
                message=r"^(?P<argument>key|reset_to_zero|restore_value) contains names that are not kernel arguments",
                means=_NAMES_NO_ARGUMENT,
                advice=_NAMES_NO_ARGUMENT_ADVICE,
            ),
            Sign(
                error=r"^ValueError$",
                message=r" is not in list$",
                place=r"^autotuner\.py: ",
                statement=r" in (?P<argument>key|reset_to_zero|restore_value)\]",
                means=_NAMES_NO_ARGUMENT,
                advice=_NAMES_NO_ARGUMENT_ADVICE,
            ),
            Sign(
                error=r"^KeyError$",
                message=r"Keyword argument (?P<name>\w+) was specified but unrecognised",
                means="option {name}",
                advice="A launch on this release takes no option `{name}` for this target: leave it out there.",
            ),
        ),
    ),
    FailureClass(
        name="constexpr-required",
        title="Compile-time constant required",
        meaning="A shape, a range or an option depends on a run-time value.",
        advice="Declare the parameter `tl.constexpr`, with a whole number for shapes and ranges, and use masks for sizes that are "
        "known only at run time.",
        signs=(
            Sign(message=r"^Shape element \d+ must have type `constexpr", means="shape element must be constexpr"),
            Sign(message=r"is not a constexpr$", source=r"static_range\(", means="static_range over a run-time value"),
            Sign(error=r"^AssertionError$", message=r"^$", source=r"static_range\(", means="static_range over a run-time value"),
            Sign(
                message=r"must be (?:of type )?(?:a )?`?(?:tl\.)?constexpr|(?:is|are) not (?:a )?constexpr|must be a compile.time"
            ),
            Sign(message=r"(?i)cannot .*(?:run.?time|non-constexpr) .*value"),
            Sign(message=r"could not be determined at compile-time"),
            Sign(error=r"^AssertionError$", message=r"^$", place=r"core\.py: __getitem__$", means="index of a tuple at run time"),
            Sign(
                message=r"^(?P<name>\w+)\(\): incompatible function arguments(?s:.*)Invoked with(?: types)?:.*\.tensor\b",
                means="{name} of a run-time value",
            ),
            Sign(
                message=r"^Did you forget to add @triton\.jit",
                means="a block where Python needs a constant",
                advice="An axis, an index or another argument that has to be known when the kernel is compiled is a value of run "
                "time. Mind "
                "that the second argument of `tl.max` and `tl.min` is an axis: they reduce, where `tl.maximum` and `tl.minimum` "
                "compare.",
            ),
        ),
    ),
    FailureClass(
        name="loop-carried-type",
        title="Variable changes type in a loop",
        meaning="A variable enters a loop with one dtype or shape and leaves an iteration with another.",
        advice="Give `{name}` its final type before the loop (`tl.zeros(shape, tl.float32)`, `0.0` instead of `0`), or convert it "
        "back inside (`.to(…)`).",
        signs=(
            Sign(message=r"[Ll]oop-carried variable (?P<name>\w+)"),
            Sign(
                message=r"^\w+ is not tensor$|[Ll]oop carried variable \w+ is not a|cannot reass?ign const\w* \w+ in the loop",
                means=_NO_BLOCK,
                advice=_NO_BLOCK_ADVICE,
            ),
            Sign(
                error=r"^AssertionError$",
                message=r"^$",
                place=r": (?:visit_For|visit_While|_verify_loop_carried_variable|_find_carries)$",
                means=_NO_BLOCK,
                advice=_NO_BLOCK_ADVICE,
            ),
            Sign(message=r"[Ll]oop carried variable \w+ changed type", means=_NO_BLOCK, advice=_NO_BLOCK_ADVICE),
        ),
    ),
)
