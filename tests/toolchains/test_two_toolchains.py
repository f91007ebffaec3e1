"""Triton and a toolchain that shares names with it, in one ``matrix.toml``: targets and failure
classes belong to a toolchain.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compat import toolchains
from compat.config.matrix import load_matrix
from compat.engine.plan import cross
from compat.errors import SelectionError
from compat.model import BuiltEnv, CompileSpec, Env, Specialization
from compat.project import gpus_of
from tests.toolchains.loom import LOOM, SM_90
from tests.toolchains.loom.index import STRICT, write_index
from tests.toolchains.test_toy import clear, compat

MATRIX = """
schema = 1
kernels = ["loom.toml", "triton.toml"]
env = [{ loom = "1.0" }, { loom = "1.1" }, { loom = "2.0" }, { triton = "3.9.0" }]

[defaults]
targets = ["sm_90"]
"""
LOOM_KERNEL = """
schema = 1
kernel = "twill"
toolchain = "loom"
source = "twill.py"
case = [{ name = "only" }]
variant = [
  { name = "even", function = "even" },
  { name = "ragged", function = "ragged" },
  { name = "wide", function = "wide" },
]
"""
LOOM_SOURCE = """
import loom


@loom.pattern()
def even():
    return "over under\\nunder over"


@loom.pattern()
def ragged():
    colour = "blue"
    return "over under\\nunder"


@loom.pattern(threads=5)
def wide():
    return "over under\\nunder over"
"""
TRITON_KERNEL = """
schema = 1
kernel = "copies"
source = "copies.py"
signature = { source = "*fp32", result = "*fp32" }
case = [{ name = "big", constexprs = { SIZE = 1024 } }]
variant = [{ name = "plain", function = "plain" }, { name = "mismatch", function = "mismatch" }]
"""
TRITON_SOURCE = """
import triton
import triton.language as tl


@triton.jit
def plain(source, result, SIZE: tl.constexpr):
    index = tl.arange(0, SIZE)
    tl.store(result + index, tl.load(source + index))


@triton.jit
def mismatch(source, result, SIZE: tl.constexpr):
    index = tl.arange(0, SIZE)
    tl.store(result + index, tl.load(source + index) + tl.zeros([32], tl.float32))
"""


@pytest.fixture
def _known(registered: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The loom is one of the toolchains of this process."""
    monkeypatch.syspath_prepend(str(registered))
    clear()
    yield
    monkeypatch.undo()
    clear()


@pytest.fixture
def project(tmp_path: Path, built: Callable[[str], BuiltEnv]) -> Path:
    """A project with a kernel for each toolchain, an index with the loom's releases, and a cache
    with Triton's env.
    """
    write_index(tmp_path / "simple" / "loom")
    python = built("triton-3.9.0").python
    assert python is not None
    env = Path(python).parent.parent
    entry = tmp_path / "envs" / env.parent.name
    entry.mkdir(parents=True)
    (entry / env.name).symlink_to(env)
    shutil.copy(env.parent / "env.json", entry)
    folder = tmp_path / "project"
    folder.mkdir()
    texts = {"matrix.toml": MATRIX, "loom.toml": LOOM_KERNEL, "twill.py": LOOM_SOURCE}
    texts |= {"triton.toml": TRITON_KERNEL, "copies.py": TRITON_SOURCE}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder


def cells_of(path: Path) -> dict[str, dict[str, Any]]:
    return {cell["id"]: cell for cell in json.loads(path.read_text())["cells"]}


WOVEN = "twill/{}/only/sm_90/loom-{}"


RAGGED_KERNEL = ("--kernel", "twill", "--variant", "ragged")
RAGGED = ("rejected", "shape-mismatch")
COPIED = "copies/{}/big/sm_90/triton-3.9.0"


