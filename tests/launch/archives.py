"""A folder as ``compat build`` writes it, with kernels of the stand-in, and runs of its launcher."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compat.launch.archive import ENTRY
from compat.toolchains.triton.device.launching import LAUNCHING
from tests.forking import write_python

STANDIN = Path(__file__).parent / "standin.c"
PROBLEMS = '''
import torch


def add(parameters, dtype, seed, device, large):
    """Sums of whole numbers."""
    generator = torch.Generator().manual_seed(seed)
    for n in [3000] if large else [1, 37, 500]:
        x, y = (torch.randint(1, 100, (n,), generator=generator).to(torch.float32) for _ in range(2))
        out = torch.empty(n + 8)[4 : n + 4]
        yield {
            "name": "%d numbers" % n,
            "arguments": {"x": x, "y": y, "out": out, "n": n},
            "grid": (n,),
            "outputs": {"out": {"reference": x.double() + y.double()}},
            "baseline": (lambda x=x, y=y: x + y) if large else None,
        }


def unknown(parameters, dtype, seed, device, large):
    """The same without references, as of a launch that was recorded."""
    for problem in add(parameters, dtype, seed, device, large):
        yield dict(problem, outputs=None, baseline=None)


def unknown_empty(parameters, dtype, seed, device, large):
    """One block that reads and writes no element."""
    if not large:
        x, y, out = (torch.empty(0) for _ in range(3))
        arguments = {"x": x, "y": y, "out": out, "n": 0}
        yield {"name": "empty", "arguments": arguments, "grid": 1, "outputs": None}


def only_large(parameters, dtype, seed, device, large):
    if large:
        yield from add(parameters, dtype, seed, device, large)


def only_small(parameters, dtype, seed, device, large):
    if not large:
        yield from add(parameters, dtype, seed, device, large)


def eight(parameters, dtype, seed, device, large):
    if large:
        return
    x, y, out = torch.arange(8.0), torch.ones(8), torch.empty(8)
    yield {
        "name": "eight numbers",
        "arguments": {"x": x, "y": y, "out": out, "n": 8},
        "grid": 8,
        "outputs": {"out": {"reference": x.double() + 1}},
    }


def none(parameters, dtype, seed, device, large):
    yield from ()


def looks(parameters, dtype, seed, device, large):
    """As many problems as the numbers in a tensor say."""
    for _ in range(int(torch.tensor([2, 1]).sum())):
        yield from only_small(parameters, dtype, seed, device, False)


def huge(parameters, dtype, seed, device, large):
    """More memory than a machine has, if it is large."""
    print("making problems")
    torch.empty(2**50 if large else 8).fill_(1)
    yield from only_large(parameters, dtype, seed, device, large)


def broken(parameters, dtype, seed, device, large):
    raise KeyError("D")
'''
PARAMETERS: list[dict[str, Any]] = [
    *(
        {"name": name, "type": "*fp32", "packing": "address", "size": 8}
        for name in ("x", "y", "out")
    ),
    {"name": "n", "type": "i32", "packing": "integer", "size": 4},
]
SCRATCH = {"scratch": "global", "size": 8, "bytes": 4, "align": 128}


def cell(
    name: str, entry: str = "", *, problem: str = "add", hints: Sequence[str] = (), **launch: Any
) -> dict[str, Any]:
    """A cell of an index, which launches a kernel of the stand-in."""
    facts = {
        "entry": entry or name,
        "block": [128, 1, 1],
        "shared": 0,
        "num_ctas": 1,
        "cluster": None,
        "grid_scale": [1, 1, 1],
        "non_portable": False,
        "cooperative": False,
        "pdl": False,
        "parameters": PARAMETERS,
        "multiples": dict.fromkeys(hints, 16),
        "constants": {},
        "defaults": {},
        **launch,
    }
    return {
        "cell": f"kernel/{name}/case/sm_90/env",
        "identity": name,
        "series": f"kernel/{name}",
        "object": hashlib.sha256(b"").hexdigest(),
        "problem": problem,
        "launch": facts,
    }


def recorded(
    name: str, entries: Sequence[str], sizes: Sequence[int] = (1, 37, 500, 3000), **launch: Any
) -> dict[str, Any]:
    """A cell of an index with recorded launches.

    They launch kernels of the stand-in, one after the other.
    """
    tensor = {"bytes": 4, "align": 4, "strides": [1]}
    address = bytes(8).hex()
    recordings = [
        {
            "arguments": {
                **{x: {**tensor, "shape": [n]} for x in ("x", "y", "out")},
                "n": {"value": n},
            },
            "launches": [
                {
                    "entry": entry,
                    "grid": [n, 1, 1],
                    "block": [128, 1, 1],
                    "shared": 0,
                    "cluster": None,
                    "cluster_policy": 0,
                    "cooperative": False,
                    "pdl": False,
                    "non_portable": False,
                    "parameters": [
                        *({"data": address, "patches": [[0, x, 0]]} for x in ("x", "y", "out")),
                        {"data": n.to_bytes(4, "little").hex(), "patches": []},
                    ],
                    **launch,
                }
                for entry in entries
            ],
        }
        for n in sizes
    ]
    facts = {
        "shared": 0,
        "block": [128, 1, 1],
        "multiples": {},
        "constants": {},
        "recorded": recordings,
    }
    return {**cell(name), "launch": facts}


def write(folder: Path, cells: Sequence[Mapping[str, Any]], arch: int = 90) -> Path:
    """Write the folder, and return it."""
    for name, package in LAUNCHING.packages.items():
        (folder / name).mkdir(parents=True)
        for path in package.glob("*.py"):
            (folder / name / path.name).write_bytes(path.read_bytes())
    (folder / "launch.py").write_text(ENTRY)
    (folder / "objects").mkdir()
    (folder / "objects" / hashlib.sha256(b"").hexdigest()).write_bytes(b"")
    (folder / "problems").mkdir()
    (folder / "problems" / "problems.py").write_text(PROBLEMS)
    source = {"source": "problems/problems.py", "dtype": "fp32", "parameters": {}}
    problems: dict[str, Any] = {
        name: {**source, "function": name}
        for name in (
            *("add", "unknown", "unknown_empty", "only_large", "only_small"),
            *("eight", "none", "broken", "looks", "huge"),
        )
    }
    target = {"name": f"sm_{arch}", "backend": "cuda", "arch": arch}
    index = {
        "schema": 1,
        "target": target,
        "needs": "torch",
        "problems": problems,
        "cells": list(cells),
        "left_out": [],
    }
    (folder / "index.json").write_text(json.dumps(index))
    return folder


def built_standin(folder: Path) -> Path:
    """Compile the stand-in to a library."""
    path = folder / "libcuda.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(path), str(STANDIN)], check=True)
    return path


def standin_options(library: Path) -> list[str]:
    """The launcher's options to launch on the stand-in."""
    return ["--device", "cpu", "--library", str(library)]


