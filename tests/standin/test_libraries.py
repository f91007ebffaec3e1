"""Kernels of libraries from the package index, with only a kernel file written by hand."""

from __future__ import annotations

import io
import os
import re
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.config.kernel_files import load_kernels
from compat.config.kernel_writer import write_kernel_file
from compat.config.matrix import MatrixConfig
from compat.engine.run import run
from compat.envs.libraries import last_lines, unpack_library
from compat.errors import ConfigError, EnvError
from compat.model import BuiltEnv, Cell, Result
from compat.store.store import Store
from compat.workers.attempt import Limits
from tests.cells import context_of
from tests.commands import run as run_command
from tests.standin.packages import written
from tests.targets import TARGETS

ROOT = Path(__file__).parents[2]
FILES = Path(__file__).parent / "libraries"


def results(names: list[str], envs: list[BuiltEnv], folder: Path) -> tuple[Result, ...]:
    specs = load_kernels([f"{name}.toml" for name in names], FILES)
    cells = [
        Cell(env=env.env, target=TARGETS["sm_90"], spec=spec) for env in envs for spec in specs
    ]
    with Store(folder) as store:
        limits = Limits(deadline=120, memory=4 << 30)
        return run(cells, context_of(store, *envs, limits=limits))


@pytest.mark.wheels
def test_liger_kernel_compiles_on_every_release(
    built: Callable[[str], BuiltEnv], config: MatrixConfig, tmp_path: Path
) -> None:
    envs = [built(env.name) for env in config.envs if "releases" in env.groups]
    assert len(envs) >= 13
    cell_results = results(["cross_entropy", "swiglu"], envs, tmp_path)
    assert {(result.cell.id, str(result.outcome.status)) for result in cell_results} == {
        (result.cell.id, "ok") for result in cell_results
    }
    assert all(result.outcome.stood_in for result in cell_results)


