"""Commands that a new user runs on the first day.

The installed command runs in a folder with the user's own kernels, far from any checkout.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from compat.envs.installers import find_uv
from tests.installed import ROOT, Installed, ended

SOURCES = ROOT / "tests" / "guess" / "sources"
RELEASES = [
    "3.0.0",
    "3.1.0",
    "3.2.0",
    "3.3.0",
    "3.3.1",
    "3.4.0",
    "3.5.0",
    "3.5.1",
    "3.6.0",
    "3.7.0",
    "3.7.1",
    "3.8.0",
    "3.9.0",
]
ENDS = ("--envs", "3.2,newest", "--target", "h100")

ONE_COLON = "softmax.py:softmax_kernel"

BLOCK_POINTERS = """
import triton
import triton.language as tl


@triton.jit
def copy_kernel(source_ptr, result_ptr, n_rows, n_cols, stride_row, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M
    source = tl.make_block_ptr(source_ptr, (n_rows, n_cols), (stride_row, 1), (row, 0), (BLOCK_M, BLOCK_N), (1, 0))
    result = tl.make_block_ptr(result_ptr, (n_rows, n_cols), (stride_row, 1), (row, 0), (BLOCK_M, BLOCK_N), (1, 0))
    tl.store(result, tl.load(source, boundary_check=(0, 1)), boundary_check=(0, 1))
"""

PACKAGE = {
    "__init__.py": "from .layers import Scale\nfrom .ops import scale\n",
    "layers.py": (
        """
import torch
from torch import nn

from .ops import scale


class Scale(nn.Module):
    def __init__(self, factor: float = 1.0) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return scale(x, self.factor)
"""
    ),
    "settings.py": (
        """
import torch

BLOCK = 1024


def on_hopper() -> bool:
    return torch.cuda.is_available() and torch.cuda.get_device_capability() >= (9, 0)
"""
    ),
    "ops/__init__.py": "from .scaling import scale\n",
    "ops/arithmetic.py": (
        """
import triton


@triton.jit
def times(x, factor):
    return x * factor
"""
    ),
    "ops/scaling.py": (
        """
import torch
import triton
import triton.language as tl

from ..settings import BLOCK, on_hopper
from .arithmetic import times

WARPS = 8 if on_hopper() else 4


@triton.jit
def scale_kernel(x_ptr, out_ptr, n_elements, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n_elements)
    tl.store(out_ptr + at, times(x, factor), mask=at < n_elements)


@torch.library.custom_op("mylib::scale", mutates_args=())
def scale_op(x: torch.Tensor, factor: float) -> torch.Tensor:
    out = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), BLOCK),)](x, out, x.numel(), factor, BLOCK=BLOCK, num_warps=WARPS)
    return out


@scale_op.register_fake
def _(x, factor):
    return torch.empty_like(x)


