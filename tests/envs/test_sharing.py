"""Two projects with one cache: real nox, uv and processes, and tiny wheels."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
from attrs import frozen

from compat.config.matrix import load_matrix
from compat.envs import locks
from compat.envs.cache import VARIABLE, env_cache
from compat.envs.record import read_env
from compat.errors import EnvError
from compat.model import BuiltEnv
from tests import commands
from tests.envs.conftest import Checkout, SlowUv
from tests.forking import Forked, fork
from tests.waiting import PATIENCE

REPOSITORY = Path(__file__).resolve().parents[2]


@frozen
class Running:
    """A command that runs while the test goes on, and what it prints."""

    process: Forked
    out: IO[str]
    err: IO[str]


@frozen
class Project:
    """A folder with a matrix.toml, and methods that run commands in it."""

    root: Path
    checkout: Checkout

    def environ(self, **more: str) -> dict[str, str]:
        python = {key: value for key, value in os.environ.items() if key.startswith("PYTHON")}
        own = {**python, "PYTHONPATH": str(REPOSITORY), "COLUMNS": "200"}
        environ: dict[str, str] = self.checkout.environ(**{**own, **more})
        return environ

    def start(self, *arguments: str, **environ: str) -> Running:
        pipes = [os.pipe(), os.pipe()]
        output, errors = (write for _, write in pipes)
        env = self.environ(**environ)
        process = fork(
            "compat.cli", arguments, cwd=self.root, env=env, output=output, errors=errors
        )
        for write in (output, errors):
            os.close(write)
        out, err = (os.fdopen(read, encoding="utf-8") for read, _ in pipes)
        return Running(process, out, err)

    def compat(self, *arguments: str, code: int = 0, **environ: str) -> str:
        """Run a command, and return what it prints to stdout and stderr."""
        done = commands.run(
            *arguments, cwd=self.root, env=self.environ(**environ), timeout=PATIENCE
        )
        return check_end(done.returncode, done.stdout, done.stderr, code)

    def compat_at(self, folder: str, *arguments: str, code: int = 0) -> str:
        """Run a command with the cache's variable set to ``folder``, and return what it prints."""
        return self.compat(*arguments, code=code, **{VARIABLE: folder})

    def read(self, name: str = "triton-1.0") -> BuiltEnv:
        return read_env(load_matrix(self.root / "matrix.toml").env(name), self.checkout.cache)


def ended(command: Running, code: int = 0) -> str:
    with command.out, command.err:
        out, err = command.out.read(), command.err.read()
    return check_end(command.process.wait(), out, err, code)


def check_end(ended_with: int, out: str, err: str, code: int) -> str:
    assert ended_with == code, out + err
    assert "Traceback" not in err
    return out + err


@pytest.fixture
def project(checkout: Checkout, tmp_path: Path) -> Callable[..., Project]:
    """Makes a project with one env, which has the name of the project."""

    def make(name: str, env: str = 'triton = "1.0"') -> Project:
        root = tmp_path / name
        root.mkdir()
        text = (
            f'schema = 1\nkernels = ["k.toml"]\nenv = [{{ name = "{name}", {env}'
            ' }]\n[defaults]\nenvs = ["*"]\n'
        )
        (root / "matrix.toml").write_text(text, encoding="utf-8")
        return Project(root, checkout)

    return make


def test_two_projects_build_the_same_env_only_once(
    project: Callable[..., Project], slow_uv: SlowUv
) -> None:
    here, there = project("here"), project("there")
    first = here.start("envs", "build", UV=str(slow_uv.program))
    slow_uv.wait_until_asked()
    second = there.start("envs", "build", UV=str(slow_uv.program))
    assert second.err.readline() == "waiting for another command that builds there\n"
    time.sleep(0.5)
    assert second.process.poll() is None
    slow_uv.go_on()
    assert re.search(r"^building here\nhere: built in \d+\.\d s$", ended(first), re.MULTILINE)
    assert re.search(
        r"^there: built by another command, after a wait of \d+\.\d s$", ended(second), re.MULTILINE
    )
    assert len(slow_uv.asked()) == 1
    assert here.read("here").python == there.read("there").python is not None
    assert here.compat("envs", "where", "here") == there.compat("envs", "where", "there")


