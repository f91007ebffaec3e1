"""``python -I FOLDER FILE``: write the names of this env's Triton. See the package."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import os
import sys
from types import ModuleType


def load(name: str) -> ModuleType:
    """Load a module next to this one, under a package of its own.

    So no other imported module can be mistaken for it.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    spec = importlib.util.spec_from_file_location(
        "_compat_names", os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["_compat_names"] = package
    spec.loader.exec_module(package)
    return importlib.import_module("_compat_names." + name)


def main(path: str) -> None:
    """Write the file, whole or not at all."""
    gc.disable()
    document = load("describing").document()
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(document, file)
    os.replace(path + ".part", path)


if __name__ == "__main__":
    main(sys.argv[1])
