"""The wheel, installed outside this checkout.

In an empty folder each command answers, or says what is missing.
"""

from __future__ import annotations

import json
import re
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from attrs import evolve

from compat import __version__
from compat.cli.commands import main
from compat.model import BuiltEnv
from tests.installed import ROOT, Installed, ended


def test_the_wheel_has_all_files_of_the_package(installed: Installed) -> None:
    package_files = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "compat").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    with zipfile.ZipFile(installed.wheel) as wheel:
        wheel_files = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert "compat/py.typed" in wheel_files
    assert wheel_files == package_files


def test_python_imports_the_installed_package(installed: Installed) -> None:
    done = installed.run("python", "-c", "import compat; print(compat.__file__)")
    assert Path(done.stdout.strip()).is_relative_to(installed.scripts.parent), done


def test_the_installed_command_prints_its_version(installed: Installed) -> None:
    done = ended(installed.start("compat", "--version"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"compat {__version__} (")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_the_installed_command_runs_with_closed_streams(installed: Installed, closed: str) -> None:
    command = f"'{installed.scripts / 'compat'}' list targets {closed}"
    done = ended(installed.start("/bin/sh", "-c", command))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "command", [(), *((name,) for name in main.list_commands(click.Context(main)))]
)
def test_every_command_prints_its_help(installed: Installed, command: tuple[str, ...]) -> None:
    done = installed.run("compat", *command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: {' '.join(('compat', *command))}")


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        (("list",), 2, "Missing argument"),
        (
            ("list", "cells"),
            2,
            "there are no kernels to compile\n  hint: Name a kernel file or a Python file",
        ),
        (("matrix",), 2, "`compat init FILE.py`"),
        (("matrix", "nothere.toml"), 2, "no kernel file matches 'nothere.toml'"),
        (("matrix", "--matrix", "nothere.toml"), 2, "nothere.toml: there is no such file"),
        (("matrix", "--matrix", "matrix.toml"), 2, "matrix.toml: there is no such file"),
        (
            ("list", "envs", "--envs", "3.99"),
            3,
            "no known release matches '3.99'\n  hint: Known releases: 3.0.0, 3.1.0",
        ),
        (
            ("list", "targets", "--target", "h10"),
            3,
            "no target matches 'h10'\n  hint: Did you mean h100",
        ),
        (("envs", "where", "newst"), 3, "Did you mean newest?"),
        (("nonsense",), 2, "No such command"),
    ],
)
def test_commands_report_what_is_missing(
    installed: Installed, command: tuple[str, ...], code: int, message: str
) -> None:
    done = installed.run("compat", *command)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert "nox" not in done.stderr
    assert not list(installed.empty.iterdir())


def test_built_in_releases_and_targets_are_listed(installed: Installed) -> None:
    """The wheel contains the toolchain's releases. Targets are listed with their GPUs."""
    done = installed.run("compat", "list", "envs", "--envs", "releases", "--json")
    assert [env["triton"] for env in json.loads(done.stdout)][:3] == ["3.0.0", "3.1.0", "3.2.0"]
    table = installed.run("compat", "list", "envs", "--envs", "triton-3.9.0,cute-4.8.1").stdout
    assert [line.split()[:3] for line in table.splitlines()] == [
        ["name", "triton,", "cute"],
        ["triton-3.9.0", "3.9.0", "-"],
        ["cute-4.8.1", "4.8.1", "-"],
    ]
    rows = installed.run("compat", "list", "targets").stdout.splitlines()
    assert [row.split()[1] for row in rows if row.startswith("sm_80 ")] == ["triton", "cute"]
    done = installed.run("compat", "list", "targets", "--target", "4090", "--json")
    (target,) = json.loads(done.stdout)
    assert target["name"] == "sm_89"
    assert "rtx4090" in target["gpus"]
    assert not list(installed.empty.iterdir())


KERNEL = """
kernel = "scale"
source = "scale.py"
signature = { x_ptr = "*fp16", n = "i32" }
constexprs = { BLOCK = 128 }
case = [{ name = "default" }]
variant = [{ name = "as_written", function = "scale" }]
"""
SOURCE = """
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)
"""


@pytest.fixture
def projects(installed: Installed, tmp_path: Path) -> tuple[Installed, Installed]:
    """Two folders with the same kernel and nothing else.

    They find no env that is already built.
    """
    folders = tmp_path / "one", tmp_path / "two"
    for folder in folders:
        folder.mkdir()
        (folder / "k.toml").write_text(KERNEL)
        (folder / "scale.py").write_text(SOURCE)
    envs = {"COMPAT_ENVS": str(tmp_path / "envs")}
    one, two = (evolve(installed, empty=folder, environ=envs) for folder in folders)
    return one, two


