"""The work of a forked process: make a group's problems, check its cells, and time the right ones.

Launches are repeated, because a race may spare the first launch. Bits are compared with the first
launch of the problem. Numbers are compared with the reference, at the first launch and at every one
that differs.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence

from .cuda import CudaDriver, CudaError
from .kernel import Kernel, RefusedArguments
from .prepared_problem import Prepared
from .session import GpuWork
from .timing import Clock, Entrant, time_launches

if TYPE_CHECKING:
    from ...inside.foreign import Document

_PORTABLE, _NON_PORTABLE = 8, 16
"""The most blocks of a cluster on every GPU with clusters, and on some GPUs if a launch asks."""
_COMPARED = 8
"""The most launches of a problem that differ from its first and are compared with the reference."""


def check_kernel(
    kernel: Kernel,
    problems: Sequence[Prepared],
    repeats: int,
    driver: CudaDriver,
    alive: Callable[[], None],
) -> Document:
    """Launch a kernel on all problems, and return its check.

    Raises CudaError and RefusedArguments.
    """
    check = CellCheck()
    for problem in problems:
        alive()
        launch = kernel.launch_of(problem)
        problem.poison()
        try:
            launch()
            driver.synchronize()
            first_bits, first = problem.copy(), problem.compare()
            differing = _repeat_launches(problem, launch, driver, repeats, first_bits)
        except CudaError as error:
            error.problem = problem.name  # type: ignore[attr-defined]
            raise
        check.add(problem, first, differing, repeats)
    spoiled = next((problem.name for problem in problems if problem.inputs_changed()), None)
    return check.result(spoiled)


def _repeat_launches(
    problem: Prepared,
    launch: Callable[[], None],
    driver: CudaDriver,
    repeats: int,
    first_bits: List[object],
) -> List[Optional[Dict[str, object]]]:
    """Return the comparisons of the launches that differ from the first.

    A launch that was not compared has ``None``.
    """
    changed: List[Any] = []
    differing: List[Optional[Dict[str, object]]] = []
    for _ in range(repeats - 1):
        problem.poison()
        launch()
        changed.append(problem.differs(first_bits))
        if len(differing) < _COMPARED and bool(changed[-1]):
            driver.synchronize()
            differing.append(problem.compare())
    driver.synchronize()
    count = sum(map(bool, changed))
    return [*differing, *[None] * (count - len(differing))]


class CellCheck:
    """The check of a cell, problem after problem."""

    def __init__(self) -> None:
        self._launches = self._differing = 0
        self._worst: Document = {"status": "ok", "max_abs": None, "max_rel": None, "where": ""}
        self._wrong: List[str] = []
        self._unstable: List[str] = []
        self._unknown: List[str] = []
        self._values: List[object] = []

    def add(
        self, problem: Prepared, first: Document, differing: List[Optional[Document]], repeats: int
    ) -> None:
        """Add the comparisons of a problem's first launch, and of launches that differ from it."""
        self._launches += repeats
        self._differing += len(differing)
        if first["status"] == "unsupported":
            self._add_unknown(problem, first, differing, repeats)
            return
        for answer in (first, *(answer for answer in differing if answer is not None)):
            self._note(problem, answer)
        if differing:
            compared = [answer for answer in differing if answer is not None]
            bad = sum(answer["status"] != "ok" for answer in compared)
            summary = "%d of %d launches differ from the first, which is %s" % (
                len(differing),
                repeats,
                "right" if first["status"] == "ok" else "wrong",
            )
            numbers = (
                "%d of %d that were compared are wrong" % (bad, len(compared))
                if bad
                else "all that were compared are right"
            )
            self._unstable.append("%s: %s; %s" % (problem.name, summary, numbers))
        elif first["status"] != "ok":
            self._wrong.append("%s: %s" % (problem.name, first["reason"]))

    def _add_unknown(
        self, problem: Prepared, first: Document, differing: List[Any], repeats: int
    ) -> None:
        """Add the result of a problem without reference.

        Its launches are compared only with each other.
        """
        self._values = self._values or first["values"]
        if differing:
            summary = "%s: %d of %d launches differ from the first" % (
                problem.name,
                len(differing),
                repeats,
            )
            self._unstable.append("%s; %s" % (summary, first["reason"]))
        else:
            self._unknown.append(
                "%s: %d launches gave the same bits; %s" % (problem.name, repeats, first["reason"])
            )

    def _note(self, problem: Prepared, answer: Document) -> None:
        """Keep the worst error. An error that is not a number is worse than any number."""
        is_bad, was_bad = answer["status"] != "ok", self._worst["status"] != "ok"
        if (is_bad, _size(answer)) > (was_bad, _size(self._worst)):
            self._worst = dict(answer, where=answer["where"] or problem.name)

    def result(self, spoiled: Optional[str]) -> Document:
        """Return the check as a result line has it.

        ``spoiled`` is the name of a problem whose inputs or references were changed.
        """
        reasons = [*self._unstable, *self._wrong, *self._unknown]
        status = (
            "unstable"
            if self._unstable
            else "wrong"
            if self._wrong
            else "unsupported"
            if self._unknown
            else "ok"
        )
        if spoiled is not None:  # later launches got other inputs than the first one
            status = "wrong"
            reasons.insert(0, "%s: it changed an input, or memory outside its outputs" % spoiled)
        more = "; and %d more" % (len(reasons) - 2) if len(reasons) > 2 else ""
        result = {
            "status": status,
            "max_abs": self._worst["max_abs"],
            "max_rel": self._worst["max_rel"],
            "where": self._worst["where"],
            "reason": "; ".join(reasons[:2]) + more,
            "launches": self._launches,
            "differing": self._differing,
            "spoiled": spoiled is not None,
        }
        return dict(result, values=self._values) if status == "unsupported" else result


