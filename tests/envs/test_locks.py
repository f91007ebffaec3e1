"""Locked envs: only files with the hashes in ``matrix.lock`` are installed."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import sys
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from compat.config.kernel_files import load_kernels
from compat.config.matrix import load_matrix
from compat.envs.cache import VARIABLE, EnvCache, fingerprint
from compat.envs.libraries import Overlay, overlaid, unpack_library
from compat.errors import ConfigError, EnvError
from compat.project import select
from tests import commands
from tests.envs.conftest import Checkout, make_wheel
from tests.waiting import PATIENCE
from tests.wheels import VERSIONS, write_wheel

BACKENDS = ("uv", "virtualenv")
REPOSITORY = Path(__file__).resolve().parents[2]
ENV = "triton-1.0"


def lock(
    checkout: Checkout, *arguments: str, code: int = 0, environ: Mapping[str, str] | None = None
) -> str:
    """Run `compat envs lock` in the checkout, and return all its output."""
    return _locking(checkout.root, checkout.environ(**environ or {}), *arguments, code=code)


def _locking(folder: Path, environ: Mapping[str, str], *arguments: str, code: int = 0) -> str:
    python = {key: value for key, value in os.environ.items() if key.startswith("PYTHON")}
    env = {**environ, **python, "PYTHONPATH": str(REPOSITORY)}
    done = commands.run("envs", "lock", *arguments, cwd=folder, env=env, timeout=PATIENCE)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def lock_of(checkout: Checkout) -> Path:
    return Path(checkout.root, "matrix.lock")


@pytest.fixture
def locked(checkout: Checkout, once: Callable[[str, Callable[[], str]], str]) -> Checkout:
    """A checkout whose env has a dependency, and is locked.

    The wheels of all such checkouts are equal. So one lock is made for all.
    """
    checkout.publish("triton", "1.0", requires=("helper",))
    checkout.publish("helper", "2.0")

    def made() -> str:
        assert f"{ENV}: 2 packages" in lock(checkout)
        return lock_of(checkout).read_text()

    lock_of(checkout).write_text(once("matrix.lock", made))
    return checkout


def test_a_locked_env_keeps_its_versions(locked: Checkout) -> None:
    locked.publish("helper", "2.1")
    for backend in BACKENDS:
        locked.build(ENV, backend=backend)
        built = locked.read(ENV)
        assert built.error is None
        assert built.version_of("helper") == "2.0"
    lock_of(locked).unlink()
    locked.build(ENV)
    assert locked.read(ENV).version_of("helper") == "2.1"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["triton-1.0", "helper-2.0"])
def test_a_wheel_with_other_content_is_refused(
    locked: Checkout, backend: str, name: str, tmp_path: Path
) -> None:
    distribution, version = name.split("-")
    # The wheel has the same name, version and dependencies, and another program.
    locked.publish(
        distribution, version, requires=("helper",) if name == ENV else (), classifier="x"
    )
    # From its usual cache, uv would install the first file.
    locked.build(ENV, backend=backend, UV_CACHE_DIR=str(tmp_path / "cache"))
    error = (locked.read(ENV).error or "").lower()
    assert "hash" in error, error
    assert distribution in error, error
    assert not list(locked.cache.folder.glob(f"*/cp*/lib/*/site-packages/{distribution}"))


@pytest.mark.parametrize("backend", BACKENDS)
def test_dependency_that_the_lock_lacks_is_refused(locked: Checkout, backend: str) -> None:
    text = lock_of(locked).read_text()
    first = text.index("[[env.package]]")
    second = text.index("[[env.package]]", first + 1)
    assert "helper" in text[first:second]
    lock_of(locked).write_text(text[:first] + text[second:])
    locked.build(ENV, backend=backend)
    assert "helper" in (locked.read(ENV).error or "")


def test_nox_session_installs_the_locked_versions(locked: Checkout) -> None:
    locked.publish("helper", "2.1")
    locked.nox("-s", f"env({ENV})")
    assert locked.read(ENV).version_of("helper") == "2.0"


def test_different_locks_give_different_envs(locked: Checkout) -> None:
    path = locked.root / "matrix.toml"
    first = load_matrix(path).env(ENV)
    assert first.lock
    locked.publish("helper", "2.1")
    lock(locked)
    second = load_matrix(path).env(ENV)
    lock_of(locked).unlink()
    keys = {fingerprint(env) for env in (first, second, load_matrix(path).env(ENV))}
    assert len(keys) == 3


def test_changed_declaration_is_an_error_until_it_is_locked_again(locked: Checkout) -> None:
    locked.publish("setuptools", "80.0")
    locked.matrix('{ triton = "1.0", install = ["setuptools"] }')
    with pytest.raises(ConfigError) as caught:
        load_matrix(locked.root / "matrix.toml")
    assert str(caught.value) == (
        "matrix.lock: triton-1.0 was locked for triton==1.0, and is now declared with"
        " triton==1.0, setuptools"
    )
    assert caught.value.hint == (
        "Lock it again with `compat envs lock triton-1.0`, or undo the change."
    )
    lock(locked, ENV)
    locked.build(ENV)
    assert locked.read(ENV).version_of("setuptools") == "80.0"


def test_named_envs_are_locked_and_others_keep_their_lock(locked: Checkout) -> None:
    locked.matrix('{ triton = "1.0" }', '{ triton = "1.1" }')
    before = load_matrix(locked.root / "matrix.toml").env(ENV)
    locked.publish("helper", "2.1")
    envs = json.loads(lock(locked, "triton-1.1", "--json").partition("\nwrote")[0])
    assert [env["name"] for env in envs] == ["triton-1.1"]
    config = load_matrix(locked.root / "matrix.toml")
    assert config.env(ENV) == before
    assert config.env("triton-1.1").lock
    locked.matrix('{ triton = "1.1" }')
    assert "triton-1.1: 1 package for Python 3." in lock(locked)
    assert list(load_matrix(locked.root / "matrix.toml").locks.envs) == ["triton-1.1"]


# --- libraries ------------------------------------------------------------------------------------

LIBRARY = "live-waves"
OWN = """import triton
import triton.language as tl


