"""The pairs that options select."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from packaging.version import Version

from compat.envs.cache import EnvCache
from compat.envs.installers import PinUnknown, pinned_release
from compat.errors import ConfigError, EnvError, SelectionError
from compat.pairs import pairing
from compat.pairs.pairing import RequestedPair, choose_pairs
from compat.project import Selection, select, select_places
from compat.text import write_json
from tests.envs.conftest import make_wheel

MATRIX = """
schema = 1
kernels = ["one.toml"]
env = [
  { triton = "3.0.0", torch = "2.4.1" },
  { triton = "3.5.1", torch = "2.9.1", groups = ["default"] },
  { triton = "3.6.0" },
  { triton = "3.9.0", groups = ["default"] },
]
"""
KERNEL = """
schema = 1
kernel = "one"
source = "k.py"
signature = { x = "*fp32" }
case = [{ name = "small" }]
variant = [{ name = "v", function = "k" }]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "matrix.toml").write_text(MATRIX)
    (tmp_path / "one.toml").write_text(KERNEL)
    (tmp_path / "k.py").write_text("def k(x): ...\n")
    monkeypatch.setenv("COMPAT_ENVS", str(tmp_path / "envs"))
    for name in ("UV_DEFAULT_INDEX", "PIP_INDEX_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/simple")
    return tmp_path / "matrix.toml"


def names(pairs: tuple[RequestedPair, ...]) -> list[str]:
    return [f"{pair.env.framework_release}+{pair.release or 'own'}" for pair in pairs]


def places(project: Path, *envs: str) -> Selection:
    return select_places(project, envs=envs)


def test_by_default_the_pairs_are_the_chosen_envs_with_a_pytorch(project: Path) -> None:
    assert names(choose_pairs(places(project))) == ["2.9.1+own"]
    assert names(choose_pairs(places(project, "*torch*"))) == ["2.4.1+own", "2.9.1+own"]


def test_chosen_envs_without_a_pytorch_are_an_error(project: Path) -> None:
    with pytest.raises(SelectionError, match="none of the chosen envs has a PyTorch"):
        choose_pairs(places(project, "3.9.0"))


def test_a_pytorch_is_paired_with_every_release_or_with_the_named_ones(project: Path) -> None:
    every = names(choose_pairs(places(project), ["2.4.1"]))
    assert [name.partition("+")[0] for name in every] == ["2.4.1"] * 13
    assert (every[0], every[-1]) == ("2.4.1+3.0.0", "2.4.1+3.9.0")
    assert names(choose_pairs(places(project), ["2.4.1,2.9.1"], ["3.9.0", "3.6.0"])) == [
        f"{torch}+{release}" for torch in ("2.4.1", "2.9.1") for release in ("3.6.0", "3.9.0")
    ]


def test_releases_are_selected_with_the_syntax_of_envs(project: Path) -> None:
    assert names(choose_pairs(places(project), ["2.4.1"], [">=3.5.1,<3.9"])) == [
        "2.4.1+3.5.1",
        "2.4.1+3.6.0",
    ]
    assert names(choose_pairs(places(project), ["2.4.1"], ["newest,3.6.0"])) == [
        "2.4.1+3.6.0",
        "2.4.1+3.9.0",
    ]


def test_a_release_is_paired_with_the_pytorch_of_the_chosen_envs(project: Path) -> None:
    assert names(choose_pairs(places(project), (), ["3.6.0"])) == ["2.9.1+3.6.0"]


def test_the_env_of_an_undeclared_pytorch_has_the_release_that_it_asks_for(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairing, "pinned_release", lambda *_: Version("3.7.1"))
    (pair,) = choose_pairs(places(project), ["2.13.0"], ["3.9.0"])
    assert pair.env.name == "triton-3.7.1-torch-2.13.0"


def test_an_undeclared_pytorch_with_an_unknown_pin_is_an_error(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: object) -> None:
        raise PinUnknown("cannot determine what torch 2.13.0 requires")

    monkeypatch.setattr(pairing, "pinned_release", unknown)
    message = r"the matrix declares no env with torch 2\.13\.0"
    with pytest.raises(EnvError, match=message) as raised:
        choose_pairs(places(project), ["2.13.0"])
    assert "Check that PyTorch 2.13.0 exists" in str(raised.value.hint)


def test_an_invalid_version_of_pytorch_is_refused(project: Path) -> None:
    with pytest.raises(SelectionError, match="'newest' is not a version"):
        choose_pairs(places(project), ["newest"])


def write_pins(cache: EnvCache, pins: dict[str, str]) -> None:
    path = cache.folder / "pairs" / "pins.json"
    path.parent.mkdir(parents=True)
    path.write_text(write_json(pins))


def test_a_cached_pin_needs_no_package_index(project: Path) -> None:
    cache = places(project).config.env_cache()
    write_pins(cache, {"2.9.1 triton 3.11": "3.5.1", "2.5.1 triton 3.13": ""})
    assert pinned_release("torch", Version("2.9.1"), "triton", "3.11", cache, {}) == Version(
        "3.5.1"
    )
    assert pinned_release("torch", Version("2.5.1"), "triton", "3.13", cache, {}) is None


def test_a_pin_comes_from_the_index_for_pip_and_not_from_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """uv does not read that variable, and takes overrides from the current folder."""
    index = tmp_path / "index"
    wheels = (("torch", "9.0", ("triton==8.0",)), ("triton", "7.0", ()), ("triton", "8.0", ()))
    for name, version, requires in wheels:
        wheel = make_wheel(index / name, name, version, requires=requires)
        with (wheel.parent / "index.html").open("a", encoding="utf-8") as page:
            page.write(f'<a href="{wheel.name}">{wheel.name}</a>\n')
    overrides = '[tool.uv]\noverride-dependencies = ["triton==7.0"]\n'
    (tmp_path / "pyproject.toml").write_text(overrides, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    variables = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX")
    environ = {name: value for name, value in os.environ.items() if name not in variables}
    environ |= {"PIP_INDEX_URL": index.as_uri(), "UV_DEFAULT_INDEX": "", "UV_NO_CACHE": "1"}
    cache = EnvCache(tmp_path / "envs")
    write_pins(cache, {"9.0 triton 3.11": "6.0"})  # of another index
    pin = pinned_release("torch", Version("9.0"), "triton", "3.11", cache, environ)
    assert pin == Version("8.0")


# --- in a matrix ----------------------------------------------------------------------------------


def test_a_matrix_tries_pairs_unless_an_option_narrows_it(project: Path) -> None:
    assert select(project).pairs
    assert not select(project, kernels=["one"]).pairs
    assert not select(project, cases=["small"]).pairs
    assert not select(project, kernel_files=[str(project.parent / "one.toml")]).pairs


@pytest.mark.parametrize("word", ["pair", "pair/*"])
def test_pairs_can_be_selected_alone_or_with_a_kernel(project: Path, word: str) -> None:
    alone = select(project, kernels=[word])
    assert alone.pairs
    assert not alone.cells
    both = select(project, kernels=[word, "one"])
    assert both.pairs
    assert both.cells


def test_a_project_can_turn_pairs_off(project: Path) -> None:
    project.write_text(f"{MATRIX}\n[pairs]\nrun = false\n")
    assert not select(project).pairs
    assert select(project, kernels=["pair"]).pairs
    project.write_text(f"{MATRIX}\n[pairs]\nrun = 1\n")
    with pytest.raises(ConfigError, match=r"pairs\.run"):
        select(project)
