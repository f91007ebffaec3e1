"""Run kernels on their problems in Triton's interpreter, and compare results with references.

    python check.py NUMERICS_FOLDER ADAPTER_FOLDER < specs.json

The Python of an env that has Triton, PyTorch and NumPy runs this program. It needs no GPU. The
folders are ``pytorch/numerics`` and ``triton/inside/adapter`` of ``compat/toolchains``. The program
reads a list of ``{kernel, variant, case, source, function, signature, constexprs, problem: {source,
function, dtype, parameters}}``. It prints one line of JSON for each:

    kernel, variant, case   the specialization
    ok                      whether every problem was computed to within its tolerances
    tried                   the number of problems; after a wrong one, no other is tried
    found                   what is wrong, or the largest difference
    error                   the exception that ended it, or null
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import types
from pathlib import Path
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"  # read when a kernel is decorated

SEED = 0
_MODULES: dict[str, Any] = {}


def module_of(path: str, beside: bool = False) -> Any:
    """The module at a path, imported once; ``beside`` if it imports modules of its folder."""
    if path not in _MODULES:
        spec = importlib.util.spec_from_file_location("loaded_" + Path(path).stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        folder = [str(Path(path).parent)] if beside else []
        sys.path[:0] = folder
        spec.loader.exec_module(module)
        del sys.path[: len(folder)]
        _MODULES[path] = module
    return _MODULES[path]


def passed(value: Any, kind: str) -> Any:
    """An argument as a launch passes it: a tensor, or a descriptor that the host makes of it."""
    if not kind.startswith("tensordesc<"):
        return value
    from triton.tools.tensor_descriptor import TensorDescriptor

    block = kind[kind.index("[") + 1 : kind.index("]")]
    return TensorDescriptor.from_tensor(value, [int(size) for size in block.split(",")])


def checked(spec: dict[str, Any], problems: Any, outputs: Any) -> dict[str, Any]:
    """The findings on one variant and case. Any exception is a finding."""
    problem_spec, findings, error = spec["problem"], [], None
    try:
        function = getattr(module_of(spec["source"], beside=True), spec["function"])
        make = problems.load(problem_spec["source"], problem_spec["function"])
        for problem in problems.checked_problems(
            make, problem_spec["parameters"], problem_spec["dtype"], SEED, "cpu", False
        ):
            outputs.poison(problem)
            arguments = {
                name: passed(value, spec["signature"].get(name, ""))
                for name, value in problem["arguments"].items()
            }
            function[problem["grid"]](**arguments, **spec["constexprs"])
            findings.append(outputs.compare(problem))
            if findings[-1]["status"] != "ok":
                break
    except Exception as failure:
        error = f"{type(failure).__name__}: {failure}"
    worst = outputs.together(findings) if findings else None
    return {
        **{key: spec[key] for key in ("kernel", "variant", "case")},
        "ok": error is None and worst is not None and worst["status"] == "ok",
        "tried": len(findings),
        "found": worst,
        "error": error,
    }


def import_from(folder: str, package: str, module: str) -> Any:
    """A module of the package in a folder, without what the package imports by itself."""
    if package not in sys.modules:
        sys.modules[package] = types.ModuleType(package)
        sys.modules[package].__path__ = [folder]
    return importlib.import_module(f"{package}.{module}")


def main(numerics: str, adapter: str) -> None:
    """Print one line of JSON per specialization that is read."""
    problems = import_from(numerics, "numerics", "problems")
    outputs = import_from(numerics, "numerics", "outputs")
    interpreter = importlib.import_module("triton.runtime.interpreter")
    import_from(adapter, "adapter", "interpreter").spare_repeated_work(interpreter)
    for spec in json.load(sys.stdin):
        print(json.dumps(checked(spec, problems, outputs)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