@triton.jit
def own(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)
"""
KERNEL = """kernel = "one"
package = "Live_Waves==1.0"
module = "live_waves.plain"
function = "plain"
signature = { x_ptr = "*fp32", y_ptr = "*fp32", n = "i32" }
constexprs = { BLOCK = 64 }
"""


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index of libraries. Installers use no other index, and no cache."""
    folder = tmp_path / "index"
    for name, url in (("UV_DEFAULT_INDEX", folder.as_uri()), ("PIP_INDEX_URL", folder.as_uri())):
        monkeypatch.setenv(name, url)
    monkeypatch.setenv("UV_NO_CACHE", "1")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "envs"))
    for version, files in VERSIONS.items():
        _publish(folder, version, files)
    return folder


def _publish(index: Path, version: str, files: Mapping[str, str]) -> None:
    folder = index / LIBRARY
    folder.mkdir(parents=True, exist_ok=True)
    write_wheel(folder, LIBRARY, version, files)
    links = (
        f'<a href="{path.name}#sha256={_sha256(path)}">{path.name}</a>'
        for path in sorted(folder.glob("*.whl"))
    )
    (folder / "index.html").write_text("\n".join(links), encoding="utf-8")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _exchange(index: Path, version: str) -> None:
    """Replace a wheel by one with the same name and version, and another program."""
    _publish(index, version, {"plain.py": "raise SystemExit\n"})


