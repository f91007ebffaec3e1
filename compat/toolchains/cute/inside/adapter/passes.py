"""Observation of MLIR's passes: the IR before each of them, and its CPU seconds.

The IR has MLIR's own headings. Releases up to 4.5 print it themselves. Later releases print
nothing. So the passes run one by one on a copy of the module, before the compile itself. Some
passes cannot be called by name. This module does the work of one of them. The adapter leaves
out the others, and prints a heading of its own for each. The copy only serves to observe the
passes. The result is that of the compile.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from . import pipeline

if TYPE_CHECKING:
    from ..foreign import Compiler, MlirModule, Operation, PassManager

_NAME = re.compile(r"(?:[\w.]+\()*([\w-]+)")
"""A pass's own name: ``cse`` of ``gpu.module(cse{…})``."""
_HEADING = "// -----// IR Dump %s %s //----- //\n"
_EXPANSION = "arith-expand"
_DOWN, _UP = "arith.floordivsi", "arith.ceildivsi"


class PassRun(NamedTuple):
    """Passes that were run one by one."""

    seconds: dict[str, float]
    """CPU seconds by name. Passes of one name are added up."""
    failed: str | None
    """The pass that failed; ``None`` if none failed."""


def prints(manager: object) -> bool:
    """Return whether a release's pass managers print IR.

    The release that added reports of times to them suppressed printing.
    """
    return not hasattr(manager, "enable_timing")


@contextlib.contextmanager
def ir_printing(compiler: Compiler, module: MlirModule) -> Iterator[None]:
    """Make pass managers that are created in this context print the IR before every pass."""
    passmanager_module = compiler.passmanager
    manager = passmanager_module.PassManager
    module.context.enable_multithreading(False)  # otherwise MLIR cannot print whole modules

    def parse(text: str, *rest: object, **options: object) -> Any:
        pass_manager = manager.parse(text, *rest, **options)
        pass_manager.enable_ir_printing(
            print_before_all=True, print_after_all=False, print_module_scope=True
        )
        return pass_manager

    compiler.passmanager = types.SimpleNamespace(PassManager=types.SimpleNamespace(parse=parse))
    try:
        yield
    finally:
        compiler.passmanager = passmanager_module


def run_singly(
    text: str, manager: PassManager, module: MlirModule, *, show: bool, without: int = 0
) -> PassRun:
    """Run the passes of a pipeline up to the binary, one by one, in this module.

    With ``show``, print the IR before each. Leave out the pass with the number ``without``, counted
    from 1 over the passes that can be run.
    """
    module.context.enable_multithreading(False)
    seconds: dict[str, float] = {}
    number = 0
    with module.context:
        for pass_text in pipeline.lowering(text, manager):
            name = name_of(pass_text)
            run = _runner(pass_text, manager)
            if run is None:
                if show:
                    _write(_HEADING % ("Without", name))
                continue
            number += 1
            if number == without:
                continue
            if show:
                _write(_HEADING % ("Before", "%s (%s)" % (name, name)) + str(module) + "\n")
            begun = time.process_time()
            try:
                run(module)
            except Exception:  # every release has its own type
                return PassRun(seconds, name)
            seconds[name] = round(seconds.get(name, 0.0) + time.process_time() - begun, 6)
    return PassRun(seconds, None)


def _runner(text: str, manager: PassManager) -> Callable[[MlirModule], None] | None:
    """The function that runs one pass; ``None`` if the pass cannot be run by itself."""
    one = "builtin.module(%s)" % text
    if not pipeline.is_taken(one, manager):
        return expand_divisions if name_of(text) == _EXPANSION else None

    def run(module: MlirModule) -> None:
        ready = manager.parse(one)
        ready.enable_verifier(False)
        ready.run(module.operation)

    return run


def expand_divisions(module: MlirModule) -> None:
    """Replace the rounding divisions of whole numbers in a module, as ``arith-expand`` does.

    Strength reduction finds other code if they are still there. No release can run the pass by its
    name. MLIR's own pass expands more than divisions. A full pipeline that runs later does the
    rest.
    """
    from cutlass._mlir import ir

    divisions: list[Operation] = []

    def note(operation: Operation) -> object:
        if operation.operation.name in (_DOWN, _UP):
            divisions.append(operation.operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(note)
    for division in divisions:
        with ir.InsertionPoint(division), division.location:
            division.results[0].replace_all_uses_with(_expand_division(division))
        division.erase()


def _expand_division(division: Operation) -> object:
    """Return the result of a division, from operations in the same order as in MLIR's own pass.

    The quotient is rounded towards zero. It is one too large for rounding down if there is a
    remainder and exactly one operand is negative. It is one too small for rounding up if there is a
    remainder and both operands have the same sign.
    """
    from cutlass._mlir.dialects import arith

    a, b = division.operands
    kind, is_down = a.type, division.name == _DOWN
    test = arith.CmpIPredicate
    quotient = arith.divsi(a, b)
    product = arith.muli(quotient, b)
    remains = arith.cmpi(test.ne, a, product)
    zero = arith.constant(kind, 0)
    signs = [arith.cmpi(test.slt, number, zero) for number in (a, b)]
    corrected = arith.cmpi(test.ne if is_down else test.eq, *signs)
    condition = arith.andi(remains, corrected)
    step = arith.constant(kind, -1 if is_down else 1)
    return arith.select(condition, arith.addi(quotient, step), quotient)


def tell_failed(name: str) -> None:
    """Print that a pass has failed, as MLIR does."""
    _write(_HEADING % ("After", "%s Failed (%s)" % (name, name)))


def copy_of(module: MlirModule, text: str) -> object:
    """Return a copy of a module in the same context, parsed from its text."""
    return type(module).parse(text, module.context)


def name_of(text: str) -> str:
    """The name of a pass, without its options and without the operation that it is run in."""
    name = _NAME.match(text)
    return name[1] if name else text


def _write(text: str) -> None:
    data = text.encode("utf-8", "backslashreplace")
    while data:
        data = data[os.write(2, data) :]
