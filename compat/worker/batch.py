"""The work of a forked child: do the actions of a batch's jobs in order, and report each job."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import hashlib
import json
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from typing import TYPE_CHECKING, AbstractSet, Any, Iterator

from .adapter import PYTORCH, load_numerics, load_standin
from .beacon import Beacon
from .descendants import end_children
from .exceptions import (
    cut,
    exception_chain,
    exceptions_of,
    innermost_line,
    message_of,
    unless_broken,
)
from .imports import INSTALLED, OF_THE_ENV, Beginning, OpenedFiles, file_of, write_bytecode_inside

if TYPE_CHECKING:
    from ..toolchains.inside.foreign import Document, Function, Objects, Value
    from .adapter import Adapter, InterpretingAdapter

_ALLOCATED = 50_000
"""The number of new objects after which Python's garbage collector looks for cycles.

By default it looks a hundred times as often. With the objects of a large library's import, that
takes a third of the time.
"""
_OWN = (os.path.dirname(os.path.abspath(__file__)), PYTORCH)
"""Folders of this program. Their modules are not part of a kernel."""
_WARNINGS = 1000
_WORDS = 2000
"""The most characters of a warning in the evidence."""
_USES = 8000
"""The most characters of the list of features that a kernel used."""


def run(
    toolchain: Adapter, jobs_fd: int, events_fd: int, output_fd: int, beginning: Beginning
) -> None:
    """Compile every job read from ``jobs_fd``, and report each step on ``events_fd``.

    Output goes to ``output_fd``. ``beginning`` is the server's import of the jobs' package.
    """
    with open(jobs_fd, encoding="utf-8") as file:
        batch = json.load(file)
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)
    os.close(output_fd)
    directory, diagnose = batch["directory"], batch["diagnose"]
    try:
        _use_private_dir(directory)
        toolchain.use_cache_dir(directory, diagnose)
        beacon = Beacon(directory)
    except OSError as error:  # no cell has begun: the cause is the machine, such as a full disk
        _write(
            events_fd,
            {
                "event": "unable",
                "nonce": batch["jobs"][0]["nonce"],
                "raised": exception_chain(error),
            },
        )
        return
    if batch["variables"]:
        os.environ.update(batch["variables"])
        toolchain.reload_env()
    load_standin().hide(batch["hidden"])
    toolchain.observe(beacon, passes=diagnose)
    # A diagnostic quotes a source line. The compiler reads it at the path that it was given.
    if batch["places"] and not diagnose:
        toolchain.remap_paths(batch["places"])
    sources: Objects = {}
    opened = OpenedFiles(directory)
    opened.add(beginning.read)
    for number, job in enumerate(batch["jobs"]):
        beacon.clear()
        warned = [] if number else beginning.warnings
        attempt = Attempt(
            job, events_fd, directory, opened, warned, beacon, env_modules=beginning.env_modules
        )
        attempt.make(toolchain, sources, diagnose)
        if attempt.spoils_the_next():
            return  # the driver starts a new child for the other jobs


def _use_private_dir(directory: str) -> None:
    """Put temporary files into a private folder, and print the stack on a crash or a hang."""
    os.environ["TMPDIR"] = tempfile.tempdir = directory
    os.chdir(directory)
    gc.set_threshold(_ALLOCATED, 20, 20)
    write_bytecode_inside(sys.prefix)
    sys.stdout = sys.stderr = open(  # noqa: SIM115
        2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False
    )
    faulthandler.enable(file=2, all_threads=False)
    faulthandler.register(signal.SIGUSR1, file=2, all_threads=False)


class Attempt:
    """One job: the stages that it has gone through, and the answer to it."""

    def __init__(
        self,
        job: Document,
        events_fd: int,
        directory: str,
        opened: OpenedFiles,
        warned: list[warnings.WarningMessage],
        beacon: Beacon,
        *,
        env_modules: AbstractSet[str],
    ) -> None:
        self.job = job
        self.beacon = beacon
        self.warned = warned
        """Warnings of the server's import of the package, which the first job would have caused."""
        self.directory = directory
        self.opened = opened
        self.env_modules = env_modules
        """Names of modules that the server has loaded, and that are no part of a kernel."""
        self.kept: str | None = None
        """The folder for the results of stages, if the driver asked for them."""
        self.events_fd = events_fd
        self.process = os.getpid()
        """The only process that may answer, because a kernel file can fork."""
        self.seconds: dict[str, float] = {}
        """Stage → CPU seconds, of finished stages."""
        self.source: Value = None
        """The kernel's file, if one is imported."""
        self.function: Function = None
        """The kernel's function, once its file is imported."""
        self.modules: set[str] = set()
        """Names of the modules that are loaded after the import of the job's files; empty before
        that.
        """
        self.stage: str | None = None
        self.entered = 0.0
        """CPU seconds of this process when the stage was entered."""
        self.noted: Document = {}
        """Metrics that a failed attempt reports, too."""

    def make(self, toolchain: Adapter, sources: Objects, diagnose: bool) -> None:
        """Do the job's actions in order and send exactly one answer, or refuse the whole job."""
        if unknown := [
            str(action.get("do"))
            for action in self.job["actions"]
            if action.get("do") not in _ACTIONS
        ]:
            self.send("refused", cannot=unknown)
            return
        self.send(
            "start",
            output=_position(),
            target_known=toolchain.knows_target(self.job["target"]) if diagnose else None,
        )
        answer: Document = {"actions": []}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                for action in self.job["actions"]:
                    metrics, artifacts = _ACTIONS[action["do"]](self, action, toolchain, sources)
                    answer["actions"].append(
                        {"do": action["do"], "made": artifacts, "requires": []}
                    )
                    answer["metrics"] = metrics
            # Any exception of a kernel file is an answer, including SystemExit and
            # KeyboardInterrupt.
            except BaseException as error:
                place = unless_broken(self.place_of, error, toolchain)
                answer.update(raised=exception_chain(error), at=place, metrics=self.noted)
            else:
                self.enter(None)
        self.leave_copies()
        end_children()
        answer.update(
            stages=self.seconds,
            warnings=_distinct([*self.warned, *caught]),
            imported=self.read(),
            output=_position(),
        )
        answer.update(
            stood_in=unless_broken(self.source.stand_in_record) if self.source is not None else None
        )
        self.send("done", **answer)

    def compile(
        self, action: Document, toolchain: Adapter, sources: Objects
    ) -> tuple[Document, Document]:
        """Compile the job's function, or an IR file instead.

        Returns the metrics, and what each stage made.
        """
        self.enter("source")
        toolchain.set_target(self.job["target"])
        if action["keep_ir"]:
            self.kept = os.path.join(self.directory, "kept", self.job["nonce"])
        self.job["ir"] = (
            os.path.join(self.directory, "given", action["ir"]) if action["ir"] else None
        )
        if action["ir"] is None:
            self.take_function(toolchain, sources)
        metrics, artifacts = self.compile_job(toolchain)
        return metrics, {
            stage: _facts(result)
            for stage, result in artifacts.items()
            if isinstance(result, (str, bytes))
        }

    def interpret(
        self, action: Document, toolchain: Adapter, sources: Objects
    ) -> tuple[Document, Document]:
        """Run the job's function on its problems in the toolchain's interpreter.

        Returns the results of the comparisons as metrics, and no artifacts.
        """
        self.enter("source")
        toolchain.set_target(self.job["target"])
        self.take_function(toolchain, sources)
        _check_problems(self, action["seed"], _interpreting(toolchain))
        return self.noted, {}

    def take_function(self, toolchain: Adapter, sources: Objects) -> None:
        """Import the job's source, unless an earlier job has, and find its function there."""
        is_first = self.job["source"] not in sources
        self.source = _source(self.job, sources, toolchain.name)
        if "torch_dtype" in str(self.job["constexprs"]):
            self.source.have_torch()
        with self.opened.noting():
            self.source.load()
            self.modules = set(sys.modules)
            self.function = self.source.function(self.job["function"])
        if is_first:  # reported now, because there is no answer if the compiler aborts
            self.send("imported", files=self.read())

    def spoils_the_next(self) -> bool:
        """Return whether another cell could get a different result here than in a new child.

        The other cell would find modules that it has not imported. A failed import leaves the
        modules that it imported before it failed, and so does an import inside of a function. A
        factory that raised may also have stopped half-way.
        """
        if self.source is None:
            return False
        has_failed = not self.modules or (self.function is None and "(" in self.job["function"])
        return has_failed or load_standin().has_foreign(self.modules)

    def read(self) -> list[str]:
        """Return the files that the kernel depends on and that no env's digest covers.

        These are modules, and files that modules read. Files that this process made do not count.
        """
        own = tuple(os.path.join(folder, "") for folder in (*_OWN, self.directory))
        roots = self.job["roots"]
        paths = {*_imported_files(roots, self.env_modules), *self.opened.paths(roots)}
        return sorted(path for path in paths if not path.startswith(own))

    def compile_job(self, toolchain: Adapter) -> tuple[Document, Document]:
        """Compile the job with the toolchain, and return its metrics and what each stage made.

        The result does not count if the kernel used a value of a package that is missing here.
        """
        look = self.source.watch() if self.source is not None else _nothing
        try:
            return toolchain.compile(self.job, self.function, self.enter, self.keep)
        finally:
            try:
                look()
            except BaseException:
                self.enter("source")
                raise

    def place_of(self, error: BaseException, toolchain: Adapter) -> dict[str, object] | None:
        """Return the line of the kernel's file that a failure is about.

        During the import of the file, this is the last line that ran.
        """
        if self.function is None and not self.job.get("ir"):
            location = innermost_line(error, self.job["roots"][0])
        elif _interpreting(toolchain) is not None:
            links = exceptions_of(error)
            lines = (innermost_line(link, self.job["roots"][0]) for link in reversed(links))
            location = next((line for line in lines if line), None)
        else:
            location = toolchain.kernel_line(error, self.job, self.function)
        return {"path": location[0], "line": location[1]} if location else None

    def enter(self, stage: str | None, cpu: float | None = None) -> None:
        """Note that ``stage`` begins, and that the stage before it has ended.

        ``cpu`` is how many CPU seconds this process had used at that time. By default the stage
        begins now.
        """
        now = cpu_seconds() if cpu is None else cpu
        if self.stage is not None:
            self.seconds[self.stage] = round(
                self.seconds.get(self.stage, 0.0) + now - self.entered, 6
            )
        self.stage, self.entered = stage, now
        if stage is not None:
            self.send("stage", stage=stage, cpu=round(now, 6))

    def keep(self, stage: str, artifact: Value) -> None:
        """Write the result of a stage to a file for the driver, if the driver asked for it."""
        if self.kept is not None:
            os.makedirs(self.kept, exist_ok=True)
            with open(os.path.join(self.kept, stage), "wb") as file:
                file.write(_bytes(artifact))

    def leave_copies(self) -> None:
        """End this process if it is a copy that a kernel file forked.

        Only the original goes on and answers.
        """
        if os.getpid() != self.process:
            os._exit(0)

    def send(self, event: str, **facts: object) -> None:
        self.leave_copies()
        try:
            _write(self.events_fd, dict(facts, event=event, nonce=self.job["nonce"]))
        # A kernel's file can change the numbers so that they cannot be written as JSON.
        except (ValueError, TypeError, RecursionError) as error:
            failed = {
                "actions": [],
                "raised": exception_chain(error),
                "stages": {},
                "warnings": [],
                "output": _position(),
            }
            _write(self.events_fd, dict(failed, event=event, nonce=self.job["nonce"]))


