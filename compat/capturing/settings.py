"""What the recorder is told, and how it gets into processes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

from attrs import frozen

from compat import toolchains
from compat.capturing.kernels import Configs
from compat.errors import SelectionError
from compat.model import Target
from compat.toolchains import Toolchain
from compat.toolchains.base import Capturing

_DEVICES = (Path("/dev/nvidia0"), Path("/dev/kfd"), Path("/dev/dxg"))
"""What there is on machines with a GPU."""


class CodeCheck(StrEnum):
    """Of what the code is compared with what the program itself compiles."""

    NOTHING = "nothing"
    KERNELS = "kernels"
    """One case of each kernel."""
    CASES = "cases"
    """Every case."""


@frozen(kw_only=True)
class Options:
    """How to capture."""

    output: Path = Path("captured")
    """The folder that kernel files are written into."""
    target: str | None = None
    """What a program without a GPU is made to believe in: a target, or what a GPU is called."""
    configs: Configs = Configs.ALL
    live: bool = False
    """Name kernels where they are written, in the place of bundles, as far as they can be."""
    with_values: bool = False
    """Keep numbers that no compile depends on as they were passed."""
    problems: bool = False
    """Also write what launches were given, so that their numbers can be looked at: shapes, strides, small whole numbers."""
    check: CodeCheck = CodeCheck.KERNELS
    fake: bool | None = None
    """Make the program believe in a GPU; ``None``: where there is none."""

    @property
    def is_fake(self) -> bool:
        """Whether the program is made to believe in a GPU."""
        return not has_gpu() if self.fake is None else self.fake


def has_gpu() -> bool:
    """Whether this machine has a GPU that a program may use."""
    return any(path.exists() for path in _DEVICES) and os.environ.get("CUDA_VISIBLE_DEVICES", "0") != ""


def toolchain() -> Toolchain:
    """The toolchain whose launches are captured."""
    return next(toolchain for toolchain in toolchains.every() if toolchain.device.capturing)


def capturing() -> Capturing:
    """How they are."""
    record = toolchain().device.capturing
    assert record is not None
    return record


def target_of(name: str | None) -> Target:
    """The target that is meant by a name. Raises SelectionError where there is none, or no GPU of it is known."""
    name, device = name or capturing().usual, toolchain().device
    target = next((target for target in device.targets if target.name == name or toolchains.is_of_gpu(target, name)), None)
    if target is None or target.name not in device.models:
        unknown = target and f"no GPU of {target.name} is known that a program could be made to believe in"
        hint = f"One of: {', '.join(device.models)}."
        raise SelectionError(unknown or "no target is called so", where=f"--target {name}", hint=hint)
    return target


def target_of_arch(arch: int | str | None) -> Target | None:
    """The target with this architecture; ``None`` where there is none."""
    return next((target for target in toolchain().device.targets if arch is not None and target.arch == arch), None)


def recorder_settings(options: Options, folder: Path) -> dict[str, Any]:
    """What the recorder is told. Raises SelectionError for a target that there is not."""
    return {
        "folder": str(folder),
        "fake": options.is_fake,
        "with_values": options.with_values,
        "problems": options.problems,
        "originals": str(options.check),
        "target": toolchain().device.facts(target_of(options.target)),
    }


def variables(settings: Mapping[str, Any], cache: Path | None) -> dict[str, str]:
    """The environment variables that have a program and its children recorded; ``cache`` is where compiled kernels are kept."""
    paths = [str(capturing().start), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {capturing().variable: json.dumps(settings), "PYTHONPATH": os.pathsep.join(paths)}
    return environment | ({capturing().cache: str(cache)} if cache is not None else {})


@contextmanager
def in_environment(values: Mapping[str, str]) -> Iterator[None]:
    """Have the processes that this one starts find these variables."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
