"""Failure classes that every toolchain has: the env, the limits, the machine, and how a program ends.

What they mean is said here; a toolchain gives them signs of its own, and advice that speaks of its releases
(``attrs.evolve(TARGET_UNKNOWN, signs=…)``), and says in which order they are tried
(:class:`compat.diagnosis.failure_class.Knowledge`).
"""

from __future__ import annotations

from compat.diagnosis.failure_class import Blame, FailureClass, Prediction, Sign
from compat.model import Status

INSTALL = FailureClass(
    name="install",
    title="Install failed",
    meaning="The env could not be built: no such release, no wheel for any interpreter here, or no answer from the index.",
    status=Status.ENV_BROKEN,
    advice="Usual causes of a failed installation: no such release, wheels for other Pythons only, no network. `compat envs build` "
    "tries again, and names the file that has all that was printed.",
    blame=Blame.ENV,
)
IMPORT = FailureClass(
    name="import",
    title="Import failed",
    meaning="The env exists, but its toolchain cannot be imported.",
    status=Status.ENV_BROKEN,
    advice="Install what is missing into the env (`install = […]`).",
    blame=Blame.ENV,
)
TOOLCHAIN_DAMAGED = FailureClass(
    name="toolchain-damaged",
    title="Toolchain damaged",
    meaning="A program of the toolchain is not what was installed: empty, cut short, not executable, or another program.",
    status=Status.ENV_BROKEN,
    advice="Rebuild the env; this says nothing about the kernel.",
    blame=Blame.ENV,
)
MACHINE = FailureClass(
    name="machine",
    title="Refused by the machine",
    meaning="The machine refused what compiling needs, such as room for files, or the assembler was killed from outside.",
    status=Status.LOST,
    advice="Look at the machine: room where TMPDIR is, `ulimit -a`, memory. It says nothing about the kernel, and is not kept.",
    blame=Blame.ENV,
)
LACKING = Sign(error=r"(?:^|\.)Lacking$", message=r"this env lacks `(?P<name>[\w.]+)`", stage=r"^source$", means="no module {name}")
"""The kernel reaches something of a package that only a stand-in was there for."""
SOURCE_NEEDS_PACKAGE = FailureClass(
    name="source-needs-package",
    title="Package missing for the kernel's file",
    meaning="The kernel's Python file imports a package or module that this env does not have. Nothing is known about the kernel.",
    status=Status.SOURCE_BROKEN,
    advice='The kernel\'s file needs `{name}`: install it into every env (`[[companion]]` with `install = ["{name}"]` in '
    "matrix.toml; for torch, `--envs pairs` has envs with PyTorch), put the module beside the file, or move the kernel into a file "
    "that does without.",
    blame=Blame.ENV,
    signs=(
        Sign(
            error=r"^ModuleNotFoundError$",
            message=r"^No module named '(?P<name>[\w.]+)'",
            stage=r"^source$",
            means="no module {name}",
        ),
        LACKING,
    ),
)
SOURCE_IMPORT = FailureClass(
    name="source-import",
    title="Kernel file cannot be imported",
    meaning="Importing the kernel's Python file fails in this env, by its own code or by a package's. Nothing is known about the "
    "kernel.",
    status=Status.SOURCE_BROKEN,
    advice="`compat explain` shows the traceback. Fix the file, or move the kernel into a file that does less on import.",
    blame=Blame.ENV,
)
SOURCE_TIMEOUT = FailureClass(
    name="source-timeout",
    title="Importing the kernel's file timed out",
    meaning="Importing the kernel's Python file did not end within its deadline. Nothing is known about the kernel.",
    status=Status.SOURCE_BROKEN,
    advice="Raise `import_deadline` in matrix.toml (`[defaults]`) if the import is merely slow, or move the kernel into a file "
    "that imports less.",
    blame=Blame.ENV,
)
TIMEOUT = FailureClass(
    name="timeout",
    title="Timeout",
    meaning="The compile timed out and was stopped.",
    status=Status.TIMED_OUT,
    advice="It was still in stage {stage} when its time was up. If it is merely slow, raise the deadline.",
    blame=Blame.LIMIT,
)
OUT_OF_MEMORY = FailureClass(
    name="out-of-memory",
    title="Out of memory",
    meaning="The compile exceeded its memory limit, or could not get more memory.",
    status=Status.OUT_OF_MEMORY,
    advice="It happened in stage {stage}. If the machine has more memory, raise the limit.",
    blame=Blame.LIMIT,
    signs=(
        Sign(error=r"^MemoryError$", means="out of memory"),
        Sign(output=r"std::bad_alloc|LLVM ERROR: out of memory|Cannot allocate memory", means="out of memory"),
    ),
)
TOOLCHAIN_MISSING = FailureClass(
    name="toolchain-missing",
    title="Toolchain part missing",
    meaning="This toolchain needs a program for {target} that neither its wheel nor the machine has.",
    status=Status.UNSUPPORTED,
    advice="Install the program, or use a release that ships it.",
    blame=Blame.TOOLCHAIN,
    lacks=True,
)
TARGET_UNKNOWN = FailureClass(
    name="target-unknown",
    title="Target unknown to the toolchain",
    meaning="Part of this toolchain does not know {target} yet, or no longer supports it.",
    status=Status.UNSUPPORTED,
    advice="Use a release whose toolchain knows {target}.",
    blame=Blame.TOOLCHAIN,
    lacks=True,
)
COMPILER_CRASH = FailureClass(
    name="compiler-crash",
    says_little=True,
    title="Compiler crashed",
    meaning="The compiler was killed by a signal that it caused itself, most often a segmentation fault, without a message.",
    status=Status.CRASHED,
    advice="A compiler bug. Try the neighbouring releases, and report it with the evidence that was kept.",
    blame=Blame.COMPILER,
)
SHARED_MEMORY = FailureClass(
    name="shared-memory",
    title="Shared memory exceeded",
    meaning="The kernel needs more shared memory than a block may have on {target}.",
    advice="Use smaller blocks.",
    prediction=Prediction(
        metric="shared",
        most=lambda target: target.shared_memory,
        stage="launch",
        words="would exceed shared memory",
        excerpt="would exceed shared memory: needs {found} bytes, {target} allows {most}",
        script_text="bytes of shared memory",
    ),
)
UNCLASSIFIED = FailureClass(
    name="unclassified",
    says_little=True,
    title="Not classified",
    meaning="None of the other classes: rejected if an exception ended it, crashed if a signal did, lost if it left no message.",
    advice="Read the excerpt; `compat explain` shows all that is known. If others may hit it too, it should get its own class.",
    blame=Blame.COMPILER,
)
EVERYWHERE = (
    *(INSTALL, IMPORT, TOOLCHAIN_DAMAGED, MACHINE, SOURCE_NEEDS_PACKAGE, SOURCE_IMPORT, SOURCE_TIMEOUT),
    *(TIMEOUT, OUT_OF_MEMORY, TOOLCHAIN_MISSING, TARGET_UNKNOWN, COMPILER_CRASH, SHARED_MEMORY),
)
"""All but the last, which is for what fits none: in the order of precedence, before a toolchain's own classes."""
