"""``python -I FOLDER SETTINGS``: compile and launch programs, and tell of each. See the package."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import time
from types import ModuleType
from typing import Any, Dict


def load(name: str) -> ModuleType:
    """A module beside this one, under a package of its own: nothing that is imported here can be taken for one of them."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    if "_compat_inductor" not in sys.modules:
        where = os.path.join(here, "__init__.py")
        spec = importlib.util.spec_from_file_location("_compat_inductor", where, submodule_search_locations=[here])
        assert spec is not None
        assert spec.loader is not None
        package = importlib.util.module_from_spec(spec)
        sys.modules["_compat_inductor"] = package
        spec.loader.exec_module(package)
    return importlib.import_module("_compat_inductor." + name)


def main(settings: Dict[str, Any]) -> None:
    """Answer for every program, in order."""
    telling = load("telling")
    tell = telling.Teller(settings["answers"])
    if settings["before"]:
        sys.path.insert(0, settings["before"])
    tell({"begin": "import"})
    began = time.monotonic()
    try:
        gpu = load("gpu")
        gpu.load_driver(settings["library"])
        gpu.believe()
        compiling = load("compiling")
        compiling.prepare()
        programs = load("programs").PROGRAMS
        tell(telling.facts(gpu.GPU))
    except Exception as error:
        tell(telling.failed("import", error, began))
        return
    logged = telling.Logged()
    for name in settings["programs"]:
        tell({"begin": name})
        tell({"program": name, **telling.outcome(programs[name], compiling, settings["launches"], logged)})


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