def test_different_envs_are_built_at_the_same_time(
    project: Callable[..., Project], slow_uv: SlowUv
) -> None:
    both = project("here"), project("there", 'triton = "1.1"')
    started = [workspace.start("envs", "build", UV=str(slow_uv.program)) for workspace in both]
    slow_uv.wait_until_asked(2)
    slow_uv.go_on()
    for process in started:
        ended(process)


def test_next_command_waits_for_an_installer_that_outlives_its_command(
    project: Callable[..., Project], slow_uv: SlowUv
) -> None:
    here = project("here")
    first = here.start("envs", "build", UV=str(slow_uv.program))
    slow_uv.wait_until_asked()
    (installer,) = slow_uv.asked()
    nox = parent(installer)
    for pid in (first.process.pid, nox):
        os.kill(pid, signal.SIGKILL)
    ended(first, -signal.SIGKILL)
    assert here.read("here").error == "another command is building it now"
    second = here.start("envs", "build")
    time.sleep(1)
    assert second.process.poll() is None, "two installers would write into one folder"
    slow_uv.go_on()
    ended(second)
    assert here.read("here").error is None
    assert len(slow_uv.asked()) == 1, "the second had another uv, and used it"


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.parametrize("polite", ["", "an installer that says that all went well"])
def test_ctrl_c_ends_a_build_and_the_next_command_builds_the_env(
    project: Callable[..., Project], slow_uv: SlowUv, polite: str
) -> None:
    here = project("here")
    first = subprocess.Popen(
        [sys.executable, "-m", "compat.cli", "envs", "build"],
        cwd=here.root,
        env=here.environ(UV=str(slow_uv.program), POLITE=polite),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    slow_uv.wait_until_asked()
    os.killpg(first.pid, signal.SIGINT)
    out, err = first.communicate(timeout=PATIENCE)
    assert "error" not in check_end(first.returncode, out, err, 130)
    assert here.read("here").error == "the installation was interrupted"
    (listed,) = json.loads(here.compat("envs", "list", "--json"))
    assert listed["state"] == "interrupted"
    here.compat("envs", "build")
    assert here.read("here").error is None


# --- in use ---------------------------------------------------------------------------------------

HOLDER = """
import sys
from pathlib import Path
from compat.config.matrix import load_matrix
from compat.envs.provider import EnvProvider
config = load_matrix(Path("matrix.toml"))
EnvProvider(cache=config.env_cache(), build=False)(config.path, config.envs)
print("ready", flush=True)
sys.stdin.read()
"""


def holding(project: Project) -> subprocess.Popen[str]:
    """A running command of that project that has its envs in use."""
    command = [sys.executable, "-c", HOLDER]
    holder = subprocess.Popen(
        command,
        cwd=project.root,
        env=project.environ(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "ready\n"
    return holder


def running(project: Project) -> subprocess.Popen[str]:
    """A running process that a user has started with the interpreter of the env."""
    python = project.read(project.root.name).python
    return subprocess.Popen(
        [str(python), "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, text=True
    )


def test_env_in_use_is_neither_removed_nor_rebuilt(project: Callable[..., Project]) -> None:
    here, there = project("here"), project("there")
    here.compat("envs", "build")
    python = Path(here.read("here").python or "")
    mtime = python.parents[1].joinpath("pyvenv.cfg").stat().st_mtime_ns
    for use in (holding, running):
        user = use(there)
        try:
            assert ": it is in use" in here.compat("envs", "prune", "--all")
            assert ": it is in use" in here.compat("envs", "prune", "--all", "--dry-run")
            here.compat("envs", "build", "--again")
            assert python.parents[1].joinpath("pyvenv.cfg").stat().st_mtime_ns == mtime
        finally:
            user.communicate()
    here.compat("envs", "build", "--again")
    assert python.parents[1].joinpath("pyvenv.cfg").stat().st_mtime_ns > mtime
    assert "removed 1 of the environments" in here.compat("envs", "prune", "--all")
    assert not python.exists()


def test_env_that_is_being_built_is_not_removed(
    project: Callable[..., Project], slow_uv: SlowUv
) -> None:
    here = project("here")
    first = here.start("envs", "build", UV=str(slow_uv.program))
    slow_uv.wait_until_asked()
    assert ": it is being built" in here.compat("envs", "prune", "--all")
    slow_uv.go_on()
    ended(first)
    assert here.read("here").error is None


def test_command_that_waits_for_a_removed_env_builds_it(
    project: Callable[..., Project], checkout: Checkout
) -> None:
    here = project("here")
    here.compat("envs", "build")
    folder = checkout.cache.folder_of(here.read("here").env)
    with locks.building(folder, lambda: None):
        second = here.start("envs", "build", "--again")
        second.err.readline()
        time.sleep(1.5)  # by now it waits for the lock
        folder.log.rename(folder.path / "gone")
    ended(second)
    assert here.read("here").error is None


# --- the command ----------------------------------------------------------------------------------


def test_list_shows_the_state_and_requirements_of_each_env(
    project: Callable[..., Project], checkout: Checkout
) -> None:
    here = project("here", 'triton = "1.0", python = ">=3.9"')
    assert here.compat("envs") == f"no environments in {checkout.cache.folder}\n"
    here.compat("envs", "build", "here", "triton-1.1", "triton-9.9", code=4)
    (checkout.cache.folder / "somebody's").mkdir()
    envs = {
        env["name"].rpartition("-")[0]: env
        for env in json.loads(here.compat("envs", "list", "--json"))
    }
    assert {name: env["state"] for name, env in envs.items()} == {
        "triton-1.0": "complete",
        "triton-1.1": "complete",
        "triton-9.9": "failed",
    }
    one = envs["triton-1.0"]
    assert (one["requirements"], one["specifier"], one["error"]) == (["triton==1.0"], ">=3.9", None)
    assert one["python"] == here.read("here").python_version
    assert one["size"] > 10_000
    assert "triton==9.9" in envs["triton-9.9"]["error"]
    Path(envs["triton-1.1"]["folder"]).joinpath(
        f"{Path(here.read('triton-1.1').python or '').parents[1]}/bin/python"
    ).unlink()
    output = here.compat("envs")
    assert "triton==1.1" in output
    assert "damaged" in output


def test_build_reports_built_and_unusable_and_unknown_envs(
    project: Callable[..., Project],
) -> None:
    here = project("here")
    assert f"here: Python {here.read('here').python_version or '3.'}" in here.compat(
        "envs", "build"
    )
    output = here.compat("envs", "build", "triton-9.9", code=4)
    assert "triton==9.9" in output
    assert "error: triton-9.9 cannot be used\n  hint: The installer's output is in /" in output
    output = here.compat("envs", "build", "her", code=3)
    assert "no env, group of envs or release matches 'her'" in output


def test_where_prints_the_path_of_the_cache_or_of_an_env(
    project: Callable[..., Project], checkout: Checkout
) -> None:
    here = project("here")
    assert here.compat("envs", "where") == f"{checkout.cache.folder}\n"
    for pattern in ("here", "her*"):
        output = here.compat("envs", "where", pattern, code=4)
        assert output.endswith("hint: Build it with `compat envs build here`.\n")
    here.compat("envs", "build", "here")
    folder = Path(here.compat("envs", "where", "here").strip())
    assert (folder / "bin" / "python") == Path(
        here.compat("envs", "where", "here", "--python").strip()
    )
    assert (folder / "pyvenv.cfg").is_file()


def test_prune_removes_envs_that_were_not_used_for_a_while(
    project: Callable[..., Project], checkout: Checkout
) -> None:
    here = project("here")
    here.compat("envs", "build", "here", "triton-1.1")
    old, new = (checkout.cache.folder_of(here.read(name).env) for name in ("triton-1.1", "here"))
    long_ago = time.time() - 40 * 86400
    for path in (old.last_use_file, old.record):
        os.utime(path, (long_ago, long_ago))
    assert "removed 0 of" in here.compat("envs", "prune", "--older-than", "50")
    assert "not a number of days" in here.compat("envs", "prune", "--older-than", "nan", code=2)
    assert "would remove 1 of" in here.compat("envs", "prune", "--dry-run")
    assert old.path.is_dir()
    output = here.compat("envs", "prune")
    assert f"removed {old.path.name}: " in output
    assert "last used 40 days ago" in output
    assert not old.path.exists()
    assert here.read("here").error is None
    here.compat("envs", "prune", "--all")
    assert not new.path.exists()
    assert here.compat("envs", "prune", "--all").startswith("removed 0 of")


def test_use_of_an_env_keeps_it_from_being_pruned(
    project: Callable[..., Project], checkout: Checkout
) -> None:
    here = project("here")
    here.compat("envs", "build")
    folder = checkout.cache.folder_of(here.read("here").env)
    for path in (folder.last_use_file, folder.record):
        os.utime(path, (1, 1))
    holder = holding(here)
    holder.communicate()
    assert "removed 0 of" in here.compat("envs", "prune")


# --- the folder of the cache ----------------------------------------------------------------------


def test_folder_comes_from_the_variable_or_the_file_or_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = tmp_path / "declared"
    assert env_cache(declared, {VARIABLE: str(tmp_path)}).folder == tmp_path
    assert env_cache(declared, {VARIABLE: ""}).folder == declared
    monkeypatch.chdir(tmp_path)
    assert env_cache(declared, {VARIABLE: "here"}).folder == tmp_path / "here"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert env_cache(None, {}).folder == tmp_path / "xdg" / "triton-compat" / "envs"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert env_cache(None, {}).folder == tmp_path / "home" / ".cache" / "triton-compat" / "envs"


def test_missing_home_folder_is_an_error_that_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME", raising=False)
    assert env_cache(None, {}).folder.is_absolute(), "whoever is in the list of users has one"
    # This is the result for a user that the system does not know.
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    with pytest.raises(EnvError, match="no home folder") as caught:
        env_cache(None, {})
    assert caught.value.hint == "Set HOME, or set COMPAT_ENVS to a folder for the environments."


def test_folder_in_the_matrix_file_is_relative_to_that_file(
    project: Callable[..., Project], tmp_path: Path
) -> None:
    here = project("here")
    with (here.root / "matrix.toml").open("a", encoding="utf-8") as file:
        file.write('[envs]\nfolder = "../kept"\n')
    here.compat_at("", "envs", "build")
    assert [path.name[:11] for path in sorted((tmp_path / "kept").iterdir())] == [
        "CACHEDIR.TA",
        "triton-1.0-",
    ]
    assert here.compat_at("", "envs", "where", "here").startswith(str(tmp_path / "kept"))
    assert here.compat("envs", "where") == f"{here.checkout.cache.folder}\n", (
        "the variable goes before"
    )


def test_cache_that_cannot_be_written_is_an_error_with_a_hint(
    project: Callable[..., Project], tmp_path: Path
) -> None:
    here = project("here")
    (tmp_path / "file").touch()
    for folder in ("/proc/envs", str(tmp_path / "file" / "envs")):
        for command in (["envs", "build"], ["matrix"]):
            (here.root / "k.toml").write_text((here.checkout.root / "k.toml").read_text())
            (here.root / "k.py").write_text((here.checkout.root / "k.py").read_text())
            output = here.compat_at(folder, *command, code=4)
            assert output.startswith(f"error: ${VARIABLE}: {folder}: cannot build environments: ")
            assert f"hint: Set {VARIABLE} to a writable folder" in output


def test_cache_that_cannot_be_written_is_an_error_of_nox(checkout: Checkout) -> None:
    output = checkout.nox("-s", "env(triton-1.0)", code=1, **{VARIABLE: "/proc/envs"})
    assert "$COMPAT_ENVS: /proc/envs: cannot build environments: " in output
    assert "Traceback" not in output


def test_error_on_a_full_disk_quotes_the_installer(
    project: Callable[..., Project], full: Path
) -> None:
    here = project("here")
    output = here.compat_at(str(full), "envs", "build", code=4)
    assert "No space left on device" in output
    here.compat("envs", "build")
