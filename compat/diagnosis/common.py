"""Failure classes of every toolchain: the env, the limits, the machine, and the ends of programs.

Their meaning is defined here. A toolchain adds signs of its own, and advice about its releases
(``attrs.evolve(TARGET_UNKNOWN, signs=…)``), and the order in which they are tried
(:class:`compat.diagnosis.failure_class.Knowledge`).
"""

from __future__ import annotations

from functools import partial

from attrs import evolve

from compat.diagnosis.failure_class import Blame, FailureClass, Prediction, Sign
from compat.model import Status

bare_assertion = partial(Sign, error=r"^AssertionError$", message=r"^$")
"""The sign of an assertion without a message."""
INSTALL = FailureClass(
    name="install",
    title="Install failed",
    meaning=(
        "The environment could not be built. The release does not exist, it has no wheel for any"
        " Python of this machine, or the index did not answer."
    ),
    status=Status.ENV_BROKEN,
    advice=(
        "Check that the release exists, that it has wheels for a Python of this machine, and that"
        " the network works. `compat envs build` tries again and names the file with the"
        " installer's output."
    ),
    blame=Blame.ENV,
)
IMPORT = FailureClass(
    name="import",
    title="Import failed",
    meaning="The environment exists, but its toolchain cannot be imported.",
    status=Status.ENV_BROKEN,
    advice="If a package is missing, install it into the environment (`install = […]`).",
    blame=Blame.ENV,
)
TOOLCHAIN_DAMAGED = FailureClass(
    name="toolchain-damaged",
    title="Toolchain damaged",
    meaning=(
        "A program of the toolchain is empty, cut short, not executable, or not the program that"
        " was installed."
    ),
    status=Status.ENV_BROKEN,
    advice="Run `compat envs build --again ENV`. This failure says nothing about the kernel.",
    blame=Blame.ENV,
)
MACHINE = FailureClass(
    name="machine",
    title="Refused by the machine",
    meaning=(
        "The machine refused something that a compile needs, such as disk space, or another process"
        " killed the assembler."
    ),
    status=Status.LOST,
    advice=(
        "Check the free space where TMPDIR is, the memory and `ulimit -a`. This failure says"
        " nothing about the kernel, and the next run tries again."
    ),
    blame=Blame.ENV,
)
UNAVAILABLE_VALUE = Sign(
    error=r"(?:^|\.)UnavailableValue$",
    message=r"this env lacks `(?P<name>[\w.]+)`",
    stage=r"^source$",
    means="no module {name}",
)
"""The kernel uses a name of a package that the env has only a stand-in for."""
SOURCE_NEEDS_PACKAGE = FailureClass(
    name="source-needs-package",
    title="Package missing",
    meaning=(
        "The kernel's Python file imports a package or module that this env does not have. The"
        " kernel itself was not compiled."
    ),
    status=Status.SOURCE_BROKEN,
    advice=(
        "The kernel's file needs `{name}`. Install it into every environment with a"
        ' `[[companion]]` that has `install = ["{name}"]` in matrix.toml, or put the module beside'
        " the file. Or move the kernel into a file that does not import it."
    ),
    blame=Blame.ENV,
    signs=(
        Sign(
            error=r"^ModuleNotFoundError$",
            message=r"^No module named '(?P<name>[\w.]+)'",
            stage=r"^source$",
            means="no module {name}",
        ),
        UNAVAILABLE_VALUE,
    ),
)


def source_needs_package(toolchain_package: str, *, pairs: bool) -> FailureClass:
    """Return the class of sources that import a package that is not the toolchain's own.

    A missing module of the toolchain is an answer of its release. The advice names the group
    ``pairs`` if the toolchain has ``pairs``.
    """
    name = rf"(?!{toolchain_package}\b)[\w.]+"
    sign = evolve(SOURCE_NEEDS_PACKAGE.signs[0], message=rf"^No module named '(?P<name>{name})'")
    advice = SOURCE_NEEDS_PACKAGE.advice
    if pairs:
        advice = advice.replace(" Or move", " For torch, use `--envs pairs`. Or move")
    return evolve(SOURCE_NEEDS_PACKAGE, advice=advice, signs=(sign, UNAVAILABLE_VALUE))


