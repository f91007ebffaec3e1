"""A forked child's life: compile the jobs of one batch in a row and say of each what happened."""

from __future__ import annotations

import faulthandler
import importlib.util
import json
import os
import signal
import sys
import tempfile
import time
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .beacon import Beacon

if TYPE_CHECKING:
    from .triton_api import Triton

_DIAGNOSTICS = {
    "MLIR_ENABLE_DUMP": "1",  # the IR before every pass: the last heading names the pass in flight
    "MLIR_ENABLE_DIAGNOSTICS": "operations",  # the op a diagnostic speaks of
}
_REPRODUCER = "reproducer.mlir"


def run(toolchain: Triton, jobs_fd: int, events_fd: int, output_fd: int) -> None:
    """Compile every job read from ``jobs_fd``, telling ``events_fd`` of each step; output goes to ``output_fd``."""
    with open(jobs_fd, encoding="utf-8") as file:
        batch = json.load(file)
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)
    os.close(output_fd)
    directory, diagnose = batch["directory"], batch["diagnose"]
    _settle_in(directory, diagnose)
    if batch["variables"]:
        os.environ.update(batch["variables"])
        toolchain.look_again()
    beacon = Beacon(directory)
    toolchain.observe(beacon, passes=diagnose)
    modules: dict[str, ModuleType] = {}
    for job in batch["jobs"]:
        beacon.clear()
        attempt = Attempt(job, events_fd, directory)
        attempt.make(toolchain, modules)


def _settle_in(directory: str, diagnose: bool) -> None:
    """Give the toolchain private caches and temporary files, and make a crash or a hang say where it was."""
    os.environ["TMPDIR"] = tempfile.tempdir = directory
    os.environ["TRITON_CACHE_DIR"] = os.path.join(directory, "cache")
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    if diagnose:
        os.environ.update(_DIAGNOSTICS, TRITON_REPRODUCER_PATH=os.path.join(directory, _REPRODUCER))
    os.chdir(directory)
    sys.dont_write_bytecode = True  # no __pycache__ in the user's folders
    sys.stdout = sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    faulthandler.enable(file=2, all_threads=False)
    faulthandler.register(signal.SIGUSR1, file=2, all_threads=False)


class Attempt:
    """One job: the stages it went through and the answer to it."""

    def __init__(self, job: dict[str, Any], events_fd: int, directory: str) -> None:
        self.job = job
        self.kept = os.path.join(directory, "kept", job["nonce"]) if job["keep_ir"] else None
        self.events_fd = events_fd
        self.seconds: dict[str, float] = {}
        """Stage → seconds, of finished stages."""
        self.stage: str | None = None
        self.entered = 0.0

    def make(self, toolchain: Triton, modules: dict[str, ModuleType]) -> None:
        """Compile the job and send exactly one answer."""
        self.send("start", output=_position())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                self.enter("import")
                function = None if self.job["ir"] else _load(self.job, modules)
                metrics = toolchain.compile(self.job, function, self.enter, self.keep)
                answer: dict[str, Any] = {"built": True, "metrics": metrics}
            except BaseException as error:  # SystemExit and KeyboardInterrupt too: whatever a kernel file raises is an answer
                answer = {"built": False, "raised": exception_chain(error)}
            else:
                self.enter(None)
        answer.update(stages=self.seconds, warnings=_distinct(caught), output=_position())
        self.send("done", **answer)

    def enter(self, stage: str | None) -> None:
        """Note that ``stage`` begins (and that the one before it ended)."""
        now = time.monotonic()
        if self.stage is not None:
            self.seconds[self.stage] = round(now - self.entered, 6)
        self.stage, self.entered = stage, now
        if stage is not None:
            self.send("stage", stage=stage)

    def keep(self, stage: str, made: Any) -> None:
        """Write what a stage made where the driver finds it, if it asked."""
        if self.kept is not None:
            os.makedirs(self.kept, exist_ok=True)
            with open(os.path.join(self.kept, stage), "wb") as file:
                file.write(made if isinstance(made, bytes) else str(made).encode("utf-8", "backslashreplace"))

    def send(self, event: str, **facts: Any) -> None:
        line = json.dumps(dict(facts, event=event, nonce=self.job["nonce"])) + "\n"
        data = line.encode("utf-8", "backslashreplace")
        while data:
            data = data[os.write(self.events_fd, data) :]


def exception_chain(error: BaseException) -> list[dict[str, str]]:
    """An exception and what caused it, outermost first, as ``{"type", "message"}``."""
    chain: list[dict[str, str]] = []
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        kind = type(link)
        name = kind.__qualname__ if kind.__module__ == "builtins" else kind.__module__ + "." + kind.__qualname__
        chain.append({"type": name, "message": _message(link)})
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return chain


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:  # a diagnostic whose own text cannot be made is still a diagnostic
        return "<no message: %s>" % broken


def _load(job: dict[str, Any], modules: dict[str, ModuleType]) -> Any:
    """The job's function, from its source file; files beside it can be imported by it."""
    path = job["source"]
    if path not in modules:
        folder, name = os.path.dirname(path), os.path.splitext(os.path.basename(path))[0]
        name = "_kernel_" + name if name in sys.modules else name
        if folder not in sys.path:
            sys.path.insert(0, folder)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        modules[path] = module
    return getattr(modules[path], job["function"])


def _distinct(caught: list[warnings.WarningMessage]) -> list[dict[str, str]]:
    seen: dict[tuple[str, str], None] = {}
    for warning in caught:
        seen.setdefault((warning.category.__name__, str(warning.message)))
    return [{"type": kind, "message": message} for kind, message in seen]


def _position() -> int:
    """How much has been written to the output file so far."""
    sys.stderr.flush()
    return os.fstat(2).st_size
