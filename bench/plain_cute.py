"""The cost of a compile with CuTe DSL by itself: import it, and compile jobs in a row.

``python -I bench/plain_cute.py ADAPTER JOBS.json`` runs inside an env. The adapter describes the
arguments and ends each compile after the binary, as it does for the engine. The program watches,
forks and keeps nothing. It prints how many jobs compiled, the seconds of the import, and the
seconds of the compiles.
"""

import importlib.util
import json
import os
import sys
import tempfile
import time


def main(adapter, jobs_file):
    with tempfile.TemporaryDirectory() as private, open(jobs_file, encoding="utf-8") as file:
        jobs = json.load(file)
        began = time.perf_counter()
        toolchain = package(adapter, "_bench_adapter").Adapter()
        toolchain.use_cache_dir(private, False)
        toolchain.observe(NoBeacon(), False)
        imported = time.perf_counter() - began
        modules = {}
        compiled = 0
        began = time.perf_counter()
        for job in jobs:
            toolchain.set_target(job["target"])
            source = job["source"]
            if source not in modules:
                sys.path.insert(0, os.path.dirname(source))
                modules[source] = package(source, os.path.basename(source)[:-3])
            function = getattr(modules[source], job["function"])
            _, artifacts = toolchain.compile(job, function, lambda *_: None, lambda *_: None)
            compiled += bool(artifacts["cubin"])
        print(compiled, imported, time.perf_counter() - began)


class NoBeacon:
    """A stand-in for a worker's beacon that ignores every call."""

    def __getattr__(self, name):
        return lambda *_, **__: None


def package(path, name):
    init = os.path.join(path, "__init__.py")
    folder = [path] if os.path.isdir(path) else None
    spec = importlib.util.spec_from_file_location(
        name, init if folder else path, submodule_search_locations=folder
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


main(*sys.argv[1:])
