"""Real environments for tests that compile with real wheels, and golden files.

Nox builds an environment on first use.
"""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from itertools import count, pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from compat.config.matrix import MatrixConfig, load_matrix
from compat.envs.cache import VARIABLE
from compat.envs.listing import INDEX
from compat.envs.provider import Builder, build_envs
from compat.envs.record import read_env
from compat.files import replace_file
from compat.model import BuiltEnv
from compat.workers import pool
from tests import forking
from tests.cells import KEPT

ROOT = Path(__file__).parent.parent

for _name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
    # The commands that the tests start must not talk to the CI system that runs the tests.
    os.environ.pop(_name, None)

# With CI=true, hypothesis itself would try the same examples in each run.
_BUSY_MACHINE = settings(
    deadline=None, derandomize=False, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("new", _BUSY_MACHINE)
# A change must not fail in CI because of an example that no earlier run has tried.
settings.register_profile("same", _BUSY_MACHINE, derandomize=True, max_examples=40)
settings.register_profile("many", _BUSY_MACHINE, max_examples=500, print_blob=True)
settings.load_profile("same" if {"CI", "COMPAT_SAME_EXAMPLES"} & os.environ.keys() else "new")

_ALLOCATED = 50_000
"""Objects between two garbage collections. With Python's 700, these took 8 % of the time."""
_COUNT = count()
_CPU_SECONDS = pytest.StashKey[float]()
"""The CPU time of the machine before the tests."""

REAL = {"built", "pair_python"}
"""The fixtures that use real wheels."""


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Hide the collected tests from Python's garbage collector.

    They stay until the end, so it need not scan them during the collection or during a test. A scan
    of them takes 0.3 s.
    """
    gc.disable()
    try:
        with _compiled_once() if hasattr(session.config, "workerinput") else nullcontext():
            return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(_ALLOCATED, 20, 20)
        gc.enable()


@contextmanager
def _compiled_once() -> Iterator[None]:
    """Let the first of several processes collect alone if no tests were collected before.

    Rewriting the assertions of all tests takes longer than the rest of the collection. The other
    processes find the bytecode.
    """
    if sys.pycache_prefix is None or sys.dont_write_bytecode:
        yield
        return
    done = Path(sys.pycache_prefix, "collected")
    done.parent.mkdir(parents=True, exist_ok=True)
    with done.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            yield
            done.touch()
            return
    yield


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print how long the machine's CPUs worked during the run, for whatever process.

    Workers outlive the process that started them, so a sum over waited-for processes lacks them.
    """
    seconds = _cpu_seconds() - config.stash[_CPU_SECONDS]
    terminalreporter.write_line(f"{seconds:,.0f} s of CPU time on this machine")


def _cpu_seconds() -> float:
    """The CPU time of all processes since the machine started."""
    line, _, _ = Path("/proc/stat").read_text(encoding="ascii").partition("\n")
    user, nice, system, _, _, *interrupts = map(int, line.split()[1:8])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Check that all tests with real wheels are marked, and order the tests.

    A run without the marked tests must not download a wheel. Each of several processes begins with
    long tests.
    """
    unmarked = [
        item.nodeid
        for item in items
        if isinstance(item, pytest.Function)
        and REAL & {*item.fixturenames}
        and not item.get_closest_marker("wheels")
    ]
    if unmarked:
        raise pytest.UsageError(
            f"these use real wheels and are not marked so: {', '.join(unmarked)}"
        )
    processes: int = getattr(config, "workerinput", {}).get("workercount", 1)
    items[:] = _dealt(items, processes)


def _dealt(items: list[pytest.Item], processes: int) -> list[pytest.Item]:
    """Divide the tests into consecutive sections of equal length, one per process.

    Each section begins with its share of the long tests. A process that has finished its section
    takes half of another one. Then no long test is left for the end of the run.
    """
    if processes == 1:
        return items
    long = [item for item in items if item.get_closest_marker("long")]
    others = [item for item in items if not item.get_closest_marker("long")]
    ends = [len(others) * number // processes for number in range(processes + 1)]
    return [
        item
        for number, (begin, end) in enumerate(pairwise(ends))
        for item in (*long[number::processes], *others[begin:end])
    ]


def pytest_configure(config: pytest.Config) -> None:
    """Have workers wait for the next test that needs their env.

    They wait in a folder that only this run of the tests uses.
    """
    _restore_interrupts()
    config.stash[_CPU_SECONDS] = _cpu_seconds()
    # Processes that run tests for another process inherit the variables of that process.
    if not hasattr(config, "workerinput"):
        os.environ |= {
            "COMPAT_KEEP_WORKERS": f"{KEPT:g}",
            "XDG_RUNTIME_DIR": tempfile.mkdtemp(prefix="compat-tests-"),
            # PyTorch's threads wait for each other in loops, and other tests need the CPUs.
            "OMP_NUM_THREADS": "1",
        }
    forking.folder = Path(os.environ["XDG_RUNTIME_DIR"])
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        # Envs have their own bytecode, and would compile all of PyTorch again for another folder.
        os.environ.pop("PYTHONPYCACHEPREFIX", None)


def _restore_interrupts() -> None:
    """Let SIGINT reach the commands that the tests start, even if it was ignored for the tests.

    A shell without job control ignores SIGINT for its background processes, and every child process
    inherits that. A signal that has a handler is at its default again in a new program. This
    handler does nothing, so that the tests go on.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: None)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the workers, so that none outlives the tests, and report what tests have left open.

    Pytest collects garbage twice more, which takes a second each without freezing.
    """
    gc.collect()
    gc.freeze()
    if not hasattr(config, "workerinput"):
        pool.stop_resident_workers()
        shutil.rmtree(os.environ["XDG_RUNTIME_DIR"], ignore_errors=True)


@pytest.fixture(autouse=True)
def _no_envs(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Keep tests without real wheels from reading the user's envs, and from adding envs to them."""
    if not request.node.get_closest_marker("wheels"):
        monkeypatch.setenv(
            VARIABLE, str(tmp_path_factory.getbasetemp() / "envs" / str(next(_COUNT)))
        )


