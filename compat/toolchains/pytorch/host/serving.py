"""A launcher that stays: it launches what it is asked to, one question after the other, until nobody asks any more.

``launch.py --compare DIGEST`` reads a JSON object per line on its standard input::

    {"number", "cells": [cell as in index.json, and "good": true or false], "rounds": N, "deadline": SECONDS}

and answers each with one on its standard output: ``{"number", "status": "compared", "reason": "", "cells": [{"good", "launches",
"differing", "finite", "wrote", "outside", "reads_outside", "off"}]}`` (:mod:`.comparing`). Other statuses are ``faulted``,
``launch_refused``, ``timed_out`` and ``lost``; of these only the last says nothing of the kernel. The first line that it writes is
``{"status": "ready", "device"}``, or ``unable`` with the reason.

PyTorch is imported once, and the problems of the digest are made once for all questions: by a child, which is forked again only
where a kernel ended it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List, Optional

from .arguments import Refused
from .comparing import ComparedKernel, GuardedProblem, compare
from .cuda import CudaError
from .forked import Channel, ForkedProcess, NoAnswer, ProcessEnded
from .prepared import Numerics
from .session import GpuSession, LaunchOptions

_PREPARING = 600.0
"""Seconds that inputs and references may take."""

Answer = Dict[str, Any]


def serve(folder: str, problem: Dict[str, Any], options: LaunchOptions, numerics: Numerics) -> int:
    """Answer questions until there are none. The exit code: 2 where nothing can be launched."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what problems print is no answer
    comparer = _Comparer(folder, problem, options, numerics)

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
    """The process that launches, forked when it is needed."""

    def __init__(self, folder: str, problem: Dict[str, Any], options: LaunchOptions, numerics: Numerics) -> None:
        self._folder, self._problem, self._options, self._numerics = folder, problem, options, numerics
        self._process: Optional[ForkedProcess] = None

    def begin(self) -> Answer:
        """Fork it; what it says first."""
        self._process = ForkedProcess(self._work)
        try:
            return self._process.receive(_PREPARING)
        except (ProcessEnded, NoAnswer):
            return {"status": "unable", "reason": "the process that launches ended, or made no problems in time"}

    def _work(self, channel: Channel) -> None:
        _ComparingProcess(self._folder, self._options, self._numerics, channel).run(self._problem)

    def ask(self, question: Dict[str, Any]) -> Answer:
        """The answer to a question; where the process ends or hangs, that is the answer."""
        if self._process is None:
            answer = self.begin()
            if answer["status"] != "ready":
                return {"status": "lost", "reason": answer["reason"], "cells": []}
        assert self._process is not None
        seconds = float(question["deadline"])
        try:
            self._process.send(question)
            answer = self._process.receive(seconds)
            is_gone = bool(answer.get("gone"))
        except ProcessEnded:
            answer, is_gone = {"status": "lost", "reason": "the process that launched it ended", "cells": []}, True
        except NoAnswer:
            answer, is_gone = {"status": "timed_out", "reason": "it took more than %g s" % seconds, "cells": []}, True
        if is_gone:
            self.end()
        return answer

    def end(self) -> None:
        """Have it end."""
        if self._process is not None:
            self._process.end()
            self._process = None


class _ComparingProcess:
    """The forked process."""

    def __init__(self, folder: str, options: LaunchOptions, numerics: Numerics, channel: Channel) -> None:
        self._folder, self._options, self._numerics, self._channel = folder, options, numerics, channel

    def run(self, problem: Dict[str, Any]) -> None:
        """Make the problems, then answer questions until there are none, or a kernel has broken the context."""
        try:
            self._session = GpuSession(self._folder, self._options, self._numerics)
            if not self._session.canary.is_well():
                self._channel.send({"status": "unable", "reason": "the known-good kernel computes wrong numbers"})
                return
            problems = [GuardedProblem(self._numerics, made, large) for made, large in self._session.problems(problem)]
            self._session.driver.synchronize()
        except (Exception, SystemExit) as error:
            self._channel.send({"status": "unable", "reason": "%s: %s" % (type(error).__name__, error)})
            return
        self._channel.send({"status": "ready", "device": self._session.device()})
        for question in self._channel.questions():
            answer = self._answer(question, problems)
            self._channel.send(answer)
            if answer["gone"]:
                return

    def _answer(self, question: Dict[str, Any], problems: List[GuardedProblem]) -> Answer:
        kernels: List[ComparedKernel] = []
        try:
            for cell in question["cells"]:
                kernels.append(ComparedKernel(self._session.kernel(cell), cell["good"]))
            compare(kernels, problems, question["rounds"], self._session.driver)
            status, reason = "compared", ""
        except Refused as error:
            status, reason = "launch_refused", str(error)
        except CudaError as error:
            status, reason = ("faulted" if error.is_fault or error.call == "cuCtxSynchronize" else "launch_refused"), str(error)
        except Exception as error:
            status, reason = "lost", "%s: %s" % (type(error).__name__, error)
        fault = self._session.fault()
        if fault:
            status, reason = "faulted", fault
        else:
            for kernel in kernels:
                kernel.kernel.close()
        # what wrote beside its outputs may have spoiled other memory of this process
        is_gone = bool(fault) or status == "lost" or any(kernel.outside for kernel in kernels)
        return {"status": status, "reason": reason, "cells": [kernel.answer() for kernel in kernels], "gone": is_gone}
