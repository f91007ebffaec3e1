"""The test of a pair, PyTorch with Triton: its program (``inside/inductor/``), and its answers.

Failure classes follow from observations, never from versions. So the same rules judge a fork or a
nightly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from packaging.version import Version

from compat.model import Status
from compat.text import JsonMapping, lazy_pattern
from compat.toolchains.base import Pairing, PairResult
from compat.toolchains.triton.facts import TARGETS

_FOLDER = Path(__file__).parents[1] / "inside" / "inductor"
_LONGEST = 300
_NO_CUDA = "this PyTorch is built without CUDA"
"""The message of ``inductor/__main__.py``."""

PROGRAMS = (
    *("pointwise", "triton_launcher", "softmax", "layernorm_gelu", "split_reduction", "argmax"),
    *(
        "argmax_looped",
        "scan",
        "rand",
        "gather",
        "mm",
        "bmm",
        "user_kernel",
        "user_kernel_autotuned",
    ),
)

CLASSES = {
    "kernel-dropped": (
        "the compiled graph never launches the user's kernel and raises nothing, so its output is"
        " uninitialized memory"
    ),
    "launch-missing": "the compiled graph launches fewer kernels than it must, and raises nothing",
    "import-fails": "torch.compile imports a module that cannot be imported",
    "not-found": "PyTorch says that there is no working Triton, or that it is too old",
    "name-missing": "PyTorch uses a name that this Triton does not have",
    "signature": "PyTorch passes a kernel's signature in a form that this Triton does not take",
    "metadata": "PyTorch reads an entry that this Triton's metadata of a compiled kernel lacks",
    "launch-fails": "it compiles, but the launch raises an exception",
    "compile-fails": "the compile raises another exception",
    "no-cuda": "this build of PyTorch does not support NVIDIA GPUs, so the pair cannot be tried",
    "process-ended": "the process ended without an answer",
    "deadline": "it did not end within its deadline",
}

_NOT_FOUND = lazy_pattern(r"cannot find a working triton", re.IGNORECASE)
_METADATA = lazy_pattern(r"KernelMetadata'? object has no attribute|metadata.*KeyError")
_NAME = lazy_pattern(
    r"cannot import name|No module named|module '?triton[\w.]*'? has no attribute|'JITFunction'"
    r" object has no attribute"
    r"|has no attribute '\w+'$"
)
_NAMES_ITS_TYPE = lazy_pattern(r"\w+(Error|Exception): ")
"""Beginning of the message of an exception that PyTorch has wrapped into one of its own."""
_IMPORTS = ("ImportError", "ModuleNotFoundError")


def judge(answer: JsonMapping) -> PairResult:
    """Return the result of one program, from the answer about it."""
    ended = answer.get("ended")
    if ended == "deadline":
        return PairResult(
            status=Status.TIMED_OUT, failure_class="deadline", message=str(answer.get("words", ""))
        )
    if ended:
        return PairResult(
            status=Status.CRASHED,
            failure_class="process-ended",
            message=_line(f"{ended}: {answer.get('words', '')}"),
        )
    errors = [error for error in answer.get("errors", []) if isinstance(error, dict)]
    if not errors and answer.get("stage") == "launched":
        return _check_launches(answer)
    if any(_NO_CUDA in str(error.get("message")) for error in errors):
        return PairResult(status=Status.UNSUPPORTED, failure_class="no-cuda", message=_NO_CUDA)
    failure_class, message = next(_classes(str(answer.get("stage")), errors))
    return PairResult(
        status=Status.REJECTED, failure_class=failure_class, message=_error_line(message)
    )


def _check_launches(answer: JsonMapping) -> PairResult:
    """Return the result of a program that raised nothing.

    It is ok if every kernel that the graph must launch was launched.
    """
    remaining = [str(launch[0]) for launch in answer.get("launched", [])]
    missing = []
    for kernel in answer.get("wanted", []):
        if (
            match := next((name for name in remaining if name.startswith(kernel)), None)
        ) is not None:
            remaining.remove(match)
        else:
            missing.append(kernel)
    if not missing:
        return PairResult(status=Status.OK)
    own = [name for name in missing if name in answer.get("own", [])]
    because = next((_error_line(entry) for entry in answer.get("logged", [])), "")
    what = (
        "the user's kernel is not launched"
        if own
        else f"{len(missing)} of {len(answer['wanted'])} kernels are not launched"
    )
    message = f"{what}; swallowed: {because}" if because else what
    return PairResult(
        status=Status.WRONG,
        failure_class="kernel-dropped" if own else "launch-missing",
        message=_line(message),
    )


def _classes(
    stage: str, errors: Sequence[Mapping[str, object]]
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield possible classes of a chain of exceptions, each with its exception.

    ``errors`` begins with the outermost exception. The most informative class comes first.
    """
    nothing: Mapping[str, object] = {"type": "nothing", "message": "its answer is not readable"}
    if stage == "import":
        yield "import-fails", errors[0] if errors else nothing
    for error in errors:
        if _NOT_FOUND.search(str(error.get("message"))):
            yield "not-found", error
    for error in errors:
        if error.get("in") == "__init__" and "triton/compiler/compiler.py" in str(error.get("at")):
            yield "signature", error
    for error in errors:
        if _METADATA.search(str(error.get("message"))):
            yield "metadata", error
    for error in errors:
        if (
            error.get("type") in _IMPORTS
            or _NAME.search(str(error.get("message")).split("\n")[0])
            or _names_in(error)
        ):
            yield "name-missing", error
    yield "launch-fails" if stage == "launch" else "compile-fails", errors[0] if errors else nothing


