"""Launching on this machine: with which Python, and all in one go."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from attrs import evolve, frozen

from compat.errors import SelectionError
from compat.execution.program import ask
from compat.execution.run import RunContext
from compat.execution.user_program import Ended, run_program
from compat.launch.archive import INDEX, PROGRAM, write_archive
from compat.launch.building import build
from compat.launch.merging import Merged, merge
from compat.model import Target
from compat.project import Listener, Obtain, Selection

RESULTS = "results.jsonl"
_FOLDER = "launch"
"""In the folder for what is kept between runs."""
_PACKAGES = Path(__file__).parent
_CAPABILITY = """import sys
sys.path.insert(0, {folder!r})
from host.cuda import Driver
print("CAPABILITY %d%d" % Driver().capability)"""
_SECONDS = 60.0
ELSEWHERE = (
    "Build here and launch elsewhere: `compat build --target TARGET --out DIR`, `python DIR/launch.py` on a GPU host, and "
    "`compat matrix --launched DIR/results.jsonl` here again."
)


@frozen(kw_only=True)
class Gpu:
    """The GPU of this machine, and what launches on it."""

    target: Target
    python: str
    """The path of an interpreter that has PyTorch."""
    options: tuple[str, ...] = ()
    """Of the launcher (``compat/launch/host/options.py``)."""


def find_gpu(selection: Selection, python: str | None = None) -> Gpu:
    """The GPU of this machine, which is that of a chosen target; ``python`` is an interpreter with PyTorch.

    Raises SelectionError where there is none that can be used, or no PyTorch.
    """
    python = python or find_python(selection)
    return Gpu(target=target_here(selection, python), python=python)


def find_python(selection: Selection | None = None) -> str:
    """The path of an interpreter that has PyTorch: this one, else that of an env. Raises SelectionError where there is none."""
    if importlib.util.find_spec("torch") is not None:
        return sys.executable
    for env in selection.config.envs if selection is not None else ():
        built = selection.look_at(env) if selection is not None else None
        if built is not None and built.error is None and built.python and built.version_of("torch"):
            return built.python
    hint = "Name one that has it, --python PATH; or build an env with PyTorch: `compat matrix --envs pairs`."
    raise SelectionError("no interpreter here has PyTorch, which launching needs", hint=hint)


def launch(folder: Path, python: str, options: Sequence[str] = ()) -> Ended:
    """Run the program of a folder that was built, to its end. Raises SelectionError where it is none."""
    if not (folder / INDEX).is_file() or not (folder / PROGRAM).is_file():
        hint = "`compat build --out FOLDER` writes one."
        raise SelectionError("there is nothing to launch in this folder", where=str(folder), hint=hint)
    return run_program([python, str(folder / PROGRAM), *options], {})


def build_and_launch(
    selection: Selection, context: RunContext, obtain: Obtain, listener: Listener, *, python: str | None = None
) -> Merged:
    """Compile what was chosen for the GPU of this machine, launch it, and keep what came of it.

    What was launched before, and is the same, is not launched again. Raises SelectionError where there is no GPU, no PyTorch, or
    nothing to launch.
    """
    gpu = find_gpu(selection, python)
    folder = selection.state / _FOLDER
    write_archive(build(evolve(selection, targets=(gpu.target,)), context, obtain, listener), folder)
    ended = launch(folder, gpu.python, gpu.options)
    if ended.exit_code not in (0, 1) and not ended.interrupted:
        raise SelectionError("the kernels could not be launched", where=str(folder), hint="What it printed stands above.")
    return merge(folder / RESULTS, context.store)


def target_here(selection: Selection, python: str) -> Target:
    """The chosen target that is this machine's GPU's. Raises SelectionError."""
    code = _CAPABILITY.format(folder=str(_PACKAGES))
    said = ask(f"{shlex.quote(python)} -c {shlex.quote(code)}", "", {}, _SECONDS)
    _, _, number = said.output.partition("CAPABILITY ")
    if said.exit_code != 0 or not number.strip().isdigit():
        words = (said.output.strip().splitlines() or ["it said nothing"])[-1]
        raise SelectionError(f"there is no GPU that can be used: {words}", hint=ELSEWHERE)
    here = int(number)
    found = [target for target in selection.targets if target.arch == here]
    if not found:
        names = ", ".join(target.name for target in selection.targets)
        words = f"the GPU here has compute capability {here / 10}, and the targets are {names}"
        raise SelectionError(words, hint="Choose its target with --target.")
    return found[0]
