"""What a forked child does: make the problems of a group, check its cells one by one, and time those that are right."""

from __future__ import annotations

import json
import os
import time
from typing import Any, Callable, Dict, List, Sequence

from . import device as device_facts
from .arguments import Refused
from .canary import Canary
from .checking import Kernel, checked, failed, predicted
from .cuda import CudaError, Driver
from .options import Options
from .prepared import Numerics, Prepared
from .timing import Clock, timed

_SEED = 0


class Task:
    """What one child is to do. Cells are those of the index; ``to_time`` were found right before."""

    def __init__(self, problem: Dict[str, Any], to_check: Sequence[Dict[str, Any]], to_time: Sequence[Dict[str, Any]]) -> None:
        self.problem, self.to_check, self.to_time = problem, list(to_check), list(to_time)


class Child:
    """One child, from its fork to its end."""

    def __init__(self, folder: str, options: Options, numerics: Numerics, pipe: int) -> None:
        self._folder, self._options, self._numerics, self._pipe = folder, options, numerics, pipe
        self._told = 0.0

    def run(self, task: Task) -> None:
        """Do it, and tell the parent of each step. What goes wrong is told, too."""
        try:
            if self._options.device == "cpu":
                self._numerics.torch.set_num_threads(1)
            self._driver = Driver(self._options.library)
            if self._options.device != "cpu":
                self._numerics.torch.zeros(1, device=self._options.device)
            self._driver.synchronize()
            self._canary = Canary(self._driver, self._numerics.torch, self._options.device)
            self._tell("ready", device=device_facts.facts(self._driver, self._numerics.torch))
            if not self._is_well():
                return
            problems = self._problems(task.problem)
        except CudaError as error:
            self._tell("canary", well=False, why=str(error))
            return
        except (Exception, SystemExit) as error:
            self._tell("unable", why="%s: %s" % (type(error).__name__, error))
            return
        right = self._check(task, problems)
        if right is not None and (self._options.no_latency or self._time(right, problems)) and self._is_well():
            self._tell("end")

    # --- telling ---

    def _tell(self, event: str, **facts: Any) -> None:
        data = (json.dumps(dict(facts, event=event)) + "\n").encode()
        self._told = time.monotonic()
        while data:
            data = data[os.write(self._pipe, data) :]

    def _alive(self) -> None:
        if time.monotonic() - self._told > 0.5:
            self._tell("alive")

    def _is_well(self) -> bool:
        """Whether the canary still computes what it should; the parent hears of it."""
        try:
            well, why = self._canary.is_well(), "the known-good kernel computes wrong numbers"
        except CudaError as error:
            well, why = False, str(error)
        except RuntimeError as error:  # PyTorch may be the one that hears of it
            well, why = False, "%s (%s)" % (self._fault() or "an error in PyTorch", str(error).split("\n")[0])
        self._tell("canary", well=well, why="" if well else why)
        return well

    def _fault(self) -> str:
        """The driver's name for what is wrong with the context; empty where nothing is."""
        try:
            self._driver.synchronize()
        except CudaError as error:
            return error.name
        return ""

    # --- problems ---

    def _problems(self, said: Dict[str, Any]) -> List[Prepared]:
        make = self._numerics.problems.load(os.path.join(self._folder, said["source"]), said["function"])
        found: List[Prepared] = []
        for large in (False, True):
            each = self._numerics.problems.each(make, said["parameters"], said["dtype"], _SEED, self._options.device, large)
            for made in each:
                found.append(Prepared(self._numerics, made, large))
                self._alive()
        self._driver.synchronize()
        return found

    # --- checking ---

    def _check(self, task: Task, problems: List[Prepared]) -> Any:
        """The cells that are right, those that were before among them; ``None`` where the context is gone."""
        right = list(task.to_time)
        for cell in task.to_check:
            self._tell("begin", cell=cell["number"])
            answer, is_lasting = self._answer(cell, problems)
            spoiled = answer.pop("spoiled", False)
            bad = answer["status"] not in ("ok", "unsupported")
            self._tell("checked", cell=cell["number"], check=answer, fault=is_lasting)
            if is_lasting or spoiled or (bad and not self._is_well()):
                return None
            if answer["status"] == "ok":
                right.append(cell)
        return sorted(right, key=lambda cell: int(cell["number"]))

    def _answer(self, cell: Dict[str, Any], problems: List[Prepared]) -> Any:
        """The check of a cell, and whether the context is gone."""
        foretold = predicted(cell["launch"], self._driver)
        try:
            kernel = self._kernel(cell)
            try:
                return checked(kernel, problems, self._options.repeats, self._driver, self._alive), False
            finally:
                if not self._fault():
                    kernel.close()
        except Refused as error:
            return failed("launch_refused", str(error)), False
        except CudaError as error:
            return self._failed(error, foretold)
        except (Exception, SystemExit) as error:
            name = self._fault()
            if name:
                return failed("faulted", name), True
            return failed("lost", "%s: %s" % (type(error).__name__, error)), False

    def _failed(self, error: CudaError, foretold: str) -> Any:
        where = getattr(error, "problem", "")
        if error.is_fault or error.call == "cuCtxSynchronize":
            return failed("faulted", error.name, where), True
        why = "; predicted: %s" % foretold if foretold else "; nothing in its numbers foretells it"
        return failed("launch_refused", "%s by %s%s" % (error.name, error.call, why), where), bool(self._fault())

    def _kernel(self, cell: Dict[str, Any]) -> Kernel:
        with open(os.path.join(self._folder, "objects", cell["object"]), "rb") as file:
            data = file.read()
        return Kernel(self._driver, self._numerics.torch, self._options.device, cell, data)

    # --- timing ---

    def _time(self, cells: List[Dict[str, Any]], problems: List[Prepared]) -> bool:
        """Time the cells on one large problem, the first that has a baseline; whether the context is still there."""
        large = [each for each in problems if each.is_large]
        problem = next((each for each in large if each.baseline is not None), large[0] if large else None)
        if problem is None or not cells:
            return True
        try:
            clock = Clock(self._driver, self._numerics.torch, self._options.device)
            kernels = [self._kernel(cell) for cell in cells]
            launches = [kernel.launch_of(problem) for kernel in kernels]
            problem.poison()
            series = [cell["series"] for cell in cells]
            found, baseline = timed(clock, launches, series, problem.baseline, self._heard(cells))
        except CudaError as error:
            self._tell("stopped", why=error.name)
            return False
        except Exception as error:
            self._tell("stopped", why=self._fault() or "%s: %s" % (type(error).__name__, error))
            return False
        for cell, latency in zip(cells, found):
            ratio = round(latency["us"] / baseline, 4) if baseline else None
            told = dict(latency, baseline_us=baseline, ratio=ratio, problem=problem.name)
            self._tell("timed", cell=cell["number"], latency=told)
        self._tell("device", device=device_facts.facts(self._driver, self._numerics.torch))
        return True

    def _heard(self, cells: List[Dict[str, Any]]) -> Callable[[int], None]:
        """What timing calls: which cell is launched next."""

        def heard(index: int) -> None:
            if index >= 0:
                self._tell("begin", cell=cells[index]["number"])
            else:
                self._tell("round")

        return heard