@pytest.mark.wheels
def test_commands_keep_two_toolchains_with_the_same_names_apart(
    project: Path, registered: Path
) -> None:
    report = project / "reports" / "matrix.json"
    printed = compat(project, registered, "matrix", code=1)
    cells = cells_of(report)
    assert {
        name: (cell["status"], (cell["failure"] or {}).get("class")) for name, cell in cells.items()
    } == {
        **{WOVEN.format("even", release): ("ok", None) for release in STRICT},
        **{
            WOVEN.format("ragged", release): RAGGED if strict else ("ok", None)
            for release, strict in STRICT.items()
        },
        **{WOVEN.format("wide", release): ("rejected", "shared-memory") for release in STRICT},
        COPIED.format("plain"): ("ok", None),
        COPIED.format("mismatch"): ("rejected", "shape-mismatch"),
    }
    loom_failure, triton_failure = (
        cells[name]["failure"]
        for name in (WOVEN.format("ragged", "2.0"), COPIED.format("mismatch"))
    )
    assert loom_failure["advice"] == "Weave rows of one length."
    assert triton_failure["advice"] != loom_failure["advice"]
    assert (
        "needs 20 bytes, sm_90 allows 16"
        in cells[WOVEN.format("wide", "2.0")]["failure"]["excerpt"]
    )
    assert "2.0" in printed
    targets = json.loads(report.read_text())["targets"]
    assert [
        (target["name"], target.get("toolchain", "triton"), target["backend"]) for target in targets
    ] == [
        ("sm_90", "loom", "loom"),
        ("sm_90", "triton", "cuda"),
    ]

    shutil.copy(report, project / "before.json")
    assert "Rows of different lengths" in compat(
        project, registered, "explain", WOVEN.format("ragged", "2.0")
    )
    assert "Rows of different lengths" not in compat(
        project, registered, "explain", COPIED.format("mismatch")
    )
    compat(project, registered, "report", "before.json", "--json", "--output", "again.json")
    assert cells_of(project / "again.json") == cells
    compat(project, registered, "diff", "before.json", "again.json")

    compat(project, registered, "matrix", "--envs", "triton-3.9.0", "--output", "one", code=1)
    compat(project, registered, "matrix", "--envs", "loom-*", "--output", "other", code=1)
    compat(
        project,
        registered,
        "merge",
        "one/matrix.json",
        "other/matrix.json",
        "--output",
        "both",
        code=1,
    )
    merged = cells_of(project / "both" / "matrix.json")
    assert {name: (cell["status"], cell["failure"]) for name, cell in merged.items()} == {
        name: (cell["status"], cell["failure"]) for name, cell in cells.items()
    }

    for source in ((), ("--find-links", str(project.parent / "simple" / "loom"))):
        (answer,) = json.loads(
            compat(project, registered, "bisect", *RAGGED_KERNEL, "--json", *source)
        )
        assert (answer["bracket"]["last_good"], answer["bracket"]["first_bad"]) == ("1.1", "2.0")


@pytest.mark.wheels
@pytest.mark.long
def test_second_toolchain_has_the_features_of_its_record(project: Path, registered: Path) -> None:
    ragged = WOVEN.format("ragged", "2.0")
    (need,) = json.loads(
        compat(project, registered, "bisect", "--axis", "config", *RAGGED_KERNEL, "--json")
    )
    assert "fail the same way" in need["answer"]["sentence"]

    printed = compat(project, registered, "reduce", ragged)
    assert "compat repro" not in printed
    reduced = (project / "reduced" / "twill-ragged-only.py").read_text()
    assert (
        reduced
        == "import loom\n\n\n@loom.pattern()\ndef ragged():\n    return 'over under\\nunder'\n"
    )

    assert "edit: rows filled up" in compat(project, registered, "fix", ragged)
    assert "no edit is known for shared-memory" in compat(
        project, registered, "fix", WOVEN.format("wide", "2.0"), code=1
    )

    assert "threads  1.0–2.0" in compat(
        project, registered, "api", "loom.pattern", "--envs", "loom-*"
    )
    assert "has all   1.0–2.0" in compat(
        project, registered, "api", "--of", "twill.py", "--envs", "loom-*"
    )

    compat(project, registered, "matrix", code=1)
    compat(project, registered, "guard", "--kernel", "copies", "--out", "choice.py")
    assert '"sm_90": ("cuda", 90),' in (project / "choice.py").read_text()

    guessed = project / "guessed"
    guessed.mkdir()
    shutil.copy(project / "twill.py", guessed)
    printed = compat(guessed, registered, "init", "twill.py", index=project.parent / "simple")
    assert "even, ragged, wide" in printed
    assert 'matrix.toml: name the releases to compile on: env = [{ loom = "VERSION" }]' in printed
    assert 'toolchain = "loom"' in (guessed / "kernels" / "twill.toml").read_text()
    matrix = guessed / "matrix.toml"
    assert '# targets = ["sm_90"]' in matrix.read_text()
    assert "env: no env has Loom, which the kernels are for" in compat(
        guessed, registered, "matrix", code=3
    )
    matrix.write_text(
        matrix.read_text().replace('# env = [{ loom = "VERSION" }]', 'env = [{ loom = "1.1" }]')
    )
    assert compat(guessed, registered, "list", "cells").count("/sm_90/loom-1.1") == 3

    for arguments, message in (
        (("repro", ragged), "there are no scripts for Loom"),
        (("bisect", "--axis", "part", *RAGGED_KERNEL), "Loom has no parts that can be swapped"),
        (
            ("bisect", "--axis", "part", "--judge", "wrong", *RAGGED_KERNEL),
            "Loom has no parts that can be swapped",
        ),
        (("bisect", "--axis", "pass", *RAGGED_KERNEL), "Loom has no passes that can be compared"),
        (("guard", "--kernel", "twill"), "guards for kernels of Loom are not supported"),
        (("guard",), "the chosen kernels are of several toolchains: loom, triton"),
        (("pairs", "--envs", "loom-*"), "pairs of Loom are not supported"),
        (("bisect",), "the kernels are for several toolchains: twill for Loom, copies for Triton"),
    ):
        assert message in compat(project, registered, *arguments, code=3)
    assert "the envs are of several toolchains: Loom, Triton" in compat(
        project, registered, "api", code=2
    )


