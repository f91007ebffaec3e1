"""The stand-in for libcuda: it is built once, and it records launches."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compat.envs import native
from compat.envs.cache import EnvCache
from compat.envs.native import build_library, find_compiler
from compat.errors import EnvError
from compat.toolchains import DEFAULT

assert DEFAULT.device.pairing is not None
PAIRING = DEFAULT.device.pairing
MACHINES = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
"""The machine's own compiler."""

CALLS = """
import ctypes, sys

cuda = ctypes.CDLL(sys.argv[1])
module, function = ctypes.c_void_p(), ctypes.c_void_p()
launch = lambda *sizes: cuda.cuLaunchKernel(function, *sizes, None, None, None)
assert cuda.cuModuleLoadData(ctypes.byref(module), b"no binary at all") == 200
assert cuda.cuModuleLoadData(ctypes.byref(module), b"\\x7fELF, and more") == 0
assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"my_kernel") == 0
assert launch(7, 1, 1, 128, 1, 1, 64) == 0
assert launch(0, 1, 1, 128, 1, 1, 0) == 1, "an empty grid"
assert launch(1, 1, 1, 1025, 1, 1, 0) == 1, "too many threads"
assert launch(1, 1, 1, 128, 1, 1, 1 << 20) == 1, "too much shared memory"
config = (ctypes.c_uint * 16)(2, 3, 4, 32, 1, 1, 16)
assert cuda.cuLaunchKernelEx(config, function, None, None) == 0
major = ctypes.c_int()
assert cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, 0) == 0 and major.value == 8
"""
RECORDED = (
    "load\nlaunch\tmy_kernel\t7\t1\t1\t128\t1\t1\t64\nlaunch\tmy_kernel\t2\t3\t4\t32\t1\t1\t16\n"
)


def build(compiler: str, cache: EnvCache) -> Path:
    return build_library(PAIRING.source, PAIRING.library, PAIRING.also, compiler, cache)


def check_calls(library: Path, tmp_path: Path) -> None:
    launches = tmp_path / "launches"
    variables = {"COMPAT_LAUNCHES": str(launches), "COMPAT_ARCH": "89"}
    done = subprocess.run(
        [sys.executable, "-c", CALLS, str(library)],
        check=False,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert launches.read_text() == RECORDED


@pytest.mark.skipif(MACHINES is None, reason="this machine has no C compiler of its own")
def test_the_machines_compiler_builds_the_library_once(tmp_path: Path) -> None:
    cache = EnvCache(tmp_path / "cache")
    compiler = find_compiler(cache)
    assert compiler == MACHINES
    folder = build(compiler, cache)
    assert {path.name for path in folder.iterdir()} == {PAIRING.library, *PAIRING.also}
    before = (folder / PAIRING.library).stat()
    assert build(compiler, cache) == folder
    assert (folder / PAIRING.library).stat() == before
    check_calls(folder / PAIRING.library, tmp_path)


@pytest.mark.wheels
def test_without_a_compiler_one_from_the_index_builds_the_library(tmp_path: Path) -> None:
    cache = EnvCache(tmp_path / "cache")
    compiler = find_compiler(cache, {"PATH": str(tmp_path)})
    assert Path(compiler).is_relative_to(cache.folder)
    check_calls(build(compiler, cache) / PAIRING.library, tmp_path)


def test_a_fetched_compiler_starts_from_a_folder_with_an_odd_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "it's $HOME" / "ziglang" / "zig"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$ZIG_LOCAL_CACHE_DIR $*"\n')
    program.chmod(0o755)
    monkeypatch.setattr(native, "unpack_library", lambda _: program.parents[1])
    cache = EnvCache(program.parents[1] / "cache")
    compiler = find_compiler(cache, {"PATH": str(tmp_path)})
    done = subprocess.run([compiler, "x y"], capture_output=True, text=True, check=False)
    assert done.stdout == f"{cache.folder}/native/zig-cache cc x y\n", done.stderr


def test_the_variable_cc_names_the_compiler(tmp_path: Path) -> None:
    program = tmp_path / "mycc"
    program.write_text("#!/bin/sh\necho it is broken >&2\nexit 1\n")
    program.chmod(0o755)
    cache = EnvCache(tmp_path / "cache")
    compiler = find_compiler(cache, {"CC": str(program), "PATH": os.environ["PATH"]})
    assert compiler == str(program)
    with pytest.raises(EnvError, match="it is broken"):
        build(compiler, cache)


def test_the_library_has_every_function_that_a_launcher_needs() -> None:
    text = PAIRING.source.read_text()
    for name in (
        "cuLaunchKernel",
        "cuLaunchKernelEx",
        "cuModuleLoadData",
        "cuModuleLoad",
        "cuPointerGetAttribute",
        "cuStreamIsCapturing",
    ):
        assert f"int {name}(" in text
