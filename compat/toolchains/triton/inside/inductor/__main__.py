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

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGES = {
    "_compat_inductor": _HERE,
    "_compat_pytorch": os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(_HERE))), "pytorch"),
}


def load_packages() -> None:
    """Load the modules here, and those that all toolchains share, as packages with names that nothing else has."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]
    for name, folder in _PACKAGES.items():
        where = os.path.join(folder, "__init__.py")
        spec = importlib.util.spec_from_file_location(name, where, submodule_search_locations=[folder])
        assert spec is not None
        assert spec.loader is not None
        package = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(package)


def load(name: str) -> ModuleType:
    """A module beside this one."""
    return importlib.import_module("_compat_inductor." + name)


def main(settings: Dict[str, Any]) -> None:
    """Answer for every program, in order."""
    load_packages()
    telling = load("telling")
    tell = telling.Teller(settings["answers"])
    if settings["before"]:
        sys.path.insert(0, settings["before"])
    tell({"begin": "import"})
    began = time.monotonic()
    try:
        gpu = load("gpu")
        gpu.load_driver(settings["library"], settings["gpu"])
        gpu.believe(settings["gpu"])
        compiling = load("compiling")
        compiling.prepare()
        programs = load("programs").PROGRAMS
        tell(telling.facts(settings["gpu"]))
    except Exception as error:
        tell(telling.failed("import", error, began))
        return
    logged = telling.Logged()
    for name in settings["programs"]:
        tell({"begin": name})
        tell({"program": name, **telling.outcome(programs[name], compiling, settings["launches"], logged)})


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
