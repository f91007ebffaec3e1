"""Run the programs of :attr:`Device.pairing` in an env.

If one of them ends the process, another process runs the rest. The library in C that stands in for
a driver is built once: by the machine's compiler, or by one from the package index.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from attrs import field, frozen

from compat.envs.cache import EnvCache
from compat.envs.libraries import unpacked
from compat.errors import EnvError
from compat.files import TemporaryFolder, content_of, replace_file
from compat.processes.supervisor import run
from compat.text import JsonObject, read_json
from compat.toolchains import Pairing, Toolchain
from compat.workers.spawn import passed_on

IMPORT_DEADLINE = 180.0
"""Seconds that importing may take; of a PyTorch that was just installed it takes the longest."""
DEADLINE = 90.0
"""Seconds that one program may take."""
_LARGEST = 16 * 1024 * 1024
"""Bytes of answers that are read."""
_LAST_WORDS = 2000
"""Bytes of the output of a process that ended without an answer."""
_IMPORT = "import"
_WHILE_IMPORTING = 1
"""Lines that a process tells until it has imported all."""


@frozen(kw_only=True)
class PairRun:
    """The place where programs run, and their settings."""

    python: str
    """The interpreter of an env that has a PyTorch."""
    library: Path
    """The folder of the library that replaces a driver."""
    compiler: str
    """A C compiler: the toolchain builds its launchers with it."""
    before: Path | None = None
    """A folder with packages that come before those of the env."""


@frozen(kw_only=True)
class Answers:
    """The answers of programs, as they were reported."""

    facts: JsonObject = field(factory=dict)
    """Which PyTorch and release it was that was imported; empty where nothing was."""
    programs: Mapping[str, JsonObject] = field(factory=dict)
    """Program → answer."""


def pairing_of(toolchain: Toolchain) -> Pairing:
    """The way in which a toolchain with pairs tries them."""
    assert toolchain.device.pairing is not None
    return toolchain.device.pairing


def run_programs(
    tried: PairRun,
    toolchain: Toolchain,
    deadline: float = DEADLINE,
    import_deadline: float = IMPORT_DEADLINE,
) -> Answers:
    """Run all programs, in as many processes as end before they have answered for the rest.

    Raises MachineError if no process can be started, and Stopped if everything is to end.
    """
    facts: JsonObject = {}
    answers: dict[str, JsonObject] = {}
    while remaining := [name for name in pairing_of(toolchain).programs if name not in answers]:
        lines, ended = _one_process(tried, toolchain, remaining, deadline, import_deadline)
        begun = _IMPORT
        for line in lines:
            begun = str(line.get("begin", begun))
            if line.get("program") in remaining:
                answers[line["program"]] = line
            elif "release" in line:
                facts = line
            elif line.get("stage") == _IMPORT:
                return Answers(facts=facts, programs={**answers, **dict.fromkeys(remaining, line)})
        if begun in remaining and begun not in answers:
            answers[begun] = ended
        # The process ended before any program, or in a place for which no program is to blame.
        elif any(name not in answers for name in remaining):
            answers |= {name: ended for name in remaining if name not in answers}
    return Answers(facts=facts, programs=answers)


def _one_process(
    tried: PairRun,
    toolchain: Toolchain,
    programs: Sequence[str],
    deadline: float,
    import_deadline: float,
) -> tuple[list[JsonObject], JsonObject]:
    """The lines of a process, and its end as the answer for the program that it was running."""
    pairing = pairing_of(toolchain)
    with TemporaryFolder("compat-pairs-") as folder:
        answers, launches = folder / "answers", folder / "launches"
        settings = {
            "answers": str(answers),
            "launches": str(launches),
            "library": str(tried.library / pairing.library),
            "before": str(tried.before) if tried.before else None,
            "programs": list(programs),
            "gpu": toolchain.device.facts(pairing.target),
        }
        reads = toolchain.variables
        withheld = {*reads.settings, *reads.files, *reads.folders}
        own = {name: value for name, value in passed_on(toolchain).items() if name not in withheld}
        own |= {"TMPDIR": str(folder), "CC": tried.compiler}
        ended = run(
            [tried.python, "-I", str(pairing.program), json.dumps(settings)],
            timeout=math.inf,
            waiting=_Patience(answers, deadline, import_deadline).is_left,
            env={
                **own,
                **pairing.variables(str(tried.library), str(launches), str(folder / "caches")),
            },
            cwd=folder,
            limit=_LAST_WORDS,
        )
        return list(_lines(answers)), {
            "ended": _ending(ended.exit_code),
            "words": ended.output.strip()[-_LAST_WORDS:],
        }


class _Patience:
    """The seconds that a process has until each next line of its answers."""

    def __init__(self, answers: Path, deadline: float, import_deadline: float) -> None:
        self._answers, self._deadline, self._import_deadline = answers, deadline, import_deadline
        self._lines = 0
        self._give_up = time.monotonic() + import_deadline

    def is_left(self) -> bool:
        """Whether there is any left."""
        if (lines := _count(self._answers)) > self._lines:
            self._lines = lines
            self._give_up = time.monotonic() + (
                self._deadline if lines > _WHILE_IMPORTING else self._import_deadline
            )
        return time.monotonic() < self._give_up


def _ending(code: int | None) -> str:
    if code is None:
        return "deadline"
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return signal.Signals(-code).name
    return f"signal {-code}"


def _count(path: Path) -> int:
    """How many lines there are."""
    return (content_of(path, _LARGEST) or b"").count(b"\n")


def _lines(path: Path) -> Iterator[JsonObject]:
    """The lines that are objects of JSON; the last one may have been cut off."""
    for line in (content_of(path, _LARGEST) or b"").splitlines():
        with suppress(ValueError):
            if isinstance(read := read_json(line), dict):
                yield read


# --- the library that stands in for the driver ----------------------------------------------------

_log = logging.getLogger(__name__)
ZIG = "ziglang==0.13.0"
"""The download for a machine without a C compiler: one program with everything that it needs."""
_BUILD_DEADLINE = 300.0
"""Seconds that building may take: a compiler that was just fetched makes its libraries first."""
_COMPILERS = ("cc", "gcc", "clang")


@frozen(kw_only=True)
class Compiler:
    """A C compiler."""

    program: str
    """Its path; it takes the arguments that gcc takes."""
    fetched: bool = False
    """Whether it comes from the package index."""


def find_compiler(cache: EnvCache, environ: Mapping[str, str] = os.environ) -> Compiler:
    """The compiler of ``$CC``, or one on ``PATH``, or one that is fetched.

    Raises EnvError if none can be fetched.
    """
    for name in filter(None, (environ.get("CC"), *_COMPILERS)):
        if program := shutil.which(name, path=environ.get("PATH")):
            return Compiler(program=program)
    try:
        folder = unpacked(ZIG)
    except EnvError as error:
        hint = (
            "Install gcc or clang, or name a compiler in $CC. Without one, triton-compat takes zig"
            " from the package index."
        )
        raise EnvError(
            f"there is no C compiler, and zig cannot be installed: {error}", hint=hint
        ) from error
    try:
        return Compiler(program=str(_wrapper(folder, cache)), fetched=True)
    except OSError as error:
        raise cache.refused(error) from error


def _wrapper(folder: Path, cache: EnvCache) -> Path:
    """A program that takes the place of ``cc``: others start it by its path alone."""
    zig = folder / "ziglang" / "zig"
    path = (
        cache.folder / "native" / f"cc-{hashlib.sha256(os.fspath(zig).encode()).hexdigest()[:12]}"
    )
    caches = path.with_name("zig-cache")
    text = f"""#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR='{caches}' ZIG_LOCAL_CACHE_DIR='{caches}'