_ACTIONS = {"compile": Attempt.compile, "interpret": Attempt.interpret}
"""The actions of this worker."""


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of the processes that it waited for.

    The time covers all threads, and programs that the process started, such as an assembler.
    """
    waited = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + waited.ru_utime + waited.ru_stime


def _interpreting(toolchain: Adapter) -> Any:
    """Return the toolchain's interpreter, if this worker runs kernels in one."""
    return getattr(toolchain, "interpreting", None)


def _nothing() -> None:
    pass


def _facts(artifact: Value) -> Document:
    data = _bytes(artifact)
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _bytes(artifact: Value) -> bytes:
    return (
        artifact
        if isinstance(artifact, bytes)
        else str(artifact).encode("utf-8", "backslashreplace")
    )


def _write(events_fd: int, message: Document) -> None:
    data = (json.dumps(message, default=_word_for) + "\n").encode("utf-8", "backslashreplace")
    while data:
        data = data[os.write(events_fd, data) :]


def _check_problems(attempt: Attempt, seed: int, interpreting: InterpretingAdapter) -> None:
    """Run an attempt's function on its problems until one fails, and note the results.

    ``noted`` of the attempt gets these entries: ``problems`` is how many problems were run,
    ``problem`` is the name of the last one, and ``check`` is the result of the comparison.
    ``values`` are the changed values, as JSON, if no output is known. ``uses`` is there if the
    result is not right. The beacon has the name and number of the problem that runs, in case the
    process ends without an answer. Raises whatever the kernel raises, and ProblemError if a problem
    cannot be used.
    """
    problems, outputs = load_numerics()
    noted, right = attempt.noted, False
    settings = {**attempt.job["options"], **attempt.job["constexprs"]}
    comparisons: list[Document] = []
    attempt.enter("interpret")
    problem_stream = _problems(attempt, problems, seed)
    try:
        for problem in problem_stream:
            noted.update(problem=problem["name"], problems=len(comparisons) + 1)
            grid = problems.grid_of(problem, settings)
            attempt.beacon.at(problem["name"], len(comparisons) + 1)
            try:
                launch = interpreting.prepare(attempt.function, attempt.job, problem)
            except ValueError as error:
                raise problems.ProblemError("problem %r: %s" % (problem["name"], error)) from None
            outputs.poison(problem)
            launch(grid)
            attempt.enter("check")
            comparisons.append(outputs.compare(problem))
            noted["check"] = outputs.together(comparisons)
            # A problem without references has values. Metrics can only be strings and numbers.
            if "values" in noted["check"]:
                noted["values"] = json.dumps(noted["check"].pop("values"), separators=(",", ":"))
            right = noted["check"]["status"] == "ok"
            if not right:
                break
            attempt.enter("interpret")
    finally:
        if not right:
            noted["uses"] = " ".join(interpreting.uses(attempt.function))[:_USES]


