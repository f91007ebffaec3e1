"""A machine that lacks disk space, files or memory gives one clear error, and never a verdict."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat.errors import MachineError
from compat.model import BuiltEnv
from tests.commands import run

pytestmark = pytest.mark.wheels

ROOT = Path(__file__).parents[2]
KERNEL = """
import triton
import triton.language as tl

@triton.jit
def plus_one(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size) + 1, mask=at < size)
"""
SPEC = """
schema = 1
kernel = "plus_one"
source = "plus_one.py"
[signature]
source = "*fp32"
result = "*fp32"
size = "i32"
[[case]]
name = "small"
constexprs = { BLOCK = 64 }
[[case]]
name = "large"
constexprs = { BLOCK = 4096 }
[[variant]]
name = "as_written"
function = "plus_one"
"""


@pytest.fixture(params=["triton-3.0.0", "triton-3.9.0"])
def env(request: pytest.FixtureRequest, built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built(request.param)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the environments of this one.

    Its kernel compiles on every release.
    """
    (tmp_path / "plus_one.py").write_text(KERNEL)
    (tmp_path / "plus_one.toml").write_text(SPEC)
    (tmp_path / "matrix.toml").write_text((ROOT / "matrix.toml").read_text())
    return tmp_path


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a file system in memory with the given options."""
    mounted: list[Path] = []

    def mount(options: str) -> Path:
        place = tmp_path / "small"
        place.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)],
            capture_output=True,
            check=False,
        )
        if done.returncode:
            pytest.skip("file systems cannot be mounted here")
        mounted.append(place)
        return place

    yield mount
    for place in mounted:
        assert list(place.glob("compat-*")) == [], (
            "something was left in the folder for temporary files"
        )
        subprocess.run(["umount", str(place)], check=True)


def matrix(
    project: Path, env: BuiltEnv, *, limits: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    arguments = ["matrix", "--spec", "plus_one.toml", "--envs", env.env.name, "--no-build"]
    arguments += ["--target", "sm_80,sm_90", "-j", "2"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    if not limits:
        return run(*arguments, cwd=project, env=environ, timeout=250)
    return subprocess.run(
        ["sh", "-c", f'{limits} exec "$@"', "sh", sys.executable, "-m", "compat.cli", *arguments],
        cwd=project,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )


def statuses(project: Path) -> dict[str, int]:
    cells = json.loads((project / "reports" / "matrix.json").read_text())["cells"]
    counts: dict[str, int] = {}
    for cell in cells:
        counts[cell["status"]] = counts.get(cell["status"], 0) + 1
    return counts


def check_refused(done: subprocess.CompletedProcess[str], means: str) -> None:
    assert done.returncode == MachineError.exit_code, done.stdout + done.stderr
    assert done.stderr.count("error: ") == 1
    assert means in done.stderr
    assert "hint: " in done.stderr
    assert "Traceback" not in done.stderr


def check_nothing_false_was_kept(project: Path, env: BuiltEnv) -> None:
    done = matrix(project, env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert statuses(project) == {"ok": 4}


@pytest.mark.parametrize("room", ["16k", "40k", "160k", "1m", "size=50%,nr_inodes=6"])
def test_full_folder_for_temporary_files_gives_no_verdict(
    project: Path, env: BuiltEnv, small: Callable[[str], Path], room: str
) -> None:
    done = matrix(project, env, TMPDIR=str(small(room if "=" in room else f"size={room}")))
    if done.returncode == 0:
        assert statuses(project) == {"ok": 4}
    else:
        check_refused(done, "no space left")
    check_nothing_false_was_kept(project, env)


def test_32k_for_temporary_files_are_too_small(
    project: Path, env: BuiltEnv, small: Callable[[str], Path]
) -> None:
    check_refused(matrix(project, env, TMPDIR=str(small("size=32k"))), "no space left")


def test_run_succeeds_with_a_read_only_folder_for_temporary_files(
    project: Path, env: BuiltEnv, small: Callable[[str], Path]
) -> None:
    """Python then uses another folder."""
    done = matrix(project, env, TMPDIR=str(small("ro")))
    assert done.returncode == 0, done.stdout + done.stderr
    assert statuses(project) == {"ok": 4}


def test_finished_cells_are_kept_when_the_temporary_folder_fills_up(
    project: Path, env: BuiltEnv, small: Callable[[str], Path]
) -> None:
    place = small("size=64m")
    assert matrix(project, env, TMPDIR=str(place)).returncode == 0
    (place / "filled").write_bytes(b"\1" * ((64 << 20) - (20 << 10)))
    (project / "plus_one.toml").write_text(SPEC.replace("4096", "2048"))
    done = matrix(project, env, TMPDIR=str(place))
    check_refused(done, "no space left")
    assert "2 of 4 cells are finished and saved" in done.stderr
    check_nothing_false_was_kept(project, env)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ("ulimit -n 12;", "too many files are open"),
        ("ulimit -n 14;", "too many files are open"),
        ("ulimit -v 200000;", "RLIMIT_AS"),
    ],
)
def test_limit_of_the_shell_gives_no_verdict(
    project: Path, env: BuiltEnv, limits: str, message: str
) -> None:
    done = matrix(project, env, limits=limits)
    if done.returncode:  # what is enough for one release is too little for another
        check_refused(done, message)
    else:
        assert "-n 12" not in limits
    check_nothing_false_was_kept(project, env)
