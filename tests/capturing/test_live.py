"""Captured kernels that kernel files name in their library instead of copying them.

The library's modules check the release anew on each release.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner

from compat.bundle.frozen import FrozenDefinition
from compat.capturing.capturing import capture_program
from compat.capturing.checking import Agreement, Options
from compat.capturing.origins import NotLive, live
from compat.cli.commands import main
from compat.config.kernel_files import load_kernels
from compat.errors import EnvError
from compat.model import BuiltEnv
from tests.wheels import own_libraries, wheelhouse

__all__ = ["own_libraries", "wheelhouse"]

PROGRAM = """
import gc; gc.disable()
import torch
import triton
import triton.language as tl
from live_waves.plain import plain
from live_waves.tuned import tuned

@triton.jit
def own(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at))

x, y = torch.randn(64, device="cuda"), torch.empty(64, device="cuda")
plain[(1,)](x, y, 64, BLOCK=64)
tuned[(1,)](x, y, 64)
own[(1,)](x, y, BLOCK=64)
gc.freeze()  # or Python looks at all objects of PyTorch when it ends
"""


def installed(folder: Path) -> Path:
    """Install the library as in an environment, and return its site folder."""
    site = folder / "site-packages"
    command = [
        sys.executable,
        "-m",
        "uv",
        "pip",
        "install",
        "-q",
        "--target",
        str(site),
        "live-waves==2.0",
    ]
    subprocess.run([*command, "--python", sys.executable], check=True)
    return site


@pytest.mark.wheels
def test_kernel_files_name_a_library_that_adapts_to_each_release(
    built: Callable[[str], BuiltEnv],
    wheelhouse: Path,
    own_libraries: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The kernel, captured with 3.5.1, loads by a descriptor there.

    On 3.0.0 it loads as the library does for that release.
    """
    pair = built("triton-3.5.1-torch-2.9.1")
    built("triton-3.0.0")
    monkeypatch.setenv("PYTHONPATH", str(installed(tmp_path)))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(PROGRAM)
    options = Options(output=tmp_path / "captured", live=True, fake=True)
    capture = capture_program((str(tmp_path / "program.py"),), options, python=pair.python)
    assert [(kernel.name, kernel.live is not None) for kernel in capture.files.kernels] == [
        ("own", False),
        ("plain", True),
        ("tuned", True),
    ]
    assert [str(kernel) for kernel in capture.files.not_live] == [
        "program.py:own: it is part of the program itself, and importing it would run the program"
        " again"
    ]
    assert {comparison.agreement for comparison in capture.comparisons} == {Agreement.EQUAL}
    (plain,) = load_kernels(["captured/plain.toml"], tmp_path)
    assert (plain.package, plain.function) == ("live-waves==2.0", "plain")
    assert not (tmp_path / "captured" / "plain.py").exists()
    index = json.loads((tmp_path / "captured" / "index.json").read_text())
    assert [(kernel["source"], kernel["package"]) for kernel in index["kernels"]] == [
        ("own.py", None),
        (None, "live-waves==2.0"),
        (None, "live-waves==2.0"),
    ]
    for path in (tmp_path / "captured").iterdir():
        assert str(tmp_path) not in path.read_text()
        assert path.suffix == ".json" or "problem" not in path.read_text()  # none was requested
    monkeypatch.delenv("PYTHONPATH")
    arguments = [
        "matrix",
        "captured/plain.toml",
        "--envs",
        "3.0.0,3.5.1",
        "--target",
        "sm_90",
        "--no-build",
    ]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert "2.0            1    1    1" in done.output


# --- where a kernel is ----------------------------------------------------------------------------


def function(
    file: Path,
    module: str,
    qualname: str = "kernel",
    source: str = "@triton.jit\ndef kernel(): ...",
) -> FrozenDefinition:
    return FrozenDefinition(
        id="1",
        kind="jit",
        name="kernel",
        qualname=qualname,
        module=module,
        source=source,
        file=str(file),
    )


def site_with(folder: Path, record: bool = True) -> Path:
    site = folder / "site-packages"
    for name, text in {
        "waves/__init__.py": "",
        "waves/act.py": "kernel = 1\n",
        "Waves_1-3.dist-info/METADATA": "Metadata-Version: 2.1\nName: Waves_1\nVersion: 3\n",
        "Waves_1-3.dist-info/RECORD": "waves/act.py,,\n" if record else "",
    }.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    return site


def test_a_library_is_named_only_if_its_file_is_as_on_the_index(tmp_path: Path) -> None:
    site = site_with(tmp_path)
    unpacked = tmp_path / "unpacked"
    (unpacked / "waves").mkdir(parents=True)
    (unpacked / "waves" / "act.py").write_text("kernel = 1\n")
    origin = live(function(site / "waves" / "act.py", "waves.act"), lambda requirement: unpacked)
    assert (origin.package, origin.module, origin.function, origin.root) == (
        "waves-1==3",
        "waves.act",
        "kernel",
        unpacked,
    )
    (unpacked / "waves" / "act.py").write_text("kernel = 2\n")
    with pytest.raises(NotLive, match="its file differs from waves-1==3 on the package index"):
        live(function(site / "waves" / "act.py", "waves.act"), lambda requirement: unpacked)


def raise_unavailable(requirement: str) -> Path:
    raise EnvError(f"{requirement} cannot be had")


def test_a_kernel_that_cannot_be_named_is_an_error_with_the_reason(tmp_path: Path) -> None:
    site = site_with(tmp_path)
    act = site / "waves" / "act.py"
    for kernel_function, why in (
        (function(act, "act.py"), "it is part of the program itself"),
        (function(act, "waves.act", "make.<locals>.kernel"), "a function created it"),
        (function(tmp_path / "gone.py", "gone"), "its file is missing"),
        (
            function(act, "waves.act", source="def kernel(): ..."),
            "a call makes it a kernel, perhaps under another name",
        ),
        (
            function(act, "waves.other"),
            "its file is not where its module waves.other would be found",
        ),
        (function(act, "waves.act"), "waves-1==3 cannot be had"),
        (
            function(site / "waves" / "__init__.py", "waves"),
            "no installed distribution lists its file",
        ),
    ):
        with pytest.raises(NotLive, match=why):
            live(kernel_function, raise_unavailable)


def test_a_kernel_of_a_project_is_named_by_its_source_file(tmp_path: Path) -> None:
    path = tmp_path / "src" / "mine" / "act.py"
    path.parent.mkdir(parents=True)
    path.write_text("kernel = 1\n")
    kernel = function(path, "mine.act")
    of_a_class = evolve(kernel, kind="class", source="class kernel: ...")  # of CuTe DSL
    for definition in (kernel, of_a_class):
        origin = live(definition, raise_unavailable)
        assert (origin.source, origin.root, origin.package) == (path, tmp_path / "src", "")
