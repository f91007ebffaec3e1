"""Environment variables that toolchains read: which of them reach a toolchain, and that a result
counts only for its own variables.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat.model import BuiltEnv, Env
from compat.store.keys import cell_key
from compat.toolchains import DEFAULT
from compat.workers.pool import worker_key
from compat.workers.spawn import visible_variables
from tests.cells import cell
from tests.toolchains.compiling import compile_all, failure_text

RELEASES = (
    "3.0.0",
    "3.1.0",
    "3.2.0",
    "3.3.1",
    "3.4.0",
    "3.5.1",
    "3.6.0",
    "3.7.1",
    "3.8.0",
    "3.9.0",
)
READS = DEFAULT.variables
BUILT = BuiltEnv(env=Env(name="e"), python="/env/bin/python", digest="d")
_READ = re.compile(
    r"""env_\w+(?:\[[^\]]*\])?\(\s*["'](?P<knob>[A-Z][A-Za-z0-9_-]+)["']|(?:getenv(?:_bool)?|environ\.get)\(\s*["'](?P<name>\w+)["']"""
)
_TOOL = re.compile(r"""(?:env_nvidia_tool|_path_to_binary)\(\s*["']([a-z-]+)["']""")
_OF_OTHERS = re.compile(
    r"TRITON_(?:CI|TEST|WARMUP)_\w+|PYTEST_\w+|(?:HIP|CUDA)_VISIBLE_DEVICES|TRITON_MAX_TENSOR_NUMEL|PATH"
)


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*READS.files, *READS.settings):
        monkeypatch.delenv(name, raising=False)


def read_by(package: Path) -> Iterator[str]:
    """The names of the environment variables that a release's Python sources read."""
    for folder in ("backends", "compiler", "language", "runtime", "."):
        for path in package.joinpath(folder).glob("**/*.py" if folder != "." else "*.py"):
            if path.name.startswith(
                ("_compile_warmup", "_internal_testing", "_test_runner", "testing")
            ):
                continue
            text = path.read_text(encoding="utf-8")
            yield from (match["knob"] or match["name"] for match in _READ.finditer(text))
            yield from (
                f"TRITON_{match[1].upper().replace('-', '_')}_PATH"
                for match in _TOOL.finditer(text)
            )


@pytest.mark.wheels
@pytest.mark.parametrize("release", RELEASES)
def test_each_variable_that_a_release_reads_is_passed_on_or_withheld(
    release: str, built: Callable[[str], BuiltEnv]
) -> None:
    env = built(f"triton-{release}")
    assert env.python
    (package,) = Path(env.python).parent.parent.glob("lib/python*/site-packages/triton")
    names = {name for name in read_by(package) if not _OF_OTHERS.fullmatch(name)}
    assert {"TRITON_CACHE_DIR", "TRITON_F32_DEFAULT"} <= names
    withheld = {name for names in READS.withheld.values() for name in names}
    passed = {*READS.files, *READS.settings, *READS.folders}
    assert names <= passed | withheld
    assert not passed & withheld


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.1.0", "3.4.0"])
def test_linker_that_the_advice_names_is_used(
    release: str, built: Callable[[str], BuiltEnv], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The linker is a stand-in, because wheels before 3.5 have none. The result is its output."""
    env, linker = built(f"triton-{release}"), tmp_path / "ld.lld"
    copied_cell = cell(env, "told", "copied", "gfx942")
    (without,) = compile_all(env, [copied_cell])
    assert "ROCm linker" in failure_text(without)
    linker.write_text(
        '#!/bin/sh\nfor each; do [ "$before" = -o ] && printf linked > "$each"; before=$each;'
        " done\n"
    )
    linker.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRITON_HIP_LLD_PATH", "ld.lld")  # relative to where the command runs
    (linked,) = compile_all(env, [copied_cell])
    assert linked.has_binary, failure_text(linked)
    assert linked.metrics["artifacts"]["hsaco"] == len("linked")


def test_set_variables_and_their_files_are_part_of_the_cell_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fine_cell = cell(BUILT, "faces", "fine")
    seen = {cell_key(fine_cell, BUILT, "w")}
    program = tmp_path / "ptxas"

    def changes() -> bool:
        key = cell_key(fine_cell, BUILT, "w")
        new = key not in seen
        seen.add(key)
        return new

    monkeypatch.setenv("TRITON_CACHE_DIR", "/elsewhere")
    monkeypatch.setenv("HOME", "/elsewhere")
    assert not changes()
    monkeypatch.setenv("TRITON_PTXAS_PATH", str(program))
    assert changes()
    program.write_text("one")
    assert changes()
    program.write_text("two")
    os.utime(program, ns=(1, 1))
    assert changes()
    program.write_text("one")
    os.utime(program, ns=(2, 2))
    assert not changes(), "the same assembler again"
    monkeypatch.setenv("DISABLE_LLVM_OPT", "1")
    assert changes()


def test_resident_worker_has_another_key_for_other_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = worker_key(BUILT, DEFAULT, "w")
    monkeypatch.setenv("TRITON_HIP_LLD_PATH", "/rocm/ld.lld")
    assert worker_key(BUILT, DEFAULT, "w") != before


def test_relative_paths_of_files_and_folders_reach_workers_as_absolute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A worker runs in another folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rocm").mkdir()
    (tmp_path / "ptxas").touch()
    monkeypatch.setenv("ROCM_PATH", "rocm")
    monkeypatch.setenv("TRITON_PTXAS_PATH", "ptxas")
    monkeypatch.setenv("HIP_PATH", "no such folder")
    variables = visible_variables(DEFAULT)
    assert variables["ROCM_PATH"] == str(tmp_path / "rocm")
    assert variables["TRITON_PTXAS_PATH"] == str(tmp_path / "ptxas")
    assert variables["HIP_PATH"] == "no such folder"


@pytest.mark.wheels
def test_a_setting_that_changes_code_reaches_the_compiler(
    built: Callable[[str], BuiltEnv], monkeypatch: pytest.MonkeyPatch
) -> None:
    env = built("triton-3.9.0")
    pointer_cell = cell(
        env, "told", "chosen_pointers", "gfx942", pointer_range_32=("source", "result")
    )
    (plain,) = compile_all(env, [pointer_cell])
    monkeypatch.setenv("DISABLE_PTXAS_OPT", "1")
    monkeypatch.setenv("AMDGCN_USE_BUFFER_OPS", "0")
    (changed,) = compile_all(env, [pointer_cell])
    assert plain.has_binary
    assert changed.has_binary
    assert plain.metrics["artifacts"]["ttir"] > changed.metrics["artifacts"]["ttir"], (
        "no ranges of pointers without buffer operations"
    )