@pytest.fixture
def project(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a kernel file for a kernel of a library."""
    wheel = make_wheel(tmp_path, "triton", "1.0")
    (tmp_path / "k.toml").write_text(KERNEL)
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "matrix.toml").write_text(
        f'kernels = ["k.toml", "own.py"]\n[[env]]\nwheel = "./{wheel.name}"\nname = "fork"\n'
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _lock_libraries(*arguments: str) -> str:
    """Run `compat envs lock`, and return all its output."""
    return _locking(Path.cwd(), os.environ, *arguments)


def test_locked_library_is_not_unpacked_from_another_file(project: Path, index: Path) -> None:
    assert f"{LIBRARY}==1.0: 1 file\n" in _lock_libraries()
    _exchange(index, "1.0")
    config = load_matrix(project / "matrix.toml")
    with pytest.raises(ConfigError, match=r"(?i)hash") as caught:
        load_kernels(["k.toml"], config.base, library=config.library)
    assert "matrix.lock has the hashes of other files" in str(caught.value.hint)
    (project / "matrix.lock").unlink()
    exchanged = load_matrix(project / "matrix.toml").library("live-waves==1.0")
    assert "SystemExit" in (exchanged / "live_waves" / "plain.py").read_text()


def test_library_that_another_project_unpacked_is_not_used(project: Path, index: Path) -> None:
    _exchange(index, "1.0")
    load_matrix(project / "matrix.toml").library("live-waves==1.0")
    _publish(index, "1.0", VERSIONS["1.0"])
    _lock_libraries()
    selection = select(project / "matrix.toml")
    (spec,) = (spec for spec in selection.specs if spec.package)
    assert "SystemExit" not in Path(spec.source).read_text()


def test_an_index_for_pip_alone_has_libraries_for_uv(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (index / LIBRARY).is_dir()
    monkeypatch.delenv("UV_DEFAULT_INDEX")
    assert (unpack_library(f"{LIBRARY}==1.0") / "live_waves").is_dir()


def test_libraries_of_an_option_are_added_to_the_lock(project: Path, index: Path) -> None:
    _lock_libraries()
    output = _lock_libraries("--package", "live-waves==2.0", "--json").partition("\nwrote")[0]
    assert [library["name"] for library in json.loads(output)] == ["live-waves==2.0"]
    locks = load_matrix(project / "matrix.toml").locks
    assert list(locks.libraries) == ["live-waves==1.0", "live-waves==2.0"]
    assert list(locks.envs) == ["fork"]
    _exchange(index, "2.0")
    with pytest.raises(EnvError, match=r"(?i)hash"):
        select(project / "matrix.toml", packages=["live-waves==2.0"])


def test_a_source_distribution_with_another_hash_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for installer in ("UV", "PIP"):
        monkeypatch.setenv(f"{installer}_FIND_LINKS", str(tmp_path))
        monkeypatch.setenv(f"{installer}_NO_INDEX", "1")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "envs"))
    path = tmp_path / "my_kernels-2.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("my_kernels-2.0/my_kernels/act.py")
        archive.addfile(member)
    digest = _sha256(path)
    with pytest.raises(EnvError, match=r"cannot install my-kernels==2\.0"):
        unpack_library("my-kernels==2.0", ["0" * 64])
    assert (unpack_library("my-kernels==2.0", [digest]) / "my_kernels" / "act.py").is_file()


def test_release_that_precedes_that_of_a_pair_is_installed_from_its_lock(
    project: Path, index: Path
) -> None:
    path = index / LIBRARY / "live_waves-1.0-py3-none-any.whl"
    digest = _sha256(path)
    lock = [f"live-waves==1.0 --hash=sha256:{digest}", f"no-kernels==1.0 --hash=sha256:{digest}"]
    cache = EnvCache(project / "cache")
    version = platform.python_version()

    def release() -> Overlay:
        return overlaid(("live_waves==1.0",), sys.executable, version, cache, lock)

    first = release()
    assert (first.folder / "live_waves").is_dir()
    assert not (first.folder / "no_kernels").exists()
    shutil.rmtree(first.folder)
    _exchange(index, "1.0")
    with pytest.raises(EnvError, match=r"(?i)hash"):
        release()


@pytest.mark.parametrize("backend", BACKENDS)
def test_wheel_beside_the_matrix_file_is_locked_by_its_content(
    checkout: Checkout, backend: str, tmp_path: Path
) -> None:
    wheel = make_wheel(checkout.root / "some wheels", "triton", "1.0+fork")
    checkout.matrix(f'{{ wheel = "some wheels/{wheel.name}", name = "fork" }}')
    lock(checkout)
    assert str(checkout.root) not in lock_of(checkout).read_text()
    checkout.build("fork", backend=backend)
    assert checkout.read("fork").error is None
    make_wheel(wheel.parent, "triton", "1.0+fork", classifier="x")
    checkout.build("fork", backend=backend)
    assert "hash" in (checkout.read("fork").error or "").lower()


def test_a_folder_cannot_be_locked(checkout: Checkout) -> None:
    folder = checkout.root / "library"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "library"\nversion = "1"\n')
    checkout.matrix('{ triton = "1.0", install = ["./library"] }')
    output = lock(checkout, code=4)
    assert "triton-1.0 cannot be locked" in output
    assert "library is a folder" in output
    assert not lock_of(checkout).exists()


def test_lock_without_uv_is_an_error(checkout: Checkout) -> None:
    output = lock(checkout, code=4, environ={"UV": os.fspath(checkout.root / "absent")})
    assert "uv is not installed" in output


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('"triton==1.0"\nsha', '"--index-url=http://evil"\nsha', "requirement"),
        ('"triton==1.0"\nsha', '"triton==1.0 -e /x"\nsha', "requirement"),
        ('"triton==1.0"\nsha', '"triton"\nsha', "requirement"),
        ("sha256 = [", 'sha256 = ["0 --x", ', "sha256"),
        ('python = "3', 'python = ">3', "python"),
    ],
)
def test_lock_with_invalid_values_is_refused(
    locked: Checkout, old: str, new: str, key: str
) -> None:
    text = lock_of(locked).read_text()
    assert old in text
    lock_of(locked).write_text(text.replace(old, new))
    with pytest.raises(ConfigError, match=rf"matrix\.lock: env\[0\].*{key}"):
        load_matrix(locked.root / "matrix.toml")


@pytest.mark.wheels
def test_a_real_release_is_installed_from_its_lock(checkout: Checkout, tmp_path: Path) -> None:
    checkout.matrix('{ triton = "3.1.0" }')
    real = {
        name: value
        for name in ("UV_DEFAULT_INDEX", "PIP_INDEX_URL")
        if (value := os.environ.get(name))
    }
    shutil.rmtree(checkout.index)
    environ = {"UV_DEFAULT_INDEX": "", "PIP_INDEX_URL": ""} | real
    lock(checkout, environ=environ)
    env = load_matrix(checkout.root / "matrix.toml").env("triton-3.1.0")
    assert any(line.startswith("triton==3.1.0 --hash=sha256:") for line in env.lock)
    checkout.build("triton-3.1.0", real=True)
    built = checkout.read("triton-3.1.0")
    assert built.error is None
    pinned = {tuple(line.split(" ")[0].split("==")) for line in env.lock}
    assert {(package.name, package.version) for package in built.packages} == pinned
