"""The room that holds what kernels computed to their references, a folder beside the worker's; a job's problems, run with it."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, Callable

from . import places

if TYPE_CHECKING:
    from .adapter import Interpreting
    from .opened import Opened

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "numerics")
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


def checked(
    job: dict[str, Any],
    seed: int,
    kernel: Any,
    interpreting: Interpreting,
    opened: Opened,
    enter: Callable[[str], None],
    noted: dict[str, Any],
) -> None:
    """Run a kernel on the problems of its job until one comes out wrong, and note what came of comparing.

    ``noted`` gets ``problems``, how many were run, ``problem``, the last one's name, ``check``, ``values``, what was changed where
    no output is known, as JSON, and ``uses`` where it is not right.
    Raises whatever the kernel raises, and ProblemError where a problem cannot be used.
    """
    load()
    problems, outputs = sys.modules[_NAME + ".problems"], sys.modules[_NAME + ".outputs"]
    asked = job["problem"]
    found: list[dict[str, Any]] = []
    enter("interpret")
    with opened.noting():
        function = problems.load(asked["source"], asked["function"])
        each = problems.each(function, asked["parameters"], asked["dtype"], seed, "cpu", False)
    right = False
    try:
        while True:
            with opened.noting():
                problem = next(each, None)
            if problem is None:
                break
            noted.update(problem=problem["name"], problems=len(found) + 1)
            try:
                launch = interpreting.prepared(kernel, job, problem["arguments"])
            except ValueError as error:
                raise problems.ProblemError("problem %r: %s" % (problem["name"], error)) from None
            outputs.poison(problem)
            launch(problem["grid"])
            enter("check")
            found.append(outputs.compare(problem))
            noted["check"] = outputs.together(found)
            if "values" in noted["check"]:  # of a problem without references; metrics are texts and numbers
                noted["values"] = json.dumps(noted["check"].pop("values"), separators=(",", ":"))
            right = noted["check"]["status"] == "ok"
            if not right:
                break
            enter("interpret")
    finally:
        if not right:
            noted["uses"] = " ".join(interpreting.uses(kernel))[:_USES]
