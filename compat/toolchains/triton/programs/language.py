"""The interface through which a hunt uses the programs of Triton."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from packaging.version import Version

from compat.model import CompileSpec
from compat.toolchains.triton.programs.evaluator import evaluate
from compat.toolchains.triton.programs.generator import forms_of, generate
from compat.toolchains.triton.programs.operations import FAMILIES, OPERATIONS
from compat.toolchains.triton.programs.problem import PROBLEM, problem_source
from compat.toolchains.triton.programs.program import BlockProgram
from compat.toolchains.triton.programs.shrinking import shrink_program
from compat.toolchains.triton.programs.source import KERNEL, kernel_source


class TritonPrograms:
    """See :class:`compat.toolchains.programs.ProgramLanguage`."""

    kernel, problem, families = KERNEL, PROBLEM, FAMILIES

    def generate(self, seed: int, only: Collection[str]) -> BlockProgram:
        return generate(seed, only)

    def forms(self, program: BlockProgram, count: int) -> Sequence[BlockProgram]:
        return forms_of(program, count)

    def kernel_source(self, program: BlockProgram) -> str:
        return kernel_source(program)

    def problem_source(self, program: BlockProgram) -> str:
        return problem_source(program, evaluate(program))

    def compile_spec(self, program: BlockProgram) -> CompileSpec:
        signature = {tensor.name: f"*{tensor.dtype}" for tensor in program.inputs}
        signature |= {output.name: f"*{output.dtype}" for output in program.outputs}
        return CompileSpec(
            signature=signature | dict.fromkeys(program.scalars, "i32"),
            divisible_by_16=program.hinted,
            options=dict(program.options),
        )

    def is_for(self, program: BlockProgram, release: Version) -> bool:
        operations = [OPERATIONS[name] for name in program.operations]
        return all(
            Version(operation.since) <= release
            and (operation.until is None or release < Version(operation.until))
            for operation in operations
        )

    def families_of(self, program: BlockProgram) -> frozenset[str]:
        return frozenset(OPERATIONS[name].family for name in program.operations)

    def shrink(
        self, program: BlockProgram, show: Callable[[Sequence[BlockProgram]], Sequence[bool]]
    ) -> BlockProgram:
        return shrink_program(program, show)


PROGRAMS = TritonPrograms()
