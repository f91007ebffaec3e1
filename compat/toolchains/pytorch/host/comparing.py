"""A launcher that keeps running and compares builds of one kernel, question after question.

``launch.py --compare DIGEST`` reads a JSON object per line on its standard input::

    {"number", "cells": [cell as in index.json, and "good": true or false],
     "rounds": N, "deadline": SECONDS}

and answers each with one on its standard output: ``{"number", "status": "compared", "reason": "",
"cells": [{"good", "launches", "differing", "finite", "wrote", "outside", "reads_outside",
"off"}]}``. Other statuses are ``faulted``, ``launch_refused``, ``timed_out`` and ``lost``. Only
``lost`` says nothing about the kernel. The first line that it writes is ``{"status": "ready",
"device"}``, or ``unable`` with the reason.

PyTorch is imported once. A child makes the problems of the digest once for all questions. It is
forked again only if a kernel ended it.

The right results of the kernel are unknown, because it was reduced from another one. ``good``
builds must give the same bits in every launch. The distance of a ``bad`` build is relative to the
tolerances of the original, scaled by the size of the results. Builds are launched in turn, so that
changes of the machine affect all alike.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence

from .cuda import CudaDriver, CudaError
from .forked_process import Channel, ForkedProcess, NoAnswer, ProcessEnded
from .kernel import Kernel, RefusedArguments
from .prepared_problem import OTHERS, GuardedTensors, Numerics, Prepared, bits_of
from .session import GpuWork, LaunchSetup

if TYPE_CHECKING:
    from ...inside.foreign import Document, Objects, Tensor, Value

_PREPARING = 600.0
"""Seconds that inputs and references may take."""

_COMPARED = 8
"""The number of launches of each problem that differ from the first and are compared with the good
ones.
"""
_INFINITE = 1e30
"""The error of a value that is not a number, or that only one of two builds wrote."""


_ANSWERED = ("good", "launches", "differing", "finite", "wrote", "outside", "reads_outside", "off")
"""The keys of an answer for each kernel."""


class ComparedKernel:
    """The build of one release, and its results on the problems so far."""

    def __init__(self, kernel: Kernel, is_good: bool) -> None:
        self.kernel, self.good = kernel, is_good
        self.launches = self.differing = 0
        self.finite = True
        self.wrote = False
        self.outside = ""
        """The writes outside of its outputs, in words."""
        self.reads_outside = False
        """Whether its results depend on the memory around its inputs.

        This is only tested for a good one.
        """
        self.off = 0.0
        """The worst distance from the first good one, relative to the largest number in that one.

        0 within the tolerance.
        """

    @property
    def is_hopeless(self) -> bool:
        """Whether it is certain that other builds cannot be compared with it."""
        return bool(self.outside) or (
            self.good
            and (self.differing > 0 or not self.finite or self.off > 0 or self.reads_outside)
        )

    def answer(self) -> Document:
        """Return the results of this build as an answer has them."""
        return {name: getattr(self, name) for name in _ANSWERED}


class GuardedProblem:
    """A problem to launch builds on, with room around its tensors."""

    def __init__(self, numerics: Numerics, problem: Objects, is_large: bool) -> None:
        self._torch, self._outside = numerics.torch, numerics.outputs
        # A kernel that was reduced before is compared like the one that it was reduced from.
        outputs = problem["outputs"] or problem["compared"]
        self._guarded = GuardedTensors(numerics.torch, dict(problem, outputs=outputs))
        self.prepared = Prepared(numerics, self._guarded.made, is_large)
        self._outputs: Objects = self._guarded.made["outputs"] or {}
        self._sizes = {
            name: _largest(output["reference"].double()) for name, output in self._outputs.items()
        }
        """Output → the largest number that the original has to compute."""
        self.prepared.poison()
        self._poison = {name: self._bits(name).clone() for name in self._outputs}

    def outside(self) -> str:
        """Return where the last launch wrote outside of its outputs, or an empty text."""
        if not self._guarded.is_intact():
            return "%s: it changed an input, or memory next to one" % self.prepared.name
        return str(self._outside.around(self.prepared.made))

    def depends_on_surroundings(self, launch: Callable[[], None], first: List[Any]) -> bool:
        """Return whether other memory around the inputs makes a launch compute other bits.

        ``first`` are the usual bits.
        """
        try:
            return any(self._differs_among(number, launch, first) for number in OTHERS)
        finally:
            self._guarded.surround()

    def _differs_among(self, number: float, launch: Callable[[], None], first: List[Any]) -> bool:
        self._guarded.surround(number)
        self.prepared.poison()
        launch()
        return bool(self.prepared.differs(first))

    def snapshot(self) -> Dict[str, object]:
        """Return the current values of the outputs, and which of them were written."""
        return {name: (self._values(name), self._written_elements(name)) for name in self._outputs}

    def _values(self, name: str) -> Any:
        return self.prepared.arguments[name].detach().double().clone()

    def _written_elements(self, name: str) -> Value:
        if self._outputs[name]["initial"] is not None:
            return self._torch.ones_like(self._poison[name], dtype=self._torch.bool)
        return self._bits(name) != self._poison[name]

    def _bits(self, name: str) -> Tensor:
        return bits_of(self._torch, self.prepared.arguments[name])

    def off(self, good: Document, bad: Document) -> float:
        """Return how far ``bad`` is off ``good``, relative to the largest number in ``good``.

        The result is 0 within the tolerance.
        """
        return max((self._off(name, good[name], bad[name]) for name in self._outputs), default=0.0)

    def _off(self, name: str, good: Any, bad: Any) -> float:
        (expected, is_wanted), (got, is_got) = good, bad
        if bool((is_wanted != is_got).any()):
            return _INFINITE
        expected, got = expected[is_wanted], got[is_wanted]
        if not expected.numel():
            return 0.0
        output, size = self._outputs[name], _largest(expected)
        grown = max(1.0, size / self._sizes[name]) if self._sizes[name] else 1.0
        difference = self._torch.nan_to_num((got - expected).abs(), nan=_INFINITE, posinf=_INFINITE)
        difference[got == expected] = 0.0
        excess = difference > output["tolerance"] * grown + output["relative"] * expected.abs()
        if not bool(excess.any()):
            return 0.0
        return min(_INFINITE, float(difference[excess].max()) / size if size else _INFINITE)


def compare(
    kernels: Sequence[ComparedKernel],
    problems: Sequence[GuardedProblem],
    rounds: int,
    driver: CudaDriver,
) -> None:
    """Launch builds in turn on every problem, ``rounds`` times each, and note the results in them.

    The comparison ends early if it is certain that builds cannot be compared with a good one.
    Raises CudaError and RefusedArguments.
    """
    for problem in problems:
        launches = [kernel.kernel.launch_of(problem.prepared) for kernel in kernels]
        _on_one(kernels, launches, problem, rounds, driver)
        if any(kernel.is_hopeless for kernel in kernels):
            return


def _on_one(
    kernels: Sequence[ComparedKernel],
    launches: Sequence[Callable[[], None]],
    problem: GuardedProblem,
    rounds: int,
    driver: CudaDriver,
) -> None:
    first: List[Any] = []
    good: Optional[Dict[str, object]] = None
    compared = [0] * len(kernels)
    for number in range(rounds):
        for index, (kernel, launch) in enumerate(zip(kernels, launches)):
            problem.prepared.poison()
            launch()
            driver.synchronize()
            kernel.launches += 1
            if number == 0:
                first.append(problem.prepared.copy())
                kernel.outside = kernel.outside or problem.outside()
                held = problem.snapshot()
                _look(kernel, held)
                if good is None:
                    good = held
                kernel.off = max(kernel.off, problem.off(good, held))
            elif bool(problem.prepared.differs(first[index])):
                kernel.differing += 1
                if compared[index] < _COMPARED and good is not None:
                    compared[index] += 1
                    kernel.outside = kernel.outside or problem.outside()
                    kernel.off = max(kernel.off, problem.off(good, problem.snapshot()))
            if kernel.is_hopeless:
                return
    for index, kernel in enumerate(kernels):
        kernel.outside = kernel.outside or problem.outside()
        if kernel.good and not kernel.outside:
            kernel.reads_outside = problem.depends_on_surroundings(
                _synchronous_launch(launches[index], driver), first[index]
            )


def _synchronous_launch(launch: Callable[[], None], driver: CudaDriver) -> Callable[[], None]:
    """Return a function that launches, and waits for the end."""

    def launch_and_wait() -> None:
        launch()
        driver.synchronize()

    return launch_and_wait


def _look(kernel: ComparedKernel, held: Objects) -> None:
    """Note whether a build wrote anything, and whether it wrote only finite numbers."""
    if not held:  # its outputs are unknown
        kernel.wrote = True
    for values, is_written in held.values():
        some = values[is_written]
        kernel.wrote = kernel.wrote or bool(some.numel())
        kernel.finite = kernel.finite and bool(some.isfinite().all())


def _largest(values: Any) -> float:
    return float(values.abs().max()) if values.numel() else 0.0


# --- questions and answers ------------------------------------------------------------------------

Answer = Dict[str, Any]


def serve(setup: LaunchSetup, problem: Document) -> int:
    """Answer questions until there are none, and return the exit code.

    The exit code is 2 if nothing can be launched, else 0.
    """
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # text that problems print must not be among the answers
    comparer = _Comparer(setup, problem)

    def send(answer: Answer) -> None:
        out.write(json.dumps(answer) + "\n")
        out.flush()

    answer = comparer.begin()
    send(answer)
    if answer["status"] != "ready":
        return 2
    for line in sys.stdin:
        question = json.loads(line)
        send(dict(comparer.ask(question), number=question["number"]))
    comparer.end()
    return 0


class _Comparer:
    """The parent of the process that launches, which forks it when needed."""

    def __init__(self, setup: LaunchSetup, problem: Document) -> None:
        self._setup, self._problem = setup, problem
        self._process: Optional[ForkedProcess] = None

    def begin(self) -> Answer:
        """Fork the process, and return its first message."""
        self._process = ForkedProcess(self._work)
        try:
            return self._process.receive(_PREPARING)
        except (ProcessEnded, NoAnswer):
            return {
                "status": "unable",
                "reason": (
                    "the process that launches kernels ended, or did not make the problems in time"
                ),
            }

    def _work(self, channel: Channel) -> None:
        _ComparingProcess(self._setup, channel).run(self._problem)

    def ask(self, question: Document) -> Answer:
        """Return the answer to a question. If the process ends or hangs, the answer says so."""
        if self._process is None:
            answer = self.begin()
            if answer["status"] != "ready":
                return _missing_answer("lost", answer["reason"])
        assert self._process is not None
        seconds = float(question["deadline"])
        try:
            self._process.send(question)
            answer = self._process.receive(seconds)
        except ProcessEnded:
            answer = _missing_answer("lost", "the process that launches kernels ended")
        except NoAnswer:
            answer = _missing_answer("timed_out", "it took more than %g s" % seconds)
        if answer.get("gone"):
            self.end()
        return answer

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.end()
            self._process = None


def _missing_answer(status: str, reason: str) -> Answer:
    """Return the answer about a process that has ended, or has to end."""
    return {"status": status, "reason": reason, "cells": [], "gone": True}


class _ComparingProcess(GpuWork):
    """The forked process."""

    def run(self, problem: Document) -> None:
        """Make the problems, then answer questions.

        End when there are no more questions, or when a kernel has broken the context.
        """
        try:
            self._open_session()
            if not self._session.canary.is_well():
                self._channel.send(
                    {"status": "unable", "reason": "the known-good kernel computes wrong numbers"}
                )
                return
            problems = [
                GuardedProblem(self._numerics, instance, large)
                for instance, large in self._session.problems(problem)
            ]
            self._session.driver.synchronize()
        except (Exception, SystemExit) as error:
            self._channel.send(
                {"status": "unable", "reason": "%s: %s" % (type(error).__name__, error)}
            )
            return
        self._channel.send({"status": "ready", "device": self._session.device()})
        for question in self._channel.questions():
            answer = self._answer(question, problems)
            self._channel.send(answer)
            if answer["gone"]:
                return

    def _answer(self, question: Document, problems: List[GuardedProblem]) -> Answer:
        kernels: List[ComparedKernel] = []
        try:
            for cell in question["cells"]:
                kernels.append(  # noqa: PERF401 - a refusal keeps those before it
                    ComparedKernel(self._session.kernel(cell), cell["good"])
                )
            compare(kernels, problems, question["rounds"], self._session.driver)
            status, reason = "compared", ""
        except RefusedArguments as error:
            status, reason = "launch_refused", str(error)
        except CudaError as error:
            status, reason = "faulted" if error.is_fault else "launch_refused", str(error)
        except Exception as error:
            status, reason = "lost", "%s: %s" % (type(error).__name__, error)
        fault = self._session.fault()
        if fault:
            status, reason = "faulted", fault
        else:
            for kernel in kernels:
                kernel.kernel.close()
        # a kernel that wrote outside of its outputs may have changed other memory of this process
        is_gone = bool(fault) or status == "lost" or any(kernel.outside for kernel in kernels)
        return {
            "status": status,
            "reason": reason,
            "cells": [kernel.answer() for kernel in kernels],
            "gone": is_gone,
        }
