"""Classes of the front end's errors about a kernel's language and its use of Triton's API."""

from __future__ import annotations

import ast
import builtins

from compat.diagnosis.common import bare_assertion
from compat.diagnosis.failure_class import FailureClass, Sign
from compat.toolchains.triton.failures.compiler import RETURNS

_NODES = "|".join(
    name
    for name, member in vars(ast).items()
    if isinstance(member, type) and issubclass(member, ast.AST)
)
"""Python's names for the nodes of a syntax tree. Triton found one where it expected another."""
_BUILTINS = "|".join(
    name for name, member in vars(builtins).items() if callable(member) and name.islower()
)
_CALLED = r"(?<![\w.<>])(?P<name>[\w.<>]+)\(\) "
_FUNCTION = f"(?:{_CALLED})?"
_NO_BLOCK = "a loop changes what is no block"
_NO_BLOCK_ADVICE = (
    "A variable that a loop changes must be a number or a block, before the loop and after each"
    " iteration. It cannot be a constexpr, `None` or a tuple of another length. Copy a constexpr"
    " into a variable before the loop (`x = tl.full((), N, tl.int32)`), or unroll the loop with"
    " `tl.static_range`."
)
_NAMES_NO_ARGUMENT = "{argument} of autotune names no argument"
_NAMES_NO_ARGUMENT_ADVICE = (
    "`{argument}` of `@triton.autotune` must name parameters of the kernel. Triton 3.0, 3.1 and 3.9"
    " refuse other names when the module is imported."
)

_OPERATOR_ADVICE = (
    "Write the operator out: `x * x` for `x ** 2`, `tl.dot(a, b)` for `a @ b`, `x == 1 or x == 2`"
    " for `x in (1, 2)`. Put `and` and `or` of three terms in parentheses, two at a time."
)
_NESTED_ADVICE = "Move the function to the top of the module and decorate it with `@triton.jit`."
_ASSIGNMENT_ADVICE = (
    "A kernel cannot change a block or its attributes in place. Make a new block, `x = tl.where(at"
    " == 3, value, x)`, or store through a pointer."
)
_RETURN_ADVICE = (
    "Do not leave the loop. Carry a flag through it, and choose by the flag with `tl.where` or with"
    " an `if` around the rest of the body."
)
_LOOP_ADVICE = (
    "Write `range` or `tl.static_range` in the `for` itself, with numbers and without an `else`."
    " Take the elements by their index."
)
_UNROLL_ADVICE = "Write the elements out, or fill them in a loop over `tl.static_range`."
_GUARD_ADVICE = (
    "Put the import into a `try`, with an `except ImportError` that takes a replacement, or leave"
    " this release out. `compat api` shows which releases have a name."
)
_ANNOTATION_ADVICE = (
    "The annotation of a parameter names `{name}`, and Triton reads it as a global that the kernel"
    " uses. Put the annotation in quotes, or leave it out. Triton understands only `tl.constexpr`"
    " there."
)
_OF_FRONT_END = "_semantic|_builder|_generator"
"""Arguments that Triton's front end passes to its own functions."""

