"""Classes of invalid operands, shapes and values, one for each correction by the author."""

from __future__ import annotations

from compat.diagnosis.common import bare_assertion
from compat.diagnosis.failure_class import Blame, FailureClass, Sign
from compat.model import Status

_BLOCK_CONDITION = "a block as a condition"
_DOT_RANKS = "dot operands of ranks"
_DOT_ACCUMULATOR = "dot accumulator of another type or shape"
_DOT_SIZES = "dot operands too small"
_BROADCAST = "Cannot make_shape_compatible: incompatible dimensions at index {index}: 16 and 32"
_SPLIT = "split of a last dimension that is not 2"
_RESHAPE_ADVICE = (
    "Give the new shape as many elements as the block has. Compare the products of the two shapes."
)
_SURPLUS_ADVICE = (
    "The index has more axes than the value. A scalar takes no `:`, and a block with one axis takes"
    " `[:, None]` or `[None, :]`. Leave out the surplus axes, or make the value a block first."
)
_SPLIT_ADVICE = (
    "`tl.split` takes a block whose last axis has two elements. `tl.reshape(x, (…, 2))` makes such"
    " a block."
)
_AXES_ADVICE = (
    "Name every axis of the block once, such as `tl.permute(x, (0, 2, 1))` for three axes."
    " `tl.trans(x)` without axes takes only blocks with two axes."
)
_SAME_SHAPE_ADVICE = (
    "Bring the operands of this operation to one shape first, with `tl.broadcast_to`, `tl.reshape`"
    " or an axis (`[:, None]`)."
)
_ONE_AXIS_ADVICE = (
    "This operation takes a block with one axis, or one value. `tl.reshape(x, (N,))` makes one"
    " axis, and a reduction (`tl.max(x, 0)`) makes a value."
)
_NONE_ADVICE = (
    "The value is `None`. A helper may return nothing, an operation may have no result, or an"
    " argument may be missing. Return a value, or check it first (`if x is not None:`)."
)
_UNPACK_ADVICE = "Write as many names on the left as there are values on the right."
_PYTHON_ADVICE = (
    "Python's own functions do not take blocks. Use Triton's (`tl.sqrt`, `x.to(tl.float32)`,"
    " `tl.cdiv`), and the constexpr of the block's size instead of `len`."
)
_ARGUMENT_ADVICE = (
    "Leave out the argument that the message names, or also pass the one that it needs."
)
_AXIS = (
    "Axes count from 0, and an operation may remove or add one. The second argument of `tl.max` and"
    " `tl.min` is an axis, because they reduce a block. `tl.maximum` and `tl.minimum` compare two"
    " values."
)