def _size(answer: Document) -> float:
    """Return the size of an error: -1 if there is none, and infinity if it is not a number."""
    error = answer["max_abs"]
    if error is None and answer["status"] == "ok":
        return -1.0
    return math.inf if error is None or math.isnan(error) else float(error)


def failed_check(status: str, reason: str, where: str = "") -> Document:
    """Return a check without numbers."""
    return {
        "status": status,
        "max_abs": None,
        "max_rel": None,
        "where": where,
        "reason": reason,
        "launches": None,
        "differing": None,
    }


def predict_refusal(facts: Document, driver: CudaDriver) -> str:
    """Return why the driver will refuse a launch, or an empty text if no limit predicts that."""
    if facts["shared"] > driver.opt_in_shared:
        return "it needs %d bytes of shared memory, and this GPU allows %d for a block" % (
            facts["shared"],
            driver.opt_in_shared,
        )
    blocks = math.prod(facts.get("cluster") or [1])
    most = _NON_PORTABLE if facts.get("non_portable") else _PORTABLE
    if blocks > most:
        return "its cluster has %d blocks, and its launcher asks for at most %d" % (blocks, most)
    x, y, z = facts["block"]
    if x * y * z > driver.most_threads:
        return "its block has %d threads, and this GPU allows %d" % (x * y * z, driver.most_threads)
    return ""


# --- the process ----------------------------------------------------------------------------------


class Task:
    """The work of one child.

    The cells come from the index. The cells in ``to_time`` were right in an earlier child. The time
    for the problem is over when the monotonic clock reads ``until``.
    """

    def __init__(
        self,
        problem: Dict[str, object],
        to_check: Sequence[Dict[str, object]],
        to_time: Sequence[Dict[str, object]],
        until: float = math.inf,
    ) -> None:
        self.problem, self.to_check, self.to_time = problem, list(to_check), list(to_time)
        self.until = until


