"""Captures of a block and of a pytest run, in an environment with this package and Triton."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.model import BuiltEnv
from tests.capturing.test_endings import LAUNCH

ROOT = Path(__file__).parents[2]
BLOCK = """
import os
import compat

before = dict(os.environ), list(__import__("sys").meta_path)
with compat.capture("captured", fake=True) as block:
    import kernels
    import subprocess, sys
    launch = "from kernels import Tensor, copy; copy[(1,)](Tensor(), Tensor(), BLOCK=32)"
    subprocess.run([sys.executable, "-c", launch], check=True)

(kernel,) = block.capture.files.kernels
agreements = [str(comparison.agreement) for comparison in block.capture.comparisons]
print(kernel.name, [case.name for case in kernel.cases], agreements)
assert (dict(os.environ), list(__import__("sys").meta_path)) == before
from triton.compiler import compiler
from triton.runtime import cache, driver, jit
assert getattr(compiler, "triton_key", cache.triton_key).__module__.startswith("triton.")
active = type(getattr(driver, "_active", None))
print(jit.JITFunction.run.__module__, active.__module__, len(kernels.copy.device_caches))
"""
SUITE = """
import pytest

from kernels import Tensor, copy


def assert_all_close(one, other):
    raise AssertionError("they differ")


@pytest.mark.parametrize("block", [128, 256])
def test_copy(block):
    copy[(1,)](Tensor(), Tensor(), BLOCK=block)
    assert_all_close(1, 2)
"""

pytestmark = pytest.mark.wheels


@pytest.fixture
def environ(built: Callable[[str], BuiltEnv], tmp_path: Path) -> dict[str, str]:
    """Environment variables with which this Python finds this package, and Triton in an env."""
    env = built("triton-3.9.0")
    if (env.python_version or "").split(".")[:2] != [
        str(number) for number in sys.version_info[:2]
    ]:
        pytest.skip(
            "Triton's wheel in that env is for another Python than the one that runs the tests"
        )
    assert env.python is not None
    (packages,) = Path(env.python).parents[1].glob("lib/python3*/site-packages")
    (tmp_path / "kernels.py").write_text(LAUNCH)
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path), str(packages)]),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # importing all plugins takes longer than the tests
    }


def test_a_block_is_captured_and_leaves_the_process_unchanged(
    environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(BLOCK)
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "copy ['BLOCK64', 'BLOCK32'] ['unknown']"  # Triton was found by PYTHONPATH
    assert second == "triton.runtime.jit builtins 0"
    assert (tmp_path / "captured" / "copy.toml").exists()


@pytest.mark.parametrize("processes", ["0", "1"])
def test_the_pytest_plugin_captures_a_test_suite(
    environ: dict[str, str], tmp_path: Path, processes: str
) -> None:
    (tmp_path / "test_kernels.py").write_text(SUITE)
    arguments = [
        "-m",
        "pytest",
        "-q",
        "-p",
        "compat.pytest_plugin",
        "-p",
        "xdist",
        "-n",
        processes,
        "-p",
        "no:cacheprovider",
        "--compat-output",
        "found",
    ]
    environ |= {"CUDA_VISIBLE_DEVICES": ""}  # as on a machine without a GPU
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
    # The module that the tests import launches the kernel, too.
    assert "1 kernel launched, 1 captured as 3 cases, 0 not" in done.stdout
    assert sorted(path.name for path in (tmp_path / "found").iterdir()) == [
        "copy.py",
        "copy.toml",
        "index.json",
    ]


def test_the_pytest_plugin_must_be_loaded_early(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["compat.pytest_plugin"]\n')
    (tmp_path / "test_kernels.py").write_text(SUITE)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert done.stderr.strip() == (
        "ERROR: compat.pytest_plugin is loaded after the first conftest.py; load it with -p"
        " compat.pytest_plugin"
    )