CLASSES = (
    FailureClass(
        name="branch-types",
        title="Branches disagree on a type",
        meaning=(
            "A variable, a conditional expression or a return value has different types on two"
            " paths through the kernel."
        ),
        advice=(
            "Give both paths the same dtype and shape, with `.to(…)`, `tl.full(shape, …)`, or `1.0`"
            " instead of `1`. Give the variable its final type before the `if`."
        ),
        signs=(
            Sign(message=r"[Mm]ismatched type for \w+ between then block"),
            Sign(message=r"initial value for `\w+` is of type .* block redefines it"),
            Sign(message=r"[Tt]ernary expression with dynamic condition has inconsistent types"),
            Sign(
                message=(
                    r"^(?:Inconsistent return types|Return type mismatch): (?P<one>[^\n]+?) and"
                    r" (?P<two>[^\n]+?)(?:\. Note|$)"
                ),
                means="returns {one} and {two}",
            ),
        ),
    ),
    FailureClass(
        name="block-condition",
        title="A block as a condition",
        meaning=(
            "The condition of an `if`, `while`, `and`, `or` or `not` is a block, or another value"
            " that is neither a number nor a flag."
        ),
        advice=(
            "Use masks and `tl.where` to choose for each element, and `&`, `|` and `~` to combine"
            " masks. Or reduce the block to one value first: `tl.sum(mask.to(tl.int32)) > 0`."
        ),
        signs=(
            Sign(message=r"^Boolean value of Tensor", means=_BLOCK_CONDITION),
            Sign(
                message=r"^`if` conditionals can only accept values of type",
                advice=(
                    "An `if` takes a number or a flag. Compare numbers (`x.shape[0] == 16`), and"
                    " use `tl.where` for blocks."
                ),
            ),
        ),
    ),
    FailureClass(
        name="loop-bounds",
        title="Loop bounds that are not integers",
        meaning="The start, the end or the step of a `for` is not a scalar integer.",
        advice=(
            "Make start, end and step scalar integers. Convert them with `.to(tl.int32)`, or load"
            " them through a scalar pointer."
        ),
        signs=(
            Sign(message=r"^For loop bounds and step must all be ints"),
            Sign(message=r"^For (?:lower bound|upper bound|step) must be a scalar"),
            Sign(
                message=r"^range\(\) arg 3 must not be zero",
                advice="The step of the loop is 0 in this case. Give it another value.",
            ),
        ),
    ),
    FailureClass(
        name="dot-operands",
        title="Invalid operands of a dot",
        meaning=(
            "The operands of a `tl.dot` differ in dtype, are too small, or have the wrong rank or"
            " inner size. Or its accumulator has the wrong type."
        ),
        advice=(
            "Use two-dimensional blocks of one dtype, `[M, K]` and `[K, N]`. M, N and K are"
            " at least 16 on most targets, and K at least 32 for 8-bit types. The accumulator is an"
            " `[M, N]` block of `tl.float32`, or of `tl.int32` for integers."
        ),
        signs=(
            Sign(
                message=(
                    r"[Bb]oth operands must be same d?type|must have the same dtype|lhs and rhs"
                    r" bitwidth must be the same"
                ),
                means="dot operands differ in dtype",
            ),
            Sign(
                message=r"must be >= 16!|Input shapes should have M >=|small blocks not supported",
                means=_DOT_SIZES,
            ),
            Sign(
                message=(
                    r"not compatible for matmul|must have equal reduction dimensions|[Rr]eduction"
                    r" dimensions? (?:of|should)"
                ),
                means="dot operands differ in their inner dimension",
            ),
            Sign(
                message=(
                    r"^Both inputs must be either 2D or 3D|^input and other must have equal ranks"
                    r"|^dot operands must be block"
                ),
                means=_DOT_RANKS,
            ),
            bare_assertion(place=r": dot$", statement=r"is_block", means=_DOT_RANKS),
            bare_assertion(place=r": dot$", statement=r"\bacc\b", means=_DOT_ACCUMULATOR),
            Sign(
                message=r"^expected accumulator|^accumulator shape is incompatible",
                means=_DOT_ACCUMULATOR,
            ),
            Sign(
                message=(
                    r"^(?:lhs|rhs)_scale must be|only mxfp4 inputs|max_num_imprecise_acc .* must be"
                    r" <= K|out_dtype=bfloat16"
                )
            ),
            Sign(message=r"^only int8 supported!"),
        ),
    ),
    FailureClass(
        name="pointer-or-value",
        title="Pointer and value mixed up",
        meaning=(
            "An operation got a pointer and needs a number, or got a number and needs a pointer."
        ),
        advice=(
            "Load a number through the pointer with `tl.load` before you compute with it. Load from"
            " and store to pointers, to which you add integers. A parameter is a pointer if its"
            " type in the signature begins with `*`."
        ),
        signs=(
            Sign(
                message=(
                    r"^(?:Unsupported ptr type|Pointer argument of \w+ instruction is)"
                    r" (?P<type>.*?)(?: in `tl\.\w+`)?$"
                ),
                means="{called} through {type}",
            ),
            Sign(message=r"^cannot add pointers together"),
            Sign(
                error=r"^AttributeError$", message=r"^'pointer_type' object .* 'primitive_bitwidth'"
            ),
            Sign(
                message=(
                    r"(?:[Uu]nexpected (?:d?type)|invalid operands of type|cannot cast|unary \w+"
                    r" \(|got) .*pointer<"
                )
            ),
            Sign(
                message=r"[Bb]ase(?:`|)? (?:must be|to be) a (?:scalar )?pointer|Expected `base` to"
            ),
            bare_assertion(place=r": make_tensor_descriptor$", means="base must be a pointer type"),
            Sign(message=r"^Cannot store to a constant pointer"),
        ),
    ),
    FailureClass(
        name="scalar-pointer",
        title="A block through a scalar pointer",
        meaning="The pointer is one address, but the value, the mask or `other` is a block.",
        advice=(
            "Add a block of offsets to the pointer (`ptr + tl.arange(0, BLOCK)`), or reduce the"
            " value to a scalar first."
        ),
        signs=(Sign(message=r"^(?P<what>Mask|Other|Value) argument cannot be block type"),),
    ),
    FailureClass(
        name="descriptor-rules",
        title="Invalid descriptor or block pointer",
        meaning=(
            "A tensor descriptor or a block pointer has an invalid shape, block, strides or"
            " offsets."
        ),
        advice=(
            "Give every list one entry for each dimension. The last stride is 1, and the others are"
            " multiples of 16 bytes. The last dimension of the block has at least 16 bytes. A"
            " gather or scatter takes blocks of one row, and at least 8 of them."
        ),
        signs=(
            Sign(
                message=(
                    r"[Tt]ensor descriptor|^[Dd]escriptor |^descriptor"
                    r" (?:block|must|gather|scatter)"
                )
            ),
            Sign(
                message=(
                    r"^Expected (?:\d+ <= ndim <= \d+|block_shape to have \d+|\d+"
                    r" strides)|^expected \d+ offsets"
                )
            ),
            Sign(
                message=(
                    r"^Expected"
                    r" `?(?:shape|strides|offsets|block_shape|order|boundary_check)|^Expected a"
                    r" permutation of"
                )
            ),
            Sign(
                message=(
                    r"^Expected an? .* in (?:`?block_shape|shape/strides/offsets)|^Block pointers"
                    r" only support"
                )
            ),
            Sign(
                message=r"^Block (?:shape|element type)\(.*mismatch",
                advice=(
                    "Store a value with the shape and type of the block pointer. Convert it with"
                    " `.to(ptr.dtype.element_ty)`, where `ptr` is the block pointer's base."
                ),
            ),
            Sign(message=r"^Duplicate dimension in `boundary_check`"),
            Sign(
                message=r"arguments? cannot be specified for (?:loading|storing) block pointers",
                advice=(
                    "Block pointers take `boundary_check` and `padding_option` instead of `mask`"
                    " and `other`."
                ),
            ),
            Sign(message=r"^x offsets must|^expected value shape|^tl\.advance"),
            bare_assertion(
                place=r": _canonicalize_boundary_check$",
                means="boundary check of a dimension that is not there",
            ),
            bare_assertion(
                place=r": (?:descriptor_store|validate_store_like)$",
                means="value of another shape than the descriptor's block",
            ),
        ),
    ),
    FailureClass(
        name="block-size",
        title="Block size not allowed",
        meaning="The size of a block is 0, not a power of two, or larger than Triton's limit.",
        advice=(
            "Use the next power of two (`triton.next_power_of_2`) and mask the elements beyond the"
            " end, or loop over smaller blocks. A block has at most 1,048,576 elements."
        ),
        signs=(
            Sign(
                message=(
                    r"^arange's range must be a power of 2|^Shape element \d+ must be a power of 2"
                )
            ),
            Sign(
                message=r"exceeds triton maximum tensor numel",
                means="block exceeds the maximum size",
            ),
            Sign(
                message=r"^arange's end argument must be greater|^arange must fit in int32",
                advice=(
                    "Check the constexprs in `tl.arange`. Its end must exceed its start by a power"
                    " of two, and both must fit into 32 bits."
                ),
            ),
        ),
    ),
    FailureClass(
        name="shape-mismatch",
        title="Shapes do not fit",
        meaning=(
            "Two blocks cannot be broadcast against each other, or a block does not have the shape"
            " that an operation requires."
        ),
        advice=(
            "Give every term of a two-dimensional index its axis, `[:, None]` for rows and `[None,"
            " :]` for columns. Triton reads a term without an axis as columns. Compare the two"
            " sizes with your block sizes."
        ),
        signs=(
            Sign(
                message=(
                    r"^Cannot broadcast, the expanded size .* at non-singleton dimension"
                    r" (?P<index>\d+)"
                ),
                means=_BROADCAST,
            ),
            Sign(
                message=(
                    r"make_shape_compatible|incompatible dimensions|[Cc]annot broadcast|[Rr]ank"
                    r" mismatch|[Ss]hape mismatch"
                )
            ),
            Sign(
                message=(
                    r"shapes? .*(?:do(?:es)? not match|must match|mismatch|incompatible)"
                    r"|must have the same (?:shape|rank)|of the same shape"
                    r"|must match the corresponding source dim"
                ),
                advice=_SAME_SHAPE_ADVICE,
            ),
            Sign(
                message=(
                    r"tensor dims must match|^expected tensors of equal rank|^Expected pointer"
                    r" argument to have shape"
                ),
                advice=_SAME_SHAPE_ADVICE,
            ),
            Sign(
                message=r"cannot view block of shape|reshape\(\) cannot change",
                advice=_RESHAPE_ADVICE,
            ),
            Sign(
                message=(
                    r"only (?:supports|accepts) (?:1D|size-1)|^expected 1D input|Cannot splat a"
                    r" block"
                ),
                advice=_ONE_AXIS_ADVICE,
            ),
            bare_assertion(
                place=r": split$", statement=r"== 2", means=_SPLIT, advice=_SPLIT_ADVICE
            ),
            bare_assertion(place=r": split$", means="split of a scalar", advice=_SPLIT_ADVICE),
            Sign(
                message=r"^split requires a non-scalar",
                means="split of a scalar",
                advice=_SPLIT_ADVICE,
            ),
            Sign(
                message=r"^expected last dimension to be 2 for split",
                means=_SPLIT,
                advice=_SPLIT_ADVICE,
            ),
            Sign(message=r"^too many indices", advice=_SURPLUS_ADVICE),
            Sign(message=r"^tl\.trans invoked with", advice=_AXES_ADVICE),
            Sign(
                message=r"^0d block_type is forbidden",
                advice="A block has at least one axis. Use the value itself, or the shape `(1,)`.",
            ),
            Sign(
                message=r"^permute dims must be a permutation",
                means="no permutation",
                advice=_AXES_ADVICE,
            ),
            Sign(message=r"^permute dims must|length as input shape", advice=_AXES_ADVICE),
            bare_assertion(place=r": (?:cat|broadcast_impl_value)$"),
        ),
    ),
    FailureClass(
        name="block-indexing",
        title="A block indexed like an array",
        meaning=(
            "The kernel takes an element or a part of a block, a number or a pointer by its"
            " position."
        ),
        advice=(
            "An index may contain only `:` and `None`, which add an axis. Load the element"
            " (`tl.load(ptr + i)`), reduce with a mask (`tl.sum(tl.where(at == 3, x, 0))`), or"
            " split the block with `tl.split` and `tl.reshape`."
        ),
        missing_feature=True,
        signs=(Sign(message=r"^unsupported tensor index", means="index of a block"),),
    ),
    FailureClass(
        name="signature-type",
        title="Unknown type in the signature",
        meaning="The kernel file gives a parameter a type that this release does not know.",
        advice=(
            "Use the names of Triton's types: `i1` to `i64`, `u8` to `u64`, `fp16`, `bf16`, `fp32`,"
            " `fp64`, `fp8e4nv`, `fp8e5`. Write `*` before them for pointers."
        ),
        signs=(
            Sign(
                error=r"^(?:KeyError|IndexError|ValueError|AssertionError|RuntimeError)$",
                place=r": (?:str_to_ty|_?ty_to_\w+)$",
            ),
        ),
    ),
    FailureClass(
        name="invalid-argument",
        title="Argument not allowed",
        meaning=(
            "This release does not allow the value of an argument, or the argument conflicts with"
            " another one."
        ),
        advice=(
            "Use one of the values that the message names. The list differs between releases and"
            " targets. Axes count from 0."
        ),
        missing_feature=True,
        signs=(
            Sign(
                message=(
                    r"(?P<what>[Cc]ache modifier|[Ee]viction policy|[Pp]adding option|[Mm]emory"
                    r" semantic) '?\.?(?P<value>\w+)"
                ),
                means="{what} {value}",
            ),
            Sign(
                message=r"^input_precision must be one of.*Got (?P<value>\w+)",
                means="input_precision {value}",
            ),
            Sign(
                message=r"^Invalid float format: (?:constexpr\[)?(?P<value>\w+)",
                means="float format {value}",
            ),
            Sign(message=r"^Invalid rounding mode|^NYI: "),
            Sign(
                message=(
                    r"(?:axis|dim) \S+ must be|axis must be (?:<|0, 1, or 2)|^invalid axis|received"
                    r" duplicate axes"
                ),
                advice=_AXIS,
            ),
            Sign(
                message=(
                    r"`padding_option` or `boundary_check`|`boundary_check` argument is not"
                    r" supported|`other` cannot be provided without `mask`|^Only one of \w+ and"
                    r" \w+|are mutually exclusive|fp_downcast_rounding should be set only"
                ),
                advice=_ARGUMENT_ADVICE,
            ),
            Sign(
                message=r"is not an ascii string|is not (?:a )?string$|^dtype must be specified",
                advice="Pass a text of ASCII letters or a dtype, as the message says.",
            ),
            Sign(
                message=r"always may reorder elements",
                advice=(
                    "Pass `can_reorder=True` if the order of elements does not matter. Otherwise"
                    " store both blocks."
                ),
            ),
            Sign(
                message=r"only support(?:s)? flipping the last|only support(?:s)? .* the last dim"
            ),
            Sign(
                message=(
                    r"only supports? (?:acquire|release) and relaxed|Unexpected propagate_nan|must"
                    r" be non-negative"
                )
            ),
            Sign(
                message=(
                    r"^Only float32 is supported for out_dtype|^(?:cache modifier|eviction policy)"
                    r" is not supported yet"
                )
            ),
            Sign(message=r"^static_(?:assert|print)|requires one or two positional"),
            Sign(message=r"does not match the length of values"),
            Sign(
                message=r"^(?P<name>\w+) marked as constexpr and listed in do_not_specialize",
                means="constexpr in do_not_specialize",
                advice=(
                    "Remove `{name}` from `do_not_specialize` and `do_not_specialize_on_alignment`"
                    " of `@triton.jit`. Triton always specializes a constexpr, and refuses it in"
                    " these lists since 3.6.0."
                ),
            ),
        ),
    ),
    FailureClass(
        name="number-range",
        title="Number out of range",
        meaning="A number in the kernel does not fit its type, or a divisor is 0.",
        advice=(
            "Compute in a wider type (`.to(tl.int64)`), or give the constant a type of its own:"
            " `tl.full((), …, tl.int64)`."
        ),
        signs=(
            Sign(message=r"^Scalar .* is out of range for type", means="scalar out of range"),
            Sign(message=r"^Nonrepresentable integer", means="nonrepresentable integer"),
            Sign(message=r"between an unsigned tensor and a negative scalar"),
            Sign(
                error=r"^ZeroDivisionError$",
                message=r".",
                advice=(
                    "A constexpr, or a value computed from constexprs, is 0 and is a divisor. Give"
                    " the constexpr the value of a launch, in [constexprs] of the kernel file."
                ),
            ),
            Sign(error=r"^OverflowError$", message=r"."),
            Sign(message=r"^Expected a (?:signed )?\d+-bit integer"),
        ),
    ),
    FailureClass(
        name="python-value",
        title="Python value and block mixed up",
        meaning=(
            "An operation got a Python value that cannot become a block, such as `None`, a string,"
            " a tuple or a type. Or a function of Python got a block and needs a value."
        ),
        advice=(
            "Pass blocks, numbers and `tl` dtypes. Use `tl.float16` instead of a string or `float`,"
            " and `tl.full((1,), …)` for a block. Python's own functions (`len`, `float`, `round`)"
            " do not take blocks. `tl.max` and `tl.min` reduce a block; `tl.maximum` and"
            " `tl.minimum` compare two values."
        ),
        signs=(
            Sign(
                message=r"cannot convert .* of type <class '(?P<type>NoneType)'> to tensor",
                means="{type} to tensor",
                advice=_NONE_ADVICE,
            ),
            Sign(
                message=r"cannot convert .* of type <class '(?:\w+\.)*(?P<type>\w+)'> to tensor",
                means="{type} to tensor",
            ),
            Sign(message=r"^cannot cast void", means="nothing as a value", advice=_NONE_ADVICE),
            Sign(
                message=r"unsupported operand type\(s\) for .*: '(?P<type>NoneType)'",
                means="operator on {type}",
                advice=_NONE_ADVICE,
            ),
            Sign(
                message=r"unsupported operand type\(s\) for .*: '(?P<type>\w+)'",
                means="operator on {type}",
            ),
            Sign(
                message=r"^'(?P<type>\w+)' object has no attribute '__\w+__'",
                means="operator on {type}",
            ),
            Sign(
                error=r"^AttributeError$",
                message=(
                    r"^(?:type object 'constexpr'|'(?:constexpr|constexpr_type|int|float|bool)'"
                    r" object) has no attribute"
                ),
                means="{called} of a plain number",
            ),
            Sign(
                error=r"^AttributeError$",
                message=r"^type object '(?P<type>\w+)' has no attribute",
                means="{type} as a dtype",
            ),
            Sign(
                error=r"^TypeError$",
                message=r"^'dtype' object is not callable",
                advice=(
                    "A dtype is not a function in this release. `x.to(tl.float32)` converts, and"
                    " `tl.full((), 1.0, tl.float32)` makes a value."
                ),
            ),
            Sign(
                error=r"^(?:TypeError|AttributeError)$",
                message=r"^'NoneType' object",
                advice=_NONE_ADVICE,
            ),
            Sign(
                error=r"^TypeError$",
                message=r"argument must be a string or|has no len\(\)|must be real number",
                advice=_PYTHON_ADVICE,
            ),
            Sign(
                error=r"^(?:TypeError|AttributeError)$",
                message=r"'(?:[a-z]\w*|NoneType|JITFunction)'",
            ),
            Sign(
                error=r"^TypeError$", message=r"cannot unpack non-iterable", advice=_UNPACK_ADVICE
            ),
            Sign(
                error=r"^TypeError$",
                message=(
                    r"can only concatenate|bad operand type|argument must be|not supported between"
                    r" instances|indices must be"
                ),
            ),
            Sign(
                error=r"^TypeError$",
                message=r"^(?P<name>\w+)\(\): incompatible function arguments",
                means="{name} of a Python value",
            ),
            Sign(
                error=r"^ValueError$",
                message=r"(?:not enough|too many) values to unpack",
                advice=_UNPACK_ADVICE,
            ),
            Sign(
                error=r"^(?:IndexError)$",
                message=r"(?:tuple|list) (?:index|assignment index) out of range",
            ),
        ),
    ),
    FailureClass(
        name="type-error",
        title="Operands of the wrong type",
        meaning="An operation does not take this combination of types.",
        advice=(
            "Convert the operands with `.to(…)` to types that the operation takes together. Bit"
            " operations take integers. Divisions and remainders of integers take operands that are"
            " both signed or both unsigned."
        ),
        signs=(
            Sign(message=r"different signedness|unexpected signedness"),
            Sign(
                message=(
                    r"^invalid operands of type|^wrong type argument to unary|^unexpected"
                    r" type|^[Uu]nexpected dtype"
                )
            ),
            Sign(
                error=r"^TypeError$",
                message=r".",
                source=r"(?<!tl\.)\b(?:math|np|torch)\.\w+\(",
                stage=r"^ast$",
                advice=_PYTHON_ADVICE,
            ),
            Sign(
                error=r"^(?:TypeError|ValueError|IncompatibleTypeErrorImpl|AssertionError)$",
                message=r".",
                stage=r"^ast$",
                advice=(
                    "Change the value or the type that the message names. This release does not"
                    " take it in that line. If two operands differ in type, convert one of them"
                    " (`.to(…)`)."
                ),
            ),
        ),
    ),
    FailureClass(
        name="internal-error",
        title="Error inside the compiler",
        meaning=(
            "Triton's own Python or C++ code failed, with an assertion without a message or with an"
            " error such as a missing name or index."
        ),
        status=Status.CRASHED,
        advice=(
            "The kernel does something that this release does not handle. Rewrite the line, try the"
            " neighbouring releases, and report it. `compat explain` shows where Triton raised the"
            " error."
        ),
        blame=Blame.COMPILER,
        signs=(
            Sign(
                error=r"^(?:IndexError|KeyError|RuntimeError|ValueError|OverflowError)$",
                message=r"^(?:map::at|_Map_base::at|vector::)",
            ),
            Sign(
                error=r"^(?:AssertionError|AttributeError|UnboundLocalError|IndexError|KeyError|NotImplementedError)$",
                stage=r"^ast$",
                raiser=r"^$",
            ),
            Sign(
                error=r"^(?:SystemError|StopIteration|UnboundLocalError|AssertionError)$",
                raiser=r"^$",
            ),
        ),
    ),
)
