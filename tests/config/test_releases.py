"""A release is accepted wherever an env is expected, and a GPU wherever a target is."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat import toolchains
from compat.config import releases
from compat.config.matrix import MatrixConfig, load_matrix, no_matrix
from compat.config.selection import cell_pattern
from compat.errors import SelectionError
from compat.project import gpus_of
from compat.toolchains.triton.facts import GPUS, TARGETS
from tests.together import for_each


@pytest.fixture
def built_in(tmp_path: Path) -> MatrixConfig:
    return no_matrix(tmp_path)


def names(config: MatrixConfig, *patterns: str) -> list[str]:
    return [env.name.removeprefix("triton-") for env in config.choose_envs(patterns)]


@for_each(
    ("texts", "expected"),
    [
        (["3.1"], ["3.1"]),
        (["3.1,3.9", " 3.0 "], ["3.1", "3.9", "3.0"]),
        ([">=3.1,<3.9"], [">=3.1,<3.9"]),
        ([">=3.1 , <3.9,!=3.3.0"], [">=3.1,<3.9,!=3.3.0"]),
        (["3.1,>=3.4,<3.9,newest"], ["3.1", ">=3.4,<3.9", "newest"]),
        ([">=3.8", "<3.1"], [">=3.8", "<3.1"]),
        (["", ","], []),
    ],
)
def test_adjacent_specifiers_are_one_word(texts: list[str], expected: list[str]) -> None:
    assert releases.split_words(texts) == expected


@for_each(
    ("word", "expected"),
    [
        ("3.9", ["3.9.0"]),
        ("3.5", ["3.5.1"]),
        ("3.5.0", ["3.5.0"]),
        ("v3.5.1", ["3.5.1"]),
        ("3.5.*", ["3.5.0", "3.5.1"]),
        ("3", ["3.9.0"]),
        ("newest", ["3.9.0"]),
        (">=3.8", ["3.8.0", "3.9.0"]),
        (">=3.1,<3.3", ["3.1.0", "3.2.0"]),
        ("==3.7.*", ["3.7.0", "3.7.1"]),
        ("~=3.7.0", ["3.7.0", "3.7.1"]),
        ("3.5.1-torch-2.9.1", ["3.5.1-torch-2.9.1"]),
        ("3.5.1-torch-2.8.0", ["3.5.1-torch-2.8.0"]),
        ("triton-3.5.1", ["3.5.1"]),
        ("triton-3.5*", ["3.5.0", "3.5.1", "3.5.1-torch-2.9.1"]),
        ("3.10.0", ["3.10.0"]),
        ("v3.10.0rc1", ["3.10.0rc1"]),
        ("triton-3.10.0", ["3.10.0"]),
        ("3.9,newest", ["3.9.0"]),
    ],
)
def test_word_selects_its_envs(built_in: MatrixConfig, word: str, expected: list[str]) -> None:
    assert names(built_in, word) == expected


@for_each(
    "word", ["3.10", "4", ">=4", ">=x", "3.10.*", "9" * 5000, ">=" + "9" * 5000, "3.1.", "2.0"]
)
def test_unknown_release_is_an_error_that_lists_the_known_ones(
    built_in: MatrixConfig, word: str
) -> None:
    with pytest.raises(SelectionError, match=r"^no known release matches") as raised:
        built_in.choose_envs([word])
    assert "Known releases: 3.0.0, 3.1.0" in str(raised.value.hint)


@for_each(
    ("word", "meant"),
    [
        *(
            ("=>3.4", ">=3.4"),
            ("=<3.4", "<=3.4"),
            ("=> v3.4", ">=3.4"),
            ("3.4+", ">=3.4"),
            ("≥3.4", ">=3.4"),
            ("=~3.4", "~=3.4"),
        ),
        *(("=3.4", "==3.4.*"), ("=3.4.0", "==3.4.0"), ("=!3.4.0", "!=3.4.0"), ("^3.4", "~=3.4")),
    ],
)
def test_invalid_operator_gets_a_suggestion(built_in: MatrixConfig, word: str, meant: str) -> None:
    with pytest.raises(SelectionError) as raised:
        built_in.choose_envs([word])
    assert str(raised.value) == f"{word!r} is neither a release nor a version specifier"
    assert raised.value.hint == f"Did you mean {meant!r}?"
    assert built_in.choose_envs([meant])


@pytest.mark.parametrize("word", ["^3", "~3", "=~3", ">=x,=3.4"])
def test_no_suggestion_is_an_invalid_specifier(word: str) -> None:
    assert releases.correct_specifier(word) is None


@pytest.mark.parametrize(
    ("word", "meant"),
    [("newst", "newest"), ("relases", "releases"), ("triton-3.9.x", "triton-3.9.0")],
)
def test_misspelled_word_gets_a_suggestion(built_in: MatrixConfig, word: str, meant: str) -> None:
    with pytest.raises(SelectionError, match=r"^no env, group of envs or release") as raised:
        built_in.choose_envs([word])
    assert meant in str(raised.value.hint)


OWN = """
env = [
  { triton = "3.5.1", torch = "2.9.1" },
  { triton = "3.8.0", torch = "2.14.1" },
  { triton = "3.8.0" },
  { triton = "3.8.0", name = "3.9" },
  { wheel = "w/triton-3.9.5+git1-py3-none-any.whl", groups = ["newest"] },
]
"""


def test_names_and_groups_precede_releases_and_plain_envs_precede_pairs(
    tmp_path: Path,
) -> None:
    path = tmp_path / "matrix.toml"
    path.write_text(OWN)
    config = load_matrix(path)
    assert names(config, "3.9") == ["3.9"]
    assert names(config, "newest") == ["3.9.5+git1"]
    assert names(config, "3.8") == ["3.8.0"]
    assert names(config, "3.5") == ["3.5.1-torch-2.9.1"]
    assert names(config, ">=3.6") == ["3.8.0"]
    assert names(config, "<3.2") == ["3.0.0", "3.1.0"]
    assert config.one_env("3.8").name == "triton-3.8.0"
    with pytest.raises(SelectionError, match="matches 2 envs"):
        config.one_env("<3.2")


@for_each(
    ("word", "target"),
    [
        *(
            ("h100", "sm_90"),
            ("H200", "sm_90"),
            ("a100", "sm_80"),
            ("4090", "sm_89"),
            ("rtx4090", "sm_89"),
            ("RTX-4090", "sm_89"),
        ),
        *(
            ("l40s", "sm_89"),
            ("b200", "sm_100"),
            ("rtx5090", "sm_120"),
            ("5090", "sm_120"),
            ("t4", "sm_75"),
            ("v100", "sm_70"),
        ),
        *(
            ("a10", "sm_86"),
            ("l4", "sm_89"),
            ("mi300x", "gfx942"),
            ("mi250", "gfx90a"),
            ("mi350x", "gfx950"),
        ),
        *(("rx7900", "gfx1100"), ("RX 7900 XTX", "gfx1100"), ("sm_90", "sm_90")),
    ],
)
def test_gpu_name_selects_its_target(built_in: MatrixConfig, word: str, target: str) -> None:
    chosen = built_in.choose_targets([word])
    assert [choice.name for choice in chosen if choice.toolchain == toolchains.DEFAULT.name] == [
        target
    ]


def test_unknown_gpu_gets_a_suggestion(built_in: MatrixConfig) -> None:
    with pytest.raises(SelectionError, match="no target matches 'h10'") as raised:
        built_in.choose_targets(["h10"])
    assert "h100" in str(raised.value.hint)


def test_gpus_belong_to_existing_targets() -> None:
    assert {target.name for target in TARGETS} == set(GPUS.values())
    assert all(toolchains.targets_of_gpu(gpu)[0] == target for gpu, target in GPUS.items())
    hopper = next(target for target in TARGETS if target.name == "sm_90")
    assert gpus_of(hopper) == ("h100", "h200", "gh200")


@for_each(
    ("word", "patterns"),
    [
        ("k/v/c/sm_90/3.9.0", ["k/v/c/sm_90/triton-3.9.0"]),
        ("k/v/c/h100/3.9", ["k/v/c/sm_90/triton-3.9.0", "k/v/c/sm_90a/triton-3.9.0"]),
        ("k/v/c/h100", ["k/v/c/sm_90", "k/v/c/sm_90a"]),
        ("k/v/c/sm_90/3.5.*", ["k/v/c/sm_90/triton-3.5.0", "k/v/c/sm_90/triton-3.5.1"]),
        ("*/newest", ["*/triton-3.9.0"]),
        ("k/v/c/sm_90/triton-3.9.0", ["k/v/c/sm_90/triton-3.9.0"]),
        ("k/v/c/sm_90/*", ["k/v/c/sm_90/*"]),
        ("k/v/c/sm_90/3.77", ["k/v/c/sm_90/3.77"]),
        ("softmax", ["softmax"]),
        ("k/h100/*", ["k/h100/*"]),
        (
            "k/*/h100/3.9",
            ["k/*/h100/triton-3.9.0", "k/*/sm_90/triton-3.9.0", "k/*/sm_90a/triton-3.9.0"],
        ),
        ("*/h100/*", ["*/h100/*", "*/sm_90/*", "*/sm_90a/*"]),
        ("*/h100", ["*/h100", "*/sm_90", "*/sm_90a"]),
        ("*/*/*/h100/newest", ["*/*/*/sm_90/triton-3.9.0", "*/*/*/sm_90a/triton-3.9.0"]),
        ("k/*/h100/*/3.9", ["k/*/h100/*/triton-3.9.0"]),
    ],
)
def test_cell_id_becomes_glob_patterns(
    built_in: MatrixConfig, word: str, patterns: list[str]
) -> None:
    assert list(cell_pattern(word, built_in).globs) == patterns
