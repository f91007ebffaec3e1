"""Building envs with real nox, from an index of tiny wheels."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.config.matrix import load_matrix
from compat.envs.record import read_env
from tests import commands
from tests.envs.conftest import REPOSITORY, UV, Checkout
from tests.waiting import PATIENCE, wait_until

BACKENDS = ("uv", "virtualenv")


def imported_version(python: str | None, module: str = "triton") -> str:
    assert python is not None
    code = f"import {module}; print({module}.__version__)"
    return subprocess.run(
        [python, "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


def built_at(checkout: Checkout, name: str) -> int:
    """The time when the folder of an env was last built."""
    python = checkout.read(name).python
    assert python is not None
    return Path(python).parents[1].joinpath("pyvenv.cfg").stat().st_mtime_ns


def test_env_is_built_once_and_then_needs_no_index(checkout: Checkout, tmp_path: Path) -> None:
    """Without uv, virtualenv and pip build it. Both installers record the same package."""
    installed = []
    for arguments, uv in (((), "/gone"), (("-fb", "uv"), str(UV))):
        checkout.nox(*arguments, "-s", "env(triton-1.0)", UV=uv)
        built = checkout.read("triton-1.0")
        assert built.error is None
        assert imported_version(built.python) == "1.0"
        assert bool(built.version_of("pip")) == (uv == "/gone"), "uv brings none"
        first = built_at(checkout, "triton-1.0")
        checkout.index.rename(tmp_path / "gone")
        shutil.rmtree(checkout.root / ".compat/index", ignore_errors=True)
        output = checkout.nox(
            "-s",
            "env(triton-1.0)",
            UV_DEFAULT_INDEX="http://127.0.0.1:9",
            PIP_INDEX_URL="http://127.0.0.1:9",
        )
        assert "triton-1.0 is up to date" in output
        assert built_at(checkout, "triton-1.0") == first
        assert checkout.read("triton-1.0").digest == built.digest
        (tmp_path / "gone").rename(checkout.index)
        installed.append([package for package in built.packages if package.name == "triton"])
    assert installed[0] == installed[1]
    assert [package.version for package in installed[0]] == ["1.0"]


def test_failed_build_records_the_installers_message_and_stops_no_other_env(
    checkout: Checkout,
) -> None:
    checkout.matrix('{ triton = "9.9" }', '{ triton = "1.0" }')
    for backend in BACKENDS:
        output = checkout.nox("-fb", backend, "-s", "env(triton-9.9)", "env(triton-1.0)")
        assert "triton-9.9 cannot be used" in output
        assert "triton==9.9" in (checkout.read("triton-9.9").error or "")
        assert "No matching distribution" in output or "No solution found" in output
        assert checkout.read("triton-1.0").error is None
    checkout.publish("triton", "9.9")
    checkout.nox("-s", "env(triton-9.9)")
    assert imported_version(checkout.read("triton-9.9").python) == "9.9"


@pytest.mark.parametrize("backend", BACKENDS)
def test_unreachable_index_is_reported(checkout: Checkout, backend: str) -> None:
    down = "http://127.0.0.1:9/simple"
    output = checkout.nox(
        *("-fb", backend, "-s", "env(triton-1.0)"),
        UV_DEFAULT_INDEX=down,
        PIP_INDEX_URL=down,
        UV_HTTP_RETRIES="0",
        PIP_RETRIES="0",
    )
    assert "http://127.0.0.1:9/simple/triton/ cannot be read" in output
    assert "127.0.0.1" in (checkout.read("triton-1.0").error or "")


@pytest.mark.parametrize("backend", BACKENDS)
def test_envs_are_built_from_forks(checkout: Checkout, tmp_path: Path, backend: str) -> None:
    wheel = checkout.publish("triton", "1.0+fork1")
    wheel = wheel.rename(checkout.root / wheel.name)
    checkout.publish("triton", "1.0")  # so that the index no longer lists what was moved away
    other = checkout.index.rename(tmp_path / "other-index")
    checkout.index.mkdir()
    checkout.publish("helper", "2.0")
    checkout.publish("setuptools", "80.0")
    checkout.matrix(
        f'{{ wheel = "{wheel.name}" }}',
        f'{{ name = "by-url", wheel = "{wheel.as_uri()}" }}',
        f'{{ name = "by-index", triton = "1.1", index = "{other.as_uri()}", install ='
        ' ["helper"] }',
        '{ distribution = "Tri.Fork", triton = "3.0", install = ["setuptools"] }',
    )
    checkout.publish("tri_fork", "3.0").parent.rename(checkout.index / "tri-fork")
    checkout.nox(
        "-fb",
        backend,
        "-s",
        "env(triton-1.0+fork1)",
        "env(by-url)",
        "env(by-index)",
        "env(tri-fork-3.0)",
    )
    names = ("triton-1.0+fork1", "by-url", "by-index", "tri-fork-3.0")
    built = {name: checkout.read(name) for name in names}
    assert [one.error for one in built.values()] == [None] * 4
    assert [one.release for one in built.values()] == ["1.0+fork1", "1.0+fork1", "1.1", "3.0"]
    assert imported_version(built["triton-1.0+fork1"].python) == "1.0+fork1"
    assert built["by-index"].version_of("helper") == "2.0"
    same = built["triton-1.0+fork1"], built["by-url"]
    assert same[0].packages == same[1].packages


def test_env_is_rebuilt_if_its_declaration_changes(checkout: Checkout) -> None:
    checkout.publish("helper", "2.0")
    checkout.publish("setuptools", "80.0")
    checkout.matrix('{ name = "mine", triton = "1.0", install = ["helper"] }')
    checkout.nox("-s", "env(mine)")
    assert checkout.read("mine").version_of("helper") == "2.0"
    checkout.matrix('{ name = "mine", triton = "1.1" }')
    assert (checkout.read("mine").error or "").startswith("not built yet")
    checkout.nox("-s", "env(mine)")
    assert imported_version(checkout.read("mine").python) == "1.1"
    assert checkout.read("mine").version_of("helper") is None
    checkout.matrix('{ name = "ours", triton = "1.0", install = ["helper"] }')
    assert checkout.read("ours").version_of("helper") == "2.0", (
        "it is still there for who asks for it, by whatever name"
    )


def test_damaged_env_is_detected_and_rebuilt(checkout: Checkout) -> None:
    checkout.build("triton-1.0")
    digest = checkout.read("triton-1.0").digest
    for damage in ("bin/python", "pyvenv.cfg", "lib", "."):
        victim = Path(checkout.read("triton-1.0").python or "").parents[1] / damage
        if victim.is_dir():
            shutil.rmtree(victim)
        else:
            victim.unlink()
        assert "damaged since" in (checkout.read("triton-1.0").error or "")
        checkout.nox("-s", "env(triton-1.0)")
        assert checkout.read("triton-1.0").error is None
        assert checkout.read("triton-1.0").digest == digest


def everybody(nox: subprocess.Popen[bytes]) -> None:
    os.killpg(nox.pid, signal.SIGINT)


def the_installer(nox: subprocess.Popen[bytes]) -> None:
    children = " ".join(
        path.read_text() for path in Path(f"/proc/{nox.pid}/task").glob("*/children")
    )
    for child in children.split():
        os.kill(int(child), signal.SIGINT)


@pytest.mark.parametrize("who", [everybody, the_installer])
def test_interrupted_installation_leaves_no_env_and_the_next_run_builds_it(
    checkout: Checkout, tmp_path: Path, who: Callable[[subprocess.Popen[bytes]], None]
) -> None:
    # An installer that never ends stands in for a long download.
    endless = tmp_path / "uv"
    proper = Path(sys.executable).with_name("uv")
    started = tmp_path / "started"
    wait = f"if 'install' in sys.argv: open({str(started)!r}, 'w').close(); time.sleep(600)"
    lines = [f"#!{sys.executable} -IS", "import os, sys, time", wait]
    endless.write_text(
        "\n".join([*lines, f"os.execv({str(proper)!r}, sys.argv)\n"]), encoding="utf-8"
    )
    endless.chmod(0o755)
    nox = subprocess.Popen(
        checkout.command("-s", "env(triton-1.0)"),
        cwd=checkout.root,
        env=checkout.environ(UV=str(endless)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_until(lambda: started.exists() or nox.poll() is not None)
        assert nox.poll() is None
        assert checkout.read("triton-1.0").error == "another command is building it now"
        who(nox)
        assert nox.wait(timeout=PATIENCE) == 130
    finally:
        if nox.poll() is None:
            os.killpg(nox.pid, signal.SIGKILL)
            nox.wait()
    assert checkout.read("triton-1.0").error == "the installation was interrupted"
    checkout.nox("-s", "env(triton-1.0)")
    assert imported_version(checkout.read("triton-1.0").python) == "1.0"


def test_missing_interpreter_does_not_fail_nox(checkout: Checkout) -> None:
    checkout.matrix('{ triton = "1.0", python = ">=3.19" }', '{ triton = "1.1" }')
    output = checkout.nox("-s", "env(triton-1.0)", "env(triton-1.1)")
    assert (
        "no interpreter: triton 1.0 has wheels for 3.8–3.20; the env asks for python >=3.19;"
        " installed here: " in output
    )
    assert (checkout.read("triton-1.0").error or "").startswith("no interpreter: ")
    assert checkout.read("triton-1.1").error is None


def test_license_of_closed_software_is_reported_once_when_installed(
    checkout: Checkout,
) -> None:
    checkout.matrix('{ triton = "1.1" }', '{ triton = "1.2" }', '{ triton = "1.3" }')
    checkout.publish("triton", "1.2", classifier="Other/Proprietary License")
    checkout.publish("triton", "1.3", classifier="Other/Proprietary License")
    assert not any("proprietary" in line for line in checkout.build("triton-1.1"))
    lines = [line for line in checkout.build("triton-1.2", "triton-1.3") if "proprietary" in line]
    (line,) = lines
    assert line.startswith("triton is proprietary software. Its license: ")
    assert Path(line.partition(": ")[2]).is_file()


def test_pairs_and_undeclared_envs_are_built_with_two_jobs(checkout: Checkout) -> None:
    path = checkout.root / "matrix.toml"
    path.write_text(path.read_text().replace("schema = 1\n", "schema = 1\ncompanion = []\n"))
    checkout.publish("torch", "2.0", requires=("triton==1.1",))
    names = ["triton-1.1-torch-2.0", "triton-1.1", "triton-1.0-torch-2.0"]
    lines = checkout.build(*names, jobs=2)
    assert f"building {', '.join(names)}" in lines
    assert any(line.startswith("triton-1.1-torch-2.0: built in ") for line in lines)
    assert imported_version(checkout.read(names[0]).python, "torch") == "2.0"
    assert checkout.read(names[1]).error is None
    conflict = checkout.read(names[2]).error or ""
    assert "triton==1.1" in conflict
    assert "triton==1.0" in conflict


BARE = """
import re, sys
from contextlib import suppress
from importlib import metadata
allowed, left = set(), ["nox", "uv"]
while left:
    name = re.sub(r"[-_.]+", "-", left.pop()).lower()
    if name not in allowed:
        allowed.add(name)
        with suppress(metadata.PackageNotFoundError):  # it is needed on other Pythons only
            needs = [need for need in metadata.requires(name) or () if "extra ==" not in need]
            left += [re.match(r"[A-Za-z0-9._-]+", need)[0] for need in needs]