def with_pytorch(folder: Path, python: str) -> str:
    """A program in a folder that takes the place of an env's Python, and has imported PyTorch."""
    return write_python(folder / "python", python, "torch")


def launched(
    folder: Path, python: str, library: Path, *options: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the launcher to its end."""
    python = with_pytorch(folder.parent, python)
    command = [python, str(folder / "launch.py"), *standin_options(library), *options]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **variables}, check=False
    )


def compared(
    folder: Path,
    python: str,
    options: Sequence[str],
    *questions: Sequence[Mapping[str, Any]],
    problem: str = "add",
    deadline: float = 2,
) -> list[dict[str, Any]]:
    """The first line of a launcher that keeps running, and its answers to questions.

    A question has the cells to compare, of which the first is good.
    """
    requests = [
        {
            "number": number,
            "rounds": 30,
            "deadline": deadline,
            "cells": [{**cell, "good": not index} for index, cell in enumerate(cells)],
        }
        for number, cells in enumerate(questions)
    ]
    python = with_pytorch(folder.parent, python)
    command = [python, str(folder / "launch.py"), *options, "--compare", problem]
    lines = "".join(json.dumps(question) + "\n" for question in requests)
    ended = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in ended.stdout.splitlines()]


def results(folder: Path) -> dict[str, dict[str, Any]]:
    """Identity → the last line of the results for it."""
    lines = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    return {line["identity"]: line for line in lines}