@pytest.fixture(scope="session")
def config() -> MatrixConfig:
    """This repository's own matrix.toml."""
    return load_matrix(ROOT / "matrix.toml")


@pytest.fixture(scope="session")
def built(config: MatrixConfig) -> Callable[[str], BuiltEnv]:
    """Returns an env by name, and builds it if it is missing: ``built("triton-3.1.0")``."""

    def build(name: str) -> BuiltEnv:
        env = config.env(name)
        built_env = read_env(env, config.env_cache())
        if built_env.error is not None:
            build_envs(
                Builder(cache=config.env_cache(), index_cache=ROOT / INDEX, say=print), [env]
            )
            built_env = read_env(env, config.env_cache())
        assert built_env.error is None, built_env.error
        return built_env

    return build


@pytest.fixture(scope="session")
def pair_python(built: Callable[[str], BuiltEnv]) -> str:
    """The Python of an env with Triton, PyTorch and a numpy that Triton's interpreter supports."""
    python = built("triton-3.5.1-torch-2.9.1").python
    assert python is not None
    return python


@pytest.fixture(scope="session")
def once_file(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, Callable[[], str]], Path]:
    """Returns a file by name, with a text.

    If several processes run the tests, the first that needs the file makes it for all.
    """
    own = tmp_path_factory.getbasetemp()
    folder = own.parent if hasattr(pytestconfig, "workerinput") else own

    def file(name: str, make: Callable[[], str]) -> Path:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        with Path(f"{path}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                replace_file(path, make())
        return path

    return file


@pytest.fixture(scope="session")
def once(
    once_file: Callable[[str, Callable[[], str]], Path],
) -> Callable[[str, Callable[[], str]], str]:
    """Returns a text by name, which is made once for all processes that run the tests."""
    return lambda name, make: once_file(f"{name}.txt", make).read_text(encoding="utf-8")


@pytest.fixture
def shared_project(
    once_file: Callable[[str, Callable[[], str]], Path], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The working folder: a project with this repository's kernels and envs.

    The tests of one run share its results. An earlier run must not decide what a test compiles. The
    folder has no other tests' files below it, because commands search projects for sources.
    """
    text = (ROOT / "matrix.toml").read_text(encoding="utf-8")
    own = text.replace('"kernels/', f'"{ROOT}/kernels/')
    folder = once_file("project/matrix.toml", lambda: own).parent
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with the golden file of that name beside the test.

    ``COMPAT_REGOLD=1`` writes the file again instead.
    """

    def compare(name: str, text: str) -> None:
        path = request.path.parent / "golden" / name
        if os.environ.get("COMPAT_REGOLD") == "1":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), (
            f"{name} has changed; if that is meant, run again with COMPAT_REGOLD=1"
        )

    return compare


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB, with room for a record and a few artifacts, but not for an env."""
    place = tmp_path / "full"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip("this user may not mount anything")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)