exec '{zig}' cc "$@"
"""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text)
        path.chmod(0o755)
    return path


def built_library(
    source: Path, name: str, also: Sequence[str], compiler: Compiler, cache: EnvCache
) -> Path:
    """The folder with a source built into a shared library, and links to it of the other names.

    Its name is the hash of source and compiler, and it is built if missing. Raises EnvError with
    the compiler's words.
    """
    key = hashlib.sha256(
        b"\0".join((source.read_bytes(), compiler.program.encode(), sys.platform.encode()))
    ).hexdigest()[:16]
    folder = cache.folder / "native" / f"{source.stem}-{key}"
    if (folder / name).is_file() and all((folder / other).exists() for other in also):
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent) as making:
            made = Path(making) / name
            _compile(compiler, source, made, name)
            folder.mkdir(exist_ok=True)
            made.replace(folder / name)
        for other in also:
            _link(folder / other, name)
    except OSError as error:
        raise EnvError(
            f"cannot build {source.name}: {error.strerror or error}", where=str(folder)
        ) from error
    return folder


def _link(path: Path, name: str) -> None:
    with suppress(FileExistsError):  # another command was quicker
        path.symlink_to(name)


def _compile(compiler: Compiler, source: Path, made: Path, name: str) -> None:
    command = [
        compiler.program,
        "-shared",
        "-fPIC",
        "-O1",
        "-w",
        f"-Wl,-soname,{name}",
        "-o",
        str(made),
        str(source),
    ]
    _log.info("%s", " ".join(command))
    ended = run(command, timeout=_BUILD_DEADLINE)
    if ended.exit_code is None:
        raise EnvError(
            f"{compiler.program} did not build {source.name} within {_BUILD_DEADLINE:g} s"
        )
    if ended.exit_code != 0:
        message = " ".join(ended.output.split())[-600:]
        raise EnvError(
            f"{compiler.program} cannot build {source.name}: {message}",
            hint="Name another compiler in $CC.",
        )
