"""A board of our own library on real releases: what is compiled, what is kept, and the site."""

from __future__ import annotations

import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import pytest
from attrs import evolve
from click.testing import CliRunner

from compat.board.data import BoardData, CompiledVersion
from compat.board.declaration import BoardLibrary, read_board
from compat.board.running import BoardRequest, NewCells, _columns, _without_answer
from compat.cli.commands import main
from compat.engine.run import RunContext
from compat.envs.cache import VARIABLE
from compat.errors import SelectionError
from compat.model import BuiltEnv
from tests.board.boards import REPORTS, of_library
from tests.records import env
from tests.sqlite import column
from tests.waiting import wait_until
from tests.wheels import compat_output, empty_project, linked_envs, wheelhouse

__all__ = ["wheelhouse"]

ROOT = Path(__file__).parents[2]
RELEASES = ("3.4.0", "3.9.0")


def declare(*, envs: tuple[str, ...], versions: str, targets: tuple[str, ...] = ("sm_90",)) -> None:
    Path("board.toml").write_text(
        f"envs = {json.dumps(envs)}\ntargets = {json.dumps(targets)}\ndeadline = 33\n"
        f'[[library]]\nname = "live-waves"\n{versions}\n'
    )


@pytest.fixture(scope="module")
def envs(built: Callable[[str], BuiltEnv], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the user's envs. Its workers and its libraries stay for the next test."""
    for release in RELEASES:
        built(f"triton-{release}")
    return linked_envs(tmp_path_factory.mktemp("cache") / "envs")


@pytest.fixture
def folder(
    built: Callable[[str], BuiltEnv],
    wheelhouse: Path,
    envs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """An empty folder, on a machine that has the envs."""
    monkeypatch.setenv(VARIABLE, str(envs))
    return empty_project(RELEASES, built, tmp_path, monkeypatch)


@pytest.mark.wheels
def test_only_new_cells_are_compiled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One test has all these steps, because each run takes seconds.

    Each function below checks one aspect.
    """
    declare(envs=("3.4.0",), versions='versions = ["1.0"]')
    first = compat_output("board", "run", "--no-build")
    assert re.search(r"compiled [4-9] cells of 1 version", first)
    assert "compiled 0 cells of 0 versions" in compat_output("board", "run", "--no-build")
    a_new_release_is_one_column()
    a_new_version_is_one_row()
    a_run_without_its_index_reads_the_store()
    a_report_that_the_index_does_not_name_yet_is_not_joined_twice()
    a_library_that_is_gone_keeps_its_results(folder, monkeypatch)
    a_check_reads_what_is_installed(folder, monkeypatch)
    the_site_has_no_dead_link(folder)


@pytest.mark.wheels
@pytest.mark.parametrize(
    ("without", "message"),
    [
        (("live_waves.npu.*",), "no module matches 'live_waves.npu.*'"),
        (("*",), "without these modules, the library has no kernel"),
        (("*.tuned", "live_waves.g*"), "compiled 1 cell of 1 version"),
    ],
)
def test_kernels_of_other_devices_can_be_left_out(
    folder: Path, without: tuple[str, ...], message: str
) -> None:
    modules = f'versions = ["1.0"]\nwithout = {json.dumps(without)}'
    declare(envs=("3.9.0",), versions=modules)
    assert message in compat_output("board", "run", "--no-build")


@pytest.mark.wheels
def test_kill_9_loses_no_finished_cell(folder: Path) -> None:
    declare(envs=RELEASES, versions='versions = ["1.0"]')
    command = [sys.executable, "-P", "-m", "compat.cli", "board", "run", "--no-build", "-j", "1"]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)})
    wait_until(lambda: len(stored()) > 1)
    process.kill()
    process.wait()
    ids = stored()
    assert not Path("board/data").exists()
    compat_output("board", "run", "--no-build")
    cells = BoardData(read_board(Path("board.toml")).folder).read("live-waves", "1.0").results
    read = {result.cell.id for result in cells if result.cached}
    assert set(ids) <= read < {result.cell.id for result in cells}


def stored() -> list[str]:
    """The ids of the cells with results in the store. It is empty if there is no store yet."""
    with suppress(sqlite3.OperationalError):
        return column(Path(".compat"))
    return []


def a_new_release_is_one_column() -> None:
    """This also holds for a release that only this library is compiled on."""
    declare(envs=("3.4.0",), versions=f'versions = ["1.0"]\nenvs = {json.dumps(RELEASES)}')
    text = compat_output("board", "run", "--no-build")
    assert "live-waves==1.0: 1 env, sm_90" in text
    assert re.search(r"compiled [4-9] cells of 1 version", text)
    assert "3.9.0: live-waves 1.0 loses 3 kernels" in text
    board = read_board(Path("board.toml"))
    data = BoardData(board.folder)
    assert set(data.index().of("live-waves", "1.0").columns) == {"triton-3.4.0", "triton-3.9.0"}
    report = data.read("live-waves", "1.0")
    assert len(report.results) == len({result.cell.id for result in report.results})
    assert {str(env.release) for env in report.envs} == set(RELEASES)
    assert {verdict.kernel for verdict in report.verdicts} >= {"gone", "plain"}


def a_new_version_is_one_row() -> None:
    declare(envs=RELEASES, versions="newest = 2")
    text = compat_output("board", "run", "--no-build")
    assert "live-waves==2.0: 2 envs, sm_90" in text
    assert "live-waves==1.0" not in text


def a_run_without_its_index_reads_the_store() -> None:
    before = json.loads(Path("board/board.json").read_text())
    Path("board/data/index.json").unlink()
    text = compat_output("board", "run", "--no-build")
    assert "cells to compile" not in text
    assert json.loads(Path("board/board.json").read_text()) == before


def a_report_that_the_index_does_not_name_yet_is_not_joined_twice() -> None:
    data = BoardData(read_board(Path("board.toml")).folder)
    index = data.index()
    version = index.of("live-waves", "1.0")
    data.note("live-waves", "1.0", evolve(version, columns={"triton-3.4.0": ("sm_90",)}))
    compat_output("board", "run", "--no-build")
    ids = [result.cell.id for result in data.read("live-waves", "1.0").results]
    assert len(ids) == len(set(ids))
    assert data.index().of("live-waves", "1.0").columns == version.columns


def a_library_that_is_gone_keeps_its_results(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the package index nor the unpacked library is available."""
    before = Path("board/data/index.json").read_text()
    empty = folder / "empty"
    empty.mkdir()
    text = Path("board.toml").read_text()
    with monkeypatch.context() as patch:
        patch.setenv("UV_FIND_LINKS", str(empty))
        patch.setenv("PIP_FIND_LINKS", str(empty))
        patch.setenv(VARIABLE, str(empty / "envs"))
        declare(envs=RELEASES, versions="newest = 2", targets=("sm_90", "sm_80"))
        output = compat_output("board", "run", "--no-build")
    assert "live-waves: cannot list the versions of live-waves" in output
    assert "live-waves==2.0: 2 envs, sm_80\n" in output  # CuTe DSL has an sm_80, too
    assert json.loads(Path("board/data/index.json").read_text()) == json.loads(before)
    Path("board.toml").write_text(text)


def a_check_reads_what_is_installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folder / "installed" / "live_waves-1.0.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: live-waves\nVersion: 1.0\n")
    monkeypatch.setenv("PYTHONPATH", str(place.parent))
    nameless = place.parent / "nameless.dist-info"
    nameless.mkdir()
    (nameless / "METADATA").write_text("Metadata-Version: 2.1\n")
    text = compat_output("board", "check", "--from", "3.4", code=1)
    assert "live-waves 1.0" in text
    assert re.search(r"the arguments of [4-9] kernels are guessed", text)
    assert "breaks 1: api-removed: gone" in text
    assert "breaks 2: api-changed: beside" in text
    assert "from Triton 3.4.0 to 3.9.0, 3 kernels of live-waves break" in text
    document = json.loads(compat_output("board", "check", "--from", "3.4", "--json", code=1))
    lost = {lost["kernel"]: lost["class"] for lost in document["libraries"][0]["lost"]}
    assert lost == {"beside": "api-changed", "gone": "api-removed", "tuned": "api-changed"}


def the_site_has_no_dead_link(folder: Path) -> None:
    assert re.search(r"wrote \d+ files \(0\.\d MB\) to board/site", compat_output("board", "site"))
    site = folder / "board" / "site"
    for page in site.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="([^"#:]+)(?:#[^"]*)?"', page.read_text()):
            assert (page.parent / link).is_file(), f"{page}: {link}"
    feed = ElementTree.parse(site / "feed.xml").getroot()
    titles = [title.text for title in feed.iter("{http://www.w3.org/2005/Atom}title")]
    assert titles[1:] == []  # the newest version loses nothing


@pytest.mark.wheels
def test_kernels_with_other_arguments_are_compiled_again(folder: Path) -> None:
    """A report cannot have two kernels of one name. A later version may guess other arguments."""
    versions = 'versions = ["1.0"]\nkernels = ["plain.toml"]'
    declare(envs=("3.9.0",), versions=versions)
    kernel = (
        'schema = 1\npackage = "live-waves==1.0"\n[[kernel]]\nname = "mine"\nfunction = "plain"\n'
        'module = "live_waves.plain"\nconstexprs = { BLOCK = 32 }\n'
        'launch = { x_ptr = "*fp16", y_ptr = "*fp16", n = 64 }\n'
    )
    Path("plain.toml").write_text(kernel)
    compat_output("board", "run", "--no-build")
    declare(envs=RELEASES, versions=versions)
    assert "changed kernel" not in compat_output("board", "run", "--no-build")
    Path("plain.toml").write_text(kernel.replace("32", "64"))
    declare(envs=RELEASES, versions=versions, targets=("sm_90", "sm_80"))
    text = compat_output("board", "run", "--no-build")
    assert "compiling 1 new or changed kernel for all releases and targets" in text
    assert "compiled 10 cells of 1 version" in text  # 4 of it, 6 of the others for sm_80
    cells = BoardData(read_board(Path("board.toml")).folder).read("live-waves", "1.0").results
    mine = [result.cell for result in cells if result.cell.spec.kernel == "mine"]
    assert {(cell.env.name, cell.target.name) for cell in mine} == {
        (f"triton-{release}", target) for release in RELEASES for target in ("sm_90", "sm_80")
    }
    assert {cell.spec.compile.constexprs["BLOCK"] for cell in mine} == {64}
    assert "compiled 0 cells" in compat_output("board", "run", "--no-build")


@pytest.mark.wheels
def test_new_kernel_is_compiled_for_all_releases_and_targets(folder: Path) -> None:
    """A kernel file for only a new target leaves the cells of the other targets unchanged."""
    files = folder / "files"
    files.mkdir()
    versions = 'versions = ["1.0"]\nkernels = ["files/*.toml"]'
    declare(envs=("3.9.0",), versions=versions)
    kernel = (
        'schema = 1\npackage = "live-waves==1.0"\n[[kernel]]\nname = "{name}"\nfunction ='
        ' "plain"\nmodule = "live_waves.plain"\nconstexprs = {{ BLOCK = 32 }}\n'
        'launch = {{ x_ptr = "*fp16", y_ptr = "*fp16", n = 64 }}\n{more}'
    )
    (files / "mine.toml").write_text(kernel.format(name="mine", more=""))
    compat_output("board", "run", "--no-build")
    (files / "theirs.toml").write_text(kernel.format(name="theirs", more='targets = ["sm_80"]\n'))
    declare(envs=("3.9.0",), versions=versions, targets=("sm_90", "sm_80"))
    assert "changed kernel" not in compat_output("board", "run", "--no-build")
    (files / "more.toml").write_text(kernel.format(name="more", more=""))
    declare(envs=RELEASES, versions=versions, targets=("sm_90", "sm_80"))
    assert "compiling 1 new or changed kernel for" in compat_output("board", "run", "--no-build")
    cells = BoardData(read_board(Path("board.toml")).folder).read("live-waves", "1.0").results
    places = {
        name: {
            (result.cell.env.name, result.cell.target.name)
            for result in cells
            if result.cell.spec.kernel == name
        }
        for name in ("mine", "more", "theirs")
    }
    everywhere = {(f"triton-{one}", target) for one in RELEASES for target in ("sm_90", "sm_80")}
    assert places["mine"] == places["more"] == everywhere
    assert places["theirs"] == {(f"triton-{release}", "sm_80") for release in RELEASES}


@pytest.mark.wheels
def test_outdated_results_are_removed_from_the_board(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their kernels are gone, or have other arguments or targets now."""
    source = Path("kernels.py")
    source.write_text(
        "import triton\nimport triton.language as tl\n\n@triton.jit\n"
        "def copy(x_ptr, BLOCK: tl.constexpr):\n    at = tl.arange(0, BLOCK)\n"
        "    tl.store(x_ptr + at, tl.load(x_ptr + at))\n"
    )

    def write(name: str, block: int, more: str = "") -> None:
        Path(f"{name}.toml").write_text(
            f'schema = 1\nkernel = "{name}"\nfunction = "copy"\nsource = "{source}"\n{more}'
            f'[signature]\nx_ptr = "*fp32"\n[constexprs]\nBLOCK = {block}\n'
        )

    def run(envs: tuple[str, ...], *targets: str, code: int = 0) -> str:
        Path("board.toml").write_text(
            f"envs = {json.dumps(envs)}\ntargets = {json.dumps(targets)}\n[[library]]\n"
            'name = "ours"\npackage = false\nversions = ["1.0"]\nkernels = ["*s.toml"]\n'
        )
        return compat_output("board", "run", "--no-build", code=code)

    def run_without_envs(envs: tuple[str, ...], *targets: str) -> None:
        with monkeypatch.context() as patch:
            patch.setenv(VARIABLE, str(folder / "no envs"))
            run(envs, *targets)

    data = BoardData(Path("board"))

    def blocks() -> dict[tuple[str, str, str], object]:
        cells = [result.cell for result in data.read("ours", "1.0").results]
        return {
            (cell.spec.kernel, cell.env.name, cell.target.name): cell.spec.compile.constexprs[
                "BLOCK"
            ]
            for cell in cells
        }

    write("ours", 32, 'targets = ["sm_100"]\n')
    text = run(("3.9.0",), "sm_90", code=3)
    assert "no chosen kernel is for a chosen target; the kernels are for sm_100" in text

    write("ours", 32)
    write("theirs", 32)
    run_without_envs(("3.9.0",), "sm_90", "sm_80")
    assert "compiled 4 cells" in run(("3.9.0",), "sm_90", "sm_80")

    source = source.rename("moved.py")
    write("ours", 32, 'targets = ["sm_90"]\n')
    Path("theirs.toml").unlink()
    assert "compiled 1 cell " in run(RELEASES, "sm_90", "sm_80")
    assert blocks() == {
        ("ours", "triton-3.9.0", "sm_90"): 32,
        ("ours", "triton-3.4.0", "sm_90"): 32,
    }
    results = data.read("ours", "1.0").results
    assert {Path(result.cell.spec.source).name for result in results} == {"moved.py"}

    write("ours", 64, 'targets = ["sm_90"]\n')
    assert "compiled 1 cell " in run(("3.4.0",), "sm_90", "gfx942")
    assert blocks() == {("ours", "triton-3.4.0", "sm_90"): 64}

    write("ours", 128, 'targets = ["sm_90"]\n')
    run_without_envs(("3.4.0",), "sm_90", "sm_100")
    assert "triton-3.4.0" not in data.index().of("ours", "1.0").columns
    assert "compiled 1 cell " in run(("3.4.0",), "sm_90", "sm_100")
    assert blocks() == {("ours", "triton-3.4.0", "sm_90"): 128}
    assert "compiled 0 cells" in run(("3.4.0",), "sm_90", "sm_100")


@pytest.mark.wheels
def test_kernels_without_a_kernel_file_are_guessed(folder: Path) -> None:
    """The kernel of the file keeps its arguments, and is not guessed once more."""
    declare(envs=("3.9.0",), versions='versions = ["1.0"]\nkernels = ["plain.toml"]')
    Path("plain.toml").write_text(
        'schema = 1\npackage = "live-waves==1.0"\n[[kernel]]\nname = "mine"\nfunction = "plain"\n'
        'module = "live_waves.plain"\nconstexprs = { BLOCK = 32 }\n'
        'launch = { x_ptr = "*fp16", y_ptr = "*fp16", n = 64 }\n'
    )
    compat_output("board", "run", "--no-build")
    cells = BoardData(read_board(Path("board.toml")).folder).read("live-waves", "1.0").results
    specs = {result.cell.spec.kernel: result.cell.spec for result in cells}
    assert {name for name, spec in specs.items() if not spec.guessed} == {"mine"}
    assert specs["mine"].function == "plain"
    assert {"gone", "tuned"} <= specs.keys()
    assert "plain" not in specs
    record = json.loads(Path("board/board.json").read_text())
    (version,) = record["libraries"][0]["versions"]
    assert version["guessed"] == len(specs) - 1
    examples = {failure["example"] for failure in record["failures"]}
    assert examples
    for example in examples:  # the command finds a kernel that no file declares
        assert "class: " in compat_output(*shlex.split(example)[1:])


@pytest.mark.wheels
def test_kernel_files_need_no_package(folder: Path) -> None:
    """Each version has its own files, and only a new version is compiled."""
    source = (
        "import triton\nimport triton.language as tl\n\n@triton.jit\ndef mine(x_ptr):\n"
        "    tl.store(x_ptr, tl.load(x_ptr){more})\n"
    )
    for version, more in (("1.0", ""), ("2.0", " + tl.nothing()")):
        place = Path("generated", version)
        place.mkdir(parents=True)
        (place / "mine.py").write_text(source.format(more=more))
        (place / "mine.toml").write_text(
            'schema = 1\nkernel = "mine"\nsource = "mine.py"\n[signature]\nx_ptr = "*fp32"\n'
        )
    files = 'name = "generator"\npackage = false\nkernels = ["generated/{version}/*.toml"]\n'
    text = 'envs = ["3.9.0"]\ntargets = ["sm_90"]\n[[library]]\n' + files
    Path("board.toml").write_text(text + 'versions = ["1.0"]\n')
    assert "compiled 1 cell of 1 version" in compat_output("board", "run", "--no-build")
    Path("board.toml").write_text(text + 'versions = ["1.0", "2.0"]\n')
    assert "compiled 1 cell of 1 version" in compat_output("board", "run", "--no-build")
    record = json.loads(Path("board/board.json").read_text())
    (library,) = record["libraries"]
    rows = {version["version"]: version["rows"] for version in library["versions"]}
    assert rows == {
        "1.0": [["mine", "default", "sm_90", [0]]],
        "2.0": [["mine", "default", "sm_90", [1]]],
    }
    (failure,) = record["failures"]
    assert "class: " in compat_output(*shlex.split(failure["example"])[1:])
    assert "wrote" in compat_output("board", "site")


def test_a_board_without_data_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    declare(envs=("3.9.0",), versions='versions = ["1.0"]')
    assert "the board has no data yet" in compat_output("board", "site", code=5)
    Path("board").mkdir()
    Path("board/board.json").write_text(
        '{"schema": 1, "tool": "0", "toolchain": "Triton", "releases": [], "targets": [],'
        ' "libraries": [], "failures": []}'
    )
    assert "--record: the board has no data yet" in compat_output("board", "check", code=5)


@pytest.mark.parametrize("key", ["envs", "targets"])
def test_error_about_an_unknown_env_or_target_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("board.toml").write_text(f'{key} = ["nope"]\n[[library]]\nname = "live-waves"\n')
    assert "error: board.toml: " in compat_output("board", "run", code=3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run",), "board.toml: there is no such file"),
        (("site",), "board.toml: there is no such file"),
        (("check", "--from", "3.8"), "board/board.json: cannot be read"),
    ],
)
def test_a_missing_file_is_one_clear_error(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["board", *arguments])
    assert done.exit_code not in (0, 1)
    assert message in done.output


def test_a_library_that_the_board_lacks_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    declare(envs=("3.9.0",), versions='versions = ["1.0"]')
    text = compat_output("board", "run", "--only", "live-wave", code=3)
    assert "the board has no library 'live-wave'" in text


@pytest.mark.wheels
def test_a_library_that_cannot_be_used_does_not_stop_the_others(folder: Path) -> None:
    declare(envs=("3.9.0",), versions='versions = ["2.0"]')
    with Path("board.toml").open("a") as file:
        file.write('[[library]]\nname = "no-kernels"\n[[library]]\nname = "not-there"\n')
        file.write('[[library]]\nname = "live-wave"\nversions = ["1.0"]\n')
    text = compat_output("board", "run", "--no-build")
    assert re.search(r"compiled [3-9] cells of 3 versions", text)
    assert "no-kernels==1.0: " in text
    assert "not-there: the package index has no not-there" in text
    assert "live-wave==1.0: cannot install live-wave==1.0" in text
    one = compat_output("board", "run", "--no-build", "--only", "live-waves")
    assert "live-wave==1.0" not in one
    again = compat_output("board", "run", "--no-build")
    assert "no-kernels==1.0: 1 env" not in again
    assert "live-wave==1.0: 1 env, sm_90" in again  # the index may have it by then


def test_an_env_that_lost_an_answer_is_tried_again() -> None:
    report = of_library("waves==2.0", REPORTS["waves==2.0"])
    assert _without_answer([report]) == {"triton-3.9.0"}
    part = NewCells(
        library=BoardLibrary(name="waves"),
        version="2.0",
        envs=tuple(env(release).env for release in ("3.8.0", "3.9.0")),
        targets=("sm_90",),
    )
    before = CompiledVersion(columns={"triton-3.8.0": ("sm_80",)})
    assert _columns(before, part, {"triton-3.9.0"}) == {"triton-3.8.0": ("sm_80", "sm_90")}


def test_a_wrong_kernel_file_is_an_error_and_not_a_result(
    wheelhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    declare(envs=("3.9.0",), versions='versions = ["1.0"]\nkernels = ["waves.toml"]')
    Path("inner").mkdir()
    Path("board.toml").rename("inner/board.toml")
    Path("inner/waves.toml").write_text('kernel = 1\npackage = "live-waves==1.0"\n')
    arguments = ("board", "run", "--no-build", "--board", "inner/board.toml")
    assert "error: inner/waves.toml: " in compat_output(*arguments, code=2)
    assert not Path("inner/board/data").exists()


def test_run_uses_the_deadline_of_the_board_and_the_named_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []

    def update(_: object, request: BoardRequest, context: RunContext, *__: object) -> None:
        seen.append((request.only, context.limits.deadline))
        raise SelectionError("stop")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("compat.cli.board.update_board", update)
    declare(envs=("3.9.0",), versions="newest = 1")
    compat_output("board", "run", code=3)
    compat_output("board", "run", "--only", "live-waves", "--deadline", "7", code=3)
    assert seen == [((), 33.0), (("live-waves",), 7.0)]
