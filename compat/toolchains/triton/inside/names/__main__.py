"""``python -I FOLDER FILE``: write the names of this env's Triton. See the package."""

from __future__ import annotations

import gc
import importlib
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
    package = sys.modules["_compat_names"] = ModuleType("_compat_names")
    package.__path__ = [here]
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
