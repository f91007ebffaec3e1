"""Reads a folder and writes a file of results, with the threads that each pattern asks for."""

import json
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location


def main(folder):
    """Weave every cell and compare the cloth with that of its problem. Returns the exit code."""
    with open(os.path.join(folder, "index.json"), encoding="utf-8") as file:
        index = json.load(file)
    lines = [_line(folder, index["problems"][cell["problem"]], cell) for cell in index["cells"]]
    with open(os.path.join(folder, "results.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    sys.stderr.write(f"{len(lines)} woven\n")
    return 0


def _line(folder, problem, cell):
    with open(os.path.join(folder, "objects", cell["object"]), encoding="utf-8") as file:
        cloth = file.read()
    expected = _expected(os.path.join(folder, problem["source"]), problem)
    reason = "" if cloth == expected else f"{cell['launch']['threads']} threads wove another cloth"
    check = {"status": "wrong" if reason else "ok", "reason": reason, "launches": 1, "differing": 0}
    named = {name: cell[name] for name in ("cell", "identity", "object", "problem")}
    return {
        **named,
        "schema": 1,
        "check": check,
        "latency": None,
        "device": {"name": "Jacquard"},
    }


def _expected(path, problem):
    spec = spec_from_file_location("problem", path)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, problem["function"])(
        problem["parameters"], problem["dtype"], 0, "loom", False
    )
