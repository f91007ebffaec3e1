"""Triton's types of arguments and compile options, and the shapes of expressions.

The shapes are needed to make kernels smaller.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from compat.bundle.bundle import ConstantForm
from compat.model import CompileSpec, arguments
from compat.model.constexprs import LANGUAGE_NAMES
from compat.source.constants import Scope
from compat.source.parsing import expression_of
from compat.text import lazy_pattern
from compat.toolchains.base import ArgumentTypes, Option, Simplification

CONSTANT = ConstantForm(statement="import triton.language as tl", made_with="tl.constexpr")
DTYPES = (
    *("i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp64"),
    *("fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16", "fp8e4b15"),
)
"""Element types; a pointer is ``*`` followed by one of these, ``*k`` if it is const."""

_ANY = "|".join(DTYPES)

TYPES = ArgumentTypes(
    pattern=lazy_pattern(
        rf"(\*k?)?({_ANY})|tensordesc<({_ANY})\[\d+(, ?\d+)*\](, ?\w+\([^<>]*\))?>"
    ),
    known=(*DTYPES, *(f"*{dtype}" for dtype in DTYPES)),
    examples='"*fp16" or "i32"',
    elements=DTYPES,
)

_SWITCHES = (
    *(
        "allow_flush_denorm",
        "allow_fp8e4b15",
        "allow_fp8e4nv",
        "clc",
        "debug",
        "enable_fp_fusion",
        "enable_reflect_ftz",
    ),
    *(
        "fpsan_homomorphic_casts",
        "launch_cooperative_grid",
        "launch_pdl",
        "sanitize_overflow",
        "sched4reg",
    ),
)
_NUMBERS = (
    *(
        "kpack",
        "matrix_instr_nonkdim",
        "num_buffers_warp_spec",
        "num_consumer_groups",
        "ptx_version",
        "reg_dec_producer",
    ),
    *("reg_inc_consumer", "warp_size", "waves_per_eu"),
)
_TEXTS = (
    "default_dot_input_precision",
    "instruction_sched_variant",
    "instrumentation_mode",
    "ptx_options",
    "schedule_hint",
    "wgp_cu_mode",
)

OPTIONS = {
    "num_warps": Option(kind=int, least=1, power_of_two=True),
    "num_ctas": Option(kind=int, least=1, power_of_two=True),
    "num_stages": Option(kind=int, least=0),
    "maxnreg": Option(kind=int, least=1),
    "min_shared_mem": Option(kind=int, least=0),
    **{name: Option(kind=int, least=0) for name in _NUMBERS},
    **{name: Option(kind=bool) for name in _SWITCHES},
    **{name: Option(kind=str) for name in _TEXTS},
}
"""Options of the NVIDIA and AMD backends that are numbers, strings or booleans, without those of
two types.
"""


# --- shapes: how kernels are made smaller ---------------------------------------------------------

# Shapes and element types are inferred from the source of a kernel. This is enough to replace a
# load by ``tl.zeros((64, 64), tl.float16)``. If they are unknown, nothing is proposed. A wrong
# guess costs a candidate, but never gives a wrong result.


_REDUCE = ("sum", "max", "min", "xor_sum", "argmax", "argmin")
_ALIKE = (
    "abs",
    "exp",
    "exp2",
    "log",
    "log2",
    "sqrt",
    "rsqrt",
    "sigmoid",
    "sin",
    "cos",
    "cumsum",
    "cumprod",
    "maximum",
    "minimum",
    "where",
)
"""Functions whose result has the broadcast shape of their arguments."""


@frozen(kw_only=True)
class Block:
    """A value's shape, ``()`` for a scalar, and its element type.

    The element type of pointers is the type that they point to.
    """

    shape: tuple[int, ...] = ()
    dtype: str | None = None
    pointer: bool = False


def _argument_block(argument: object) -> Block | None:
    """Return the block that a launch passes, or ``None`` if it is unknown."""
    if arguments.is_tensor(argument):
        return Block(dtype=LANGUAGE_NAMES.get(arguments.dtype_of(argument)), pointer=True)
    kinds = {bool: "int1", int: "int32", float: "float32"}
    return Block(dtype=kinds[type(argument)]) if type(argument) in kinds else None


class BlockShapes:
    """The shapes of the expressions in a kernel's body, read from top to bottom."""

    def __init__(self, body: Sequence[ast.stmt], compile_spec: CompileSpec) -> None:
        numbers = {
            name: value for name, value in compile_spec.constexprs.items() if type(value) is int
        }
        self._constants = Scope({}, {}, numbers)
        self._names: dict[str, Block | None] = {
            name: Block(
                dtype=LANGUAGE_NAMES.get(kind.removeprefix("*")), pointer=kind.startswith("*")
            )
            for name, kind in compile_spec.signature.items()
            if isinstance(kind, str)  # tuples stay unknown
        }
        self._names |= {name: _argument_block(value) for name, value in compile_spec.launch.items()}
        self._names |= {name: Block(dtype="int32") for name in numbers}
        self._blocks: dict[int, Block] = {}
        self._alike: dict[int, list[str]] = {}
        self._read(body)

    def simple(self, node: ast.expr) -> Iterator[ast.expr]:
        """Yield simpler expressions that could replace one of the kernel's body.

        They are blocks of the same shape and element type, either named or made by a short call,
        and zeros.
        """
        block = self._blocks.get(id(node))
        yield from (ast.Name(name, ast.Load()) for name in self._alike.get(id(node), ()))
        if block is not None and not block.pointer:
            yield from self._block_calls(block)
        if block is None or not block.pointer:
            yield ast.Constant(0)
        if block is None or (not block.pointer and "float" in (block.dtype or "float")):
            yield ast.Constant(0.0)

    def _block_calls(self, block: Block) -> Iterator[ast.expr]:
        """Yield calls that make a block, of consecutive numbers or of zeros."""
        if not block.shape or block.dtype is None:
            return
        if block.dtype == "int32" and len(block.shape) == 1:
            yield expression_of(f"tl.arange(0, {block.shape[0]})")
        yield expression_of(f"tl.zeros({block.shape}, tl.{block.dtype})")

    def _read(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            for field in ast.iter_child_nodes(statement):
                if isinstance(field, ast.expr) and isinstance(
                    getattr(field, "ctx", ast.Load()), ast.Load
                ):
                    self._of(field)
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                self._assign(statement.targets[0], statement.value)
            if isinstance(statement, ast.For) and isinstance(statement.target, ast.Name):
                self._names[statement.target.id] = Block(dtype="int32")
            for inner in ("body", "orelse"):
                self._read(getattr(statement, inner, []))

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._names[target.id] = self._blocks.get(id(value))
        elif isinstance(target, ast.Tuple):
            values = value.elts if isinstance(value, ast.Tuple) else [None] * len(target.elts)
            for name, element in zip(target.elts, values, strict=False):
                if isinstance(name, ast.Name):
                    self._names[name.id] = self._blocks.get(id(element))

    def _of(self, node: ast.expr) -> Block | None:
        """Return the block of an expression, and record it and the blocks of all its operands."""
        parts = [self._of(child) for child in _operands(node)]
        block = self._infer_block(node, parts)
        if block is not None:
            self._blocks[id(node)] = block
            if block.shape and not isinstance(node, ast.Name):
                self._alike[id(node)] = [
                    name for name, candidate in self._names.items() if candidate == block
                ]
        return block

    def _infer_block(self, node: ast.expr, parts: Sequence[Block | None]) -> Block | None:
        if isinstance(node, ast.Name):
            return self._names.get(node.id)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return Block(dtype="int32" if isinstance(node.value, int) else "float32")
        if isinstance(node, ast.Compare):
            return (
                evolve(joined, dtype="int1", pointer=False)
                if (joined := _broadcast(parts))
                else None
            )
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.BoolOp):
            return _broadcast(parts)
        if isinstance(node, ast.Subscript):
            return _index_block(parts[0], node.slice) if parts else None
        return (
            self._infer_call(node, parts)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            else None
        )

    def _infer_call(self, call: ast.Call, parts: Sequence[Block | None]) -> Block | None:
        assert isinstance(call.func, ast.Attribute)
        name, first = call.func.attr, parts[0] if parts else None
        if name == "arange" and len(call.args) == 2:
            ends = self._sizes(call.args)
            return Block(shape=(ends[1] - ends[0],), dtype="int32") if ends else None
        if name in ("zeros", "full") and call.args:
            shape = self._sizes(getattr(call.args[0], "elts", ()))
            return Block(shape=shape, dtype=_dtype(call)) if shape else None
        if name == "load" and first is not None:
            return evolve(first, pointer=False)
        if name == "to" and first is not None:
            return evolve(first, dtype=_dtype(call))
        if name == "trans" and first is not None:
            return evolve(first, shape=first.shape[::-1])
        if (
            name == "dot"
            and len(parts) > 1
            and first
            and parts[1]
            and len(first.shape) == len(parts[1].shape) == 2
        ):
            return Block(shape=(first.shape[0], parts[1].shape[1]), dtype="float32")
        if name in _REDUCE and first and len(first.shape) == 1:
            return evolve(first, shape=())
        return _broadcast(parts) if name in _ALIKE else None

    def _sizes(self, nodes: Sequence[ast.expr]) -> tuple[int, ...]:
        """Return the integer values of these expressions; empty if one is unknown."""
        values = [self._constants.try_value(node)[1] for node in nodes]
        sizes = tuple(value for value in values if type(value) is int)
        return sizes if len(sizes) == len(values) else ()


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the values that an expression is made of.

    For a method call, the owner comes first. For ``tl.load``, only arguments count.
    """
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and not (
            isinstance(node.func.value, ast.Name) and node.func.value.id == "tl"
        ):
            yield node.func.value
        yield from node.args
        yield from (keyword.value for keyword in node.keywords)
    elif isinstance(node, ast.Subscript):
        yield node.value
    else:
        yield from (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))


def _broadcast(parts: Sequence[Block | None]) -> Block | None:
    """Return the broadcast of blocks. Its type is that of a pointer, else that of a float."""
    blocks = [part for part in parts if part is not None]
    if len(blocks) < len(parts) or not blocks:
        return None
    rank = max(len(block.shape) for block in blocks)
    if any(block.shape and len(block.shape) != rank for block in blocks):
        return None
    shape = tuple(max(block.shape[axis] for block in blocks if block.shape) for axis in range(rank))
    foremost = max(
        blocks, key=lambda block: (block.pointer, "float" in (block.dtype or ""), bool(block.shape))
    )
    return evolve(foremost, shape=shape)


def _index_block(block: Block | None, index: ast.expr) -> Block | None:
    """``x[:, None]``: a new axis for every ``None``."""
    elements = index.elts if isinstance(index, ast.Tuple) else [index]
    remaining = list(block.shape) if block else []
    shape: list[int] = []
    for element in elements:
        if isinstance(element, ast.Constant) and element.value is None:
            shape.append(1)
        elif isinstance(element, ast.Slice) and remaining:
            shape.append(remaining.pop(0))
        else:
            return None
    return evolve(block, shape=(*shape, *remaining)) if block else None


def _dtype(call: ast.Call) -> str | None:
    named = [*call.args, *(keyword.value for keyword in call.keywords)]
    return next(
        (
            argument.attr
            for argument in reversed(named)
            if isinstance(argument, ast.Attribute) and argument.attr in LANGUAGE_NAMES.values()
        ),
        None,
    )


SIMPLIFICATION = Simplification(
    argument_types=(
        "i32",
        "fp32",
        "i64",
        "fp16",
        "i1",
        "i8",
        "i16",
        "bf16",
        "fp64",
        "u8",
        "u16",
        "u32",
        "u64",
        "fp8e5",
        "fp8e4nv",
    ),
    element_types=(
        "int32",
        "float32",
        "int64",
        "float16",
        "bfloat16",
        "float64",
        "float8e5",
        "float8e4nv",
    ),
    modules=frozenset({"tl"}),
    parameter_lists=("do_not_specialize", "do_not_specialize_on_alignment"),
    plain_decorators=("triton.jit", "jit", "gluon.jit"),
    annotations=lazy_pattern(r"\bconstexpr\b"),
    values=lambda body, compile_spec: BlockShapes(body, compile_spec).simple,
)