of = metadata.packages_distributions()
class Refuse:
    def find_spec(self, name, path=None, target=None):
        owners = {re.sub(r"[-_.]+", "-", owner).lower() for owner in of.get(name, ())}
        if path is None and owners and not owners & allowed:
            raise ModuleNotFoundError(f"{name} does not come with nox", name=name)
sys.meta_path.insert(0, Refuse())
"""
NOX = 'import runpy; runpy.run_module("nox", run_name="__main__", alter_sys=True)'


def test_noxfile_needs_only_nox_and_uv(checkout: Checkout) -> None:
    """The README's command starts with nothing else installed."""

    def bare(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", BARE + program, *arguments],
            cwd=checkout.root,
            env=checkout.environ(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    file = ("-f", str(checkout.root / "noxfile.py"))
    done = bare(NOX, *file, "-s", "env(triton-1.0)")
    assert done.returncode == 0, done.stdout + done.stderr
    assert imported_version(checkout.read("triton-1.0").python) == "1.0"
    assert bare(NOX, *file, "-l", "-s", "matrix").returncode == 0
    assert "click does not come with nox" in bare("import click").stderr


def test_listing_and_unknown_sessions_ask_no_index(checkout: Checkout) -> None:
    shutil.rmtree(checkout.index)
    output = checkout.nox("-l", "-s", "env(triton-1.0)", "lint")
    assert "* env(triton-1.0)" in output
    assert "cannot be read" not in output
    assert "Sessions not found: env(trition-1.0)" in checkout.nox("-s", "env(trition-1.0)", code=3)
    assert not (checkout.root / ".compat").exists()
    assert not checkout.cache.folder.exists()


def test_sessions_can_be_named_in_several_ways_of_nox(checkout: Checkout) -> None:
    checkout.nox("--session=env(triton-1.0)")
    assert checkout.read("triton-1.0").error is None
    checkout.nox(NOXSESSION="env(triton-1.1),env(triton-1.0)")
    assert checkout.read("triton-1.1").error is None
    python = built_at(checkout, "triton-1.1")
    checkout.nox("--reuse-venv=never", "-e", "env(triton-1.1)", "env(triton-1.0)")
    assert built_at(checkout, "triton-1.1") > python


def test_unknown_venv_backend_is_an_error(checkout: Checkout) -> None:
    output = checkout.nox("-fb", "none", "-s", "env(triton-1.0)", code=1)
    assert (
        "--force-venv-backend: unknown backend 'none'; choose one of uv, virtualenv, venv" in output
    )
    assert "Traceback" not in output


def test_matrix_builds_the_envs_that_its_arguments_name(checkout: Checkout) -> None:
    checkout.matrix(
        '{ triton = "1.0", groups = ["old"] }', '{ triton = "1.1" }', '{ triton = "1.2" }'
    )

    def required(*posargs: str) -> set[str]:
        output = checkout.nox("-smatrix", "--install-only", "--", *posargs, code=1)
        return {name for name in ("1.0", "1.1", "1.2") if f"triton-{name}: " in output}

    # This test does not run `compat matrix`: the session stops where it installs the package.
    checkout.root.joinpath("pyproject.toml").write_text("not TOML", encoding="utf-8")
    assert required("--envs", "old") == {"1.0"}
    assert required("--envs=triton-1.1", "--target", "sm_90", "--envs", "old") == {"1.0", "1.1"}
    assert required() == {"1.0", "1.1", "1.2"}
    assert required("--help") == set()


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        (
            "schema = 1\nkernels = [3]\n",
            2,
            "matrix.toml: kernels[0]: expected a string, found the number 3",
        ),
        (
            'schema = 1\nkernels = ["k"]\nenv = [{ tritn = "1" }]\n',
            2,
            "matrix.toml: env[0].tritn: unknown key\nDid you mean triton?",
        ),
    ],
)
def test_invalid_matrix_is_an_error_without_a_traceback(
    checkout: Checkout, text: str, code: int, message: str
) -> None:
    (checkout.root / "matrix.toml").write_text(text, encoding="utf-8")
    output = checkout.nox("-s", "matrix", code=code)
    assert message in output
    assert "Traceback" not in output