def _problems(attempt: Attempt, problems: Any, seed: int) -> Iterator[Document]:
    """Yield the problems of an attempt's job as they are made.

    The attempt notes the files that are read meanwhile.
    """
    problem_spec = attempt.job["problem"]
    with attempt.opened.noting():
        before = set(sys.modules)
        function = problems.load(problem_spec["source"], problem_spec["function"])
        attempt.modules |= set(sys.modules) - before
        problem_stream = problems.checked_problems(
            function, problem_spec["parameters"], problem_spec["dtype"], seed, "cpu", False
        )
    while True:
        with attempt.opened.noting():
            problem = next(problem_stream, None)
        if problem is None:
            return
        yield problem


def _source(job: Document, sources: Objects, toolchain: str) -> Value:
    """The job's source file, which is imported once."""
    path = job["source"]
    if path not in sources:
        sources[path] = load_standin().ImportedSource(
            path, job["roots"], job["module"], job["target"], toolchain
        )
    return sources[path]


def _imported_files(roots: list[str], env_modules: AbstractSet[str]) -> set[str]:
    """Return the imported files that no env's digest covers.

    These are the files of the tree, and of packages that are installed as a link.
    """
    tree = tuple(os.path.join(root, "") for root in roots)
    paths = set()
    # Looking at a module makes the system copy its memory for this process.
    for name in sys.modules.keys() - env_modules:
        path = file_of(name)
        if path is None or name.startswith("_compat_"):
            continue
        if path.startswith(tree):
            root = next(root for root in tree if path.startswith(root))
            if INSTALLED not in os.sep + path.partition(root)[2]:
                paths.add(path)
        elif (
            not path.startswith(OF_THE_ENV)
            and INSTALLED not in path
            and not os.path.realpath(path).startswith(OF_THE_ENV)
        ):
            paths.add(path)
    return paths


def _distinct(caught: list[warnings.WarningMessage]) -> list[dict[str, str]]:
    seen: dict[tuple[str, str], None] = {}
    for warning in caught[:_WARNINGS]:
        text = warning.message
        message = (
            message_of(text, _WORDS) if isinstance(text, BaseException) else cut(str(text), _WORDS)
        )
        seen.setdefault((warning.category.__name__, message))
    return [{"type": kind, "message": message} for kind, message in seen]


def _word_for(value: Value) -> str:
    """Return the text that replaces a value without a JSON form."""
    return "<%s>" % type(value).__name__


def _position() -> int:
    """Return the size of the output file so far, in bytes."""
    # The disk may be full, and a kernel's file can close or replace the stream.
    with contextlib.suppress(Exception):
        sys.stderr.flush()
    return os.fstat(2).st_size
