"""Envs of the driver on another machine.

Folders stand for machines. Uv and processes are real, and wheels are tiny.
"""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from attrs import evolve
from packaging.version import Version

from compat.config.matrix import load_matrix
from compat.envs import locks
from compat.envs.cache import EnvCache
from compat.envs.installers import choose_installer
from compat.envs.provider import Builder
from compat.envs.record import kept_envs, read_env, size_of
from compat.envs.worker_envs import (
    NoRoom,
    PinnedEnv,
    WorkerEnvs,
    WorkerLacks,
    difference,
    worker_envs,
)
from compat.errors import EnvError
from compat.interruption import Stopped
from compat.model import BuiltEnv, Env, Package
from tests.envs.conftest import Checkout, SlowUv

REPOSITORY = Path(__file__).resolve().parents[2]


def build(env: Env, cache: EnvCache, backend: str = "uv") -> BuiltEnv:
    """Build an env as the driver does."""
    builder = Builder(
        cache=cache,
        index_cache=cache.folder,
        installer=lambda: choose_installer(backend),
        say=lambda _: None,
    )
    assert builder.build(env).error is None
    return read_env(env, cache)


def publish(checkout: Checkout) -> None:
    """Put releases of Triton on the index."""
    checkout.publish("helper", "1.0")
    for release in ("1.0", "1.1", "1.2"):
        checkout.publish("triton", release, requires=("helper",))


