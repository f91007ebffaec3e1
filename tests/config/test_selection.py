"""Names, groups and globs on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version

from compat.config.matrix import MatrixConfig, load_matrix
from compat.config.selection import nothing_matches, select_specs
from compat.errors import SelectionError
from compat.model import CompileSpec, Specialization
from tests.together import for_each

MATRIX = """
schema = 1
kernels = ["k.toml"]
env = [
  { triton = "3.0.0", groups = ["default", "old"] },
  { triton = "3.1.0", groups = ["old"] },
  { triton = "3.9.0" },
  { triton = "3.8.0", name = "old-but-gold" },
]
"""


@pytest.fixture
def config(tmp_path: Path) -> MatrixConfig:
    path = tmp_path / "matrix.toml"
    path.write_text(MATRIX, encoding="utf-8")
    return load_matrix(path)


@for_each(
    ("patterns", "names"),
    [
        ([], ["triton-3.0.0"]),
        (["triton-3.1.0"], ["triton-3.1.0"]),
        (["old"], ["triton-3.0.0", "triton-3.1.0"]),
        (["old*"], ["old-but-gold"]),
        (["triton-3.9.0", "old"], ["triton-3.0.0", "triton-3.1.0", "triton-3.9.0"]),
        (["triton-3.9.0,old", "old"], ["triton-3.0.0", "triton-3.1.0", "triton-3.9.0"]),
        (["triton-3.[19].0"], ["triton-3.1.0", "triton-3.9.0"]),
        (["triton-3.1", "triton-newest"], ["triton-3.1.0", "triton-3.9.0"]),
        (["cute-4.5,cute-newest"], ["cute-4.5.3", "cute-4.8.1"]),
        (["*"], ["triton-3.0.0", "triton-3.1.0", "triton-3.9.0", "old-but-gold"]),
    ],
)
def test_patterns_select_envs(config: MatrixConfig, patterns: list[str], names: list[str]) -> None:
    assert [env.name for env in config.choose_envs(patterns)] == names


def test_patterns_select_targets(config: MatrixConfig) -> None:
    assert [target.name for target in config.choose_targets([])] == ["sm_80", "sm_89", "sm_90"]
    assert [target.name for target in config.choose_targets(["gfx9*", "sm_70"])] == [
        "sm_70",
        "gfx90a",
        "gfx942",
        "gfx950",
    ]


def spec(kernel: str, variant: str, case: str) -> Specialization:
    return Specialization(
        kernel=kernel,
        variant=variant,
        case=case,
        source="",
        function="",
        compile=CompileSpec(signature={}, constexprs={}),
    )


SPECS = (
    spec("dense", "grid", "d64"),
    spec("dense", "loop", "d64"),
    spec("varlen", "grid", "few"),
    spec("varlen", "loop", "many"),
)


@for_each(
    ("kernels", "variants", "cases", "indexes"),
    [
        ([], [], [], [0, 1, 2, 3]),
        (["dense"], [], [], [0, 1]),
        (["*"], ["loop"], [], [1, 3]),
        (["v*"], ["grid", "loop"], ["m*"], [3]),
        ([], ["grid"], ["few,d64"], [0, 2]),
    ],
)
def test_patterns_select_specializations(
    kernels: list[str], variants: list[str], cases: list[str], indexes: list[int]
) -> None:
    assert select_specs(SPECS, kernels, variants, cases) == tuple(SPECS[index] for index in indexes)


def test_pattern_without_a_match_is_an_error(config: MatrixConfig) -> None:
    with pytest.raises(
        SelectionError, match=r"^no env, group of envs or release matches 'triton-3\.1\.0x'$"
    ) as raised:
        config.choose_envs(["old", "triton-3.1.0x"])
    assert raised.value.hint is not None
    assert "triton-3.1.0" in raised.value.hint
    assert config.choose_envs(["cute-9.1.0"])[0].release == Version("9.1.0")
    with pytest.raises(
        SelectionError, match=r"^no env, group of envs or release matches 'cute-9'$"
    ):
        config.choose_envs(["cute-9"])  # one number is no release
    with pytest.raises(SelectionError, match=r"^no target matches 'metal'$") as raised:
        config.choose_targets(["metal"])
    assert raised.value.hint is not None
    assert "[[target]]" in raised.value.hint
    with pytest.raises(SelectionError, match=r"^no variant matches 'gird'$") as raised:
        select_specs(SPECS, ["dense"], ["gird"])
    assert raised.value.hint == "Did you mean grid?"
    with pytest.raises(SelectionError, match=r"^no case matches 'few'$"):
        select_specs(SPECS, ["dense"], [], ["few"])


def test_hint_lists_the_first_eight_names_and_counts_the_others() -> None:
    few, many = (
        nothing_matches("env", "zzz", ["one", "two"]),
        nothing_matches("cell", "zzz", [f"kernel/{n:050}" for n in range(900)]),
    )
    assert few.hint == "Available: one, two."
    assert many.hint is not None
    assert many.hint.endswith(", 892 more.")
    assert len(many.hint) < 650