class Scaling(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return scale_op(x, factor)

    @staticmethod
    def backward(ctx, grad):
        return scale_op(grad, ctx.factor), None


scale = Scaling.apply
"""
    ),
}

Project = Callable[..., Installed]
"""Returns the installed command in a new folder with these files."""


@pytest.fixture
def project(installed: Installed, tmp_path: Path) -> Project:
    def make(files: Mapping[str, str] | None = None, name: str = "project") -> Installed:
        folder = tmp_path / name
        folder.mkdir()
        for path, text in (files or {}).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        return evolve(installed, empty=folder)

    return make


def source(name: str) -> str:
    return (SOURCES / name).read_text(encoding="utf-8")


def stdout_of(user: Installed, *command: str, code: int = 0) -> str:
    """What a command prints on standard output."""
    done = user.run("compat", *command)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stdout + done.stderr
    return done.stdout


def written(user: Installed) -> Any:
    """The JSON report of ``compat matrix``."""
    return json.loads((user.empty / "reports" / "matrix.json").read_text(encoding="utf-8"))


# --- the first answer -----------------------------------------------------------------------------


@pytest.mark.wheels
def test_a_softmax_works_on_every_release(project: Project) -> None:
    user = project({"softmax.py": source("softmax.py")})
    assert "next: compat matrix" in stdout_of(user, "init", "softmax.py")
    answer = stdout_of(user, "matrix", "--target", "h100")
    assert re.search(r"^as_written +(ok +){13}works$", answer, re.MULTILINE), answer
    assert re.search(r"^13 cells in .* 13 ok; all as expected$", answer, re.MULTILINE), answer
    document = written(user)
    assert [cell["triton"] for cell in document["cells"]] == RELEASES
    assert {cell["status"] for cell in document["cells"]} == {"ok"}
    assert "works" in [verdict["verdict"] for verdict in document["verdicts"]]


@pytest.mark.wheels
def test_kernels_of_a_tutorial_pass_without_an_edit(project: Project) -> None:
    user = project({"layer_norm.py": source("layer_norm.py")})
    stdout_of(user, "init", "layer_norm.py")
    answer = stdout_of(user, "matrix", *ENDS)
    assert len(re.findall(r"^as_written +ok +ok +works$", answer, re.MULTILINE)) == 3, answer
    kernels = ["_layer_norm_bwd_dwdb", "_layer_norm_bwd_dx_fused", "_layer_norm_fwd_fused"]
    cells = sorted((cell["kernel"], cell["status"]) for cell in written(user)["cells"])
    assert cells == [(kernel, "ok") for kernel in kernels for _ in range(2)]


@pytest.mark.wheels
@pytest.mark.long
def test_the_matmul_of_a_tutorial_is_as_expected_without_an_edit(project: Project) -> None:
    """Each of the six configs is a case, for usual and for odd sizes.

    One config needs more shared memory than the GPU has. The newest release compiles all configs,
    and an old release the smallest one and that one. For odd sizes they compile the smallest one,
    because large ones take seconds.
    """
    user = project({"matmul.py": source("matmul.py")})
    stdout_of(user, "init", "matmul.py")
    assert len(stdout_of(user, "list", "cells", *ENDS).splitlines()) == 24
    usual, few = "*_s?,32x64x32_*_odd", "32x64x32_*,128x256x128_w8_s3"
    for envs, counted, cases in (("newest", "6 ok", usual), ("3.2", "2 ok", few)):
        answer = stdout_of(user, "matrix", "--envs", envs, "--target", "h100", "--case", cases)
        assert f" {counted}, 1 rejected; all as expected" in answer
        assert "would exceed shared memory: needs 294912 bytes, sm_90 allows 232448" in answer
    cells = written(user)["cells"]
    assert len(cells) == 7 + 3
    refused = [(cell["triton"], cell["case"]) for cell in cells if cell["status"] == "rejected"]
    assert sorted(refused) == [
        ("3.2.0", "128x256x128_w8_s3"),
        ("3.9.0", "128x256x128_w8_s3"),
    ]


# --- a package ------------------------------------------------------------------------------------


@pytest.mark.wheels
def test_a_package_with_torch_at_module_level_and_a_custom_op_compiles(project: Project) -> None:
    user = project({f"src/mylib/{path}": text for path, text in PACKAGE.items()})
    stdout_of(user, "init", "src/mylib")
    answer = stdout_of(user, "matrix", *ENDS)
    assert re.search(r"^as_written +ok +ok +works$", answer, re.MULTILINE), answer
    assert "scale_kernel: 2 cells imported with stand-ins for torch" in answer
    explained = stdout_of(user, "explain", "scale_kernel/*/newest")
    assert re.search(r"imported with stand-ins for:\n +torch ", explained), explained
    assert "torch.cuda.get_device_capability() is (9, 0) (mylib/settings.py:8)" in explained

    helper = user.empty / "src" / "mylib" / "ops" / "arithmetic.py"
    helper.write_text(helper.read_text().replace("x * factor", "x * factor + 1"))
    assert "(0 from the store): 2 ok" in stdout_of(user, "matrix", *ENDS)
    assert "(2 from the store): 2 ok" in stdout_of(user, "matrix", *ENDS)


@pytest.mark.wheels
def test_a_failure_in_a_helper_is_reported_for_the_kernel(project: Project) -> None:
    user = project({f"src/mylib/{path}": text for path, text in PACKAGE.items()})
    stdout_of(user, "init", "src/mylib")
    helper = user.empty / "src" / "mylib" / "ops" / "arithmetic.py"
    helper.write_text(helper.read_text().replace("x * factor", "x.no_such_thing * factor"))
    there = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(user.empty)}
    done = evolve(user, environ=there).run("compat", "matrix", *ENDS)
    assert done.returncode == 1
    assert re.search(
        r"^as_written +rej! +rej! +failed in 2 of 13, rest unknown F1$", done.stdout, re.MULTILINE
    ), done.stdout
    assert re.search(
        r"^::error file=src/mylib/ops/arithmetic.py,line=7,title=scale_kernel",
        done.stderr,
        re.MULTILINE,
    ), done.stderr
    assert {cell["failure"]["location"] for cell in written(user)["cells"]} == {"arithmetic.py:7"}


# --- a bisect -------------------------------------------------------------------------------------


@pytest.mark.wheels
def test_a_kernel_that_works_has_nothing_to_bisect(project: Project) -> None:
    user = project({"kernel.py": source("plain_softmax.py")})
    answer = stdout_of(user, "bisect", "kernel.py::softmax_kernel", "--target", "h100")
    assert "softmax_kernel/as_written (default, sm_90): works: nothing to bisect" in answer
    assert sorted(path.name for path in user.empty.iterdir()) == [".compat", "kernel.py"]


@pytest.mark.wheels
def test_a_bisect_finds_the_removal_of_block_pointers(project: Project) -> None:
    user = project({"kernel.py": BLOCK_POINTERS})
    answer = stdout_of(user, "bisect", "kernel.py::copy_kernel", "--target", "h100")
    assert "removed in 3.9.0. Last good 3.8.0, first bad 3.9.0: API removed (api-removed)" in answer
    assert "kernel.py:9" in answer


@pytest.mark.wheels
def test_the_fix_command_in_the_report_finds_the_known_edit(project: Project) -> None:
    """No file in the folder names the kernels, so each shown command has to name them."""
    user = project({"kernel.py": BLOCK_POINTERS})
    stdout_of(user, "matrix", "kernel.py", "--envs", "newest", "--target", "h100", code=1)
    (shown,) = re.findall(
        r"`(compat fix copy_kernel.*)`",
        (user.empty / "reports" / "matrix.md").read_text(encoding="utf-8"),
    )
    assert shown in stdout_of(
        user, "explain", "copy_kernel/as_written/default/h100/newest", "kernel.py"
    )
    _, *arguments = shlex.split(shown)
    output = stdout_of(user, *arguments, "--envs", "newest")
    assert re.search(r"^after: +compiles on 3\.9\.0$", output, re.MULTILINE), output
    assert "write it: " in stdout_of(
        user, "fix", "copy_kernel/as_written/default/h100/3.9", "kernel.py", "--envs", "newest"
    )


# --- two projects ---------------------------------------------------------------------------------


@pytest.mark.wheels
def test_an_env_that_two_projects_need_at_once_is_built_once(
    project: Project, tmp_path: Path
) -> None:
    uv = tmp_path / "uv"
    uv.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/asked\nexec {find_uv()} "$@"\n')
    uv.chmod(0o755)
    own = {"COMPAT_ENVS": str(tmp_path / "envs"), "UV": str(uv)}
    users = [
        evolve(project({"k.py": source("plain_softmax.py")}, name), environ=own)
        for name in ("one", "two")
    ]
    started = [
        user.start("compat", "matrix", "k.py", "--envs", "newest", "--target", "h100")
        for user in users
    ]
    for done in map(ended, started):
        assert done.returncode == 0, done.stderr
        assert "(0 from the store): 1 ok; all as expected" in done.stdout
    assert len([path for path in (tmp_path / "envs").iterdir() if path.is_dir()]) == 1
    installs = [
        line
        for line in (tmp_path / "asked").read_text().splitlines()
        if "install" in line and "triton==" in line
    ]
    assert len(installs) == 1, installs


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        (
            ("init", "sofmax.py"),
            2,
            "error: sofmax.py: no such file\n  hint: Did you mean softmax.py?\n",
        ),
        (
            ("matrix", "sofmax.py"),
            2,
            "error: sofmax.py: no such file\n  hint: Did you mean softmax.py?\n",
        ),
        (
            ("bisect", "sofmax.py::softmax_kernel"),
            2,
            "error: sofmax.py: no such file\n  hint: Did you mean softmax.py?\n",
        ),
        (
            ("matrix", "lib/sofmax.py"),
            2,
            "error: lib/sofmax.py: no such file\n  hint: Searched in ",
        ),
        (
            ("bisect", "softmax.py::softmx"),
            2,
            (
                "softmax.py::softmx: there is no such jit function\n  hint: Did you mean"
                " softmax_kernel?\n"
            ),
        ),
        *(
            (
                command,
                2,
                (
                    "error: softmax.py:softmax_kernel: no such file\n  hint: Did you mean"
                    " softmax.py::softmax_kernel? "
                ),
            )
            for command in [("matrix", ONE_COLON), ("reduce", ONE_COLON)]
        ),
        (
            ("matrix", "softmax.py", "--envs", "3.99"),
            3,
            "error: no known release matches '3.99'\n  hint: Known releases: 3.0.0",
        ),
        (("bisect", "softmax.py", "--envs", "3.99"), 3, "error: no known release matches '3.99'\n"),
        (
            ("matrix", "softmax.py", "--target", "h1000"),
            3,
            "error: no target matches 'h1000'\n  hint: Did you mean h100",
        ),
        (
            ("bisect", "softmax.py", "--target", "h1000"),
            3,
            "error: no target matches 'h1000'\n  hint: Did you mean h100",
        ),
    ],
)
def test_a_typo_is_one_error(
    project: Project, command: tuple[str, ...], code: int, message: str
) -> None:
    user = project({"softmax.py": source("softmax.py")})
    done = user.run("compat", *command)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert done.stderr.count("error:") == 1
    assert [path.name for path in user.empty.iterdir()] == ["softmax.py"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("init",), "there is no Triton or CuTe DSL kernel in any Python source here"),
        (("matrix",), "there are no kernels to compile"),
        (("bisect",), "there are no kernels to compile"),
        (("explain", "*"), "there are no kernels to compile"),
        (("fix", "*"), "there are no kernels to compile"),
        (("reduce", "*"), "there are no kernels to compile"),
        (("repro", "*"), "there are no kernels to compile"),
    ],
)
def test_an_empty_folder_stays_empty(
    project: Project, command: tuple[str, ...], message: str
) -> None:
    user = project()
    done = user.run("compat", *command)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "compat init" in done.stderr
    assert (done.stderr.count("error:"), done.stderr.count("hint:")) == (1, 1)
    assert not list(user.empty.iterdir())