def test_invalid_kernel_file_is_an_error_before_any_env_is_built(checkout: Checkout) -> None:
    (checkout.root / "k.py").write_text("def q(x): ...\n", encoding="utf-8")
    output = checkout.nox("-s", "matrix", code=2)
    assert output.startswith("k.toml: variant[0].function: k.py does not define a function 'k'")
    output = checkout.nox("-s", "matrix", "--", "--spec", "gone.toml", code=2)
    assert output.startswith("--spec[0]: no kernel file matches 'gone.toml'")
    assert not checkout.cache.folder.exists()


def test_env_of_another_matrix_file_leaves_no_records_in_the_checkout(
    checkout: Checkout, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    text = (
        f'schema = 1\nkernels = ["{checkout.root}/k.toml"]\nenv = [{{ triton = "1.1", name ='
        ' "theirs" }]\n'
    )
    (elsewhere / "mine.toml").write_text(text + '[defaults]\nenvs = ["theirs"]\n', encoding="utf-8")
    checkout.root.joinpath("pyproject.toml").write_text("not TOML", encoding="utf-8")
    checkout.nox("-s", "matrix", "--", "--matrix", str(elsewhere / "mine.toml"), code=1)
    env = read_env(load_matrix(elsewhere / "mine.toml").env("theirs"), checkout.cache)
    assert imported_version(env.python) == "1.1"
    assert not (checkout.root / ".compat").exists()


def test_unknown_env_is_an_error_without_a_traceback(checkout: Checkout) -> None:
    output = checkout.nox("-s", "matrix", "--", "--envs", "relases", code=3)
    assert output.startswith("no env, group of envs or release matches 'relases'")
    assert "Traceback" not in output


PLAIN = """
schema = 1
kernels = ["k.toml"]
env = [{ triton = "1.0" }]
[defaults]
envs = ["*"]
targets = ["sm_90"]
"""


@pytest.fixture
def folder(checkout: Checkout, tmp_path: Path) -> Path:
    """A user's folder with a matrix, a kernel, a noxfile for other things, and a ``copy.py``.

    The last one has the name of one of Python's modules.
    """
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "matrix.toml").write_text(PLAIN)
    (mine / "noxfile.py").write_text("raise SystemExit('not for this')\n")
    (mine / "copy.py").write_text("raise SystemExit('not for this either')\n")
    for name in ("k.toml", "k.py"):
        shutil.copy(checkout.root / name, mine / name)
    return mine