CLASSES = (
    FailureClass(
        name="static-assert",
        title="Static assertion",
        meaning=(
            "A `tl.static_assert` of the kernel, or of a function that it calls, does not hold for"
            " these constexprs."
        ),
        advice=(
            "Change the constexprs and shapes until the assertion holds, or leave the case out. The"
            " assertion is in the line that the message names, or in a function of Triton that the"
            " line calls."
        ),
        signs=(Sign(error=r"^CompileTimeAssertionFailure$"),),
    ),
    FailureClass(
        name="unsupported-syntax",
        title="Unsupported Python",
        meaning="The kernel uses a feature of Python that this release does not compile.",
        advice=(
            "Kernels use a subset of Python. Write conditions, masks and `tl.where` instead of"
            " `break`, `continue` and `return` inside loops. Write helpers as `@triton.jit`"
            " functions of the module. Do not use dicts, lambdas, `try` or list comprehensions."
        ),
        missing_feature=True,
        signs=(
            Sign(
                message=(
                    r"unsupported AST node type: (?:List|Set|Dict)Comp|only tuple comprehensions"
                ),
                means="comprehension",
                advice=_UNROLL_ADVICE,
            ),
            Sign(
                message=r"^nested function definition",
                means="nested function",
                advice=_NESTED_ADVICE,
            ),
            Sign(
                error=r"^StopIteration$",
                source=r"^\s*def ",
                means="nested function",
                advice=_NESTED_ADVICE,
            ),
            Sign(
                message=r"__setitem__ is not supported",
                means="assignment into a block",
                advice=_ASSIGNMENT_ADVICE,
            ),
            bare_assertion(
                source=r"^\s*\w+\[[^\]]*\]\s*=[^=]",
                means="assignment into a block",
                advice=_ASSIGNMENT_ADVICE,
            ),
            Sign(
                message=(
                    r"the loop body should only have one block|^Cannot have `return` statements"
                    r" inside `(?:while|for)"
                ),
                means="return inside a loop",
                advice=_RETURN_ADVICE,
            ),
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
                message=(
                    r"^'(?:List|Tuple|Name|Subscript|Attribute|Constant)' object has no attribute"
                    r" 'func'"
                ),
                means="loop over something else than a range",
                advice=_LOOP_ADVICE,
            ),
            Sign(
                error=r"^AttributeError$",
                message=r"^'(?P<node>AnnAssign)' object has no attribute 'targets'",
                means="{node}",
                advice=(
                    "This release assigns only constexprs with an annotation. Leave out the"
                    " annotation of the variable."
                ),
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
                advice="A kernel cannot return a value. Store it through a pointer parameter.",
            ),
            Sign(message=r"AST node type: Starred|starred assignment targets", means="starred"),
            Sign(
                message=r"Attribute assignment is not supported",
                means="attribute assignment",
                advice=_ASSIGNMENT_ADVICE,
            ),
            bare_assertion(
                source=r"^\s*\w+\.\w+\s*=[^=]",
                place=r": assignTarget$",
                means="attribute assignment",
                advice=_ASSIGNMENT_ADVICE,
            ),
            bare_assertion(place=r": (?:visit_Starred|assignTarget)$", means="starred"),
            Sign(
                error=r"^AttributeError$",
                message=r"^'tensor' object has no attribute '(?P<node>__\w+__)'",
                means="operator {node}",
                advice=_OPERATOR_ADVICE,
            ),
            Sign(message=r"^JIT functions do not support", means="variable keyword arguments"),
            Sign(
                message=r"is marked noinline, but was called with non-scalar argument",
                means="a block for a noinline function",
                advice=(
                    "A function with `noinline=True` takes only numbers and pointers. Leave"
                    " `noinline` out, or load the block inside of the function."
                ),
            ),
            Sign(message=r"constexpr cannot be reassigned", means="constexpr reassigned"),
            Sign(
                message=r"^Cannot call @triton\.jit'd outside",
                means="a jit function called by Python",
                advice=(
                    "Call it as a function of `tl` (`tl.sum(x, 0)` instead of `x.sum(0)`), from a"
                    " `@triton.jit` function."
                ),
            ),
            Sign(
                error=r"^NameError$",
                message=rf"^(?P<name>{_BUILTINS}) is not defined$",
                source=rf"(?<![\w.])(?:{_BUILTINS})\s*\(",
                advice=(
                    "A kernel cannot call Python's `{name}`. Use Triton's function if there is one"
                    " (`tl.abs`, `tl.sum`, `tl.floor`). Use `range` or `tl.static_range` with an"
                    " index instead of other iterators."
                ),
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
            Sign(
                message=r"^Cannot evaluate f-string",
                advice="Pass the values to `tl.device_print` as separate arguments.",
            ),
            Sign(
                error=r"^UnsupportedLanguageConstruct$",
                message=r"^(?!Boolean value|`if` conditionals)",
            ),
        ),
    ),
    FailureClass(
        name="recursion",
        title="Recursion",
        meaning=(
            "A function of the kernel calls itself, directly or through others, too often or where"
            " this release does not support it. Or an expression or a chain of `elif` is very long."
        ),
        advice=(
            "Write recursion as a loop. It works only where constexprs end it, and not in every"
            " release. Split long expressions and chains of `elif`."
        ),
        signs=(
            Sign(error=r"^RecursionError$", means="recursion"),
            Sign(error=r"^KeyError$", place=r": call_JitFunction$", means="recursion"),
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
            "Check the spelling of `{name}`. If only one branch of an `if` defines it, define it"
            " before the `if`, or change the constexpr that leaves the branch out. Parameters after"
            " a `*` need Triton 3.9. Variables of a function around the kernel need 3.4."
        ),
        signs=(Sign(error=r"^NameError$", message=r"\b(?P<name>\w+)'? is not defined$"),),
    ),
    FailureClass(
        name="unusable-global",
        title="Unusable global",
        meaning=(
            "The kernel uses a global of its module that is neither a constexpr nor a `@triton.jit`"
            " function."
        ),
        advice=(
            "If `{name}` is a value, make it a constexpr (`{name} = tl.constexpr(…)`) or pass it as"
            " a parameter. If it is your function, decorate it with `@triton.jit`. If it is"
            " Python's function, use Triton's (`tl.sqrt` for `math.sqrt`)."
        ),
        signs=(
            Sign(
                message=r"^Cannot access global variable (?P<name>\w+)",
                source=r"^\s*(?:def .*)?\w+\s*:\s*[\w.]+",
                means="global {name}",
                advice=_ANNOTATION_ADVICE,
            ),
            Sign(message=r"^Cannot access global variable (?P<name>\w+)", means="global {name}"),
            Sign(
                message=r'Function "(?P<name>\w+)" is being called from a Triton function',
                means="global {name}",
            ),
            Sign(
                message=r"^Unsupported function referenced: <function (?P<name>\w+)",
                means="global {name}",
            ),
        ),
    ),
    FailureClass(
        name="api-removed",
        title="API removed",
        meaning="The kernel uses a feature that this release has removed, and the release says so.",
        advice="Port the kernel to the replacement that the message names.",
        missing_feature=True,
        signs=(
            Sign(
                message=r"Block pointers have been removed",
                advice=(
                    "Port the kernel to the replacement that the message names. Triton 3.9 removed"
                    " block pointers. Use tensor descriptors, which came with 3.4, or plain"
                    " pointers."
                ),
            ),
            Sign(
                message=(
                    r"(?:has|have) been removed|(?:was|were) removed|no longer"
                    r" (?:supported|available)"
                )
            ),
        ),
    ),
    FailureClass(
        name="api-missing",
        title="API missing",
        meaning="The kernel uses a name that this release does not have yet, or no longer has.",
        advice=(
            "This release has no `{name}`. `compat api` shows which releases have it. Use a"
            " replacement, or write out what it does."
        ),
        at_import=r".",
        missing_feature=True,
        signs=(
            Sign(
                error=r"^AttributeError$",
                message=r"module 'triton(?:\.[\w.]+)?' has no attribute '(?P<name>\w+)'",
            ),
            Sign(
                error=r"^AttributeError$",
                message=r"'tensor' object has no attribute '(?P<name>\w+)'",
                place=r": (?:visit|get)_Attribute$|^$",
                advice=(
                    "Blocks have no `{name}` in this release. Use a function of `tl` (`tl.sum(x,"
                    " 0)`), or write out what it does."
                ),
            ),
            Sign(
                error=r"^AttributeError$",
                message=(
                    r"'(?:tensor_descriptor\w*|block_type|dtype)' object has no attribute"
                    r" '(?P<name>\w+)'"
                ),
                place=r": (?:visit|get)_Attribute$|^$",
            ),
            Sign(
                error=r"^AttributeError$",
                message=r"type object '\w+Layout' has no attribute '(?P<name>\w+)'",
            ),
            Sign(
                error=r"^ImportError$",
                message=(
                    r"cannot import name '(?P<name>\w+)' from '(?:partially initialized module"
                    r" )?(?P<module>triton[\w.]*)'"
                ),
                advice="This release has no `{name}` in `{module}`. " + _GUARD_ADVICE,
            ),
            Sign(
                error=r"^ModuleNotFoundError$",
                message=r"No module named '(?P<name>triton\.experimental(?:\.gluon)?)'",
                means="Gluon",
                advice=(
                    "The kernel needs Gluon, which this release does not have. Gluon came with"
                    " Triton 3.4. " + _GUARD_ADVICE
                ),
            ),
            Sign(
                error=r"^AttributeError$",
                message=r"^'HIPOptions' object has no attribute 'maxnreg'$",
                place=r": make_ir$",
                means="Gluon for AMD",
                advice=(
                    "The kernel needs Gluon for AMD, which this release does not have. It came with"
                    " Triton 3.5."
                ),
            ),
            Sign(
                error=r"^ModuleNotFoundError$",
                message=r"No module named '(?P<name>triton(?:\.[\w.]+)?)'",
                advice="This release has no module `{name}`. " + _GUARD_ADVICE,
            ),
            # A dtype that has a name in the front end, but no constant in the IR of this release.
            Sign(
                error=r"^AttributeError$",
                message=r"ir\.builder' object has no attribute 'get_(?P<name>\w+)'",
            ),
            Sign(
                error=r"^KeyError$",
                message=r"^'?(?P<name>tensordesc)\b",
                means="tensor descriptors as arguments",
                advice=(
                    "This release takes no tensor descriptors as arguments. They came with Triton"
                    " 3.4. Make the descriptor in the kernel if this release can, or use plain"
                    " pointers."
                ),
            ),
            Sign(
                error=r"^AttributeError$",
                message=r"^'(?:tuple|Fields)' object has no attribute 'dtype'$",
                place=r": mangle_type$|^$",
                means="tuples as arguments",
                advice=(
                    "This release takes no tuples as arguments. They came with Triton 3.3. Make"
                    " each element a parameter."
                ),
            ),
        ),
    ),
    FailureClass(
        name="api-changed",
        title="API call changed",
        meaning="The function exists, but does not take these arguments in this release.",
        advice=(
            "Compare the call with the definition of `{name}` in this release. `compat api` shows"
            " the parameters of a name of Triton."
        ),
        at_import=r"^(?:jit|autotune|heuristics|constexpr\w*|(?:Autotuner|Heuristics|Config|JITFunction|constexpr)\.__init__)$",
        missing_feature=True,
        signs=(
            Sign(
                error=r"^AssertionError$",
                message=(
                    r"^(?:instr_shape must follow the \(M, N, K\) format|invalid intrinsic shape;"
                    r" accepted shapes are \[\[\d+, \d+\])"
                ),
                means="instr_shape of AMDMFMALayout",
                advice=(
                    "`instr_shape` of `AMDMFMALayout` has two numbers, [M, N], in Triton 3.5, and"
                    " three, [M, N, K], from 3.6 on."
                ),
            ),
            Sign(
                error=r"^TypeError$",
                message=(
                    rf"{_FUNCTION}got an unexpected keyword argument"
                    rf" '(?P<argument>{_OF_FRONT_END})'"
                ),
                means="{name} got {argument}",
                advice=(
                    "This is a defect of the release. Its front end passes `{name}` an argument"
                    " that it does not take. Do without `{name}`, or leave this release out."
                ),
            ),
            Sign(
                error=r"^TypeError$",
                message=(
                    rf"{_FUNCTION}got an unexpected keyword argument '(?P<argument>trans_[ab])'"
                ),
                means="{name} got {argument}",
                advice=(
                    "`{name}` takes no `{argument}` in this release. Transpose the operand itself:"
                    " `tl.trans(x)`."
                ),
            ),
            Sign(
                error=r"^TypeError$",
                message=rf"{_FUNCTION}got an unexpected keyword argument '(?P<argument>\w+)'",
                means="{name} got {argument}",
                advice=(
                    "`{name}` takes no `{argument}` in this release. Leave it out, or pass it only"
                    " on releases that take it. `compat api` shows which do if `{name}` belongs to"
                    " Triton."
                ),
            ),
            Sign(
                error=r"^TypeError$",
                message=(
                    rf"{_FUNCTION}missing (?:\d+|a) required (?:\S+ )?arguments?:"
                    r" '(?P<argument>\w+)'"
                ),
                means="{name} lacks {argument}",
                advice="`{name}` also needs `{argument}`. Pass it.",
            ),
            Sign(
                error=r"^TypeError$",
                message=(
                    rf"{_FUNCTION}(?:takes .* given$|too many positional|got multiple values for"
                    r" argument "
                    r"'_(?:builder|semantic|generator)')"
                ),
                means="{name} got too many arguments",
            ),
            Sign(error=r"^TypeError$", message=rf"{_CALLED}(?:takes |got multiple values)"),
            Sign(
                error=r"^ValueError$",
                message=(
                    r"^(?P<argument>key|reset_to_zero|restore_value) contains names that are not"
                    r" kernel arguments"
                ),
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
                advice=(
                    "A launch takes no option `{name}` for this target on this release. Leave the"
                    " option out there."
                ),
            ),
        ),
    ),
    FailureClass(
        name="constexpr-required",
        title="Compile-time constant required",
        meaning="A shape, a range or an option depends on a run-time value.",
        advice=(
            "Declare the parameter as `tl.constexpr`, and give shapes and ranges a whole number."
            " Use masks for sizes that are known only at run time."
        ),
        signs=(
            Sign(
                message=r"^Shape element \d+ must have type `constexpr",
                means="shape element must be constexpr",
            ),
            Sign(
                message=r"is not a constexpr$",
                source=r"static_range\(",
                means="static_range over a run-time value",
            ),
            bare_assertion(source=r"static_range\(", means="static_range over a run-time value"),
            Sign(
                message=(
                    r"must be (?:of type )?(?:a )?`?(?:tl\.)?constexpr|(?:is|are) not (?:a"
                    r" )?constexpr|must be a compile.time"
                )
            ),
            Sign(message=r"(?im)^(?>.*?cannot )(?>.*?(?:run.?time|non-constexpr) ).*value"),
            Sign(message=r"could not be determined at compile-time"),
            bare_assertion(place=r"core\.py: __getitem__$", means="index of a tuple at run time"),
            Sign(
                message=(
                    r"^(?P<name>\w+)\(\): incompatible function arguments(?s:.*)Invoked with(?:"
                    r" types)?:.*\.tensor\b"
                ),
                means="{name} of a run-time value",
            ),
            Sign(
                message=r"^Did you forget to add @triton\.jit",
                means="a block where Python needs a constant",
                advice=(
                    "Make this argument, such as an axis or an index, a compile-time constant. The"
                    " second argument of `tl.max` and `tl.min` is an axis, because they reduce a"
                    " block. `tl.maximum` and `tl.minimum` compare two values."
                ),
            ),
        ),
    ),
    FailureClass(
        name="loop-carried-type",
        title="Variable changes type in a loop",
        meaning=(
            "A variable enters a loop with one dtype or shape and leaves an iteration with another."
        ),
        advice=(
            "Give `{name}` its final type before the loop (`tl.zeros(shape, tl.float32)`, `0.0`"
            " instead of `0`), or convert it back inside the loop (`.to(…)`)."
        ),
        signs=(
            Sign(message=r"[Ll]oop-carried variable (?P<name>\w+)"),
            Sign(
                message=(
                    r"^\w+ is not tensor$|[Ll]oop carried variable \w+ (?:is not a|changed type)"
                    r"|cannot reass?ign const\w* \w+ in the loop"
                ),
                means=_NO_BLOCK,
                advice=_NO_BLOCK_ADVICE,
            ),
            bare_assertion(
                place=r": (?:visit_For|visit_While|_verify_loop_carried_variable|_find_carries)$",
                means=_NO_BLOCK,
                advice=_NO_BLOCK_ADVICE,
            ),
        ),
    ),
)
