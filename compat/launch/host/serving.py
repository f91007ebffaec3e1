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
import select
import signal
import sys
import time
import traceback
from typing import Any, Dict, List, Optional

from . import device as device_facts
from .arguments import Refused
from .canary import Canary
from .comparing import Place, Subject, compare, kernel_of
from .cuda import CudaError, Driver
from .options import Options
from .prepared import Numerics

_SEED = 0
_PREPARING = 600.0
"""Seconds that inputs and references may take."""

Answer = Dict[str, Any]


def serve(folder: str, problem: Dict[str, Any], options: Options, numerics: Numerics) -> int:
    """Answer questions until there are none. The exit code: 2 where nothing can be launched."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what problems print is no answer
    child = _Child(folder, problem, options, numerics)

    def tell(answer: Answer) -> None:
        out.write(json.dumps(answer) + "\n")
        out.flush()

    said = child.begin()
    tell(said)
    if said["status"] != "ready":
        return 2
    for line in sys.stdin:
        tell(dict(child.ask(line), number=json.loads(line)["number"]))
    child.end()
    return 0


class _Child:
    """The process that launches, forked when it is needed."""

    def __init__(self, folder: str, problem: Dict[str, Any], options: Options, numerics: Numerics) -> None:
        self._folder, self._problem, self._options, self._numerics = folder, problem, options, numerics
        self._pid = 0
        self._to = self._from = -1
        self._rest = b""

    def begin(self) -> Answer:
        """Fork it; what it says first."""
        down, up = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.close(down[1])
                os.close(up[0])
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                _Launching(self._folder, self._options, self._numerics, down[0], up[1]).run(self._problem)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(down[0])
        os.close(up[1])
        self._pid, self._to, self._from, self._rest = pid, down[1], up[0], b""
        said = self._answer(_PREPARING)
        return said or {"status": "unable", "reason": "the process that launches ended, or made no problems in time"}

    def ask(self, line: str) -> Answer:
        """The answer to a question; where the process ends or hangs, that is the answer."""
        if not self._pid:
            said = self.begin()
            if said["status"] != "ready":
                return {"status": "lost", "reason": said["reason"], "cells": []}
        seconds = float(json.loads(line)["deadline"])
        try:
            os.write(self._to, line.encode())
            answer = self._answer(seconds)
        except BrokenPipeError:
            answer = None
        if answer is not None and not answer.get("gone"):
            return answer
        is_over = self._over
        self.end()
        if answer is not None:
            return answer
        if is_over:
            return {"status": "timed_out", "reason": "it took more than %g s" % seconds, "cells": []}
        return {"status": "lost", "reason": "the process that launched it ended", "cells": []}

    def _answer(self, seconds: float) -> Optional[Answer]:
        """The next line; ``None`` where the process ended, or takes longer than that."""
        until = time.monotonic() + seconds
        self._over = False
        while b"\n" not in self._rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._from], [], [], left)[0]:
                self._over = True
                return None
            data = os.read(self._from, 1 << 16)
            if not data:
                return None
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        found: Answer = json.loads(line)
        return found

    def end(self) -> None:
        """Have it end."""
        if self._pid:
            os.close(self._to)
            os.close(self._from)
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            self._pid = 0


class _Launching:
    """What the child does."""

    def __init__(self, folder: str, options: Options, numerics: Numerics, questions: int, answers: int) -> None:
        self._folder, self._options, self._numerics = folder, options, numerics
        self._questions, self._answers = os.fdopen(questions, "r", encoding="utf-8"), answers

    def run(self, problem: Dict[str, Any]) -> None:
        """Make the problems, then answer questions until there are none, or a kernel has broken the context."""
        try:
            if self._options.device == "cpu":
                self._numerics.torch.set_num_threads(1)
            self._driver = Driver(self._options.library)
            if self._options.device != "cpu":
                self._numerics.torch.zeros(1, device=self._options.device)
            is_well = Canary(self._driver, self._numerics.torch, self._options.device).is_well()
            places = self._places(problem) if is_well else []
        except (Exception, SystemExit) as error:
            self._tell({"status": "unable", "reason": "%s: %s" % (type(error).__name__, error)})
            return
        if not is_well:
            self._tell({"status": "unable", "reason": "the known-good kernel computes wrong numbers"})
            return
        self._tell({"status": "ready", "device": device_facts.facts(self._driver, self._numerics.torch)})
        for line in self._questions:
            answer = self._answer(json.loads(line), places)
            self._tell(answer)
            if answer.get("gone"):
                return

    def _tell(self, said: Answer) -> None:
        data = (json.dumps(said) + "\n").encode()
        while data:
            data = data[os.write(self._answers, data) :]

    def _places(self, problem: Dict[str, Any]) -> List[Place]:
        problems = self._numerics.problems
        make = problems.load(os.path.join(self._folder, problem["source"]), problem["function"])
        found = []
        for large in (False, True):
            for made in problems.each(make, problem["parameters"], problem["dtype"], _SEED, self._options.device, large):
                found.append(Place(self._numerics, made, large))
        self._driver.synchronize()
        return found

    def _answer(self, asked: Dict[str, Any], places: List[Place]) -> Answer:
        subjects: List[Subject] = []
        try:
            for cell in asked["cells"]:
                kernel = kernel_of(self._folder, cell, self._driver, self._numerics, self._options.device)
                subjects.append(Subject(kernel, cell["good"]))
            compare(subjects, places, asked["rounds"], self._driver)
            status, reason = "compared", ""
        except Refused as error:
            status, reason = "launch_refused", str(error)
        except CudaError as error:
            status, reason = ("faulted" if error.is_fault or error.call == "cuCtxSynchronize" else "launch_refused"), str(error)
        except Exception as error:
            status, reason = "lost", "%s: %s" % (type(error).__name__, error)
        fault = self._fault()
        if fault:
            status, reason = "faulted", fault
        else:
            for subject in subjects:
                subject.kernel.close()
        # what wrote beside its outputs may have spoiled other memory of this process
        is_gone = bool(fault) or status == "lost" or any(each.outside for each in subjects)
        return {"status": status, "reason": reason, "cells": [each.told() for each in subjects], "gone": is_gone}

    def _fault(self) -> str:
        try:
            self._driver.synchronize()
        except CudaError as error:
            return error.name
        return ""