@pytest.mark.usefixtures("_known")
def test_target_name_means_the_target_of_the_envs_toolchain() -> None:
    envs = [Env(name="triton-3.1.0"), Env(name="loom-1.0", toolchain="loom", distribution="loom")]
    specs = [
        Specialization(
            kernel=name,
            variant="v",
            case="c",
            toolchain=name,
            source="/k.py",
            function="f",
            compile=CompileSpec(),
        )
        for name in ("triton", "loom")
    ]
    cells = cross(
        envs,
        [target for target in toolchains.targets() if target.name in ("sm_80", "sm_90")],
        specs,
    )
    assert [(cell.env.toolchain, cell.target.name, cell.target.backend) for cell in cells] == [
        ("triton", "sm_80", "cuda"),
        ("triton", "sm_90", "cuda"),
        ("loom", "sm_90", "loom"),
    ]
    assert cells[-1].target is SM_90
    assert toolchains.targets_of_gpu("H100") == ("sm_90", "sm_90a")


@pytest.mark.usefixtures("_known")
def test_unknown_env_hint_names_envs_of_the_projects_toolchain(tmp_path: Path) -> None:
    path = tmp_path / "matrix.toml"
    path.write_text('env = [{ loom = "1.0" }]\n')
    with pytest.raises(SelectionError) as raised:
        load_matrix(path).env("velvet")
    assert raised.value.hint == "Choose an env of matrix.toml, or loom-X[-torch-Y]."


@pytest.mark.usefixtures("_known")
def test_failure_class_belongs_to_its_toolchain() -> None:
    loom_class = LOOM.failures.by_name["shape-mismatch"]
    triton_class = toolchains.DEFAULT.failures.by_name["shape-mismatch"]
    assert loom_class is not triton_class
    assert toolchains.class_names().count("shape-mismatch") == 1


def test_only_a_toolchain_with_pairs_advises_to_use_them() -> None:
    advising = {
        toolchain.name
        for toolchain in toolchains.every()
        if any("--envs pairs" in known.advice for known in toolchain.failures.by_name.values())
    }
    assert advising == {
        toolchain.name for toolchain in toolchains.every() if toolchain.device.pairing
    }


@pytest.mark.usefixtures("_known")
def test_default_targets_are_those_of_each_toolchain(tmp_path: Path) -> None:
    path = tmp_path / "matrix.toml"
    path.write_text('env = [{ loom = "1.0" }, { triton = "3.9.0" }]\n')
    config = load_matrix(path)
    assert [(target.toolchain, target.name) for target in config.choose_targets()] == [
        *(("triton", name) for name in ("sm_80", "sm_89", "sm_90")),
        ("loom", "sm_90"),
    ]
    chosen = config.choose_targets(["h100"])
    assert [(target.toolchain, gpus_of(target)) for target in chosen] == [
        ("triton", ("h100", "h200", "gh200")),
        ("cute", ("h100", "h200", "gh200")),
        ("loom", ("h100",)),
    ]
