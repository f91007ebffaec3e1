"""Classes of what is around a compile: the env, the limits, the parts of the toolchain. They are the most certain."""

from __future__ import annotations

from compat.evidence.kind import Blame, Kind, Sign
from compat.model import Status

_NOT_KNOWN = "the toolchain does not know the target"
"""However it shows: which part notices first depends on what the kernel needs, and is no other defect."""

KINDS = (
    Kind(
        name="install",
        title="Install failed",
        meaning="The env could not be made: no such release, no wheel for any interpreter here, or no answer from the index.",
        status=Status.ENV_BROKEN,
        advice="Read the installer's words below. Usual causes: no such release, wheels for other Pythons only, no network.",
        blame=Blame.ENV,
    ),
    Kind(
        name="import",
        title="Import failed",
        meaning="The env is there, but its toolchain cannot be imported.",
        status=Status.ENV_BROKEN,
        advice="Install what is missing into the env (`install = […]`); Triton 3.0 to 3.2 need setuptools without declaring it.",
        blame=Blame.ENV,
    ),
    Kind(
        name="timeout",
        title="Timeout",
        meaning="The compile outlived its deadline and was stopped.",
        status=Status.TIMED_OUT,
        advice="It hung in stage {stage}. Smaller blocks, fewer `static_range` iterations and fewer `num_stages` shorten compiles; "
        "if it is merely slow, raise the deadline.",
        blame=Blame.LIMIT,
    ),
    Kind(
        name="out-of-memory",
        title="Out of memory",
        meaning="The compile outgrew its memory limit, or could get no more memory.",
        status=Status.OUT_OF_MEMORY,
        advice="It happened in stage {stage}. Smaller blocks and less unrolling shrink the IR; if the machine has more to give, "
        "raise the limit.",
        blame=Blame.LIMIT,
        signs=(
            Sign(error=r"^MemoryError$", means="out of memory"),
            Sign(output=r"std::bad_alloc|LLVM ERROR: out of memory|Cannot allocate memory", means="out of memory"),
        ),
    ),
    Kind(
        name="toolchain-missing",
        title="Toolchain part missing",
        meaning="This toolchain needs a program for {target} that neither its wheel nor the machine has.",
        status=Status.UNSUPPORTED,
        advice="For AMD, take Triton 3.5 or later, whose wheels link by themselves, or install ROCm and point "
        "`TRITON_HIP_LLD_PATH` at its `ld.lld`.",
        blame=Blame.TOOLCHAIN,
        signs=(
            Sign(message=r"ROCm linker .*not found|ld\.lld.*(?:not found|No such file)", means="no ROCm linker"),
            Sign(message=r"[Cc]annot find (?P<program>ptxas|cuobjdump|nvdisasm|ld\.lld)"),
            Sign(error=r"^(?:FileNotFoundError|PermissionError)$", message=r"(?:ptxas|ld\.lld|clang)"),
        ),
    ),
    Kind(
        name="target-unknown",
        title="Target unknown to the toolchain",
        meaning="Part of this toolchain (Triton, LLVM or ptxas) has never heard of {target}, or no longer supports it.",
        status=Status.UNSUPPORTED,
        advice="Use a release whose toolchain knows {target}: `sm_100` and `sm_120` need Triton 3.3 or later.",
        blame=Blame.TOOLCHAIN,
        signs=(
            Sign(ptxas=r"is not defined for option 'gpu-name'", means=_NOT_KNOWN),
            # LLVM only warns, builds for its default processor, and stumbles over what that one does not have.
            Sign(output=r"^'\w+' is not a recognized processor for this target", means=_NOT_KNOWN),
            Sign(assertion=r"computeCapability not supported", means=_NOT_KNOWN),
            Sign(ptxas=r"(?:SM version|target).* (?:not supported|deprecated)", words="ptxas"),
            Sign(
                message=r"(?i)unsupported (?:target|arch\w*|gpu|gfx)|no (?:compatible )?backend|\d+ compatible backends for target"
            ),
            Sign(assertion=r"(?i)unknown (?:target|processor|gpu|arch)|unsupported (?:target|arch|gfx)", words="assertion"),
        ),
    ),
)
