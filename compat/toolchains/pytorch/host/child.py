"""What a forked process does: make the problems of a group, check its cells one by one, and time those that are right."""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, List, Sequence

from .arguments import Refused
from .checking import checked, failed, predicted
from .cuda import CudaError
from .forked import Channel
from .prepared import Numerics, Prepared
from .session import GpuSession, LaunchOptions
from .timing import Clock, timed


class Task:
    """What one child is to do. Cells are those of the index; ``to_time`` were found right before."""

    def __init__(self, problem: Dict[str, Any], to_check: Sequence[Dict[str, Any]], to_time: Sequence[Dict[str, Any]]) -> None:
        self.problem, self.to_check, self.to_time = problem, list(to_check), list(to_time)


class CheckingProcess:
    """The forked process, from its fork to its end."""

    def __init__(self, folder: str, options: LaunchOptions, numerics: Numerics, channel: Channel) -> None:
        self._folder, self._options, self._numerics, self._channel = folder, options, numerics, channel
        self._sent = 0.0

    def run(self, task: Task) -> None:
        """Do it, and tell the parent of each step, and of what goes wrong."""
        try:
            self._session = GpuSession(self._folder, self._options, self._numerics)
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
        if right is not None and (self._options.no_latency or self._time(right, problems)) and self._is_well():
            self._send("end")

    # --- messages ---

    def _send(self, event: str, **facts: Any) -> None:
        self._sent = time.monotonic()
        self._channel.send(dict(facts, event=event))

    def _alive(self) -> None:
        if time.monotonic() - self._sent > 0.5:
            self._send("alive")

    def _is_well(self) -> bool:
        """Whether the canary still computes what it should; the parent hears of it."""
        try:
            well, why = self._session.canary.is_well(), "the known-good kernel computes wrong numbers"
        except CudaError as error:
            well, why = False, str(error)
        except RuntimeError as error:  # PyTorch may be the one that hears of it
            well, why = False, "%s (%s)" % (self._session.fault() or "an error in PyTorch", str(error).split("\n")[0])
        self._send("canary", well=well, why="" if well else why)
        return well

    def _problems(self, problem: Dict[str, Any]) -> List[Prepared]:
        problems: List[Prepared] = []
        for made, is_large in self._session.problems(problem):
            problems.append(Prepared(self._numerics, made, is_large))
            self._alive()
        self._session.driver.synchronize()
        return problems

    # --- checking ---

    def _check(self, task: Task, problems: List[Prepared]) -> Any:
        """The cells that are right, those that were before among them; ``None`` where the context is gone."""
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

    def _answer(self, cell: Dict[str, Any], problems: List[Prepared]) -> Any:
        """The check of a cell, and whether the context is gone."""
        foretold = predicted(cell["launch"], self._session.driver)
        try:
            kernel = self._session.kernel(cell)
            try:
                return checked(kernel, problems, self._options.repeats, self._session.driver, self._alive), False
            finally:
                if not self._session.fault():
                    kernel.close()
        except Refused as error:
            return failed("launch_refused", str(error)), False
        except CudaError as error:
            return self._failed(error, foretold)
        except (Exception, SystemExit) as error:
            name = self._session.fault()
            if name:
                return failed("faulted", name), True
            return failed("lost", "%s: %s" % (type(error).__name__, error)), False

    def _failed(self, error: CudaError, foretold: str) -> Any:
        where = getattr(error, "problem", "")
        if error.is_fault or error.call == "cuCtxSynchronize":
            return failed("faulted", error.name, where), True
        why = "; predicted: %s" % foretold if foretold else "; nothing in its numbers foretells it"
        return failed("launch_refused", "%s by %s%s" % (error.name, error.call, why), where), bool(self._session.fault())

    # --- timing ---

    def _time(self, cells: List[Dict[str, Any]], problems: List[Prepared]) -> bool:
        """Time the cells on one large problem, the first that has a baseline; whether the context is still there."""
        large = [problem for problem in problems if problem.is_large]
        problem = next((problem for problem in large if problem.baseline is not None), large[0] if large else None)
        if problem is None or not cells:
            return True
        try:
            clock = Clock(self._session.driver, self._numerics.torch, self._options.device)
            kernels = [self._session.kernel(cell) for cell in cells]
            launches = [kernel.launch_of(problem) for kernel in kernels]
            problem.poison()
            series = [cell["series"] for cell in cells]
            latencies, baseline = timed(clock, launches, series, problem.baseline, self._progress_of(cells))
        except CudaError as error:
            self._send("stopped", why=error.name)
            return False
        except Exception as error:
            self._send("stopped", why=self._session.fault() or "%s: %s" % (type(error).__name__, error))
            return False
        for cell, latency in zip(cells, latencies):
            ratio = round(latency["us"] / baseline, 4) if baseline else None
            full = dict(latency, baseline_us=baseline, ratio=ratio, problem=problem.name)
            self._send("timed", cell=cell["number"], latency=full)
        self._send("device", device=self._session.device())
        return True

    def _progress_of(self, cells: List[Dict[str, Any]]) -> Callable[[int], None]:
        """What timing calls: which cell is launched next."""

        def note(index: int) -> None:
            if index >= 0:
                self._send("begin", cell=cells[index]["number"])
            else:
                self._send("round")

        return note