class CheckingProcess(GpuWork):
    """The forked process, from its fork to its end."""

    _sent = 0.0

    def run(self, task: Task) -> None:
        """Run a task, and report each step and each failure to the parent."""
        try:
            self._open_session()
            self._send("ready", device=self._session.device())
            if not self._is_well():
                return
            problems = self._problems(task.problem)
        except CudaError as error:
            self._send("canary", well=False, why=str(error))
            return
        except (Exception, SystemExit) as error:
            self._send("unable", why="%s: %s" % (type(error).__name__, error))
            return
        right = self._check(task, problems)
        if (
            right is not None
            and (self._options.no_latency or self._time(right, problems, task.until))
            and self._is_well()
        ):
            self._send("end")

    # --- messages ---

    def _send(self, event: str, **facts: object) -> None:
        self._sent = time.monotonic()
        self._channel.send(dict(facts, event=event))

    def _alive(self) -> None:
        if time.monotonic() - self._sent > 0.5:
            self._send("alive")

    def _is_well(self) -> bool:
        """Whether the canary still computes right numbers. The parent gets the answer, too."""
        why = ""
        try:
            if not self._session.canary.is_well():
                why = "the known-good kernel computes wrong numbers"
        except CudaError as error:
            why = str(error)
        except RuntimeError as error:  # PyTorch may be the first to get the error
            fault = self._session.fault() or "an error in PyTorch"
            why = "%s (%s)" % (fault, str(error).split("\n")[0])
        self._send("canary", well=not why, why=why)
        return not why

    def _problems(self, problem: Document) -> List[Prepared]:
        problems: List[Prepared] = []
        for instance, is_large in self._session.problems(problem):
            problems.append(Prepared(self._numerics, instance, is_large))
            self._alive()
        self._session.driver.synchronize()
        return problems

    # --- checking ---

    def _check(self, task: Task, problems: List[Prepared]) -> Any:
        """Check the cells, and return the right ones, with those that were right before.

        Returns ``None`` if the context is gone, if a cell changed an input or a reference, or if
        the canary fails.
        """
        right = list(task.to_time)
        for cell in task.to_check:
            self._send("begin", cell=cell["number"])
            answer, is_lasting = self._answer(cell, problems)
            spoiled = answer.pop("spoiled", False)
            bad = answer["status"] not in ("ok", "unsupported")
            self._send("checked", cell=cell["number"], check=answer, fault=is_lasting)
            if is_lasting or spoiled or (bad and not self._is_well()):
                return None
            if answer["status"] == "ok":
                right.append(cell)
        return sorted(right, key=lambda cell: int(cell["number"]))

    def _answer(self, cell: Document, problems: List[Prepared]) -> Any:
        """Return the check of a cell, and whether the context is gone."""
        foretold = predict_refusal(cell["launch"], self._session.driver)
        try:
            kernel = self._session.kernel(cell)
            foretold = foretold or kernel.too_large()
            try:
                return (
                    check_kernel(
                        kernel, problems, self._options.repeats, self._session.driver, self._alive
                    ),
                    False,
                )
            finally:
                if not self._session.fault():
                    kernel.close()
        except RefusedArguments as error:
            return failed_check("launch_refused", str(error)), False
        except CudaError as error:
            return self._check_after_error(error, foretold)
        except (Exception, SystemExit) as error:
            name = self._session.fault()
            if name:
                return failed_check("faulted", name), True
            return failed_check("lost", "%s: %s" % (type(error).__name__, error)), False

    def _check_after_error(self, error: CudaError, foretold: str) -> object:
        where = getattr(error, "problem", "")
        if error.is_fault:
            return failed_check("faulted", error.name, where), True
        why = "; predicted: %s" % foretold if foretold else "; its metrics do not predict this"
        return failed_check(
            "launch_refused", "%s by %s%s" % (error.name, error.call, why), where
        ), bool(self._session.fault())

    # --- timing ---

    def _time(self, cells: List[Document], problems: List[Prepared], until: float) -> bool:
        """Time the cells on one large problem, the first one with a baseline.

        Returns whether the context is still there.
        """
        large = [problem for problem in problems if problem.is_large]
        problem = next(
            (problem for problem in large if problem.baseline is not None),
            large[0] if large else None,
        )
        if problem is None or not cells:
            return True
        try:
            clock = Clock(self._session.driver, self._numerics.torch, self._options.device)
            kernels = [self._session.kernel(cell) for cell in cells]
            entrants = [
                Entrant(kernel.launch_of(problem), cell) for kernel, cell in zip(kernels, cells)
            ]
            problem.poison()
            latencies, baseline = time_launches(
                clock, entrants, problem.baseline, self._progress_of(cells), until
            )
        except CudaError as error:
            self._send("stopped", why=error.name)
            return False
        except Exception as error:
            self._send(
                "stopped", why=self._session.fault() or "%s: %s" % (type(error).__name__, error)
            )
            return False
        for cell, latency in zip(cells, latencies):
            ratio = round(latency["us"] / baseline, 4) if baseline else None
            full = dict(latency, baseline_us=baseline, ratio=ratio, problem=problem.name)
            self._send("timed", cell=cell["number"], latency=full)
        self._send("device", device=self._session.device())
        return True

    def _progress_of(self, cells: List[Dict[str, object]]) -> Callable[[int], None]:
        """Return a function that reports the next cell, or the end of a round, to the parent."""

        def note(index: int) -> None:
            if index >= 0:
                self._send("begin", cell=cells[index]["number"])
            else:
                self._send("round")

        return note
