"""The classes that every toolchain has, with Triton's own signs and advice.

They are the most certain ones.
"""

from __future__ import annotations

from attrs import evolve

from compat.diagnosis import common
from compat.diagnosis.failure_class import Sign

_NOT_KNOWN = "the toolchain does not know the target"
"""The ``means`` of several signs, because the class is the same for all forms of the failure.

What the kernel needs decides which part of the toolchain notices it first.
"""

CLASSES = (
    common.INSTALL,
    evolve(
        common.IMPORT,
        advice=(
            "If a package is missing, install it into the environment (`install = […]`). Triton 3.0"
            " to 3.2 need setuptools and do not declare it."
        ),
    ),
    evolve(
        common.TOOLCHAIN_DAMAGED,
        signs=(
            Sign(
                message=r"Exec format error: '(?:[^']*/)?(?P<program>[^'/]+)'",
                means="{program} cannot be executed",
            ),
            Sign(
                error=r"^(?:FileNotFound|Permission|OS)Error$",
                message=r"/(?P<program>ptxas[\w-]*)'",
                means="{program} cannot be executed",
            ),
            Sign(
                message=r"[Cc]annot find (?P<program>ptxas[\w-]*)",
                means="{program} cannot be executed",
            ),
            Sign(
                message=r"(?P<program>ptxas[\w-]{0,40})', '--version'\]' (?:died|returned)",
                means="{program} cannot be executed",
            ),
            # Triton 3.0 and 3.1 start it in a shell, which has these codes of its own.
            Sign(
                message=r"`(?P<program>ptxas)` failed with error code 12[67]:",
                means="{program} cannot be executed",
                advice=(
                    "The shell cannot start {program}. Triton 3.0 and 3.1 do not quote its path:"
                    " set COMPAT_ENVS to a folder whose path has no spaces and no other special"
                    " characters of the shell. This failure says nothing about the kernel."
                ),
            ),
            Sign(
                error=r"^FileNotFoundError$",
                message=r"\.ptx\.o'",
                means="the assembler ended without an error and made nothing",
            ),
        ),
    ),
    common.MACHINE,
    common.source_needs_package("triton", pairs=True),
    evolve(
        common.SOURCE_IMPORT,
        # The stand-in for the GPU's driver (``adapter/driver.py``) raises these errors. It has no
        # facts about a machine.
        signs=(
            Sign(
                error=r"^RuntimeError$",
                message=r"^no GPU here: |^no target has been chosen yet$",
                stage=r"^source$",
            ),
        ),
    ),
    common.SOURCE_TIMEOUT,
    evolve(
        common.TIMEOUT,
        advice=(
            "The compile was still in stage {stage} at its deadline. Smaller blocks, fewer"
            " `static_range` iterations and fewer `num_stages` shorten a compile. Raise"
            " `--deadline` if it is only slow."
        ),
    ),
    evolve(
        common.OUT_OF_MEMORY,
        advice=(
            "The compile ran out of memory in stage {stage}. Smaller blocks and less unrolling"
            " shrink the IR. Raise `memory` in matrix.toml if the machine has more."
        ),
    ),
    evolve(
        common.TOOLCHAIN_MISSING,
        advice=(
            "For AMD, use Triton 3.5 or later, whose wheels contain a linker. Or install ROCm and"
            " set the environment variable `TRITON_HIP_LLD_PATH` to its `ld.lld`. The next run"
            " tries again."
        ),
        signs=(
            Sign(
                message=r"ROCm linker .*not found|ld\.lld.*(?:not found|No such file)",
                means="no ROCm linker",
            ),
            Sign(message=r"[Cc]annot find (?P<program>cuobjdump|nvdisasm|ld\.lld)"),
            Sign(error=r"^(?:FileNotFoundError|PermissionError)$", message=r"(?:ld\.lld|clang)"),
        ),
    ),
    evolve(
        common.TARGET_UNKNOWN,
        meaning=(
            "A part of this toolchain (Triton, LLVM or ptxas) does not know {target} yet, or no"
            " longer supports it."
        ),
        advice=(
            "Use a release whose toolchain knows {target}. `sm_100` and `sm_120` need Triton 3.3 or"
            " later."
        ),
        signs=(
            Sign(assembler=r"is not defined for option 'gpu-name'", means=_NOT_KNOWN),
            # LLVM only warns, builds for its default processor, and fails at the features that this
            # processor lacks.
            Sign(output=r"^'\w+' is not a recognized processor for this target", means=_NOT_KNOWN),
            # The assertion can fail for dots only, while the rest of the toolchain builds for the
            # target, as in 3.3.0 for sm_120.
            Sign(assertion=r"computeCapability not supported", target=r"^$", means=_NOT_KNOWN),
            Sign(
                assembler=r"(?:SM version|target).* (?:not supported|deprecated)", words="assembler"
            ),
            Sign(
                message=(
                    r"(?i)unsupported (?:target|arch\w*|gpu|gfx)|no (?:compatible )?backend|\d"
                    r" compatible backends for target"
                )
            ),
            Sign(diagnostic=r"^unsupported target: '", means=_NOT_KNOWN),
            Sign(
                assertion=(
                    r"(?i)unknown (?:target|processor|gpu|arch)|unsupported (?:target|arch|gfx)"
                ),
                words="assertion",
            ),
        ),
    ),
)