@pytest.fixture
def index(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """An index with releases of Triton, the only index that installers know."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    for name, value in checkout.environ().items():
        if name.startswith(("PIP_", "UV_", "VIRTUALENV_", "COMPAT_")):
            monkeypatch.setenv(name, value)
    publish(checkout)
    return checkout


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Env, EnvCache], None]:
    """Copies an env into a cache. The env is built once, as the driver builds it with uv."""
    folder = tmp_path_factory.mktemp("driver")
    checkout = Checkout(root=folder / "checkout", index=folder / "simple")
    publish(checkout)

    def copy(env: Env, cache: EnvCache) -> None:
        built = checkout.cache.folder_of(env)
        if not built.path.exists():
            with patch.dict(os.environ, checkout.environ(), clear=True):
                build(env, checkout.cache)
        shutil.copytree(built.path, cache.folder_of(env).path, symlinks=True)

    return copy


@pytest.fixture
def pinned_env(
    index: Checkout, driver: Callable[[Env, EnvCache], None]
) -> Callable[..., PinnedEnv]:
    """Returns the pinned env that a worker receives for a release that the driver has built."""

    def want(release: str = "1.0", backend: str = "uv", **more: Any) -> PinnedEnv:
        env = Env(name=f"triton-{release}", release=Version(release), **more)
        if backend == "uv" and not more:
            driver(env, index.cache)
        else:
            build(env, index.cache, backend)
        built = read_env(env, index.cache)
        sent: PinnedEnv = pickle.loads(pickle.dumps(PinnedEnv.of(built)))
        assert sent.digest == built.digest
        return sent

    return want


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """The folder of a worker's machine."""
    return tmp_path / "machine"


def installed(slow_uv: SlowUv, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Return a function that counts the installations from now on."""
    slow_uv.go_on()
    monkeypatch.setenv("UV", str(slow_uv.program))
    return lambda: len(slow_uv.asked())


@pytest.mark.parametrize("backend", ["uv", "virtualenv"])
def test_worker_builds_the_env_that_the_driver_has(
    pinned_env: Callable[..., PinnedEnv], machine: Path, index: Checkout, backend: str
) -> None:
    env, envs = pinned_env(backend=backend), WorkerEnvs(folder=machine)
    built = envs.provide(env)
    assert built.error is None
    assert (built.env, built.digest, built.python_version) == (
        env.env,
        env.digest,
        env.python_version,
    )
    assert built.python is not None
    assert built.python.startswith(f"{machine}/triton-1.0-")
    assert subprocess.run([built.python, "-c", "import triton"], check=False).returncode == 0
    shutil.rmtree(index.index)
    assert envs.provide(env) == WorkerEnvs(folder=machine).provide(env) == built


def test_worker_installs_the_drivers_versions_and_not_the_newest(
    pinned_env: Callable[..., PinnedEnv], machine: Path, index: Checkout
) -> None:
    env = pinned_env()
    index.publish("helper", "2.0")
    assert WorkerEnvs(folder=machine).provide(env).version_of("helper") == "1.0"
    assert build(env.env, EnvCache(machine.with_name("plain"))).version_of("helper") == "2.0"


def test_same_version_with_different_files_is_reported_and_not_used(
    pinned_env: Callable[..., PinnedEnv],
    machine: Path,
    index: Checkout,
    slow_uv: SlowUv,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env, count = pinned_env(), installed(slow_uv, monkeypatch)
    monkeypatch.setenv("UV_NO_CACHE", "1")  # because files of the same name change
    index.publish("helper", "1.0", requires=("triton",))
    envs = WorkerEnvs(folder=machine)
    for _ in range(2):
        built = envs.provide(env)
        assert (
            built.error
            == "different from the driver's: helper 1.0 has different files here and in the"
            " driver's"
        )
    assert count() == 1
    index.publish("helper", "1.0")
    assert WorkerEnvs(folder=machine).provide(env).error is None, (
        "a process that starts later tries it again"
    )


def test_difference_lists_python_and_packages(pinned_env: Callable[..., PinnedEnv]) -> None:
    env = pinned_env()
    helper, triton = env.packages
    assert difference(env, env.python_version, env.packages) is None
    others = (evolve(triton, version="2.9.1"), Package(name="pip", version="25.0", digest=""))
    assert (
        difference(env, "3.11.0", others)
        == f"Python 3.11.0 here, {env.python_version} in the driver's; helper is not here, 1.0 in"
        " the driver's; pip 25.0 here, not in the driver's; triton 2.9.1 here, 1.0 in the"
        " driver's"
    )
    many = tuple(Package(name=f"p{number}", version="1", digest="") for number in range(10))
    assert (difference(env, env.python_version, (helper, triton, *many)) or "").endswith(
        "p5 1 here, not in the driver's; 4 more"
    )


def test_failed_installation_quotes_the_installer_and_is_not_repeated(
    pinned_env: Callable[..., PinnedEnv],
    machine: Path,
    index: Checkout,
    slow_uv: SlowUv,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env, count, envs = pinned_env(), installed(slow_uv, monkeypatch), WorkerEnvs(folder=machine)
    shutil.rmtree(index.index / "helper")
    for _ in range(2):
        with pytest.raises(
            WorkerLacks, match=r"cannot install triton-1\.0 as the driver has it: (.|\n)*helper"
        ):
            envs.provide(env)
    assert count() == 1
    index.publish("helper", "1.0")
    assert WorkerEnvs(folder=machine).provide(env).error is None


def test_missing_prerequisite_is_an_error_before_any_installation(
    pinned_env: Callable[..., PinnedEnv],
    machine: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env, envs = pinned_env(), WorkerEnvs(folder=machine)
    minor = ".".join(env.python_version.split(".")[:2])
    with pytest.raises(
        WorkerLacks,
        match=(
            rf"Python {minor}\.99 is not installed on this machine .*uv python install {minor}\.99"
        ),
    ):
        envs.provide(evolve(env, python_version=f"{minor}.99"))
    with pytest.raises(WorkerLacks, match=r"Python 3\.99\.1 is not installed on this machine"):
        envs.provide(evolve(env, python_version="3.99.1"))
    with pytest.raises(WorkerLacks, match="is for linux-sparc, and this machine is linux"):
        envs.provide(evolve(env, platform="linux-sparc"))
    with pytest.raises(WorkerLacks, match="and all envs together may take"):
        WorkerEnvs(folder=machine, budget=env.size - 1).provide(env)
    monkeypatch.setenv("UV", str(tmp_path / "none"))
    with pytest.raises(WorkerLacks, match="uv, which the driver used, is not installed"):
        envs.provide(env)
    assert all(cached_env.state != "complete" for cached_env in kept_envs(EnvCache(machine)))


def test_local_wheel_must_exist_and_equal_the_drivers(
    pinned_env: Callable[..., PinnedEnv], machine: Path, index: Checkout
) -> None:
    wheel = index.index / "triton" / "triton-1.1-py3-none-any.whl"
    here = wheel.rename(index.root / wheel.name)
    env, envs = pinned_env("1.1", wheel=str(here)), WorkerEnvs(folder=machine)
    here.rename(here.with_suffix(".away"))
    with pytest.raises(
        WorkerLacks, match=rf"is installed from {here}, which is not on this machine"
    ):
        envs.provide(env)
    shutil.copy(index.publish("triton", "1.1"), here)
    with pytest.raises(WorkerLacks, match="which differs from the driver's"):
        envs.provide(env)
    here.with_suffix(".away").rename(here)
    assert envs.provide(env).digest == env.digest


def test_env_that_the_machine_already_has_is_not_built(
    pinned_env: Callable[..., PinnedEnv], machine: Path, index: Checkout
) -> None:
    env, envs = pinned_env(), WorkerEnvs(folder=machine, budget=1, also=(index.cache,))
    built = envs.provide(env)
    assert built.python is not None
    assert built.python.startswith(str(index.cache.folder))
    assert not machine.exists()
    assert locks.reason_to_keep(index.cache.folder_of(env.env)) == "it is in use"
    envs.release(env)
    assert locks.reason_to_keep(index.cache.folder_of(env.env)) is None


def test_damaged_env_is_rebuilt(pinned_env: Callable[..., PinnedEnv], machine: Path) -> None:
    env, envs = pinned_env(), WorkerEnvs(folder=machine)
    built = envs.provide(env)
    envs.release(env)
    (module,) = machine.glob("triton-1.0-*/cp3*/lib/python3*/site-packages/triton/__init__.py")
    module.unlink()  # uv's cache may have the same file
    module.touch()
    assert envs.provide(env) == built


def test_pinned_env_requires_an_intact_env_of_the_driver(
    pinned_env: Callable[..., PinnedEnv], index: Checkout
) -> None:
    env = pinned_env().env
    built = read_env(env, index.cache)
    with pytest.raises(EnvError, match=r"the packages of triton-1\.0 have changed"):
        PinnedEnv.of(evolve(built, digest="another"))
    shutil.rmtree(Path(built.python or "").parents[1])
    with pytest.raises(EnvError, match="has been damaged"):
        PinnedEnv.of(built)
    with pytest.raises(EnvError, match="not built yet"):
        PinnedEnv.of(evolve(built, error="not built yet"))


# --- several processes ----------------------------------------------------------------------------

PROCESS = """
import pickle, sys, time
from pathlib import Path
from compat.envs.worker_envs import WorkerEnvs
wanted = pickle.loads(Path(sys.argv[1]).read_bytes())
print(WorkerEnvs(folder=Path(sys.argv[2])).provide(wanted).digest, flush=True)
sys.stdin.read()
"""


def test_processes_of_one_machine_build_an_env_once(
    pinned_env: Callable[..., PinnedEnv],
    machine: Path,
    slow_uv: SlowUv,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = pinned_env()
    sent = machine.with_name("wanted")
    sent.write_bytes(pickle.dumps(env))
    monkeypatch.setenv("UV", str(slow_uv.program))
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    command = [sys.executable, "-c", PROCESS, str(sent), str(machine)]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    slow_uv.wait_until_asked()
    slow_uv.go_on()
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{env.digest}\n"
    (cached_env,) = kept_envs(EnvCache(machine))
    assert locks.remove(cached_env.folder) == "it is in use"
    for process in started:
        process.communicate()
    assert len(slow_uv.asked()) == 1
    assert locks.remove(cached_env.folder) is None


def in_thread(function: Callable[[], object]) -> tuple[threading.Thread, list[BaseException]]:
    """A thread that calls the function, and a list for the exception that it raises."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            function()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, raised


def test_installation_and_wait_can_be_stopped(
    pinned_env: Callable[..., PinnedEnv],
    machine: Path,
    slow_uv: SlowUv,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = pinned_env()
    monkeypatch.setenv("UV", str(slow_uv.program))
    stops = [threading.Event(), threading.Event()]
    first = in_thread(lambda: WorkerEnvs(folder=machine).provide(env, stop=stops[0]))
    slow_uv.wait_until_asked()
    messages: list[str] = []
    second = in_thread(
        lambda: WorkerEnvs(folder=machine).provide(env, stop=stops[1], say=messages.append)
    )
    while not messages:
        time.sleep(0.02)
    assert messages == ["waiting for another command that builds triton-1.0"]
    for stop, (thread, raised) in zip(reversed(stops), (second, first), strict=True):
        stop.set()
        thread.join(20)
        assert isinstance(raised[0], Stopped)
    (installer,) = slow_uv.asked()
    assert not Path(f"/proc/{installer}").exists()
    slow_uv.go_on()
    assert WorkerEnvs(folder=machine).provide(env).error is None


# --- the budget -----------------------------------------------------------------------------------


def there(machine: Path) -> list[str]:
    return [cached_env.folder.path.name[:10] for cached_env in kept_envs(EnvCache(machine))]


def used_long_ago(machine: Path, hours: int, release: str) -> None:
    (folder,) = (
        cached_env.folder
        for cached_env in kept_envs(EnvCache(machine))
        if cached_env.folder.path.name.startswith(f"triton-{release}")
    )
    for path in (folder.last_use_file, folder.record):
        os.utime(path, (time.time() - 3600 * hours,) * 2)


def test_least_recently_used_env_is_removed_to_make_room(
    pinned_env: Callable[..., PinnedEnv], machine: Path
) -> None:
    one, two, three = (pinned_env(release) for release in ("1.0", "1.1", "1.2"))
    envs = WorkerEnvs(folder=machine, budget=int(2.7 * one.size))
    for env in (one, two):
        envs.provide(env)
        envs.release(env)
    used_long_ago(machine, 1, "1.0")
    used_long_ago(machine, 2, "1.1")
    envs.provide(three)
    assert there(machine) == ["triton-1.0", "triton-1.2"]
    assert size_of(machine) <= int(2.7 * one.size)


def test_env_in_use_or_being_built_is_not_removed(
    pinned_env: Callable[..., PinnedEnv],
    machine: Path,
    slow_uv: SlowUv,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, two, three = (pinned_env(release) for release in ("1.0", "1.1", "1.2"))
    envs = WorkerEnvs(folder=machine, budget=int(2.7 * one.size))
    envs.provide(one)
    envs.provide(one)
    monkeypatch.setenv("UV", str(slow_uv.program))
    thread, raised = in_thread(lambda: envs.provide(two))
    slow_uv.wait_until_asked()
    with pytest.raises(NoRoom, match=r"it takes .* MB, and envs in use take .* MB of .* MB"):
        envs.provide(three)
    slow_uv.go_on()
    thread.join()
    assert not raised
    envs.release(one)
    with pytest.raises(NoRoom):
        envs.provide(three)
    envs.release(one)
    assert envs.provide(three).error is None
    assert set(there(machine)) == {"triton-1.1", "triton-1.2"}


def test_an_env_whose_interpreter_runs_is_in_use(
    pinned_env: Callable[..., PinnedEnv], machine: Path
) -> None:
    one, two = pinned_env("1.0"), pinned_env("1.1")
    envs = WorkerEnvs(folder=machine, budget=int(1.7 * one.size))
    python = envs.provide(one).python
    envs.release(one)
    running = subprocess.Popen(
        [str(python), "-c", "import sys; print(flush=True); sys.stdin.read()"], stdin=-1, stdout=-1
    )
    assert running.stdout is not None
    running.stdout.readline()
    with pytest.raises(NoRoom):
        envs.provide(two)
    running.communicate()
    assert envs.provide(two).error is None
    assert there(machine) == ["triton-1.1"]


def test_worker_envs_are_configured_by_environment_variables(tmp_path: Path) -> None:
    envs = worker_envs(
        {
            "COMPAT_WORKER_ENVS": str(tmp_path),
            "COMPAT_WORKER_ENVS_SIZE": "2 GiB",
            "COMPAT_ENVS": "/envs",
        }
    )
    assert (envs.folder, envs.budget, envs.also) == (
        tmp_path,
        2 << 30,
        (EnvCache(Path("/envs"), "$COMPAT_ENVS"),),
    )
    plain = worker_envs({"COMPAT_ENVS": "/envs"})
    assert (plain.folder.name, plain.budget) == ("worker-envs", 40 << 30)
    with pytest.raises(
        EnvError, match=r'\$COMPAT_WORKER_ENVS_SIZE: much is not a size, such as "40 GiB"'
    ):
        worker_envs({"COMPAT_WORKER_ENVS_SIZE": "much"})


# --- wheels of a release --------------------------------------------------------------------------


@pytest.mark.wheels
def test_real_release_equals_the_drivers_on_two_machines(tmp_path: Path) -> None:
    config = load_matrix(REPOSITORY / "matrix.toml")
    driver = read_env(config.env("triton-3.1.0"), config.env_cache())
    env = PinnedEnv.of(driver)
    for name in ("one", "other"):
        built = WorkerEnvs(folder=tmp_path / name, budget=2 * env.size).provide(env)
        assert (built.error, built.digest, built.packages) == (None, driver.digest, driver.packages)
        say = "import triton; print(triton.__version__)"
        done = subprocess.run(
            [str(built.python), "-c", say], capture_output=True, text=True, check=True
        )
        assert done.stdout == "3.1.0\n"
        shutil.rmtree(tmp_path / name)
