"""The room that holds what kernels computed to their references, a folder beside the worker's; a job's problems, run with it."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, Iterator

from . import places, standin

if TYPE_CHECKING:
    from .adapter import InterpretingAdapter
    from .batch import Attempt

FOLDER = os.path.join(standin.ROOM, "numerics")
_NAME = "_compat_numerics"
_USES = 8000
"""Letters that are told of what a kernel used."""


def load() -> ModuleType:
    """The package, loaded once in a server. Raises ImportError where the env has no PyTorch."""
    if _NAME not in sys.modules:
        places.hide(FOLDER)
        spec = importlib.util.spec_from_file_location(
            _NAME, os.path.join(FOLDER, "__init__.py"), submodule_search_locations=[FOLDER]
        )
        assert spec is not None
        assert spec.loader is not None
        package = importlib.util.module_from_spec(spec)
        sys.modules[_NAME] = package
        spec.loader.exec_module(package)
        for module in ("problems", "outputs"):
            importlib.import_module("%s.%s" % (_NAME, module))
    return sys.modules[_NAME]


def checked(attempt: Attempt, seed: int, interpreting: InterpretingAdapter) -> None:
    """Run an attempt's function on the problems of its job until one comes out wrong, and note what came of comparing.

    Its ``noted`` gets ``problems``, how many were run, ``problem``, the last one's name, ``check``, ``values``, what was changed
    where no output is known, as JSON, and ``uses`` where it is not right. The beacon has the problem that runs, by name and number,
    in case that nothing comes back. Raises whatever the kernel raises, and ProblemError where a problem cannot be used.
    """
    load()
    problems, outputs = sys.modules[_NAME + ".problems"], sys.modules[_NAME + ".outputs"]
    noted, right = attempt.noted, False
    found: list[dict[str, Any]] = []
    attempt.enter("interpret")
    each = _problems(attempt, problems, seed)
    try:
        for problem in each:
            noted.update(problem=problem["name"], problems=len(found) + 1)
            attempt.beacon.at(problem["name"], len(found) + 1)
            try:
                launch = interpreting.prepare(attempt.function, attempt.job, problem["arguments"])
            except ValueError as error:
                raise problems.ProblemError("problem %r: %s" % (problem["name"], error)) from None
            outputs.poison(problem)
            launch(problem["grid"])
            attempt.enter("check")
            found.append(outputs.compare(problem))
            noted["check"] = outputs.together(found)
            if "values" in noted["check"]:  # of a problem without references; metrics are texts and numbers
                noted["values"] = json.dumps(noted["check"].pop("values"), separators=(",", ":"))
            right = noted["check"]["status"] == "ok"
            if not right:
                break
            attempt.enter("interpret")
    finally:
        if not right:
            noted["uses"] = " ".join(interpreting.uses(attempt.function))[:_USES]


def _problems(attempt: Attempt, problems: Any, seed: int) -> Iterator[dict[str, Any]]:
    """The problems of an attempt's job, as they are made; the files that are read for that are noted."""
    asked = attempt.job["problem"]
    with attempt.opened.noting():
        before = set(sys.modules)
        function = problems.load(asked["source"], asked["function"])
        attempt.modules |= set(sys.modules) - before
        each = problems.each(function, asked["parameters"], asked["dtype"], seed, "cpu", False)
    while True:
        with attempt.opened.noting():
            problem = next(each, None)
        if problem is None:
            return
        yield problem
