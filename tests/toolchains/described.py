"""Prints how the adapter and scripts describe a specialization to ``triton.compile``.

It runs inside an env: ``python described.py ADAPTER FOLDER...``. A folder has scripts and
``job.json``, a job. For each folder, a process of its own prints a line of JSON for the adapter,
and one for each script in the order of their names.
"""

import importlib
import importlib.util
import json
import os
import sys
from typing import Any

import triton


def described(source: Any, options: Any) -> str:
    """An ``ASTSource`` and ``debug`` as JSON, whatever names its release has for the parts."""
    attributes = source.attrs
    if hasattr(attributes, "arg_properties"):
        attributes = {
            name: sorted(indices) for name, indices in attributes.arg_properties.items() if indices
        }
    elif hasattr(attributes, "divisible_by_16"):
        attributes = [sorted(attributes.divisible_by_16), sorted(attributes.equal_to_1)]
    else:
        attributes = {str(index): hints for index, hints in attributes.items()}
    constants = getattr(source, "constexprs", None) or source.constants
    order = source.fn.arg_names
    constants = {
        name_of(key, order): repr(getattr(value, "value", value))
        for key, value in constants.items()
    }
    is_debug = bool(options.get("debug"))
    return json.dumps([source.signature, constants, attributes, is_debug], sort_keys=True)


def name_of(key: Any, order: Any) -> str:
    """The name of a parameter, or the path of an element of a tuple."""
    path = (
        (str(order[key[0]]), *("[" + str(index) + "]" for index in key[1:]))
        if isinstance(key, tuple)
        else (str(key),)
    )
    return "".join(path)


def loaded(path: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def describe(folder: str) -> None:
    with open(os.path.join(folder, "job.json")) as file:
        job = json.load(file)
    toolchain.set_target(job["target"])
    function = api._jit_function(getattr(loaded(job["source"], "kernels"), job["function"]))
    job, values = call.with_defaults(function, job, call.constants(function, job))
    source = call.ast_source(function, job, values)
    print(described(source, call.options_of_signature(function, job)))
    for script in sorted(name for name in os.listdir(folder) if name.endswith(".py")):
        module = loaded(os.path.join(folder, script), script.removesuffix(".py"))
        triton.compile = lambda source, target, options: print(described(source, options))
        module.compile_kernel()


adapter, *folders = sys.argv[1:]
sys.path.insert(0, os.path.dirname(adapter))
api = importlib.import_module(os.path.basename(adapter) + ".api")
call = importlib.import_module(os.path.basename(adapter) + ".call")
toolchain = api.Triton()
for folder in folders:
    if os.fork() == 0:
        describe(folder)
        sys.stdout.flush()
        os._exit(0)  # Python's own end would copy the memory of all modules
    if os.wait()[1] != 0:
        sys.exit(1)