def _names_in(error: Mapping[str, object]) -> bool:
    """Return whether Triton's compiler raised the error because of a name.

    It quotes the name below the lines of the source.
    """
    return any(_NAME.search(line) for line in str(error.get("message")).splitlines())


def _error_line(error: Mapping[str, object]) -> str:
    """Return an error's type and message on one line.

    If it has no message, the line of code that raised it replaces the message.
    """
    lines = [line.strip() for line in str(error.get("message", "")).splitlines() if line.strip()]
    telling = next(
        (line for line in lines if _NAME.search(line) or _METADATA.search(line)),
        _of_compiler(lines),
    )
    kind = str(error.get("type", ""))
    if not telling:
        return _line(f"{kind}: {error.get('code', '')}")
    return _line(telling if _NAMES_ITS_TYPE.match(telling) else f"{kind}: {telling}")


def _of_compiler(lines: Sequence[str]) -> str:
    """Return the first line of a message, with the compiler's own text if there is one.

    The compiler quotes the source up to a caret. Its own text is below the caret, or in the line
    above.
    """
    if "^" not in lines:
        return lines[0] if lines else ""
    at = lines.index("^")
    message = lines[at + 1] if at + 1 < len(lines) else lines[at - 1] if at else ""
    return f"{lines[0].rstrip(':')}: {message}"


def _line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 2]} …"


def _variables(library: str, launches: str, caches: str) -> dict[str, str]:
    return {
        "TRITON_LIBCUDA_PATH": library,
        "LD_LIBRARY_PATH": library,
        "COMPAT_LAUNCHES": launches,
        "TRITON_HOME": caches,
        "TRITON_CACHE_DIR": f"{caches}/triton",
        "TORCHINDUCTOR_CACHE_DIR": f"{caches}/inductor",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }


PAIRING = Pairing(
    program=_FOLDER,
    programs=PROGRAMS,
    source=_FOLDER / "libcuda.c",
    library="libcuda.so.1",
    also=("libcuda.so",),
    variables=_variables,
    judge=judge,
    classes=CLASSES,
    oldest=Version("2.4"),
    target=next(target for target in TARGETS if target.name == "sm_90"),
)
