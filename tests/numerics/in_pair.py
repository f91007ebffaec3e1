"""Gives good and malformed problems to compat/toolchains/pytorch/numerics.

Prints the answers for all problems as one JSON object.

    python in_pair.py NUMERICS_DIR FOLDER

The Python of an env that has PyTorch runs this program. It writes modules of problems to FOLDER.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable
from typing import Any

import torch

SAID: dict[str, Any] = {}


def load(folder: str) -> tuple[Any, Any]:
    spec = importlib.util.spec_from_file_location(
        "numerics", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["numerics"] = package
    spec.loader.exec_module(package)
    return importlib.import_module("numerics.problems"), importlib.import_module("numerics.outputs")


def framed(*shape: int, dtype: torch.dtype = torch.float16) -> torch.Tensor:
    """A view with storage of its own all around it."""
    *outer, rows, columns = shape
    return torch.zeros(*outer, rows + 4, columns + 8, dtype=dtype)[
        ..., 2 : rows + 2, 4 : columns + 4
    ]


def problem(tensor: torch.Tensor, reference: torch.Tensor, **options: Any) -> dict[str, Any]:
    output = {"reference": reference, **options}
    return {
        "name": "odd",
        "arguments": {"O_ptr": tensor, "n": 3},
        "grid": (1,),
        "outputs": {"O_ptr": output},
    }


def main(numerics: str, folder: str) -> None:
    problems, outputs = load(numerics)
    close = {"tolerance": 4e-3, "reason": "fp16"}

    def launch(
        name: str,
        kernel: Callable[[torch.Tensor], object],
        dtype: torch.dtype = torch.float16,
        **options: Any,
    ) -> None:
        reference = (torch.arange(2 * 3 * 5, dtype=torch.float64) % 7).reshape(2, 3, 5)
        checked_problem = problems.check_problem(
            problem(framed(2, 3, 5, dtype=dtype), reference, **options)
        )
        outputs.poison(checked_problem)
        tensor = checked_problem["arguments"]["O_ptr"]
        kernel(tensor)
        SAID[name] = outputs.compare(checked_problem)

    right = (torch.arange(30) % 7).reshape(2, 3, 5)

    def off(by: float) -> Callable[[torch.Tensor], object]:
        def kernel(tensor: torch.Tensor) -> None:
            tensor.copy_(right)
            tensor[1, 2, 3] += by

        return kernel

    def nan(tensor: torch.Tensor) -> None:
        tensor.copy_(right)
        tensor[0, 1, 0] = float("nan")

    def beside(tensor: torch.Tensor) -> None:
        tensor.copy_(right)
        tensor.as_strided((1,), (1,), tensor.storage_offset() - 1).fill_(2)

    def half(tensor: torch.Tensor) -> None:
        tensor[0].copy_(right[0])

    launch("right", lambda tensor: tensor.copy_(right))
    launch("near", off(2e-3), **close)
    launch("far", off(0.5), **close)
    launch("relatively near", off(0.25), relative=0.1, reason="rounded")
    launch("nan", nan, tolerance=1e30, reason="any")
    launch("beside", beside)
    launch("half", half, **close)
    launch("not at all", lambda tensor: None)
    launch("least", lambda tensor: None, dtype=torch.int64)
    launch("added", lambda tensor: tensor.add_(right), initial=0)
    launch("added to garbage", lambda tensor: tensor.add_(right))
    launch("started from", lambda tensor: tensor.add_(right - 1), initial=torch.ones(2, 3, 5))
    launch(
        "started from the largest",  # it is no float64
        lambda tensor: tensor.sub_(2**63 - 1).add_(right),
        dtype=torch.int64,
        initial=2**63 - 1,
    )
    itself, doubled = torch.arange(3.0, requires_grad=True), torch.arange(3.0) * 2
    for name, options in (
        ("output is its reference", {"reference": itself}),
        ("output is its initial value", {"reference": doubled, "initial": itself}),
    ):
        checked_problem = problems.check_problem(problem(itself, **options))
        outputs.poison(checked_problem)
        itself.detach().mul_(2).nan_to_num_(7)
        SAID[name] = outputs.compare(checked_problem)["status"]
        itself.detach().copy_(torch.arange(3.0))

    for dtype in (
        torch.float32,
        torch.float64,
        torch.bfloat16,
        torch.int32,
        torch.int64,
        torch.int8,
        torch.uint8,
        torch.float8_e5m2,
    ):
        launch(f"{dtype} right", lambda tensor: tensor.copy_(right), dtype=dtype)
        launch(f"{dtype} half", half, dtype=dtype)

    flags = torch.zeros(2, 2, dtype=torch.bool)
    flagged = problems.check_problem(problem(flags, torch.ones(2, 2)))
    for name, kernel in (
        ("flags right", lambda: flags.fill_(True)),
        ("flags half", lambda: flags[1:].fill_(True)),
    ):
        outputs.poison(flagged)
        kernel()
        SAID[name] = outputs.compare(flagged)

    both = torch.zeros(2, 8)
    shared = {"name": "both", "arguments": {"A": both[0], "B": both[1]}, "grid": [1, 2]}
    shared["outputs"] = {name: {"reference": torch.ones(8)} for name in ("A", "B")}
    shared = problems.check_problem(shared)
    outputs.poison(shared)
    shared["arguments"]["A"].fill_(1)
    SAID["one of two"] = outputs.compare(shared)

    small = torch.zeros(2).to(torch.float8_e5m2)
    unknown = problems.check_problem({**problem(small, torch.zeros(2)), "outputs": None})
    outputs.poison(unknown)
    small.copy_(torch.ones(2))
    SAID["unknown"] = outputs.compare(unknown)

    def refused(name: str, candidate: object) -> None:
        try:
            problems.check_problem(candidate)
        except problems.ProblemError as error:
            SAID[name] = str(error)
        else:
            SAID[name] = None

    good = problem(torch.zeros(2), torch.zeros(2))
    refused("good", good)
    refused("no dictionary", [1])
    refused("no name", dict(good, name=""))
    refused("misspelt", dict(good, argument={}))
    refused("grid", dict(good, grid=(1, 0)))
    refused("no outputs", dict(good, outputs={}))
    refused("baseline", dict(good, baseline=3))
    refused("compared", dict(good, compared=good["outputs"]))
    of_number = dict(good, outputs=None, compared={"n": {"reference": torch.zeros(2)}})
    refused("compared number", of_number)
    refused("no tensor", dict(good, outputs={"n": {"reference": torch.zeros(2)}}))
    refused("shape", problem(torch.zeros(2), torch.zeros(3)))
    refused("expanded", problem(torch.zeros(1).expand(2), torch.zeros(2)))
    refused("complex", problem(torch.zeros(2), torch.zeros(2, dtype=torch.complex64)))
    refused("not finite", problem(torch.zeros(2), torch.full((2,), float("inf"))))
    refused(
        "not finite in 8 bits",
        problem(torch.zeros(2), torch.full((2,), float("nan")).to(torch.float8_e4m3fn)),
    )
    refused("of 8 bits", problem(torch.zeros(2), torch.zeros(2).to(torch.float8_e4m3fn)))
    refused("no reason", problem(torch.zeros(2), torch.zeros(2), tolerance=1e-3))
    refused("negative", problem(torch.zeros(2), torch.zeros(2), tolerance=-1.0, reason="why"))
    refused("initial", problem(torch.zeros(2), torch.zeros(2), initial="none"))
    refused("descriptors", dict(good, descriptors=["O_ptr"]))
    refused("described number", dict(good, descriptors={"n": {}}))
    refused("described oddly", dict(good, descriptors={"O_ptr": {"swizzle": 3}}))
    refused("padded oddly", dict(good, descriptors={"O_ptr": {"padding": "one"}}))

    def gridded(name: str, grid: object) -> None:
        checked_problem = problems.check_problem(dict(good, grid=grid))
        try:
            SAID[name] = problems.grid_of(checked_problem, {"BLOCK": 4, "num_warps": 8})
        except problems.ProblemError as error:
            SAID[name] = str(error)

    gridded("a grid of numbers", (3, 2))
    gridded("a grid of settings", lambda settings: settings["BLOCK"] * settings["num_warps"])
    gridded("a grid without a setting", lambda settings: (settings["BLOCK_M"],))
    gridded("a grid of nothing", lambda settings: (settings["BLOCK"] - 4, 1))
    gridded("no grid", None)
    storage = torch.zeros(4)
    refused(
        "input in the storage",
        dict(
            problem(storage[:2], torch.zeros(2)), arguments={"O_ptr": storage[:2], "X": storage[2:]}
        ),
    )

    packed = torch.zeros(4)
    typed = {"A": packed[:2], "B": packed[2:].view(torch.int32)}
    refused(
        "outputs of two types",
        dict(
            good,
            arguments=typed,
            outputs={name: {"reference": torch.zeros(2)} for name in typed},
        ),
    )

    def loaded(name: str, text: str, function: str = "yields") -> None:
        path = os.path.join(folder, "problems.py")
        with open(path, "w") as file:
            file.write(text)
        try:
            generator = problems.load(path, function)
            SAID[name] = [
                problem["name"]
                for problem in problems.checked_problems(
                    generator, {"D": 4}, "fp16", 0, "cpu", False
                )
            ]
        except problems.ProblemError as error:
            SAID[name] = str(error)

    with open(os.path.join(folder, "beside.py"), "w") as file:
        file.write(
            "import torch\ndef made(name):\n    t = torch.zeros(2)\n    o = {'O': {'reference':"
            " torch.zeros(2)}}\n"
        )
        file.write("    return {'name': name, 'arguments': {'O': t}, 'grid': 1, 'outputs': o}\n")
    head = "import beside\ndef yields(parameters, dtype, seed, device, large):\n"
    loaded(
        "two",
        head
        + "    for n in range(2):\n        yield beside.made('%s %d' % (parameters['D'], n))\n",
    )
    loaded("twice", head + "    for n in range(2):\n        yield beside.made('same')\n")
    loaded("none", head + "    return iter(())\n")
    loaded("raises", head + "    yield beside.made('x')\n    1 / 0\n")
    loaded("raises at once", head + "    raise KeyError('D')\n")
    loaded("exits", head + "    raise SystemExit(3)\n    yield\n")
    loaded("not importable", "import nothing_of_that_name\n")
    loaded("no function", head + "    pass\n", "other")
    print(json.dumps(SAID))


main(*sys.argv[1:])
