"""Programs as kernels that every other command takes: a source, a problem and a specialization."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import frozen

from compat.config.kernel_writer import write_kernel_file
from compat.model import Problem, Specialization
from compat.source.closure import read_source
from compat.toolchains.programs import OWN, GeneratedProgram, ProgramLanguage

HUNTED = "hunted"
"""The variant of every generated kernel."""


@frozen(kw_only=True)
class GeneratedKernel:
    """A program on disk."""

    program: GeneratedProgram
    spec: Specialization

    def delete(self) -> None:
        """Delete its files."""
        Path(self.spec.source).unlink(missing_ok=True)
        if self.spec.problem is not None:
            Path(self.spec.problem.source).unlink(missing_ok=True)


def name_of(program: GeneratedProgram) -> str:
    """The name of a program's kernel: its seed, and its form unless that is :data:`OWN`."""
    return f"seed_{program.seed}" + (f"_{program.form}" if program.form != OWN else "")


def write_program(
    program: GeneratedProgram, language: ProgramLanguage[Any], toolchain: str, folder: Path
) -> GeneratedKernel:
    """Write the source and the problem of a program of a toolchain into a folder.

    Raises:
        RuntimeError: The program is not valid after all.
        OSError: The folder cannot be written.
    """
    name = name_of(program)
    source, problem = folder / f"{name}.py", folder / f"{name}_problem.py"
    problem.write_text(language.problem_source(program), encoding="utf-8")
    source.write_text(language.kernel_source(program), encoding="utf-8")
    spec = Specialization(
        kernel=name,
        variant=HUNTED,
        case="default",
        toolchain=toolchain,
        source=str(source),
        function=language.kernel,
        compile=language.compile_spec(program),
        closure=read_source(source).closure,
        summary=f"generated from seed {program.seed}",
        problem=Problem(
            source=str(problem),
            function=language.problem,
            closure=read_source(problem).closure,
            dtype="fp32",
        ),
    )
    return GeneratedKernel(program=program, spec=spec)


def write_kernel(
    program: GeneratedProgram, language: ProgramLanguage[Any], toolchain: str, folder: Path
) -> Path:
    """Write a program with its kernel file, for other commands, and return the kernel file's path.

    Raises:
        compat.errors.ConfigError: A kernel file cannot describe the program.
        OSError: The folder cannot be written.
    """
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    kernel = write_program(program, language, toolchain, folder)
    path = folder / f"{name_of(program)}.toml"
    write_kernel_file([kernel.spec], path)
    return path
