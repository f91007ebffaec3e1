"""The interface through which a hunt uses the programs of Triton."""

from __future__ import annotations

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

    generate = staticmethod(generate)
    forms = staticmethod(forms_of)
    kernel_source = staticmethod(kernel_source)
    shrink = staticmethod(shrink_program)

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


PROGRAMS = TritonPrograms()
