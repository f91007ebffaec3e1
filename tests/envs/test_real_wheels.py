"""Building envs from the real wheels of a release, with both installers, and from a fork of it."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from compat.config.matrix import load_matrix
from compat.envs.record import read_env, site_packages
from tests.envs.conftest import Checkout

pytestmark = pytest.mark.wheels

REPOSITORY = Path(__file__).resolve().parents[2]
SAY = "import importlib.metadata as m, triton; print(triton.__version__, m.version('triton'))"


def describe_python(python: str | None) -> str:
    assert python is not None
    return subprocess.run(
        [python, "-c", SAY], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def real(checkout: Checkout) -> Checkout:
    shutil.copy2(REPOSITORY / "matrix.toml", checkout.root)
    return checkout


@pytest.mark.parametrize("backend", ["uv", "virtualenv"])
def test_env_of_a_release_has_its_undeclared_dependency(real: Checkout, backend: str) -> None:
    """Triton 3.1.0 imports setuptools without declaring it."""
    real.build("triton-3.1.0", backend=backend, real=True)
    built = real.read("triton-3.1.0")
    assert built.error is None
    assert describe_python(built.python) == "3.1.0 3.1.0"
    assert int((built.version_of("setuptools") or "0").partition(".")[0]) < 81
    shutil.rmtree(real.cache.folder)


def test_error_names_a_release_that_does_not_exist(real: Checkout) -> None:
    real.build("triton-3.99.0", real=True)
    assert "triton==3.99.0" in (real.read("triton-3.99.0").error or "")


def test_a_repackaged_wheel_is_a_fork(
    real: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real.build("triton-3.1.0", real=True)
    released = real.read("triton-3.1.0")
    site = site_packages(Path(released.python or "").parents[1])
    tag = next(
        line[5:]
        for line in (site / "triton-3.1.0.dist-info/WHEEL").read_text().splitlines()
        if line.startswith("Tag: ")
    )
    wheel = repackaged(site, "3.1.0", "3.1.0+fork1", real.root / f"triton-3.1.0+fork1-{tag}.whl")
    companion = '[[companion]]\ntriton = "<3.3"\ninstall = ["setuptools<81"]\n'
    real.matrix(f'{{ wheel = "{wheel.name}" }}')
    with (real.root / "matrix.toml").open("a", encoding="utf-8") as file:
        file.write(companion)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))  # nothing of the fork stays behind
    real.build("triton-3.1.0+fork1", real=True)
    fork = read_env(load_matrix(real.root / "matrix.toml").env("triton-3.1.0+fork1"), real.cache)
    assert fork.error is None
    assert fork.release == "3.1.0+fork1"
    assert fork.digest != released.digest
    assert describe_python(fork.python) == "3.1.0 3.1.0+fork1"
    shutil.rmtree(tmp_path / "cache")
    shutil.rmtree(real.cache.folder)


def repackaged(site: Path, version: str, other: str, wheel: Path) -> Path:
    """A wheel made of an installed release, under another version."""
    old, new = f"triton-{version}.dist-info", f"triton-{other}.dist-info"
    names = [line.rsplit(",", 2)[0] for line in (site / old / "RECORD").read_text().splitlines()]
    own = ("RECORD", "INSTALLER", "REQUESTED", "uv_cache.json", "direct_url.json")
    with zipfile.ZipFile(wheel, "w") as archive:
        record = ""
        for name in names:
            if (
                name.startswith("..")
                or name.endswith(".pyc")
                or (name.startswith(old) and name.rpartition("/")[2] in own)
            ):
                continue
            target = name.replace(old, new)
            if name == f"{old}/METADATA":
                text = (
                    (site / name)
                    .read_text(encoding="utf-8")
                    .replace(f"\nVersion: {version}\n", f"\nVersion: {other}\n")
                )
                archive.writestr(target, text)
            else:
                archive.write(site / name, target)
            record += f"{target},,\n"
        archive.writestr(f"{new}/RECORD", f"{record}{new}/RECORD,,\n")
    return wheel