SOURCE_IMPORT = FailureClass(
    name="source-import",
    title="Kernel cannot be loaded",
    meaning=(
        "The import of the kernel's Python file fails in this environment, in its own code or in a"
        " package's, or the name means no kernel. The kernel itself was not compiled."
    ),
    status=Status.SOURCE_BROKEN,
    advice=(
        "`compat explain` shows the traceback. Fix the file, or move the kernel into a file that"
        " does less when it is imported."
    ),
    blame=Blame.ENV,
)
SOURCE_TIMEOUT = FailureClass(
    name="source-timeout",
    title="Import of the kernel's file timed out",
    meaning=(
        "The import of the kernel's Python file did not end within its deadline. The kernel itself"
        " was not compiled."
    ),
    status=Status.SOURCE_BROKEN,
    advice=(
        "Raise `import_deadline` in `[defaults]` of matrix.toml if the import is only slow, or move"
        " the kernel into a file that imports less."
    ),
    blame=Blame.ENV,
)
TIMEOUT = FailureClass(
    name="timeout",
    title="Timeout",
    meaning="triton-compat stopped the compile at its deadline.",
    status=Status.TIMED_OUT,
    advice=(
        "The compile was still in stage {stage} at its deadline. Raise `--deadline` if it is only"
        " slow."
    ),
    blame=Blame.LIMIT,
)
OUT_OF_MEMORY = FailureClass(
    name="out-of-memory",
    title="Out of memory",
    meaning="The compile reached its memory limit, or the machine had no more memory.",
    status=Status.OUT_OF_MEMORY,
    advice=(
        "The compile ran out of memory in stage {stage}. Raise `memory` in matrix.toml if the"
        " machine has more."
    ),
    blame=Blame.LIMIT,
    signs=(
        Sign(error=r"^MemoryError$", means="out of memory"),
        Sign(
            output=r"std::bad_alloc|LLVM ERROR: out of memory|Cannot allocate memory",
            means="out of memory",
        ),
    ),
)
TOOLCHAIN_MISSING = FailureClass(
    name="toolchain-missing",
    title="Toolchain part missing",
    meaning=(
        "The toolchain needs a program for {target}, and neither its wheel nor the machine has it."
    ),
    status=Status.UNSUPPORTED,
    advice="Install the program, or use a release that ships it.",
    blame=Blame.TOOLCHAIN,
    missing_feature=True,
)
TARGET_UNKNOWN = FailureClass(
    name="target-unknown",
    title="Unknown target",
    meaning="A part of this toolchain does not know {target} yet, or no longer supports it.",
    status=Status.UNSUPPORTED,
    advice="Use a release whose toolchain knows {target}.",
    blame=Blame.TOOLCHAIN,
    missing_feature=True,
)
COMPILER_CRASH = FailureClass(
    name="compiler-crash",
    says_little=True,
    title="Compiler crashed",
    meaning=(
        "A signal that the compiler caused itself ended it without a message. Most often it is a"
        " segmentation fault."
    ),
    status=Status.CRASHED,
    advice=(
        "This is a bug of the compiler. Try the neighbouring releases, and report it (`compat"
        " repro`)."
    ),
    blame=Blame.COMPILER,
)
SHARED_MEMORY = FailureClass(
    name="shared-memory",
    title="Shared memory exceeded",
    meaning="The kernel needs more shared memory than {target} allows for a block.",
    advice="Use smaller blocks.",
    prediction=Prediction(
        number=lambda metrics, target: metrics.get("shared"),
        most=lambda metrics, target: target.shared_memory,
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
    meaning=(
        "No other class fits. The status is rejected if an exception ended the compile, crashed if"
        " a signal did, and lost if there is no message."
    ),
    advice=(
        "Read the message. `compat explain` shows everything that is known. A failure that others"
        " can meet deserves a class of its own."
    ),
    blame=Blame.COMPILER,
)
LOST_ADVICE = (
    "No complete answer arrived, so nothing is known about the kernel. The next run tries again. If"
    " the answer is lost again, check the memory, `ulimit -a`, and whether the kernel's file ends"
    " the process."
)
"""The advice for an unclassified failure without an answer."""
EVERYWHERE = (
    *(INSTALL, IMPORT, TOOLCHAIN_DAMAGED, MACHINE, SOURCE_NEEDS_PACKAGE, SOURCE_IMPORT),
    *(SOURCE_TIMEOUT, TIMEOUT, OUT_OF_MEMORY, TOOLCHAIN_MISSING, TARGET_UNKNOWN, COMPILER_CRASH),
    SHARED_MEMORY,
)
"""All classes but the last, which fits everything: in order of precedence, before a toolchain's own
classes.
"""
