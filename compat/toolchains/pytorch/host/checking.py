"""Launch one cell on its problems, many times each, and say what came of it.

Repeats are the test: a race may spare the first launch. Bits are compared with the first launch of the problem, numbers with the
reference at the first launch and at every one that differs.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Optional, Sequence

from . import arguments
from .cuda import CudaDriver, CudaError, CudaLaunch
from .prepared import Prepared

_USUAL_SHARED = 48 * 1024
"""Bytes of shared memory that a block may have without asking."""
_COMPARED = 8
"""Launches of a problem that differ from its first and are compared with the reference."""


class LoadedKernel:
    """One cell's binary, loaded."""

    def __init__(self, driver: CudaDriver, torch: Any, device: str, cell: Dict[str, Any], data: bytes) -> None:
        """Raises CudaError, and :class:`compat_launch.arguments.Refused` where it has other parameters than the index says."""
        self._driver, self._torch, self._device, self._cell = driver, torch, device, cell
        self.facts: Dict[str, Any] = cell["launch"]
        self._module = driver.load(data)
        self._function = driver.function(self._module, self.facts["entry"])
        self._count()
        if self.facts["shared"] > _USUAL_SHARED:
            driver.allow_shared(self._function, self.facts["shared"])
        if self.facts["non_portable"]:
            driver.allow_large_clusters(self._function)

    def _count(self) -> None:
        """A list of parameters that is too short would be read past its end, in this process."""
        sizes = self._driver.parameter_sizes(self._function)
        expected = [parameter["size"] for parameter in self.facts["parameters"]]
        if sizes is not None and sizes != expected:
            raise arguments.Refused("the binary takes parameters of %s bytes, and a launch would pass %s" % (sizes, expected))

    def launch_of(self, problem: Prepared) -> CudaLaunch:
        """The launch on a problem. Raises Refused."""
        arguments.check_hints(self._cell, problem.arguments)
        grid = arguments.grid_of(problem.made)
        held, scratch = self._scratch(grid)
        values = arguments.values_of(self.facts["parameters"], problem.arguments, scratch)
        return CudaLaunch(self._driver, self._function, self.facts, grid, values, (held, problem))

    def _scratch(self, grid: Sequence[int]) -> Any:
        """Memory that the kernel wants beside its arguments: what holds it, and the addresses."""
        held, addresses = [], {}
        blocks = grid[0] * grid[1] * grid[2] * self.facts["num_ctas"]
        for parameter in self.facts["parameters"]:
            size = parameter.get("bytes", 0) * blocks
            if size:
                memory = self._torch.zeros(size + parameter["align"], dtype=self._torch.uint8, device=self._device)
                address = memory.data_ptr()
                addresses[parameter["scratch"]] = address + -address % parameter["align"]
                held.append(memory)
        return held, addresses

    def close(self) -> None:
        """Unload it."""
        self._driver.unload(self._module)


def checked(
    kernel: LoadedKernel, problems: Sequence[Prepared], repeats: int, driver: CudaDriver, alive: Callable[[], None]
) -> Dict[str, Any]:
    """What came of all launches on all problems. Raises CudaError and Refused."""
    check = CellCheck()
    for problem in problems:
        alive()
        launch = kernel.launch_of(problem)
        problem.poison()
        try:
            launch()
            driver.synchronize()
            first_bits, first = problem.copy(), problem.compare()
            differing = _repeated(problem, launch, driver, repeats, first_bits)
        except CudaError as error:
            error.problem = problem.name  # type: ignore[attr-defined]
            raise
        check.add(problem, first, differing, repeats)
    spoiled = next((problem.name for problem in problems if problem.changed()), None)
    return check.result(spoiled)


def _repeated(
    problem: Prepared, launch: CudaLaunch, driver: CudaDriver, repeats: int, first_bits: List[Any]
) -> List[Optional[Dict[str, Any]]]:
    """The comparisons of the launches that differ from the first; ``None`` for those that were not compared."""
    changed: List[Any] = []
    differing: List[Optional[Dict[str, Any]]] = []
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
        self._worst: Dict[str, Any] = {"max_abs": None, "max_rel": None, "where": ""}
        self._wrong: List[str] = []
        self._unstable: List[str] = []
        self._unknown: List[str] = []
        self._values: List[Any] = []

    def add(self, problem: Prepared, first: Dict[str, Any], differing: List[Optional[Dict[str, Any]]], repeats: int) -> None:
        """The first launch of a problem compared, and those that differ from it."""
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
            numbers = "%d of %d that were compared are wrong" % (bad, len(compared)) if bad else "all that were compared are right"
            self._unstable.append("%s: %s; %s" % (problem.name, summary, numbers))
        elif first["status"] != "ok":
            self._wrong.append("%s: %s" % (problem.name, first["reason"]))

    def _add_unknown(self, problem: Prepared, first: Dict[str, Any], differing: List[Any], repeats: int) -> None:
        """The same of a problem that has no reference, so that launches are compared with each other only."""
        self._values = self._values or first["values"]
        if differing:
            summary = "%s: %d of %d launches differ from the first" % (problem.name, len(differing), repeats)
            self._unstable.append("%s; %s" % (summary, first["reason"]))
        else:
            self._unknown.append("%s: %d launches gave the same bits; %s" % (problem.name, repeats, first["reason"]))

    def _note(self, problem: Prepared, answer: Dict[str, Any]) -> None:
        """Keep the worst error; one that is no number is worse than any that is."""
        is_bad, was_bad = answer["status"] != "ok", self._worst.get("bad", False)
        if (is_bad, _size(answer)) > (was_bad, _size(self._worst)):
            where = answer["where"] or problem.name
            self._worst = {"max_abs": answer["max_abs"], "max_rel": answer["max_rel"], "where": where, "bad": is_bad}

    def result(self, spoiled: Optional[str]) -> Dict[str, Any]:
        """As a result line has it."""
        reasons = [*self._unstable, *self._wrong, *self._unknown]
        status = "unstable" if self._unstable else "wrong" if self._wrong else "unsupported" if self._unknown else "ok"
        if spoiled is not None:  # what followed was given other inputs than the first launch
            status, reasons = "wrong", ["%s: it changed an input, or memory that is not its own" % spoiled, *reasons]
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


def _size(answer: Dict[str, Any]) -> float:
    """How large an error is, with what is no number above all."""
    if "max_abs" not in answer or (answer["max_abs"] is None and answer.get("status") in (None, "ok")):
        return -1.0
    error = answer["max_abs"]
    return math.inf if error is None or error != error else float(error)


def failed(status: str, reason: str, where: str = "") -> Dict[str, Any]:
    """A check that has no numbers."""
    return {
        "status": status,
        "max_abs": None,
        "max_rel": None,
        "where": where,
        "reason": reason,
        "launches": None,
        "differing": None,
    }


def predicted(facts: Dict[str, Any], driver: CudaDriver) -> str:
    """Why the driver will refuse a launch, as far as its numbers tell; empty where they do not."""
    if facts["shared"] > driver.opt_in_shared:
        return "it needs %d bytes of shared memory, and a block may have %d here" % (facts["shared"], driver.opt_in_shared)
    x, y, z = facts["block"]
    if x * y * z > driver.most_threads:
        return "its block has %d threads, and one may have %d" % (x * y * z, driver.most_threads)
    return ""
