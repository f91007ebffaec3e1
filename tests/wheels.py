"""A library of ours in two versions, as wheels in a folder that replaces the package index."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from compat.cli.commands import main
from compat.config.matrix import load_matrix
from compat.envs.cache import VARIABLE
from compat.model import BuiltEnv

_ROOT = Path(__file__).parent.parent
_WHEEL = "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"

_HEAD = "import torch\nimport triton\nimport triton.language as tl\n"
_KERNEL = """
@triton.jit
def {name}(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, {value}, mask=at < n)
"""
_LOAD = "tl.load(x_ptr + at, mask=at < n)"
_BLOCK = "tl.load(tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (BLOCK,), (0,)))"
_CONDITIONAL = """
HAS_DESCRIPTORS = tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 4)

if HAS_DESCRIPTORS:
    @triton.jit
    def first(x_ptr, n, BLOCK: tl.constexpr):
        return tl.make_tensor_descriptor(x_ptr, [n], [1], [BLOCK]).load([0])
else:
    @triton.jit
    def first(x_ptr, n, BLOCK: tl.constexpr):
        return tl.load(tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (BLOCK,), (0,)))
"""
_TUNED = (
    "\n@triton.autotune(configs=[triton.Config({{'BLOCK': 64}}), triton.Config({{'BLOCK': 128}})],"
    " key={key}){kernel}"
)


def _modules(key: str) -> dict[str, str]:
    tuned = _TUNED.format(key=key, kernel=_KERNEL.format(name="tuned", value=_LOAD))
    return {
        "__init__.py": "",
        "plain.py": (
            _HEAD + _CONDITIONAL + _KERNEL.format(name="plain", value="first(x_ptr, n, BLOCK)")
        ),
        "tuned.py": _HEAD + tuned + _KERNEL.format(name="beside", value=_LOAD),
    }


VERSIONS: Mapping[str, Mapping[str, str]] = {
    "1.0": {
        **_modules("['n', 'dtype']"),
        "gone.py": _HEAD + _KERNEL.format(name="gone", value=_BLOCK),
    },
    "2.0": _modules("['n']"),
}
"""Version → its modules.

The import of `plain` decides which way it loads. The first version names something in `key` that is
not an argument. 3.0, 3.1 and 3.9 refuse this, and so they refuse the module that `beside` is in.
`gone` uses a function that 3.9 has removed.
"""


def write_wheel(folder: Path, name: str, version: str, files: Mapping[str, str]) -> None:
    """Write a wheel of pure Python with one package, which has the name of the library."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{module}-{version}-py3-none-any.whl", "w") as wheel:
        for file, text in files.items():
            wheel.writestr(f"{module}/{file}", text)
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        wheel.writestr(f"{info}/WHEEL", _WHEEL)
        names = [
            *(f"{module}/{file}" for file in files),
            *(f"{info}/{member}" for member in ("METADATA", "WHEEL", "RECORD")),
        ]
        wheel.writestr(f"{info}/RECORD", "".join(f"{member},,\n" for member in names))


@pytest.fixture
def wheelhouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the wheels. Installers use no index."""
    folder = tmp_path / "wheelhouse"
    folder.mkdir()
    for version, files in VERSIONS.items():
        write_wheel(folder, "live-waves", version, files)
    write_wheel(folder, "no-kernels", "1.0", {"__init__.py": "import triton\n"})
    for installer in ("UV", "PIP"):
        monkeypatch.setenv(f"{installer}_FIND_LINKS", str(folder))
        monkeypatch.setenv(f"{installer}_NO_INDEX", "1")
    return folder


def empty_project(
    releases: Iterable[str],
    built: Callable[[str], BuiltEnv],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """An empty working folder, on a machine that has these releases."""
    for release in releases:
        built(f"triton-{release}")
    project = folder / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return project


def compat_output(*arguments: str, code: int = 0) -> str:
    """The output of ``compat``, which must end with this code."""
    done = CliRunner().invoke(main, list(arguments))
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture
def own_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with the user's envs, which unpacks libraries in a folder of its own."""
    folder = linked_envs(tmp_path / "envs")
    monkeypatch.setenv(VARIABLE, str(folder))
    return folder


def linked_envs(folder: Path) -> Path:
    """Make a cache with the user's envs, and without a library."""
    folder.mkdir()
    for entry in load_matrix(_ROOT / "matrix.toml").env_cache().folder.iterdir():
        if entry.is_dir() and entry.name != "libraries":
            (folder / entry.name).symlink_to(entry)
    return folder
