"""The loop that users write without a tool: import Triton, and compile jobs in a row.

``python -I bench/plain.py ADAPTER JOBS.json`` runs inside an env. It uses the adapter only to
describe jobs in the form of this release of Triton, and to compile without a GPU. It watches,
warms, forks and shortens nothing. It prints how many jobs compiled.
"""

import importlib.util
import json
import os
import sys
import tempfile


def main(adapter, jobs_file):
    with tempfile.TemporaryDirectory() as private, open(jobs_file, encoding="utf-8") as file:
        os.environ.update(TRITON_CACHE_DIR=private, TRITON_ALWAYS_COMPILE="1")
        jobs = json.load(file)
        api = package(adapter, "_bench_adapter").api
        import triton

        driver = api.driver.install()  # without a GPU, a release's launch code asks this driver
        modules = {}
        compiled = 0
        for job in jobs:
            # set_target() would also drop the caches of a release, which nobody would do by hand.
            driver._chosen = job["target"]
            source = job["source"]
            if source not in modules:
                sys.path.insert(0, os.path.dirname(source))
                modules[source] = package(source, os.path.basename(source)[:-3])
            function = getattr(modules[source], job["function"])
            constants = api.call.constants(function, job)
            if job["launch"]:
                result = api.call.compile_launch(function, job, constants)
            else:
                whole_job, constants = api.call.with_defaults(function, job, constants)
                described = api.call.ast_source(function, whole_job, constants)
                result = triton.compile(
                    described, target=api.driver.target(job["target"]), options=job["options"]
                )
            compiled += bool(result.asm.get("cubin") or result.asm.get("hsaco"))
        print(compiled)


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
    if folder:
        importlib.import_module(name + ".api")
    return module


main(*sys.argv[1:])