def test_envs_are_built_wherever_the_command_runs(checkout: Checkout, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "compat.cli", "matrix"],
        cwd=folder,
        env={**checkout.environ(), "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "building triton-1.0" in done.stderr, done.stderr
    built = read_env(load_matrix(folder / "matrix.toml").env("triton-1.0"), checkout.cache)
    assert built.error is None
    assert imported_version(built.python) == "1.0"
    assert Path(str(built.python)).is_relative_to(checkout.cache.folder)
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == [
        ".compat"
    ]
    assert "env_broken" in done.stdout, "this Triton is one file that cannot compile"


def run_nox(checkout: Checkout, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs nox in the folder, with its noxfile."""
    env = {**checkout.environ(), "PYTHONPATH": str(REPOSITORY)}
    return commands.run(*arguments, cwd=folder, env=env, timeout=PATIENCE, program="nox")


def test_matrix_as_a_default_session_of_nox_builds_its_envs(
    checkout: Checkout, folder: Path
) -> None:
    lines = ["import nox", "from compat.nox import matrix, sessions", "matrix(sessions())"]
    lines.append('nox.options.sessions = ["matrix"]\n')
    for name in (".git", "tools"):  # matrix.toml is above the noxfile, in the same repository
        (folder / name).mkdir()
    (folder / "tools" / "noxfile.py").write_text("\n".join(lines))
    done = run_nox(checkout, folder / "tools")
    assert "triton-1.0: built" in done.stderr, done.stderr
    assert done.stderr.count("built") == 1


def test_noxfile_of_two_lines_builds_envs(checkout: Checkout, folder: Path) -> None:
    (folder / "noxfile.py").write_text("from compat.nox import sessions\nsessions()\n")
    done = run_nox(checkout, folder, "-s", "env(triton-1.0)")
    assert done.returncode == 0, done.stderr
    assert (
        read_env(load_matrix(folder / "matrix.toml").env("triton-1.0"), checkout.cache).error
        is None
    )
    (folder / "matrix.toml").write_text(PLAIN.replace("schema = 1", "schema = 9"))
    done = run_nox(checkout, folder, "-s", "env(triton-1.0)")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "schema" in done.stderr