@pytest.mark.wheels
def test_a_kernel_file_is_enough_and_two_projects_share_envs(
    projects: tuple[Installed, Installed],
) -> None:
    one, two = projects
    command = ("compat", "matrix", "k.toml", "--envs", "newest,3.0", "--target", "h100,a100")
    done = ended(one.start(*command))
    assert done.returncode == 0, done.stderr
    assert "4 cells" in done.stdout
    # The newest release is built first.
    assert re.findall(r"^building (triton-.*)$", done.stderr, re.MULTILINE) == [
        "triton-3.9.0",
        "triton-3.0.0",
    ]
    assert re.search(r"^triton-3\.9\.0: built in \d+\.\d s$", done.stderr, re.MULTILINE)
    assert re.search(r"^triton-3\.0\.0: built in \d+\.\d s$", done.stderr, re.MULTILINE)
    cells = [
        cell["id"]
        for cell in json.loads((one.empty / "reports" / "matrix.json").read_text())["cells"]
    ]
    assert cells[0] == "scale/as_written/default/sm_80/triton-3.0.0"
    assert sorted(path.name for path in one.empty.iterdir()) == [
        ".compat",
        "k.toml",
        "reports",
        "scale.py",
    ]

    done = two.run("compat", "matrix", ".", "--envs", ">=3.8.1", "--target", "sm_90")
    assert (done.returncode, "building" in done.stderr) == (0, False), done.stderr

    done = one.run("compat", "explain", "scale/as_written/default/h100/3.9", "k.toml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("scale/as_written/default/sm_90/triton-3.9.0")
    done = one.run("compat", "check", "k.toml", "*/sm_90/newest")
    assert done.returncode == 0, done.stderr
    done = one.run("compat", "envs", "where", "3.9")
    assert done.stdout.startswith(str(one.empty.parent / "envs" / "triton-3.9.0-"))


@pytest.mark.wheels
def test_the_project_is_found_from_a_folder_inside_it(
    projects: tuple[Installed, Installed],
) -> None:
    one, _ = projects
    (one.empty / ".git").mkdir()
    (one.empty / "matrix.toml").write_text(
        'kernels = ["k.toml"]\nenv = [{ triton = "3.9.0" }]\ndefaults.targets = ["t4"]\n'
    )
    inside = one.empty / "src"
    inside.mkdir()
    done = evolve(one, empty=inside).run("compat", "list", "cells")
    assert done.stdout == "scale/as_written/default/sm_75/triton-3.9.0\n"
    assert not list(inside.iterdir())


def test_a_missing_network_is_reported_at_once(projects: tuple[Installed, Installed]) -> None:
    one, _ = projects
    offline = {
        "UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple",
        "PIP_FIND_LINKS": "",
        "UV_FIND_LINKS": "",
    }
    one = evolve(one, environ={**one.environ, **offline})
    began = time.monotonic()
    done = one.run("compat", "matrix", "k.toml", "--target", "h100")
    assert done.returncode == 4, done.stderr
    # In the order in which they would be built.
    assert "error: triton-3.9.0, triton-3.0.0, triton-3.8.0" in done.stderr
    assert "cannot be built: http://127.0.0.1:9/simple/triton/ cannot be read" in done.stderr
    assert "hint: Check that this machine is online." in done.stderr
    assert time.monotonic() - began < 20  # an installer tries each env for that long
    done = one.run("compat", "bisect", "k.toml")
    assert (done.returncode, "--envs releases bisects over known releases" in done.stderr) == (
        6,
        True,
    ), done.stderr


@pytest.mark.wheels
def test_built_envs_are_used_without_a_network(
    projects: tuple[Installed, Installed], built: Callable[[str], BuiltEnv]
) -> None:
    built("triton-3.8.0")
    one, _ = projects
    offline = {
        "UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple",
        "PIP_FIND_LINKS": "",
        "UV_FIND_LINKS": "",
    }
    done = evolve(one, environ=offline).run(
        "compat", "matrix", "k.toml", "--envs", "3.8,triton-3.90.0", "--target", "h100"
    )
    assert "warning: triton-3.90.0 cannot be built" in done.stderr
    assert (done.returncode, "1 ok, 1 env_broken" in done.stdout) == (1, True), done.stdout


def test_an_unwritable_cache_is_reported(projects: tuple[Installed, Installed]) -> None:
    one, _ = projects
    (one.empty / "file").touch()
    one = evolve(one, environ={"COMPAT_ENVS": str(one.empty / "file" / "envs"), "UV_OFFLINE": "1"})
    done = one.run("compat", "matrix", "k.toml", "--envs", "newest")
    assert done.returncode == 4
    assert "cannot build environments: Not a directory" in done.stderr
    assert "Set COMPAT_ENVS to a writable folder" in done.stderr