@pytest.mark.wheels
def test_flash_linear_attention_compiles_where_it_can_be_imported(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    """A module of it wraps a kernel in a class that passes `do_bench` to Triton's autotuner.

    3.1.0 does not know that parameter. Importing any module of the library imports that one: with
    PyTorch 2.5.1 and Triton 3.1.0 `import fla` raises the same error.
    """
    cell_results = results(
        ["chunk_h", "chunk_o"], [built("triton-3.1.0"), built("triton-3.9.0")], tmp_path
    )
    outcomes = {
        (result.cell.spec.kernel, result.cell.env.name): result.outcome for result in cell_results
    }
    assert {place: str(outcome.status) for place, outcome in outcomes.items()} == {
        ("chunk_h", "triton-3.1.0"): "rejected",
        ("chunk_o", "triton-3.1.0"): "rejected",
        ("chunk_h", "triton-3.9.0"): "ok",
        ("chunk_o", "triton-3.9.0"): "ok",
    }
    failures = [outcome.failure for outcome in outcomes.values() if outcome.failure]
    assert {
        (failure.failure_class, failure.stage, "do_bench" in failure.excerpt)
        for failure in failures
    } == {("api-changed", "source", True)}
    assert len({failure.fingerprint for failure in failures}) == 1


@pytest.mark.wheels
def test_the_commands_of_the_tutorial_print_what_the_page_shows(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "tutorial-library.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"^`([\w.]+)`\n\n```toml\n(.*?)```", page, re.MULTILINE | re.DOTALL))
    size = "BLOCK_SIZE = 4096"
    assert size in files["rms_norm.toml"]
    smaller = files["rms_norm.toml"].replace(size, "BLOCK_SIZE = 128")  # it compiles faster
    written(tmp_path, {**files, "rms_norm.toml": smaller})
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = run_command("matrix", cwd=tmp_path, env=environ)
    assert done.returncode == 0, done
    assert "stand-ins for" in done.stdout
    stdout = run_command("explain", "rms_norm/*/triton-3.9.0", cwd=tmp_path, env=environ).stdout
    block = page.partition("$ compat explain")[2].partition("```")[0].splitlines()[1:]
    assert [line for line in block if line.strip() != "…" and line not in stdout.splitlines()] == []


# --- unpacking them -------------------------------------------------------------------------------


WHEEL = "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture
def wheelhouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one wheel, which replaces the package index."""
    folder = tmp_path / "wheelhouse"
    folder.mkdir()
    facts = (
        "Metadata-Version: 2.1\nName: my-kernels\nVersion: 1.0\nRequires-Dist:"
        " no-such-thing-anywhere\n"
    )
    with zipfile.ZipFile(folder / "my_kernels-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("my_kernels/__init__.py", "")
        wheel.writestr(
            "my_kernels/act.py", "import triton\n@triton.jit\ndef kernel(x, BLOCK): ...\n"
        )
        wheel.writestr("my_kernels-1.0.dist-info/METADATA", facts)
        wheel.writestr(
            "my_kernels-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr("my_kernels-1.0.dist-info/RECORD", "")
    for installer in ("UV", "PIP"):
        monkeypatch.setenv(f"{installer}_FIND_LINKS", str(folder))
        monkeypatch.setenv(f"{installer}_NO_INDEX", "1")
    return folder


SETUP = "raise ModuleNotFoundError('No module named 'torch', which this build needs')\n"
"""The ``setup.py`` of a library that cannot be built.

Its compiler's headers come with another package.
"""


def sdist(folder: Path, name: str, files: dict[str, str]) -> None:
    """Write a source distribution that cannot be built."""
    with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as archive:
        for path, text in {
            "setup.py": SETUP,
            "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\n",
            **files,
        }.items():
            member = tarfile.TarInfo(f"{name}/{path}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))


SDISTS = {
    "named by setuptools": {
        "src/my_kernels.egg-info/top_level.txt": "my_kernels\n_my_tables\n",
        "src/_my_tables.py": "SIZE = 8\n",
    },
    "called as the library": {"src/others/__init__.py": ""},
    "below another folder": {"tests/my_kernels/test_act.py": "", "docs/conf.py": ""},
}


@pytest.mark.parametrize("layout", SDISTS)
def test_a_library_that_cannot_be_built_is_unpacked_from_its_sources(
    wheelhouse: Path, layout: str
) -> None:
    top = "python/lib" if layout == "below another folder" else "src"
    kernels = {
        f"{top}/my_kernels/__init__.py": "",
        f"{top}/my_kernels/ops/act.py": "def kernel(): ...\n",
    }
    sdist(
        wheelhouse,
        "my_kernels-2.0",
        {**SDISTS[layout], **kernels, f"{top}/my_kernels/csrc/act.cu": "int x;"},
    )
    folder = unpack_library("my-kernels==2.0")
    there = {str(path.relative_to(folder)) for path in folder.rglob("*.py")}
    tables = {"_my_tables.py"} if layout == "named by setuptools" else set()
    assert there == {"my_kernels/__init__.py", "my_kernels/ops/act.py"} | tables
    assert not list(folder.rglob("*.cu")), "Python files are all that is needed"


def test_a_source_distribution_with_paths_outside_of_it_is_refused(wheelhouse: Path) -> None:
    sdist(
        wheelhouse,
        "my_kernels-2.0",
        {
            "my_kernels/__init__.py": "",
            "my_kernels/../../../../evil.py": "",
            "/my_kernels/abs.py": "",
        },
    )
    with pytest.raises(EnvError, match=r"cannot install my-kernels==2\.0: "):
        unpack_library("my-kernels==2.0")
    assert not list(wheelhouse.parent.rglob("evil.py"))
    assert not Path("/my_kernels").exists()


@pytest.mark.parametrize("damage", ["no package", "no archive"])
def test_a_library_without_python_files_is_an_error_with_whole_lines(
    wheelhouse: Path, damage: str
) -> None:
    sdist(wheelhouse, "my_kernels-2.0", {"README.md": ""})
    if damage == "no archive":
        (wheelhouse / "my_kernels-2.0.tar.gz").write_bytes(b"\x1f\x8b nothing")
    with pytest.raises(EnvError, match=r"cannot install my-kernels==2\.0: ") as raised:
        unpack_library("my-kernels==2.0")
    assert "no source distribution that could replace the wheel" in str(raised.value.hint)
    if damage == "no package":
        assert "No module named 'torch', which this build needs" in str(raised.value)


def test_the_last_lines_of_an_installer_are_not_cut() -> None:
    printed = [f'  File "/build/setup.py", line {number}, in run_setup' for number in range(40)]
    text = last_lines("\n".join([*printed, "", "ModuleNotFoundError: No module named 'torch'", ""]))
    assert text.startswith('File "/build/setup.py", line ')
    assert text.endswith("in run_setup ModuleNotFoundError: No module named 'torch'")
    assert 400 < len(text) <= 620
    assert last_lines("x" * 2000) == "x" * 2000


KERNEL_FILE = """schema = 1
kernel = "act"
package = "my_kernels==1.0"
module = "my_kernels.act"
[signature]
x = "*fp32"
[constexprs]
BLOCK = 64
[[case]]
name = "only"
[[variant]]
name = "as_written"
function = "kernel"
"""


def test_a_library_is_unpacked_once_without_its_dependencies(wheelhouse: Path) -> None:
    folder = unpack_library("My.Kernels == 1.0")
    assert (folder / "my_kernels/act.py").is_file()
    next(wheelhouse.iterdir()).unlink()
    assert unpack_library("my-kernels==1.0") == folder, "what is there is not chosen again"
    with pytest.raises(EnvError, match=r"cannot install my-kernels==2\.0: "):
        unpack_library("my-kernels==2.0")
    # The folder also contains locks.
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == ["my-kernels-1.0"]


def test_a_folder_of_wheels_may_be_relative_to_the_current_one(
    wheelhouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(wheelhouse.parent)
    for installer in ("UV", "PIP"):
        monkeypatch.setenv(f"{installer}_FIND_LINKS", wheelhouse.name)
    assert (unpack_library("my-kernels==1.0") / "my_kernels/act.py").is_file()


def test_a_kernel_file_with_a_module_of_a_library_survives_a_round_trip(
    wheelhouse: Path, tmp_path: Path
) -> None:
    written(tmp_path, {"k/act.toml": KERNEL_FILE})
    (spec,) = load_kernels(["k/act.toml"], tmp_path)
    assert spec.source.endswith("/libraries/my-kernels-1.0/my_kernels/act.py")
    (again,) = write_kernel_file([spec], tmp_path / "again.toml")
    assert (again.source, again.roots, again.closure) == (spec.source, spec.roots, spec.closure)
    assert (
        'package = "my_kernels==1.0"' in (tmp_path / "again.toml").read_text()
        or "my-kernels" in (tmp_path / "again.toml").read_text()
    )


WRONG = [
    (
        'package = "my_kernels==1.0"',
        'package = "my_kernels"',
        "package: 'my_kernels' is not a name and a version",
    ),
    (
        'package = "my_kernels==1.0"',
        'package = "my_kernels==9"',
        "package: cannot install my_kernels==9: ",
    ),
    (
        'module = "my_kernels.act"',
        'module = "my_kernels.gone"',
        "module: there is no module 'my_kernels.gone'",
    ),
    (
        'module = "my_kernels.act"',
        'module = "my kernels"',
        "module: 'my kernels' is not the name of a module",
    ),
    (
        'module = "my_kernels.act"',
        'module = "my_kernels.act"\nsource = "act.py"',
        "module: expected source or module, found both",
    ),
    (
        'package = "my_kernels==1.0"',
        'path = ["gone"]',
        "path[0]: there is no folder 'gone' next to this file",
    ),
    ('module = "my_kernels.act"', 'source = "k.toml"', "package: 'package' needs a module"),
    ('package = "my_kernels==1.0"', 'install = ["../gone"]', "install[0]: there is no folder"),
]


@pytest.mark.parametrize(
    ("right", "wrong", "message"), WRONG, ids=[message for *_, message in WRONG]
)
def test_an_invalid_key_of_a_library_is_an_error_with_the_path_of_the_key(
    wheelhouse: Path, tmp_path: Path, right: str, wrong: str, message: str
) -> None:
    written(tmp_path, {"k.toml": KERNEL_FILE.replace(right, wrong)})
    with pytest.raises(ConfigError) as raised:
        load_kernels(["k.toml"], tmp_path)
    assert str(raised.value).startswith(f"k.toml: {message}")
