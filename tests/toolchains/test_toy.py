"""A second toolchain that is not part of triton-compat. Every feature that is not Triton's own
works with it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from packaging.version import Version

from compat import toolchains
from compat.config.matrix import load_matrix
from compat.engine.plan import cross
from compat.envs.cache import requirements
from compat.errors import ConfigError, SelectionError
from compat.model import BuiltEnv, CompileSpec, Env, Specialization
from compat.report.document import dump, matrix_document
from compat.report.loading import load_report
from compat.toolchains.base import Framework
from tests import commands
from tests.envs.conftest import write_wheel
from tests.records import OK, result, spec
from tests.report.factory import report as make_report
from tests.toolchains.toy import TOY
from tests.waiting import PATIENCE

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = Path(__file__).parent / "toy" / "package" / "toy.py"
RELEASES = {
    "1.0": "load add store",
    "1.1": "load add store",
    "1.2": "load store",
    "1.3": "load store",
}
"""Release → its words. 1.2 removed one."""
MATRIX = """
schema = 1
kernels = ["kernel.toml"]
env = [{ toy = "1.0" }, { toy = "1.1" }, { toy = "1.2" }, { toy = "1.3" }]
"""
KERNEL = """
schema = 1
kernel = "sums"
toolchain = "toy"
source = "kernel.py"
case = [{ name = "twice", constexprs = { TIMES = 2 } }]
variant = [{ name = "plain", function = "copy" }, { name = "adding", function = "sums" }]
"""
SOURCE = """
def copy(TIMES):
    return "load store " * TIMES


def sums(TIMES):
    return "load add store " * TIMES
"""


@pytest.fixture
def registered(tmp_path: Path) -> Path:
    """A folder that has the toy's entry point, as an installed package would."""
    folder = tmp_path / "installed"
    info = folder / "toy_compat-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-compat\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[{toolchains.GROUP}]\ntoy = tests.toolchains.toy:TOY\n"
    )
    return folder


def clear() -> None:
    """Clear the cache of toolchains, so that entry points are read again."""
    for cached in (toolchains.every, toolchains.look_up):
        cached.cache_clear()


