"""The command bisects a folder of wheels in its own checkout.

nox is real, the wheels are almost empty, and there is no network.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from compat.envs import provider
from compat.envs.cache import EnvCache
from compat.envs.listing import INDEX
from compat.envs.provider import EnvProvider
from compat.model import Env
from tests import commands
from tests.envs.conftest import Checkout, checkout, make_wheel
from tests.waiting import PATIENCE

__all__ = ["checkout"]  # the fixture
ROOT = Path(__file__).parents[2]


def test_envs_of_wheels_are_built_through_nox_in_the_order_of_their_dates(
    checkout: Checkout, tmp_path: Path
) -> None:
    house = tmp_path / "house"
    for day, version in enumerate(("3.6.0+gitfff2222", "3.6.0+gitaaa1111"), start=1):
        wheel = make_wheel(house, "triton", version)
        os.utime(wheel, (day * 86400, day * 86400))
    done = commands.run(
        *("bisect", "--find-links", str(house), "--target", "sm_90", "--json"),
        cwd=checkout.root,
        env=checkout.environ(PYTHONPATH=str(ROOT)),
        timeout=120,
    )
    assert done.returncode == 1, done.stderr  # these wheels give no answer
    (answer,) = json.loads(done.stdout)
    assert answer["answer"] == "unknown"
    assert answer["searched"] == ["3.6.0+gitfff2222", "3.6.0+gitaaa1111"]
    assert {probe["class"] for probe in answer["probes"]} == {"import"}, (
        "installed, and no compiler in it"
    )
    assert done.stderr.count("building ") == 1
    assert len(checkout.cache.folders()) == 2


def test_error_without_an_index_suggests_known_releases(tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").write_text(
        'schema = 1\nkernels = ["k.toml"]\nenv = [{ triton = "3.1.0", groups = ["default"] }]\n'
    )
    (tmp_path / "k.py").write_text("def k(x): ...\n")
    (tmp_path / "k.toml").write_text(
        'schema = 1\nkernel = "k"\nsource = "k.py"\nsignature = { x = "*fp32" }\ncase = [{ name ='
        ' "c" }]\n'
    )
    with (tmp_path / "k.toml").open("a") as file:
        file.write('variant = [{ name = "v", function = "k" }]\n')
    closed = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple",
    }
    done = commands.run("bisect", cwd=tmp_path, env=closed, timeout=PATIENCE)
    assert done.returncode == 6, done.stderr
    assert (
        "hint: Check that this machine is online. --envs releases bisects over known releases"
        in done.stderr
    )


@pytest.mark.parametrize("name", ["matrix.toml", "mine.toml"])
def test_provider_builds_the_envs_of_a_matrix_file_with_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    calls: list[tuple[Path, EnvCache, list[Env]]] = []
    monkeypatch.setattr(
        provider,
        "build_envs",
        lambda builder, envs, **_: calls.append((builder.index_cache, builder.cache, envs)),
    )
    cache = EnvCache(tmp_path / "envs")
    (built,) = EnvProvider(cache=cache)(tmp_path / name, [Env(name="some")])
    assert calls == [(tmp_path / INDEX, cache, [Env(name="some")])]
    assert built.error is not None, "nothing was built here"
