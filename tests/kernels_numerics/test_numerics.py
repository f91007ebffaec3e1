"""Every way of writing a selection kernel computes the same attention, and this test would notice if one did not.

The kernels run in Triton's interpreter, inside an env that has PyTorch (see ``check.py``); here it is decided which have to pass.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

pytestmark = [pytest.mark.wheels, pytest.mark.timeout(600)]  # the interpreter needs 40 s on an idle core

CHECK = Path(__file__).with_name("check.py")
KERNELS = Path(__file__).parents[2] / "kernels"
RELEASE = "3.5.1"
"""Triton of the env that ``pair_python`` belongs to: the newest default pair that has both block pointers and descriptors."""

Name = tuple[str, str, str]
"""Kernel, variant, case."""

MUTANTS: dict[Name, tuple[str, str]] = {
    ("sel_dense", "broadcast_2d", "ragged"): (" & (d0 + offs_D < D)[None, :]", ""),
    ("sel_dense", "pointer_grid", "d64"): ("tl.exp(scores - m_grid)", "tl.exp(scores)"),
    ("sel_dense", "loop_1d", "d64"): ("for d in range(D):", "for d in range(D - 1):"),
    ("sel_dense", "block_ptr", "d64"): ('tl.where((l0 + offs_L < L)[None, :], scores * scale, float("-inf"))', "scores * scale"),
    ("sel_dense", "descriptor", "d128"): ("k_desc.load([l0, d0])", "k_desc.load([l0, 0])"),
    ("sel_varlen", "broadcast_2d", "mixed"): (" & (offs_V < DV)[None, :])", ")"),
    ("sel_varlen", "pointer_grid", "few"): ("mask=(l0 + v_rows < end) & (v_cols < DV)", "mask=v_cols < DV"),
    ("sel_varlen", "loop_1d", "few"): ("for l in range(start, end):", "for l in range(start, end - 1):"),
    ("sel_varlen", "block_ptr", "many"): ("v = tl.where((l0 + offs_L < end)[:, None], v, 0.0).to(v.dtype)", "v = v"),
    ("sel_varlen", "descriptor", "many"): ("k_desc.load([l0, 0])", "k_desc.load([start, 0])"),
}
"""One plausible mistake for each way of writing, and a case in which it shows: a text of the function, and what replaces it."""


SLOW = {("sel_dense", "loop_1d", "d128")}
"""What is left out: the interpreter takes 7 s for it, and goes through the lines that it goes through for 64 and 80 features."""


def sound_names() -> Iterator[Name]:
    """Every (kernel, variant, case) in KERNELS, without those that are declared to fail on RELEASE and those in SLOW."""
    for path in sorted(KERNELS.glob("*.toml")):
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        for variant in document["variant"]:
            broken = any(SpecifierSet(expect.get("releases", "")).contains(RELEASE) for expect in variant.get("expect", ()))
            if not broken:
                names = ((document["kernel"], variant["name"], case["name"]) for case in document["case"])
                yield from (name for name in names if name not in SLOW)


def checked(python: str | Path, kernels: Path, names: Iterable[Name]) -> str:
    """What ``check.py`` prints about the named variants and cases of the kernels in a directory."""
    command = [str(python), str(CHECK), str(kernels), *map("/".join, names)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=540, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def findings(printed: str) -> dict[Name, dict[str, Any]]:
    records = [json.loads(line) for line in printed.splitlines()]
    return {(record["kernel"], record["variant"], record["case"]): record for record in records}


def mutate(source: str, function: str, old: str, new: str) -> str:
    """Replace a text wherever it occurs in one function of a source file."""
    before, head, rest = source.partition(f"def {function}(")
    body, decorator, after = rest.partition("\n@triton.jit")
    assert old in body, f"{function} no longer says {old}"
    return before + head + body.replace(old, new) + decorator + after


Once = Callable[[str, Callable[[], str]], str]
SOUND = list(sound_names())
UNCOMPILABLE: list[Name] = [("sel_varlen", "as_written", case) for case in ("few", "many", "mixed")]


@pytest.fixture(scope="module")
def found(pair_python: str | Path, once: Once) -> dict[Name, dict[str, Any]]:
    """The findings on all that has to pass, and on the kernel that only compilers cannot take; made once."""
    return findings(once("sound", lambda: checked(pair_python, KERNELS, [*SOUND, *UNCOMPILABLE])))


@pytest.fixture(scope="module")
def found_of_mutants(pair_python: str | Path, tmp_path_factory: pytest.TempPathFactory, once: Once) -> dict[Name, dict[str, Any]]:
    """The findings on a copy of the kernels in which each way of writing has a mistake."""
    copies = tmp_path_factory.mktemp("mutants")
    for path in KERNELS.glob("*.toml"):
        shutil.copy(path, copies)
        source = path.with_suffix(".py").read_text(encoding="utf-8")
        for (kernel, variant, _), (old, new) in MUTANTS.items():
            if kernel == path.stem:
                source = mutate(source, f"{kernel}_{variant}", old, new)
        (copies / f"{path.stem}.py").write_text(source, encoding="utf-8")
    return findings(once("mutants", lambda: checked(pair_python, copies, MUTANTS)))


@pytest.mark.parametrize("name", SOUND, ids="/".join)
def test_computes_the_reference(found: dict[Name, dict[str, Any]], name: Name) -> None:
    assert name in found, "check.py said nothing about it"
    assert found[name]["error"] is None
    assert found[name]["tried"] >= 6
    assert found[name]["ok"], f"off by {found[name]['max_abs_err']} with {found[name]['worst']}"


@pytest.mark.parametrize("name", list(MUTANTS), ids="/".join)
def test_notices_a_mistake(found_of_mutants: dict[Name, dict[str, Any]], name: Name) -> None:
    assert found_of_mutants[name]["error"] is None, "the mistake is to be in the numbers"
    assert not found_of_mutants[name]["ok"]


@pytest.mark.parametrize("name", UNCOMPILABLE, ids="/".join)
def test_the_abort_is_the_compilers_own(found: dict[Name, dict[str, Any]], name: Name) -> None:
    """The loop bounded by a block is sound arithmetic: what cannot be compiled can be interpreted."""
    assert found[name]["ok"]


def test_no_way_of_writing_is_left_out() -> None:
    """No declaration may quietly take one of the five out of this test."""
    ways = {"broadcast_2d", "pointer_grid", "loop_1d", "block_ptr", "descriptor"}
    for kernel, cases in {"sel_dense": 3, "sel_varlen": 3}.items():
        assert sum(name[0] == kernel and name[1] in ways for name in (*SOUND, *SLOW)) == cases * len(ways)