@pytest.fixture
def toy_toolchain(registered: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The toy is one of the toolchains of this process."""
    monkeypatch.syspath_prepend(str(registered))
    clear()
    yield
    monkeypatch.undo()
    clear()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a kernel for the toy, and an index with its releases."""
    index = tmp_path / "simple" / "toy"
    for release, words in RELEASES.items():
        text = (
            PACKAGE.read_text()
            .replace('"1.0"', f'"{release}"')
            .replace('{"load", "add", "store"}', repr(set(words.split())))
        )
        info = f"toy-{release}.dist-info"
        files = {
            "toy.py": text,
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: toy\nVersion: {release}\n",
            f"{info}/WHEEL": (
                "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            ),
        }
        write_wheel(
            index / f"toy-{release}-py3-none-any.whl",
            {name: text.encode() for name, text in files.items()},
            info,
        )
    links = (f'<a href="{wheel.name}">{wheel.name}</a>' for wheel in sorted(index.glob("*.whl")))
    (index / "index.html").write_text("\n".join(links))
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in (("matrix.toml", MATRIX), ("kernel.toml", KERNEL), ("kernel.py", SOURCE)):
        (folder / name).write_text(text)
    return folder


def compat(
    project: Path, registered: Path, *arguments: str, code: int = 0, index: Path | None = None
) -> str:
    """The output of a command that runs in the project."""
    return run(project, registered, "compat.cli", *arguments, code=code, index=index)


def run(
    project: Path,
    registered: Path,
    module: str,
    *arguments: str,
    code: int = 0,
    index: Path | None = None,
    **variables: str,
) -> str:
    """The output of a program that runs in the project."""
    url = (index or project.parent / "simple").as_uri()
    environ = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PIP_", "UV_", "NOX"))
    }
    environ |= {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": url, "UV_DEFAULT_INDEX": url}
    path = os.pathsep.join([str(REPOSITORY), str(registered)])
    environ |= variables | {"COMPAT_ENVS": str(project.parent / "envs"), "PYTHONPATH": path}
    if module == "compat.cli":
        done = commands.run(*arguments, cwd=project, env=environ, timeout=PATIENCE)
    else:
        done = subprocess.run(
            [sys.executable, "-P", "-m", module, *arguments],
            check=False,
            cwd=project,
            env=environ,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr if code else done.stdout


def test_toolchains_page_shows_the_toys_code() -> None:
    page = (REPOSITORY / "docs" / "toolchains.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    files = ("__init__.py", "adapter/__init__.py")
    assert [
        block in (PACKAGE.parents[1] / file).read_text(encoding="utf-8")
        for block, file in zip(shown, files, strict=True)
    ] == [
        True,
        True,
    ]


def test_matrix_bisect_explain_and_reduce_work_with_the_toy(
    project: Path, registered: Path
) -> None:
    output = compat(project, registered, "matrix", code=1)
    report = json.loads((project / "reports" / "matrix.json").read_text())
    cells = {cell["id"]: cell for cell in report["cells"]}
    assert {name: cell["status"] for name, cell in cells.items()} == {
        f"sums/{variant}/twice/toy_t1/toy-{release}": (
            "rejected" if variant == "adding" and release >= "1.2" else "ok"
        )
        for variant in ("plain", "adding")
        for release in RELEASES
    }
    failed = cells["sums/adding/twice/toy_t1/toy-1.2"]
    assert failed["toy"] == "1.2"
    assert failed["failure"]["class"] == "unknown-word"
    assert failed["failure"]["stage"] == "words"
    assert failed["failure"]["advice"] == "Write `add` in other words."
    assert "removed in 1.2" in output
    assert "Triton" not in output

    (answer,) = json.loads(
        compat(project, registered, "bisect", "--variant", "adding", "--envs", "*", "--json")
    )
    assert (answer["bracket"]["last_good"], answer["bracket"]["first_bad"]) == ("1.1", "1.2")
    assert [probe["toy"] for probe in answer["probes"]] == list(RELEASES)

    explanation = compat(project, registered, "explain", "sums/adding/twice/toy_t1/toy-1.3")
    assert "unknown-word (Word not known)" in explanation
    assert "toy 1.3, Python 3." in explanation

    compat(project, registered, "reduce", "sums/adding/twice/toy_t1/toy-1.3")
    (reduced,) = (project / "reduced").glob("*.py")
    assert "add" in reduced.read_text()
    assert "TIMES" not in reduced.read_text()
    named = compat(project, registered, "list", "cells", "--spec", "reduced/*.toml")
    assert f"{reduced.stem}/reduced/twice/toy_t1/toy-1.3" in named

    output = compat(project, registered, "repro", "sums/adding/twice/toy_t1/toy-1.3", code=3)
    assert "there are no scripts for Toy" in output
    assert "compiling" not in output
    for arguments, message in (
        (
            ("bisect", "--axis", "part", "--envs", "*", "--good", "1.1", "--bad", "1.2"),
            "Toy has no parts that can be swapped",
        ),
        (
            ("bisect", "--axis", "pass", "--envs", "*", "--good", "1.1", "--bad", "1.2"),
            "Toy has no passes that can be compared",
        ),
        (
            ("fix", "sums/adding/twice/toy_t1/toy-1.3"),
            "triton-compat has no edits for kernels of Toy",
        ),
        (("guard", "--out", "choice.py"), "guards for kernels of Toy are not supported"),
        (("build", "--out", "built"), "kernels of Toy cannot be launched"),
    ):
        assert message in compat(project, registered, *arguments, code=3)
    assert "the toolchain Toy does not list its names" in compat(
        project, registered, "api", "--envs", "toy-*", code=2
    )


@pytest.mark.usefixtures("toy_toolchain")
def test_cells_are_of_one_toolchain() -> None:
    envs = [Env(name="triton-3.1.0"), Env(name="toy-1.0", toolchain="toy", distribution="toy")]
    targets = [target for target in toolchains.targets() if target.name in ("sm_90", "toy_t1")]

    def spec(toolchain: str) -> Specialization:
        return Specialization(
            kernel=toolchain,
            variant="v",
            case="c",
            toolchain=toolchain,
            source="/k.py",
            function="f",
            compile=CompileSpec(),
        )

    cells = [
        (cell.env.name, cell.target.name, cell.spec.kernel)
        for cell in cross(envs, targets, [spec("triton"), spec("toy")])
    ]
    assert cells == [("triton-3.1.0", "sm_90", "triton"), ("toy-1.0", "toy_t1", "toy")]


@pytest.mark.usefixtures("toy_toolchain")
@pytest.mark.parametrize(
    ("envs", "targets"),
    [
        ('[{ toy = "1.0" }]', ["toy_t1"]),
        ('[{ triton = "3.1.0" }]', ["sm_80", "sm_89", "sm_90"]),
        ('[{ toy = "1.0" }, { triton = "3.1.0" }]', ["sm_80", "sm_89", "sm_90", "toy_t1"]),
    ],
)
def test_default_targets_are_those_of_the_envs_toolchains(
    tmp_path: Path, envs: str, targets: list[str]
) -> None:
    path = tmp_path / "matrix.toml"
    path.write_text(f"env = {envs}\n")
    assert [target.name for target in load_matrix(path).choose_targets()] == targets


WRONG: list[tuple[str, str]] = [
    ('{ toy = "1.0", triton = "3.1.0" }', "env[0].toy: names two toolchains: triton and toy"),
    (
        '{ toolchain = "tpy", wheel = "w-1-py3-none-any.whl" }',
        "env[0].toolchain: unknown toolchain 'tpy'",
    ),
    (
        '{ toolchain = "toy", triton = "3.1.0" }',
        "env[0].triton: gives a release of triton, but the toolchain is toy",
    ),
    ('{ toolchain = "toy" }', "env[0]: expected one of toy, wheel and distribution, found none"),
]


@pytest.mark.usefixtures("toy_toolchain")
@pytest.mark.parametrize(("env", "message"), WRONG)
def test_error_about_a_toolchain_names_its_key(tmp_path: Path, env: str, message: str) -> None:
    path = tmp_path / "matrix.toml"
    path.write_text(f'schema = 1\nkernels = ["k.toml"]\nenv = [{env}]\n')
    with pytest.raises(ConfigError) as raised:
        load_matrix(path)
    assert str(raised.value) == f"{path}: {message}" or str(raised.value).endswith(message)


@pytest.mark.usefixtures("toy_toolchain")
def test_a_toolchain_may_have_another_framework(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = Framework(name="arrays", title="Arrays", example="1.0")
    toolchains.look_up.cache_clear()
    monkeypatch.setattr(
        toolchains, "every", lambda: (toolchains.DEFAULT, evolve(TOY, framework=arrays))
    )
    path = tmp_path / "matrix.toml"
    path.write_text("""
        env = [{ toy = "1.0", arrays = "2.0" }]
        companion = [{ toolchain = "toy", arrays = ">=2", install = ["six"] }]
        """)
    config = load_matrix(path)
    (env,) = config.envs
    assert (env.name, env.has_framework) == ("toy-1.0-arrays-2.0", True)
    assert requirements(env) == ("toy==1.0", "arrays==2.0", "six")
    assert config.env("toy-1.1-arrays-2.1").framework_release == Version("2.1")
    with pytest.raises(SelectionError, match=r"unknown env 'toy-1\.1-torch-2\.9\.1'"):
        config.env("toy-1.1-torch-2.9.1")
    one = result(OK, BuiltEnv(env=env, digest="d"), TOY.device.targets[0], spec(toolchain="toy"))
    document = matrix_document(make_report([one]))
    assert document["envs"][0]["arrays"] == document["cells"][0]["arrays"] == "2.0"
    assert load_report(dump(document)).results[0].cell.env == evolve(env, install=())
    path.write_text('env = [{ toy = "1.0", torch = "2.9.1" }]\n')
    with pytest.raises(ConfigError, match="unknown key"):
        load_matrix(path)


@pytest.mark.usefixtures("toy_toolchain")
def test_toolchain_is_found_by_its_name() -> None:
    assert toolchains.look_up("toy") is TOY
    assert "unknown-word" in toolchains.class_names()
    assert toolchains.find("toy") is TOY
    assert toolchains.find("lost") is None


@pytest.mark.parametrize(
    ("value", "message"),
    [("json:dumps", "this is not a Toolchain"), ("tests.toolchains.test_toy:OTHER", "two")],
)
def test_entry_point_with_an_invalid_or_duplicate_toolchain_is_refused(
    registered: Path, toy_toolchain: Any, value: str, message: str
) -> None:
    (registered / "toy_compat-1.0.dist-info" / "entry_points.txt").write_text(
        f"[{toolchains.GROUP}]\nother = {value}\n"
    )
    clear()
    with pytest.raises(ConfigError, match=message):
        toolchains.every()


def test_unloadable_entry_point_is_named_with_its_exception(
    registered: Path, toy_toolchain: Any
) -> None:
    (registered / "broken_compat.py").write_text("raise ValueError('no such\\nthing')\n")
    info = registered / "broken_compat-2.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-compat\nVersion: 2.1\n")
    for value, raised in (
        ("broken_compat:TOOLCHAIN", "ValueError: no such"),
        ("nowhere_at_all:IT", "ModuleNotFoundError: No module"),
    ):
        (info / "entry_points.txt").write_text(f"[{toolchains.GROUP}]\nbroken = {value}\n")
        clear()
        with pytest.raises(
            ConfigError,
            match=(
                f"broken = {value}: the toolchain of broken-compat 2.1 cannot be loaded: {raised}"
            ),
        ):
            toolchains.every()


OTHER = toolchains.DEFAULT.__class__(
    **{
        name: getattr(TOY, name)
        for name in ("title", "distribution", "adapter", "stages", "language", "device", "failures")
    },
    name=toolchains.DEFAULT.name,
)
